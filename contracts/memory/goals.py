"""Goals: suggested by skills, taken up by people, moved by what comes of invocations (003 L96, L206; O-13)."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from contracts.base import Contract, Text80, Text120, Text240, Text1000, UtcTime, Uuid, VersionedContract
from contracts.platform.commands import Command
from contracts.platform.lists import Page

Title = Annotated[str, StringConstraints(min_length=1, max_length=240)]

MOST_OUTCOMES = 100
"""How many outcomes a goal keeps: the newest."""


class GoalState(StrEnum):
    """How a goal stands. A candidate is a suggestion, and nothing is done for it until a person takes it up."""

    CANDIDATE = "candidate"
    ACTIVE = "active"
    PROGRESSED = "progressed"
    COMPLETED = "completed"
    DROPPED = "dropped"


class GoalOutcome(Contract):
    """What came of an invocation that was made for a goal."""

    invocation_id: Uuid
    skill_id: Text80
    status: Text80
    satisfied: tuple[Text120, ...] = ()
    at: UtcTime


class Goal(VersionedContract):
    """A goal. ``done_when`` names the effects that complete it; without it only a person does.

    ``needs_adjustment`` says that the last invocation for it failed or did a part.
    """

    goal_id: Uuid
    owner_user_id: Text120
    title: Title
    reason: Text1000
    state: GoalState
    derived_from: tuple[Uuid, ...] = Field(
        default=(), max_length=100, description="The events it comes from."
    )
    due: UtcTime | None = None
    done_when: tuple[Text120, ...] = Field(default=(), max_length=20)
    needs_adjustment: bool = False
    outcomes: tuple[GoalOutcome, ...] = Field(default=(), max_length=MOST_OUTCOMES)
    note: Text240 | None = Field(default=None, description="What a person said when they moved it.")
    created_at: UtcTime
    updated_at: UtcTime


class ProposeGoal(Contract):
    """Suggests a goal, with its reason and the events that it comes from."""

    title: Title
    reason: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    event_ids: tuple[Uuid, ...] = Field(min_length=1, max_length=100)
    due: UtcTime | None = None
    done_when: tuple[Text120, ...] = Field(default=(), max_length=20)


class MoveGoalRequest(Command):
    """A person takes a goal up, completes or drops it."""

    state: GoalState
    note: Text240 | None = None


class GoalListResponse(Page):
    """Goals, the latest changed first."""

    goals: tuple[Goal, ...]
