"""What is said to a McpProbeWorkflow and to a McpHealthSweepWorkflow."""

from pydantic import Field

from contracts.base import Contract, Text120, Text200
from contracts.mcp.probe import ProbeTask

SWEEP_PAGE = 20
"""How many servers a sweep looks at side by side."""


class ProbeStart(Contract):
    """Opens the workflow of one server; ``at_once`` is a look that nobody waits for."""

    server_id: Text120
    at_once: ProbeTask | None = None


class ProbeEnd(Contract):
    """How often the server was looked at."""

    looks: int


class SweepStart(Contract):
    """Starts a sweep over the servers that are due."""

    most_pages: int = Field(default=50, ge=1, le=100)
    correlation_id: Text200 | None = None


class SweepEnd(Contract):
    """What a sweep found: how many servers answered, how many did not, and how many were left alone."""

    answered: int = 0
    failed: int = 0
    left_alone: int = 0
