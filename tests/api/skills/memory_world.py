"""A memory, a fact, check-ins and a question for the tests of all routes."""

from datetime import UTC, datetime, timedelta

from uuid_utils import uuid7

from contracts.inbox.items import SentItem, SentKind, SentState
from contracts.memory.check_ins import CheckIn, CheckInState
from contracts.memory.goals import ProposeGoal
from contracts.memory.memory import FactAssertion, MemoryItem, PerceptualEvent, Provenance
from stores.inbox.inbox import Inbox
from stores.memory.check_ins import CheckIns
from stores.memory.goals import Goals
from stores.memory.items import add_item
from stores.memory.memories import Memories
from stores.platform.database import Database

AHEAD = timedelta(days=30)


def add_memories(database: Database, owner: str) -> dict[str, str]:
    """Puts one of each on record; the ids that stand in paths."""
    now = datetime.now(UTC)
    source = Provenance(skill_id="store_memory_item", invocation_id=str(uuid7()), at=now)
    memory = MemoryItem(
        memory_id=str(uuid7()),
        owner_user_id=owner,
        text="Anna likes dark chocolate",
        source=source,
        happened_at=now,
        created_at=now,
    )
    Memories(database).store(memory, memory.memory_id)
    asserted = FactAssertion(subject="Anna", predicate="lives_in", object="Lisbon")
    Memories(database).assert_fact(asserted, owner, source)
    return {
        "goal_id": add_goal(database, owner),
        "memory_id": memory.memory_id,
        "check_in_id": add_check_in(database, owner),
        "inbox_item_id": add_question(database, owner),
    }


def add_goal(database: Database, owner: str) -> str:
    """Puts a suggested goal on record, with the event that it comes from."""
    now = datetime.now(UTC)
    event = PerceptualEvent(
        event_id=str(uuid7()),
        owner_user_id=owner,
        kind="skill.failure",
        skill_id="fetch_trends",
        invocation_id=str(uuid7()),
        summary="fetch trends failed",
        at=now,
    )
    with database.write() as connection:
        add_item(connection, event, event.event_id)
    asked = ProposeGoal(title=f"Look at {event.event_id}", reason="It failed.", event_ids=(event.event_id,))
    return Goals(database).propose(asked, owner, now)[0].goal_id


def add_check_in(database: Database, owner: str) -> str:
    """Puts a check-in on record that no workflow waits for."""
    now = datetime.now(UTC)
    check_in = CheckIn(
        check_in_id=str(uuid7()),
        owner_user_id=owner,
        text="How is the cello?",
        due_at=now + AHEAD,
        state=CheckInState.SCHEDULED,
        skill_id="schedule_check_in",
        invocation_id=str(uuid7()),
        created_at=now,
        updated_at=now,
    )
    return CheckIns(database).schedule(check_in, check_in.check_in_id).check_in_id


def add_question(database: Database, owner: str) -> str:
    """Puts a question into the inbox whose invocation is over."""
    now = datetime.now(UTC)
    question = SentItem(
        item_id=str(uuid7()),
        owner_user_id=owner,
        kind=SentKind.QUESTION,
        state=SentState.OPEN,
        text="Which Anna?",
        skill_id="ask_clarifying_question",
        invocation_id=str(uuid7()),
        expires_at=now + AHEAD,
        created_at=now,
        updated_at=now,
    )
    return Inbox(database).put(question, question.item_id)[0].item_id
