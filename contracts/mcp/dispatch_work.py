"""What a call's workflow and its activities say to each other. No argument, answer or secret is in any of it."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Sha256, Text80, Text120, Text160, Text500, UtcTime, Uuid
from contracts.learning.aggregate import CommitKey
from contracts.mcp.dispatch import (
    AskFirstDecision,
    AskFirstStatus,
    DispatchStatus,
    MCPAskFirstDecisionResponse,
)
from contracts.mcp.dispatch_record import DispatchOrder


class AskFirstAnswer(Contract):
    """What was said about a call, by whom and when."""

    status: AskFirstStatus
    by: Text160 | None = None
    at: UtcTime


class DispatchStanding(Contract):
    """How a call stands, as far as its workflow has to know."""

    dispatch_id: Uuid
    status: DispatchStatus
    version: int = Field(ge=1)
    attempts: int = Field(default=0, ge=0)
    timeout_ms: int = Field(ge=1_000, le=120_000)
    auth_profile_id: Text120 | None = None
    expires_at: UtcTime | None = Field(default=None, description="While it waits for a person.")
    waits_until: UtcTime | None = Field(
        default=None, description="While it waits for its server, or for its next attempt."
    )
    answer: AskFirstAnswer | None = Field(
        default=None, description="Once somebody has been asked and answered."
    )
    notify: bool = Field(default=False, description="Somebody wants to be told that it waits.")
    watched: bool = Field(default=False, description="A learning session wants to see how it ends.")
    error_code: Text80 | None = None
    since: UtcTime


class JudgeOrder(Contract):
    """Judges a call for the first time."""

    order: DispatchOrder
    at: UtcTime


class EditedArguments(Contract):
    """What a person put in place of the arguments that were asked for."""

    digest: Sha256
    argument_names: tuple[Text80, ...] = Field(default=(), max_length=50)


class DecideOrder(Contract):
    """One person's answer about a call that waits."""

    dispatch_id: Uuid
    commit_key: CommitKey
    decision: AskFirstDecision
    decided_by: Text160
    reason: Text500 | None = None
    edited: EditedArguments | None = None
    seen_arguments: Sha256 | None = Field(default=None, description="Digest of what the person looked at.")
    seen_definition: Sha256 | None = Field(default=None, description="Hash of the tool they looked at.")
    at: UtcTime | None = Field(default=None, description="Set by the workflow: when it took the answer.")


class DecisionTaken(Contract):
    """What an answer did: the call as it stands, what to answer, and the calls that it may release."""

    standing: DispatchStanding
    response: MCPAskFirstDecisionResponse
    siblings: tuple[Uuid, ...] = ()


class EndCause(StrEnum):
    """Why a call is given up before it is made."""

    EXPIRED = "expired"
    CANCELLED = "cancelled"


class EndOrder(Contract):
    """Gives a call up: its time ran out, or somebody wants it no longer."""

    dispatch_id: Uuid
    cause: EndCause
    by: Text160 | None = None
    reason: Text500 | None = None
    commit_key: CommitKey | None = None
    at: UtcTime | None = None


class RecheckOrder(Contract):
    """Looks again whether a call that waits may pass now."""

    dispatch_id: Uuid
    at: UtcTime


class CallOrder(Contract):
    """Makes one attempt. Whoever makes it looks again whether it is still allowed."""

    dispatch_id: Uuid
    attempt: int = Field(ge=1)
    auth_profile_id: Text120 | None = None
    at: UtcTime | None = Field(default=None, description="When the workflow asked for it, by its own clock.")


class InspectOrder(Contract):
    """Asks what became of an attempt that was not heard of again; after that nobody can make it any more."""

    dispatch_id: Uuid
    attempt: int = Field(ge=1)
    cancelled: EndOrder | None = Field(default=None, description="It was given up meanwhile.")
    at: UtcTime


class CallEnd(Contract):
    """What came of an attempt: the call as it stands, and when to try again if that may be."""

    standing: DispatchStanding
    again_after_ms: int | None = Field(default=None, ge=0)
    why: Text500 | None = None
    well_again: Text120 | None = Field(
        default=None, description="The server that this attempt found well again, after it was degraded."
    )


class NoticeOrder(Contract):
    """Tells the outside that a call waits."""

    dispatch_id: Uuid


class ReleaseOrder(Contract):
    """Has the workflows of calls that wait look again."""

    dispatch_ids: tuple[Uuid, ...]
