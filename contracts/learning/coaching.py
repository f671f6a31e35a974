"""What a coach gives an agent before it works: goal, hints and constraints (DOC3 §0C.4 "Coaching Agent")."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from contracts.base import Contract

Hint = Annotated[str, StringConstraints(min_length=1, max_length=240)]
KeptPath = Annotated[str, StringConstraints(max_length=120, pattern=r"^\w[\w.-]*(?:/\w[\w.-]*)*$")]


class HintKind(StrEnum):
    """What a hint is about."""

    USE_WHEN = "use_when"
    NOT_WHEN = "not_when"
    CHECKPOINT = "checkpoint"


class CoachingHint(Contract):
    """One hint. A checkpoint states an outcome on the way ("the total is filled in"), never an action."""

    kind: HintKind = HintKind.CHECKPOINT
    text: Hint


class CoachingConstraint(Contract):
    """Something that must not happen. What the agent did is checked against files and programs named here."""

    text: Hint
    kept_paths: tuple[KeptPath, ...] = Field(
        default=(), max_length=20, description="Files that stay as they are, relative to the working folder."
    )
    forbidden_programs: tuple[Annotated[str, StringConstraints(min_length=1, max_length=80)], ...] = Field(
        default=(), max_length=20, description="Programs, or names of tools, that are not used."
    )


class Coaching(Contract):
    """A coach's frame; the agent's own receipts fill in the steps."""

    goal: str = Field(min_length=1, max_length=400)
    hints: tuple[CoachingHint, ...] = Field(default=(), max_length=20)
    constraints: tuple[CoachingConstraint, ...] = Field(default=(), max_length=10)
