"""What the tests of the tool client share."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from clients.mcp.tool_client import ToolCallFailed, ToolClient
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import ToolAnswer, ToolCall, ToolFailure

CANARY = "canary-c0ffee"
"""Is in every argument, answer and secret, and may be in no message."""


@dataclass
class Calls:
    """Calls with what a test does not care about filled in."""

    client: ToolClient
    beats: list[int] = field(default_factory=list)
    announced: int = 0

    async def announce(self) -> None:
        self.announced += 1

    async def make(
        self,
        server: MCPServerRegistryEntry,
        tool_name: str = "append_line",
        *,
        bearer: str | None = None,
        announce: Callable[[], Awaitable[None]] | None = None,
        **fields: Any,
    ) -> ToolAnswer:
        call = ToolCall.model_validate(
            {"tool_name": tool_name, "arguments": {"line": CANARY}, "timeout_ms": 20_000} | fields
        )
        return await self.client.call(
            server, call, bearer, lambda: self.beats.append(1), announce or self.announce
        )

    async def fail(
        self, server: MCPServerRegistryEntry, tool_name: str = "append_line", **fields: Any
    ) -> ToolFailure:
        with pytest.raises(ToolCallFailed) as raised:
            await self.make(server, tool_name, **fields)
        assert CANARY not in str(raised.value)
        assert CANARY not in raised.value.failure.model_dump_json()
        return raised.value.failure


@pytest.fixture
def calls() -> Calls:
    """Calls to servers on this machine."""
    return Calls(ToolClient(allow_private=True, beat_every_seconds=0.01))


@pytest.fixture
def canary() -> str:
    """What may be in no message."""
    return CANARY
