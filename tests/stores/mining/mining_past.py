"""Captures as they would be after some days, and a look through them."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.observation import ObservedActionEvent, WorkflowBoundary
from contracts.learning.session import LearningEntryMode, LearnSession, LearnSessionState, ObservationMode
from stores.learning.observations import ObservationLog
from stores.mining.mining import MiningStore, MiningTraces, PersonMined
from stores.platform import tables
from stores.platform.canonical import canonical_json
from stores.platform.database import Database

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


def capture(database: Database, owner: str = "ann", retain: bool = False, **fields: Any) -> str:
    """A capture inside the agent that its owner made nothing of; its session."""
    session_id = str(uuid7())
    values: dict[str, Any] = {
        "learn_session_id": session_id,
        "owner_user_id": owner,
        "entry_mode": LearningEntryMode.COACHING_AGENT,
        "observation_mode": ObservationMode.INSIDE_AGENT,
        "state": LearnSessionState.CANCELLED,
        "active_trace_ids": (str(uuid7()),),
        "created_at": NOW,
        "updated_at": NOW,
    }
    session = LearnSession(**(values | fields))
    aggregate = LearnSessionAggregate(session=session, change=4, state_since=NOW)
    event = ObservedActionEvent.model_validate(
        {
            "event_id": str(uuid7()),
            "learn_session_id": session_id,
            "adapter_kind": "wrapper_receipt",
            "action_label": "Export the invoice",
            "caused_state_change": True,
            "created_at": NOW,
        }
    )
    with database.write() as connection:
        connection.execute(
            insert(tables.learn_sessions).values(
                session_id=session_id,
                owner=owner,
                state=session.state.value,
                change=4,
                holds_slot=False,
                created_at=rfc3339(NOW),
                updated_at=rfc3339(NOW),
                aggregate=canonical_json(aggregate),
            )
        )
        connection.execute(
            insert(tables.observations).values(
                session_id=session_id, event_id=event.event_id, retain=retain, body=canonical_json(event)
            )
        )
        connection.execute(
            insert(tables.observation_counters).values(
                session_id=session_id,
                accepted=1,
                off_target=0,
                not_meaningful=0,
                adapters="[]",
                updated_at=rfc3339(NOW),
            )
        )
        for kind, label in (("mark_goal", "Export invoices"), ("stop", None)):
            mark = WorkflowBoundary.model_validate(
                {
                    "boundary_id": str(uuid7()),
                    "learn_session_id": session_id,
                    "kind": kind,
                    "source": "api_call",
                    "label": label,
                    "created_at": NOW,
                }
            )
            connection.execute(
                insert(tables.boundaries).values(
                    boundary_id=mark.boundary_id, session_id=session_id, body=canonical_json(mark)
                )
            )
    return session_id


def mine(database: Database, log: ObservationLog, owner: str = "ann", now: datetime = NOW) -> PersonMined:
    store = MiningStore(database, MiningTraces(database, log), 0.4, 0.6)
    return store.mine(owner, "skill-mining/test", now)
