"""The tool gateway's part of a worker: its workflows, and its activities over their stores and clients."""

from collections.abc import Callable, Sequence
from typing import Any

from config.settings import Settings
from stores.database import Database
from worker.projection import ProjectionLoop

MCP_WORKFLOWS: Sequence[type] = ()


def mcp_activities(
    settings: Settings, database: Database, projection: ProjectionLoop
) -> Sequence[Callable[..., Any]]:
    """The activities of the tool gateway."""
    del settings, database, projection
    return ()
