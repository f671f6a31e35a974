"""Interpretation of a demonstration: fields with confidences, parameters, checkpoints, documents, workflow graph.

DOC3 §0C.9 (interpretation), §0A.14 (parameters), §0A.15, §0C.9A (graph: for review, never executed nor shown to an
agent), §0A.25, §0C.10A (documents); checkpoints by decision "Checkpoints".
"""

from enum import StrEnum

from pydantic import Field

from contracts.abilities.control_surface import ControlSurface
from contracts.abilities.parameters import ParameterType
from contracts.base import (
    Contract,
    Text80,
    Text120,
    Text160,
    Text200,
    Text240,
    Text400,
    Text600,
    Text800,
    Text2000,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.learning.questions import QuestionField

MAX_PARAMETERS = 12
"""More would be a form to fill in rather than a skill."""


class SkillParameter(Contract):
    """One value of the task that may be another next time, everywhere in the same way.

    With several demonstrations it is what differed between them; with one, what the goal or the form of the value
    (an input file, a date, a setting) shows to be a choice.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    type: ParameterType
    description: Text240
    examples: tuple[str, ...] = Field(
        min_length=1,
        max_length=20,
        description="Its value in each demonstration, in their order; empty where it was left out. The first is the "
        "default where nothing else is given.",
    )
    required: bool = Field(default=True, description="False where a demonstration went without it.")


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


MAX_DEPENDENCIES = 20
"""The most documents that one skill may be said to rest on."""


class DependencyKind(StrEnum):
    """What a proposal can rest on."""

    SUPPORT_PACK = "support_pack"
    APP_MANUAL = "app_manual"
    EXISTING_SKILL = "existing_skill"
    CAPABILITY_MANIFEST = "capability_manifest"
    TEST_ARTIFACT = "test_artifact"


class DeclaredDependency(Contract):
    """A document that a person said the skill rests on; nothing looks whether it is there."""

    dependency_kind: DependencyKind
    dependency_ref: Text200 = Field(description="Its name, path or address; never a secret.")
    required: bool = True


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
    """Something that only some demonstrations of the task showed: noted for review, and not required."""

    label: Text160
    demonstrations: tuple[int, ...] = Field(
        min_length=1, max_length=20, description="Which ones showed it, counted from 1, in order."
    )
    of: int = Field(ge=2, description="How many demonstrations there were.")
    evidence_event_ids: tuple[Uuid, ...] = Field(default=(), max_length=50)


MAX_UNSEEN_INPUTS = 20
"""The most commands of one lesson whose input was not seen."""


class UnseenInput(Contract):
    """What a person did in a program whose input was not seen, tied to what it changed."""

    program: Text80
    command: Text400 = Field(description="As it was shown, secrets masked.")
    change: Text400 = Field(description="What it changed, in words: “changed shop.db”.")
    said: Text2000 | None = Field(
        default=None,
        description="What the person says that was done in it, secrets masked; absent where it is not known.",
    )
    evidence_event_ids: tuple[Uuid, ...] = Field(default=(), max_length=50)


class SemanticWorkflowInterpretation(VersionedContract):
    """Goal, conditions and success of what was shown. A review artefact, never an execution plan (§0C.9A)."""

    interpretation_id: Uuid
    learn_session_id: Uuid | None = Field(default=None, description="Absent for an imported skill.")
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
    unseen_inputs: tuple[UnseenInput, ...] = Field(
        default=(),
        max_length=MAX_UNSEEN_INPUTS,
        description="Work in programs whose input was not seen, with what the person says of it.",
    )
    dependencies: tuple[DeclaredDependency, ...] = Field(
        default=(), max_length=MAX_DEPENDENCIES, description="The documents that a person said it rests on."
    )
    confidences: tuple[FieldConfidence, ...] = ()
    user_confirmed: bool = False
    written_by: Text80 = Field(default="deterministic", description="Which drafter wrote it.")
    created_at: UtcTime
