"""The meaning read out of a demonstration (DOC3 §0C.9; checkpoints by decision "Checkpoints")."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text80, Text160, Text240, Text600, UtcTime, Uuid, VersionedContract
from contracts.learning.questions import QuestionField


class ProjectScope(StrEnum):
    """Where the ability applies."""

    GLOBAL = "global"
    PROJECT_SCOPED = "project_scoped"
    UNCLEAR = "unclear"


class Checkpoint(Contract):
    """A state worth verifying on the way, never an action to repeat."""

    checkpoint_id: str = Field(pattern=r"^cp-\d{2,3}$")
    goal: Text240
    success_condition: Text240
    order_hint: int = Field(ge=0)


class FieldConfidence(Contract):
    """How sure the interpretation is of one field, and which events it rests on."""

    field: QuestionField
    confidence: float = Field(ge=0, le=1)
    confirmed: bool = False
    evidence_event_ids: tuple[Uuid, ...] = Field(default=(), max_length=50)


class ObservedEffect(Contract):
    """An effect the demonstration really had, which a rehearsal must bring about again."""

    kind: str = Field(pattern="^(file_exists|file_absent)$")
    path: Text240 = Field(description="Relative to the working folder.")
    source_event_id: Uuid


class SemanticWorkflowInterpretation(VersionedContract):
    """Goal, conditions and success of what was shown. A review artefact, never an execution plan (§0C.9A)."""

    interpretation_id: Uuid
    learn_session_id: Uuid
    proposal_id: Uuid | None = None
    title: Text160
    goal_summary: Text600
    use_conditions: tuple[Text240, ...] = ()
    non_use_conditions: tuple[Text240, ...] = ()
    project_scope: ProjectScope
    preferred_control_surfaces: tuple[Text80, ...] = ()
    success_conditions: tuple[Text240, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    observed_effects: tuple[ObservedEffect, ...] = ()
    confidences: tuple[FieldConfidence, ...] = ()
    user_confirmed: bool = False
    written_by: Text80 = Field(default="deterministic", description="Which drafter wrote it.")
    created_at: UtcTime
