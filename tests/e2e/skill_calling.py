"""An application with the settings of a test, and one call of a skill."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings

ASKER = ("read", "call", "approve")


@asynccontextmanager
async def opened(folder: Path, temporal_address: str, **settings: Any) -> AsyncIterator[Stack]:
    """The application over ``folder``."""
    client = await connect(temporal_address)
    async with running_stack(stack_settings(folder, **settings), client) as stack:
        yield stack


async def run(who: Learner, skill: str, given: dict[str, Any], **body: Any) -> dict[str, Any]:
    """One call of a skill, confirmed, as it ended."""
    path = f"/api/skills/{skill}/invocations"
    return await who.ok("POST", path, {"input": given, "confirmed": True, **body}, prefer="wait=30")
