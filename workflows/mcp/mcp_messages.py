"""What is said to a McpDispatchWorkflow, beside the orders that go on to its activities.

What is said to an AuthProfileWorkflow beside its orders.

What is said to a McpProbeWorkflow and to a McpHealthSweepWorkflow.
"""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text120, Text200, Text1000, UtcTime, Uuid
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.dispatch_work import DispatchOrder
from contracts.mcp.servers import ProbeTask


class DispatchStart(Contract):
    """Opens the workflow of a call; one that the store knows goes on from what the store has."""

    order: DispatchOrder
    console_url: Text1000 | None = None
    told: bool = Field(default=False, description="Somebody was told already that the call waits.")
    again_at: UtcTime | None = Field(
        default=None, description="Of a run that goes on in a new one: when to make the next attempt."
    )


class DispatchEnd(Contract):
    """The workflow closed: how the call ended, and after how many attempts."""

    status: DispatchStatus
    attempts: int


class WaitUntil(StrEnum):
    """What the client that asked for a call waits for."""

    JUDGED = "judged"
    AT_REST = "at_rest"


class DispatchWait(Contract):
    """Waits until policy was asked, or until the call has ended or waits for a person."""

    dispatch_id: Uuid
    until: WaitUntil = WaitUntil.AT_REST


class AuthProfileStart(Contract):
    """Opens the workflow of a sign-in: when its token is to be renewed, if it is renewed at all."""

    auth_profile_id: Text120
    owner_user_id: Text120
    refresh_at: UtcTime | None = None
    token_version: int = Field(default=0, ge=0)
    failures: int = Field(default=0, ge=0, description="Renewals that failed one after another.")
    renewals_a_run: int = Field(
        default=200, ge=1, description="After so many, another run goes on with a fresh history."
    )


class AuthProfileEnd(Contract):
    """The workflow closed, at rest: nothing waits for a time."""

    answered: int
    renewed: int


SWEEP_PAGE = 20
"""How many servers a sweep looks at side by side."""


class ProbeStart(Contract):
    """Opens the workflow of one server; ``at_once`` is a probe without a waiting client."""

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
