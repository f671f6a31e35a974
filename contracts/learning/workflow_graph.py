"""The shared workflow graph: a review artefact, never executed or shown to an agent (DOC3 §0A.15, §0C.9A)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Text120, Text200, Text240, Text800, VersionedContract
from contracts.capabilities.control_surface import ControlSurface


class WorkflowStepType(StrEnum):
    """Ten kinds of step."""

    ACTION = "action"
    GUARD = "guard"
    BRANCH = "branch"
    DECISION = "decision"
    REASONING = "reasoning"
    VERIFICATION = "verification"
    FALLBACK = "fallback"
    SUBWORKFLOW = "subworkflow"
    LOOP = "loop"
    ASK_USER = "ask_user"


class WorkflowStep(VersionedContract):
    """One node."""

    step_id: Text120
    step_type: WorkflowStepType
    label: Text240
    description: Text800 | None = None
    preferred_surfaces: tuple[ControlSurface, ...] = ()
    next_step_ids: tuple[Text120, ...] = ()
    verification_rule_ref: Text240 | None = None


class WorkflowGraph(VersionedContract):
    """What was demonstrated, as a graph for reviewers."""

    workflow_id: Text120
    title: Text200
    entry_step_id: Text120
    steps: tuple[WorkflowStep, ...] = Field(min_length=1)
