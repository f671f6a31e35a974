"""What a language model may suggest in practice, and how it is asked (DOC3 §0A.7).

A suggestion is commands and nothing else: what it is worth, whether it may run and whether it worked is decided
by the rules, the person's list and the real effects.
"""

from typing import Annotated

from pydantic import Field, StringConstraints

from contracts.base import Contract, Text80, Text240
from contracts.learning.practice import PracticeRef

MOST_PLANS = 3
"""The most plans that a model may suggest at once."""

MOST_PLAN_COMMANDS = 5
"""The most commands of a plan: as many as the search looks for."""

PlannedCommand = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=400)]


class PracticePlan(Contract):
    """Commands that could reach the goal, in the order they are to be run in."""

    commands: Annotated[tuple[PlannedCommand, ...], Field(min_length=1, max_length=MOST_PLAN_COMMANDS)]


class PracticePlans(Contract):
    """A model's answer: plans to try, the likeliest first."""

    plans: Annotated[tuple[PracticePlan, ...], Field(min_length=1, max_length=MOST_PLANS)]


class PracticeQuestion(Contract):
    """Asks a model what could be tried next."""

    ref: PracticeRef
    seconds_left: float = Field(gt=0, description="Of the practice: no answer is waited for longer.")


class PracticeThoughts(Contract):
    """What came of asking: plans within bounds, or none, and ``note`` says why."""

    model: Text80
    plans: tuple[PracticePlan, ...] = Field(default=(), max_length=MOST_PLANS)
    note: Text240 = ""


class IdeaWanted(Contract):
    """Asks for the next idea; ``thoughts`` where a model was asked before."""

    ref: PracticeRef
    thoughts: PracticeThoughts | None = None
