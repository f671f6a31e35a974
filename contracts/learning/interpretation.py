"""The meaning read out of a demonstration (DOC3 §0C.9; checkpoints by decision "Checkpoints")."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text80, Text160, Text240, Text600, UtcTime, Uuid, VersionedContract
from contracts.learning.dependencies import MAX_DEPENDENCIES, DeclaredDependency
from contracts.learning.parameters import MAX_PARAMETERS, SkillParameter
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
    """An effect the demonstration really had. A rehearsal must bring a file's about again; a page's it cannot."""

    kind: str = Field(pattern="^(file_exists|file_absent|page_shows|file_downloaded)$")
    path: Text240 = Field(
        description="Relative to the working folder; for page_shows the statement, for a download the name."
    )
    source_event_id: Uuid


REHEARSED_EFFECTS = frozenset({"file_exists", "file_absent"})
"""The kinds of effect that a rehearsal can bring about and see."""


MAX_OPTIONAL_STEPS = 12
"""More would be another task."""


class OptionalStep(Contract):
    """Something that only some demonstrations of the task showed: noted for review, and required of nobody."""

    label: Text160
    demonstrations: tuple[int, ...] = Field(
        min_length=1, max_length=20, description="Which ones showed it, counted from 1, in order."
    )
    of: int = Field(ge=2, description="How many demonstrations there were.")
    evidence_event_ids: tuple[Uuid, ...] = Field(default=(), max_length=50)


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
    parameters: tuple[SkillParameter, ...] = Field(default=(), max_length=MAX_PARAMETERS)
    optional_steps: tuple[OptionalStep, ...] = Field(
        default=(), max_length=MAX_OPTIONAL_STEPS, description="Shown in some demonstrations only."
    )
    dependencies: tuple[DeclaredDependency, ...] = Field(
        default=(), max_length=MAX_DEPENDENCIES, description="The documents that a person said it rests on."
    )
    confidences: tuple[FieldConfidence, ...] = ()
    user_confirmed: bool = False
    written_by: Text80 = Field(default="deterministic", description="Which drafter wrote it.")
    created_at: UtcTime
