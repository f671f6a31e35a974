"""Goals in the store: suggested once, moved by people and by what comes of invocations (AI-25, AI-39)."""

from datetime import datetime

from sqlalchemy import Column, Connection, Index, Table, Text, UniqueConstraint, select
from uuid_utils import uuid7

from contracts.errors import ErrorCode, Refusal
from contracts.memory.goals import Goal, GoalOutcome, GoalState, ProposeGoal
from contracts.memory.memory import MemoryKind
from domain.memory.facts import key_of
from domain.memory.goals import after_outcome, may_become
from stores.memory.items import MemoryRefused
from stores.memory.memory_tables import memory_items
from stores.platform.database import Database, PageRequest
from stores.platform.document_table import DocumentPage, DocumentTable
from stores.platform.tables import metadata

goals = Table(
    "memory_goals",
    metadata,
    Column("goal_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("body", Text, nullable=False),
    UniqueConstraint("owner", "key", name="suggested_once"),
    Index("memory_goals_by_owner", "owner", "at", "goal_id"),
)

GOALS = DocumentTable(
    goals,
    Goal,
    lambda one: {"key": key_of(one.title)},
    fields={"at": "updated_at"},
    code=ErrorCode.NOT_FOUND,
    message="There is no such goal of yours; list them: GET /api/memory/goals.",
    fixed=("owner", "key"),
)


def note_outcome(connection: Connection, goal_id: str, owner: str, outcome: GoalOutcome) -> None:
    """Has a goal take what came of an invocation; a goal that is not the owner's is left alone."""
    goal = GOALS.find(connection, goal_id, owner=owner, lock=True)
    if goal is not None:
        GOALS.replace(connection, after_outcome(goal, outcome))


class Goals:
    """The goals of all users. Safe to share between threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def propose(self, asked: ProposeGoal, owner: str, now: datetime) -> tuple[Goal, bool]:
        """Suggests a goal, and says whether it is new; of one title there is one, also when a person has dropped it.

        Raises:
            MemoryRefused: ``EVENT_NOT_FOUND`` where it names an event that is not the owner's.
        """
        goal = Goal(
            goal_id=str(uuid7()),
            owner_user_id=owner,
            title=asked.title,
            reason=asked.reason,
            state=GoalState.CANDIDATE,
            derived_from=tuple(dict.fromkeys(asked.event_ids)),
            due=asked.due,
            done_when=asked.done_when,
            created_at=now,
            updated_at=now,
        )
        with self._database.write() as connection:
            known = set(
                connection.scalars(
                    select(memory_items.c.item_id).where(
                        memory_items.c.owner == owner,
                        memory_items.c.kind == MemoryKind.EVENT.value,
                        memory_items.c.item_id.in_(goal.derived_from),
                    )
                )
            )
            if known != set(goal.derived_from):
                raise MemoryRefused("EVENT_NOT_FOUND", "An event that the goal is derived from is not there.")
            if GOALS.add_if_absent(connection, goal):
                return goal, True
            kept = GOALS.first(connection, goals.c.owner == owner, goals.c.key == key_of(goal.title))
            assert kept is not None, "what could not be added is there"
            return kept, False

    def move(self, goal_id: str, owner: str, state: GoalState, note: str | None, now: datetime) -> Goal:
        """Moves a goal as a person says.

        Raises:
            Refusal: ``NOT_FOUND``, ``CONFLICT`` where it may not become that.
        """
        with self._database.write() as connection:
            goal = GOALS.owned(connection, goal_id, owner, lock=True)
            if not may_become(goal, state):
                raise Refusal(
                    ErrorCode.CONFLICT,
                    f"A goal that is {goal.state.value} does not become {state.value}.",
                    current_state=goal.state.value,
                )
            moved = goal.changed(state=state, note=note, updated_at=now)
            GOALS.replace(connection, moved)
            return moved

    def page(self, owner: str, state: GoalState | None, wanted: PageRequest) -> DocumentPage[Goal]:
        """Goals, the latest changed first."""
        where = [goals.c.owner == owner]
        if state is not None:
            where.append(goals.c.state == state.value)
        with self._database.read() as connection:
            return GOALS.page(connection, wanted, *where, order_by=(goals.c.at.desc(), goals.c.goal_id))
