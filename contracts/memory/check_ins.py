"""Check-ins: at a time a user is reminded, once (AI-36)."""

from enum import StrEnum

from contracts.base import Contract, Text80, Text120, UtcTime, Uuid, VersionedContract
from contracts.memory.memory import MemoryText
from contracts.platform.commands import Command
from contracts.platform.lists import Page


class CheckInState(StrEnum):
    """How a check-in stands."""

    SCHEDULED = "scheduled"
    FIRED = "fired"
    CANCELLED = "cancelled"


class CheckIn(VersionedContract):
    """A check-in. ``item_id`` is what arrived in the inbox when it was due."""

    check_in_id: Uuid
    owner_user_id: Text120
    text: MemoryText
    due_at: UtcTime
    state: CheckInState
    goal_id: Uuid | None = None
    skill_id: Text80
    invocation_id: Uuid
    item_id: Uuid | None = None
    created_at: UtcTime
    updated_at: UtcTime


class ScheduleCheckIn(Contract):
    """Asks for a check-in at a time."""

    text: MemoryText
    due_at: UtcTime
    goal_id: Uuid | None = None


class CheckInStart(Contract):
    """Opens the workflow of a check-in; its words stay in the store."""

    check_in_id: Uuid
    owner_user_id: Text120
    due_at: UtcTime


class CheckInOrder(Contract):
    """Asks the store for a check-in, or has it fire."""

    check_in_id: Uuid
    at: UtcTime


class CheckInStanding(Contract):
    """How a check-in stands, as its workflow has to know."""

    state: CheckInState


class CheckInEnd(Contract):
    """The workflow closed."""

    state: CheckInState


class CancelCheckInRequest(Command):
    """Cancels a check-in that has not fired."""


class CheckInListResponse(Page):
    """Check-ins, the next due first."""

    check_ins: tuple[CheckIn, ...]
