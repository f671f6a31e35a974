"""Invocations of skills: request, status, outcome, record (skills_interface.md; CH-03, AI-20…AI-24, X-13, O-2)."""

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StrictBool, model_validator

from contracts.base import (
    Contract,
    Sha256,
    Text80,
    Text120,
    Text200,
    Text240,
    Text500,
    Text1000,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.learning.observation import ToolEffect
from contracts.platform.commands import Command
from contracts.platform.lists import Page
from contracts.skills.errors import SkillError
from contracts.skills.learned import SkillLane
from contracts.skills.manifest import SafetyLevel

MAX_INPUT_BYTES = 262_144
"""The most that an input may take as JSON: 256 KiB (O-9)."""

MAX_OUTPUT_BYTES = 1_048_576
"""The most that a handler may answer: 1 MiB as JSON (AM-26)."""

MAX_CONTEXT_BYTES = 65_536
"""The most that the call context of a caller may take as JSON: 64 KiB (O-22)."""


class InvocationStatus(StrEnum):
    """How an invocation stands."""

    QUEUED = "queued"
    RUNNING = "running"
    AWAITING_CONFIRMATION = "awaiting_confirmation"
    SUCCESS = "success"
    PARTIAL = "partial"
    FAILURE = "failure"
    OUTCOME_UNKNOWN = "outcome_unknown"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


OPEN_INVOCATION_STATUSES = frozenset(
    {InvocationStatus.QUEUED, InvocationStatus.RUNNING, InvocationStatus.AWAITING_CONFIRMATION}
)


class CallContext(Contract):
    """The call that an invocation belongs to, as its caller says (AM-22, O-22): data, never trusted."""

    id: Text200 | None = None
    caller_id: Text200 | None = Field(default=None, alias="callerId")
    transcript: str | None = Field(default=None, max_length=60_000)

    @model_validator(mode="after")
    def _is_not_too_long(self) -> Self:
        taken = len(self.model_dump_json(by_alias=True, exclude_none=True).encode())
        if taken > MAX_CONTEXT_BYTES:
            raise ValueError(f"the call takes {taken} bytes as JSON, at most {MAX_CONTEXT_BYTES} are taken")
        return self


class InvocationContext(Contract):
    """What an invocation is made for."""

    agent_id: Text120 | None = None
    call: CallContext | None = None
    life_areas: tuple[Text80, ...] = Field(default=(), max_length=20)
    goal_id: Text120 | None = None
    learn_session_id: Uuid | None = None


class NormalisedCall(Contract):
    """What a call is about, as policy judges it: attached before any check (AI-10)."""

    skill_id: Text80 = Field(description="The function's name.")
    input_schema_id: Text200
    output_schema_id: Text200
    effect: ToolEffect = Field(description="Of this call, by its input.")
    safety_level: SafetyLevel
    side_effect_tags: tuple[Text80, ...] = ()
    life_areas: tuple[Text80, ...] = Field(default=(), description="The skill's, then those of the caller.")
    tool_id: Text120 | None = Field(default=None, description="The tool that was chosen (AI-17).")


class InvokeSkillRequest(Command):
    """Asks for one invocation.

    ``confirmed`` counts from a caller with the scope ``approve`` alone (X-2). ``dry_run`` asks the gate, runs nothing.
    ``unapproved`` tries out a folder that nobody has approved: for the scope ``admin`` alone, without any permission
    and in the strictest sandbox (O-3).
    """

    input: dict[str, Any] = Field(default_factory=dict)
    version: Annotated[str, Field(max_length=80)] | None = None
    context: InvocationContext | None = None
    confirmed: StrictBool = False
    dry_run: StrictBool = False
    unapproved: StrictBool = False


class ObservedEffectState(StrEnum):
    """What became of an effect that a skill declares (AI-24)."""

    SATISFIED = "satisfied"
    PARTIAL = "partial"
    FAILED = "failed"


class EffectOutcome(Contract):
    """One declared effect, and whether it came about."""

    name: Text120
    state: ObservedEffectState


class Observables(Contract):
    """What an invocation lets others see: events, measures, hints for the world model (AI-23)."""

    events: tuple[dict[str, Any], ...] = ()
    metrics: dict[str, float] = Field(default_factory=dict)
    hints: tuple[dict[str, Any], ...] = ()
    effects: tuple[EffectOutcome, ...] = ()


class ObservabilityRecord(Contract):
    """The nine fields of 002 L710-726. Hashes are SHA-256 over canonical JSON."""

    skill_name: Text80
    agent_id: Text120 | None = None
    timestamp: UtcTime
    input_hash: Sha256
    output_hash: Sha256 | None = None
    duration_ms: int = Field(ge=0)
    error_code: Text80 | None = None
    retry_count: int = Field(default=0, ge=0)
    success: bool


class SkillOutcome(Contract):
    """What came of a run: status, the documents' own outputs, words for people, and what went wrong."""

    status: Literal[
        InvocationStatus.SUCCESS,
        InvocationStatus.PARTIAL,
        InvocationStatus.FAILURE,
        InvocationStatus.OUTCOME_UNKNOWN,
        InvocationStatus.CANCELLED,
        InvocationStatus.EXPIRED,
    ]
    outputs: dict[str, Any] | None = None
    message: Text1000 | None = None
    error: SkillError | None = None
    warnings: tuple[Text240, ...] = ()
    observables: Observables = Field(default_factory=Observables)


class Isolation(Contract):
    """What kept a run apart, as achieved (X-36)."""

    namespaces: bool
    landlock: bool
    seccomp: bool
    missing: tuple[Text240, ...] = ()


class InvocationAttempt(Contract):
    """One attempt: when it began, and how it ended."""

    number: int = Field(ge=1)
    started_at: UtcTime
    ended_at: UtcTime | None = None
    error_code: Text80 | None = None
    isolation: Isolation | None = None


class InvocationView(VersionedContract):
    """An invocation as it stands."""

    invocation_id: Uuid
    skill: Text80
    function_name: Text80
    version: Text80
    status: InvocationStatus
    requires_confirmation: bool = False
    confirmation_prompt: Text500 | None = None
    expires_at: UtcTime | None = None
    due_at: UtcTime | None = Field(default=None, description="While it waits for its time: when it goes on.")
    outputs: dict[str, Any] | None = None
    message: Text1000 | None = None
    error: SkillError | None = None
    warnings: tuple[Text240, ...] = ()
    observables: Observables = Field(default_factory=Observables)
    attempts: tuple[InvocationAttempt, ...] = ()
    cached: bool = False
    dry_run: bool = False
    lane: SkillLane = Field(
        default=SkillLane.SKILL,
        description="Whether a skill is run, what nobody approved, or a script of a learned ability.",
    )
    facts: NormalisedCall | None = None
    record: ObservabilityRecord | None = None
    workflow_id: Text200 | None = None
    created_at: UtcTime
    updated_at: UtcTime
    next_action: Text240 | None = None


class InvocationListResponse(Page):
    """Invocations, newest first."""

    invocations: tuple[InvocationView, ...]


class ConfirmInvocationRequest(Command):
    """Lets a paused invocation pass, or refuses it."""

    approve: StrictBool = True
    reason: Text240 | None = None


class CancelInvocationRequest(Command):
    """Gives an invocation up."""

    reason: Text240 | None = None
