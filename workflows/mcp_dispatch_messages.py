"""What is said to a McpDispatchWorkflow, beside the orders that go on to its activities."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text1000, UtcTime, Uuid
from contracts.mcp.dispatch import DispatchStatus
from contracts.mcp.dispatch_record import DispatchOrder


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
    """What somebody who asked for a call waits for."""

    JUDGED = "judged"
    AT_REST = "at_rest"


class DispatchWait(Contract):
    """Waits until policy was asked, or until the call has ended or waits for a person."""

    dispatch_id: Uuid
    until: WaitUntil = WaitUntil.AT_REST
