"""Plan of a goal over several control surfaces, the most semantic first, and the trace of its execution.

DOC3 §1.1E, §1.1Q (plan) and §1.1F (trace).
"""

from enum import StrEnum

from pydantic import Field

from contracts.abilities.control_surface import ControlSurface
from contracts.base import (
    Contract,
    Text80,
    Text120,
    Text160,
    Text200,
    Text240,
    Text500,
    UtcTime,
    Uuid,
    VersionedContract,
)


class SupervisionClass(StrEnum):
    """When a person has to confirm a step."""

    NONE = "none"
    CONFIRM_CRITICAL = "confirm_critical"
    ALWAYS_CONFIRM = "always_confirm"


class HybridActionPlanStep(Contract):
    """One step: where to read, act and verify, and what to fall back to."""

    step_id: Text120
    purpose: Text240
    read_surface: ControlSurface | None = None
    act_surface: ControlSurface
    verify_surface: ControlSurface
    fallback_surfaces: tuple[ControlSurface, ...] = ()
    supervision_class: SupervisionClass = SupervisionClass.NONE


class HybridActionPlan(VersionedContract):
    """The steps to a goal."""

    capability_id: Text160
    goal: Text500
    steps: tuple[HybridActionPlanStep, ...] = Field(min_length=1)


class TracedStep(Contract):
    """One step as it was carried out on one surface."""

    step_id: Text80
    action_label: Text240
    surface: Text80
    state_before_ref: Text240 | None = None
    state_after_ref: Text240 | None = None
    success: bool


class VerificationOutcome(Contract):
    """What looking at the effect showed."""

    kind: Text80
    passed: bool
    detail: Text500 | None = None


class CapabilityExecutionTrace(VersionedContract):
    """What was done, on which surfaces, and whether it was seen to work."""

    trace_id: Uuid
    capability_id: Text160
    app_id: Text80
    goal: Text500
    session_key: Text200 | None = None
    room_id: Text200 | None = None
    agent_id: Text160 | None = None
    surfaces_attempted: tuple[Text80, ...] = Field(min_length=1)
    steps: tuple[TracedStep, ...] = Field(min_length=1)
    verification_results: tuple[VerificationOutcome, ...] = ()
    fallback_used: bool = False
    user_takeover: bool = False
    success: bool
    failure_fingerprint: Text160 | None = None
    elapsed_ms: int = Field(ge=0)
    created_at: UtcTime
