"""Messages of the dispatch workflow and its activities, and the stored record of a call.

No message holds an argument, an answer or a secret.
"""

from enum import StrEnum

from pydantic import Field

from contracts.abilities.capability_health import IdentityKind
from contracts.base import (
    Contract,
    Sha256,
    Text80,
    Text120,
    Text160,
    Text240,
    Text500,
    Text1000,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.learning.observation import ToolEffect
from contracts.mcp.dispatch import (
    AskFirstDecision,
    AskFirstStatus,
    DispatchCaller,
    DispatchStatus,
    MCPAskFirstDecisionResponse,
    MCPAskFirstDispatchRecord,
)
from contracts.mcp.m365 import M365Asked
from contracts.mcp.policy import MCPPolicyVerdict
from contracts.mcp.provider import MCPProvider
from contracts.platform.commands import CommitKey

MAX_ARGUMENTS_BYTES = 262_144
"""The most that a call's arguments may take as JSON: 256 KiB."""


class DispatchOrder(Contract):
    """One call as it was asked for. Its arguments are kept apart, under their digest."""

    dispatch_id: Uuid
    correlation_id: Uuid
    caller: DispatchCaller
    server_id: Text120
    tool_name: Text120
    arguments_digest: Sha256
    arguments_kept: Sha256 | None = Field(
        default=None,
        description="Where they are kept, for this call alone, as they hold a secret; else under the digest.",
    )
    argument_names: tuple[Text80, ...] = Field(default=(), max_length=50)
    request_summary: Text500 = Field(description="Names what is asked, and no value.")
    request_digest: Sha256 | None = Field(default=None, description="Of the request, where it had a key.")
    project_id: Text160 | None = None
    data_class: Text80 | None = None
    learn_session_id: Uuid | None = None
    ability_id: Text160 | None = None
    m365: M365Asked | None = Field(default=None, description="Of a typed operation: which one it is.")
    timeout_ms: int = Field(ge=1_000, le=120_000)
    created_at: UtcTime


class DispatchRecord(VersionedContract):
    """A call and all that was decided about it."""

    order: DispatchOrder
    status: DispatchStatus
    arguments_digest: Sha256 = Field(description="Of what is sent; another than asked when it was edited.")
    arguments_kept: Sha256 | None = Field(
        default=None,
        description="Where they are kept, as they hold a secret: for this call alone, masked once it has ended.",
    )
    provider: MCPProvider | None = None
    auth_profile_id: Text120 | None = None
    effect: ToolEffect | None = None
    definition_hash: Sha256 | None = Field(default=None, description="Of the tool when it was judged.")
    verdict: MCPPolicyVerdict | None = None
    ask_first: MCPAskFirstDispatchRecord | None = None
    attempts: int = Field(default=0, ge=0)
    is_error: bool | None = None
    result_digest: Sha256 | None = None
    error_code: Text80 | None = None
    error_message: Text1000 | None = None
    next_action: Text240 | None = None
    held_since: UtcTime | None = Field(
        default=None, description="Since when its server's pause keeps it from being sent."
    )
    waits_until: UtcTime | None = Field(default=None, description="When it is tried again, by itself.")
    started_at: UtcTime | None = Field(default=None, description="When it was first sent.")
    updated_at: UtcTime
    completed_at: UtcTime | None = None
    identity_asserted_kind: IdentityKind | None = Field(
        default=None, description="Whose permission it was made with, once it was sent."
    )
    identity_asserted_ref: Text240 | None = Field(
        default=None, description="The sign-in, or the user where there is none."
    )
    receipt_id: Uuid | None = Field(default=None, description="The receipt of how it ended.")

    @property
    def dispatch_id(self) -> str:
        """Its id."""
        return self.order.dispatch_id

    @property
    def owner(self) -> str:
        """The user it belongs to."""
        return self.order.caller.user_id

    @property
    def answer_is_newest(self) -> bool:
        """Whether it was let pass and nothing has come of that yet: its workflow may not know."""
        asked = self.ask_first
        running = self.status is DispatchStatus.RUNNING
        return running and asked is not None and asked.decided_at == self.updated_at


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
    kept: Sha256 | None = Field(
        default=None,
        description="Where they are kept, for this call alone, as they hold a secret; else under the digest.",
    )
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
    """Gives a call up: it expired or was cancelled."""

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
    """Makes one attempt, which checks again whether it is still allowed."""

    dispatch_id: Uuid
    attempt: int = Field(ge=1)
    auth_profile_id: Text120 | None = None
    at: UtcTime | None = Field(default=None, description="When the workflow asked for it, by its own clock.")


class InspectOrder(Contract):
    """Asks what became of an attempt that was not heard of again; after that it cannot be made any more."""

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
    """Notifies the approval webhook that a call waits."""

    dispatch_id: Uuid


class ReleaseOrder(Contract):
    """Has the workflows of calls that wait look again."""

    dispatch_ids: tuple[Uuid, ...]


class StopCallsOrder(Contract):
    """Gives up an ability's calls, as far as they were asked for until ``until``."""

    ability_id: Text160
    by: Text160
    reason: Text500
    until: UtcTime
