"""Clarification questions and answers (DOC3 §0C.10A)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Text200, Text400, Text2000, UtcTime, Uuid, VersionedContract

MAX_QUESTIONS = 5
"""The most questions asked about one proposal (DOC3 rows G0-13)."""

ASK_BELOW_CONFIDENCE = 0.6
"""A required field below this is asked about before building (decisions "Learning")."""


class QuestionField(StrEnum):
    """What can be asked about: fields of an ability, values that may be parameters, files that may be inputs, and what
    was typed in a program unseen."""

    NAME = "name"
    GOAL_SUMMARY = "goal_summary"
    USE_CONDITIONS = "use_conditions"
    NON_USE_CONDITIONS = "non_use_conditions"
    PROJECT_SCOPE = "project_scope"
    PREFERRED_SURFACE = "preferred_surface"
    PACKAGE_ASSIGNMENT = "package_assignment"
    SUCCESS_CONDITION = "success_condition"
    PARAMETER = "parameter"
    INPUT = "input"
    TYPED_INPUT = "typed_input"


class LearningQuestion(VersionedContract):
    """One question about an uncertain field, tied to the events that raised it."""

    question_id: Uuid
    proposal_id: Uuid
    field: QuestionField
    prompt: Text400
    about: Text200 | None = Field(
        default=None, description="The demonstrated value, the file or the command, of a question about one."
    )
    required: bool = True
    suggestion: Text400 | None = Field(
        default=None, description="The best inference, used if nobody answers."
    )
    evidence_event_ids: tuple[Uuid, ...] = Field(default=(), max_length=50)
    created_at: UtcTime


class LearningAnswer(VersionedContract):
    """A person's answer to one question."""

    question_id: Uuid
    proposal_id: Uuid
    answer: Text2000
    created_at: UtcTime
