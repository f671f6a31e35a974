"""The stored record of an invocation, and the orders between its workflow, activities and store.

No order holds an input, an output or a secret: those are kept in blobs, under their digest.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from contracts.base import (
    Contract,
    Sha256,
    Text80,
    Text120,
    Text200,
    Text240,
    Text500,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.learning.observation import ToolEffect
from contracts.platform.commands import CommitKey
from contracts.skills.catalog import SkillRoot
from contracts.skills.invocation import (
    InvocationAttempt,
    InvocationContext,
    InvocationStatus,
    InvocationView,
    NormalisedCall,
    ObservabilityRecord,
)
from contracts.skills.learned import LearnedAbility
from contracts.skills.manifest import SkillManifest


class InvocationOrder(Contract):
    """One invocation as the gate let it in."""

    invocation_id: Uuid
    correlation_id: Text200
    owner_user_id: Text120
    token_id: Uuid
    skill: Text80
    function_name: Text80
    version: Text80
    root: SkillRoot
    digest: Sha256 = Field(description="Of the folder that is run; a changed one is not.")
    input_digest: Sha256 = Field(description="Of the normalised input, a blob; the record's `input_hash`.")
    context: InvocationContext | None = None
    effect: ToolEffect
    tool_id: Text120 | None = Field(
        default=None, description="The tool that was chosen (AI-17); the manifest's first in older orders."
    )
    facts: NormalisedCall | None = Field(default=None, description="None in older orders.")
    confirmation_prompt: Text500 | None = None
    asks: bool = Field(default=False, description="A person has to confirm it before it is run.")
    cache_key: Sha256 | None = None
    request_digest: Sha256 | None = Field(default=None, description="Of the request, where it had a key.")
    dry_run: bool = False
    learned: LearnedAbility | None = Field(
        default=None, description="The ability whose script is run; none where a skill is (X-35)."
    )
    unapproved_path: Annotated[str, Field(max_length=1000)] | None = Field(
        default=None,
        description="Where the folder lies that nobody has approved; none where a skill is run (O-3).",
    )
    recheck: bool = Field(
        default=False, description="Asked by the schedule, to see whether a skill that failed works again."
    )
    warnings: tuple[Text240, ...] = Field(
        default=(), description="Of the version that was chosen; every answer says them (CH-66)."
    )
    created_at: UtcTime

    @property
    def watched(self) -> bool:
        """Whether its caller named a learning session that is to be shown what came of it."""
        return self.context is not None and self.context.learn_session_id is not None

    @property
    def skill_key(self) -> str:
        """The key in the catalog of the folder that is run, as ``SkillRecord.key``."""
        return f"{self.root.value}/{self.skill}@{self.version}"


class ConfirmationAnswer(Contract):
    """Who confirmed or refused, when and why."""

    approved: bool
    by: Text120
    at: UtcTime
    reason: Text240 | None = None


class InvocationRecord(VersionedContract):
    """An invocation and all that became of it. ``manifest`` is the one it began with (X-4)."""

    order: InvocationOrder
    manifest: SkillManifest
    status: InvocationStatus
    expires_at: UtcTime | None = Field(default=None, description="While it waits for a person.")
    confirmation: ConfirmationAnswer | None = None
    attempts: tuple[InvocationAttempt, ...] = ()
    checked: bool = Field(default=False, description="The handler's own check has let it pass (O-7).")
    awaits_until: UtcTime | None = Field(
        default=None, description="While its question waits for an answer: until when."
    )
    due_at: UtcTime | None = Field(default=None, description="While it waits for its time: when that is.")
    outcome_digest: Sha256 | None = Field(default=None, description="Of the outcome, a blob.")
    error_code: Text80 | None = None
    cached_from: Uuid | None = None
    warnings: tuple[Text240, ...] = ()
    record: ObservabilityRecord | None = None
    updated_at: UtcTime
    completed_at: UtcTime | None = None

    @property
    def invocation_id(self) -> str:
        """Its id."""
        return self.order.invocation_id

    @property
    def owner(self) -> str:
        """The user it belongs to."""
        return self.order.owner_user_id


class InvocationStanding(Contract):
    """How an invocation stands, as far as its workflow has to know."""

    invocation_id: Uuid
    status: InvocationStatus
    version: int = Field(ge=1)
    attempts: int = Field(default=0, ge=0)
    timeout_ms: int
    asks: bool = Field(default=False, description="A person has to confirm it, and has not yet.")
    has_check: bool = False
    confirmation: ConfirmationAnswer | None = None
    expires_at: UtcTime | None = None
    awaits_until: UtcTime | None = Field(
        default=None, description="While its question waits for an answer, or it waits for its time."
    )
    error_code: Text80 | None = None
    since: UtcTime


class InvocationStart(Contract):
    """Opens the workflow of an invocation; what it takes and gives stays in the store."""

    invocation_id: Uuid
    owner_user_id: Text120
    skill: Text80
    version: Text80
    console_url: Text500 | None = None


class InvocationEnd(Contract):
    """The workflow closed."""

    status: InvocationStatus
    attempts: int


class ConfirmOrder(Contract):
    """An answer about an invocation that waits."""

    invocation_id: Uuid
    commit_key: CommitKey
    approve: bool
    by: Text120
    reason: Text240 | None = None
    at: UtcTime | None = None


class Confirmed(Contract):
    """An answer that was taken."""

    standing: InvocationStanding
    answer: ConfirmationAnswer
    view: InvocationView = Field(description="How the invocation stood then, before anything was run.")


class GiveUpCause(StrEnum):
    """Why an invocation is given up."""

    CANCELLED = "cancelled"
    EXPIRED = "expired"


class GiveUpOrder(Contract):
    """Gives an invocation up; one that was sent may have had its effect."""

    invocation_id: Uuid
    cause: GiveUpCause
    by: Text120 | None = None
    reason: Text240 | None = None
    at: UtcTime | None = None


class AttemptOrder(Contract):
    """Makes one attempt."""

    invocation_id: Uuid
    attempt: int = Field(ge=1)
    at: UtcTime


class AskOrder(Contract):
    """Has the invocation wait for a person, after its check."""

    invocation_id: Uuid
    at: UtcTime


class InspectAttempt(Contract):
    """Asks what became of an attempt that was not heard of; from now on it can no longer begin."""

    invocation_id: Uuid
    attempt: int = Field(ge=1)
    given_up: GiveUpOrder | None = None
    at: UtcTime


class AttemptEnd(Contract):
    """What an attempt left: the standing, and how long to wait before the next."""

    standing: InvocationStanding
    again_after_ms: int | None = Field(default=None, ge=0)
