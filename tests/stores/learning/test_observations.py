"""The observation log: redacted before it is written, durable when it answers, each event once."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, event, insert, update
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.observation import BoundaryKind, BoundarySource, ObservedActionEvent, WorkflowBoundary
from contracts.learning.session import LearningEntryMode, LearnSession, LearnSessionState, ObservationMode
from stores.learning.observation_ingest import OBSERVING
from stores.learning.observations import EDITABLE, ObservationCounters, ObservationLog
from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.tables import boundaries, learn_sessions, metadata

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PATIENCE = 15.0


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path / 'store.db'}")
    metadata.create_all(database.engine)
    yield database
    database.close()


@pytest.fixture
def log(database: Database) -> Iterator[ObservationLog]:
    log = ObservationLog(database)
    yield log
    log.close()


def make_session(
    database: Database,
    state: LearnSessionState = LearnSessionState.CAPTURING,
    mode: ObservationMode = ObservationMode.INSIDE_AGENT,
    whitelist: Sequence[str] = (),
) -> str:
    session_id = str(uuid7())
    session = LearnSession(
        learn_session_id=session_id,
        owner_user_id="ann",
        entry_mode=LearningEntryMode.DEMONSTRATING_SKILL,
        observation_mode=mode,
        target_app_whitelist=tuple(whitelist),
        state=state,
        created_at=NOW,
        updated_at=NOW,
    )
    aggregate = LearnSessionAggregate(session=session, change=1, state_since=NOW)
    with database.write() as connection:
        connection.execute(
            insert(learn_sessions).values(
                session_id=session_id,
                owner="ann",
                state=state.value,
                change=1,
                holds_slot=False,
                created_at=rfc3339(NOW),
                updated_at=rfc3339(NOW),
                aggregate=canonical_json(aggregate),
            )
        )
    return session_id


def observed(session_id: str, label: str = "Choose Export", **fields: Any) -> ObservedActionEvent:
    return ObservedActionEvent.model_validate(
        {
            "event_id": str(uuid7()),
            "learn_session_id": session_id,
            "adapter_kind": "wrapper_receipt",
            "action_label": label,
            "created_at": NOW,
            **fields,
        }
    )


def trivial(session_id: str) -> ObservedActionEvent:
    return observed(session_id, "mouse move", adapter_kind="mouse_click")


def refusal_of(call: Any, *args: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        call(*args)
    return caught.value


def test_what_was_ingested_is_read_back_in_order_and_counted(database: Database, log: ObservationLog) -> None:
    session_id = make_session(database)
    events = [observed(session_id, f"Step {number}") for number in range(3)]
    answer = log.ingest(session_id, events)
    assert (answer.accepted, answer.duplicate, answer.session_state) == (3, 0, LearnSessionState.CAPTURING)
    assert log.all_of(session_id) == tuple(events)
    assert log.counters(session_id) == ObservationCounters(3, 0, 0, ("wrapper_receipt",))


def test_secrets_are_masked_before_the_write(database: Database, log: ObservationLog, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    session_id = make_session(database)
    log.ingest(session_id, [observed(session_id, f"Push with {secret}")])
    assert secret not in log.all_of(session_id)[0].action_label
    for file in tmp_path.iterdir():
        assert secret.encode() not in file.read_bytes()


@given(
    copies=st.lists(st.integers(min_value=0, max_value=5), min_size=1, max_size=12), cut=st.integers(0, 12)
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_however_often_an_event_is_sent_it_is_kept_once(
    database: Database, log: ObservationLog, copies: list[int], cut: int
) -> None:
    session_id = make_session(database)
    pool = [observed(session_id, f"Step {number}") for number in range(6)]
    sent = [pool[number] for number in copies]
    answers = [log.ingest(session_id, batch) for batch in (sent[:cut], sent[cut:], sent) if batch]
    assert sum(answer.accepted for answer in answers) == len(set(copies))
    assert sum(answer.accepted + answer.duplicate for answer in answers) == 2 * len(sent)
    assert log.all_of(session_id) == tuple(dict.fromkeys(sent))
    assert log.counters(session_id).accepted == len(set(copies))


def test_the_same_event_id_in_two_sessions_is_two_observations(
    database: Database, log: ObservationLog
) -> None:
    one, two = make_session(database), make_session(database)
    shared = observed(one)
    log.ingest(one, [shared])
    assert log.ingest(two, [shared.changed(learn_session_id=two)]).accepted == 1


def test_a_resent_batch_does_not_inflate_the_drop_counters(database: Database, log: ObservationLog) -> None:
    session_id = make_session(database)
    batch = [observed(session_id), trivial(session_id)]
    log.ingest(session_id, batch)
    again = log.ingest(session_id, batch)
    assert (again.accepted, again.duplicate, again.dropped_not_meaningful) == (0, 1, 1)
    assert log.counters(session_id) == ObservationCounters(1, 0, 1, ("wrapper_receipt",))


@pytest.mark.parametrize("mode", [ObservationMode.OUTSIDE_AGENT, ObservationMode.MIXED])
def test_outside_the_agent_events_off_the_whitelist_are_dropped(
    database: Database, log: ObservationLog, mode: ObservationMode
) -> None:
    session_id = make_session(database, mode=mode, whitelist=["Editor"])
    kept = observed(session_id, app_family="editor")
    answer = log.ingest(session_id, [kept, observed(session_id, app_family="mail"), trivial(session_id)])
    assert (answer.accepted, answer.dropped_off_target, answer.dropped_not_meaningful) == (1, 2, 0)
    assert log.all_of(session_id) == (kept,)
    assert log.counters(session_id).off_target == 2


@pytest.mark.parametrize(
    ("mode", "whitelist"), [(ObservationMode.INSIDE_AGENT, ["Editor"]), (ObservationMode.MIXED, [])]
)
def test_without_a_binding_whitelist_nothing_is_off_target(
    database: Database, log: ObservationLog, mode: ObservationMode, whitelist: list[str]
) -> None:
    session_id = make_session(database, mode=mode, whitelist=whitelist)
    assert log.ingest(session_id, [observed(session_id, app_family="mail")]).accepted == 1


def test_a_batch_without_meaning_is_counted_and_leaves_nothing(
    database: Database, log: ObservationLog
) -> None:
    session_id = make_session(database)
    assert log.ingest(session_id, [trivial(session_id)]).dropped_not_meaningful == 1
    assert log.all_of(session_id) == ()
    assert log.counters(session_id) == ObservationCounters(0, 0, 1, ())


@pytest.mark.parametrize("state", sorted(set(LearnSessionState) - OBSERVING))
def test_only_an_armed_or_capturing_session_takes_observations(
    database: Database, log: ObservationLog, state: LearnSessionState
) -> None:
    session_id = make_session(database, state)
    refusal = refusal_of(log.ingest, session_id, [observed(session_id)])
    assert refusal.code is ErrorCode.INVALID_LEARN_STATE_TRANSITION
    assert refusal.extra == {"current_state": state.value}
    assert log.counters(session_id) == ObservationCounters()


def test_a_session_that_stops_before_the_write_refuses_the_batch(tmp_path: Path) -> None:
    class Interrupted(Database):
        """Stops every session right after something was read."""

        @contextmanager
        def read(self) -> Iterator[Connection]:
            with super().read() as connection:
                yield connection
            with self.write() as connection:
                connection.execute(update(learn_sessions).values(state=LearnSessionState.STOPPED.value))

    database = Interrupted(f"sqlite:///{tmp_path / 'store.db'}")
    metadata.create_all(database.engine)
    log = ObservationLog(database)
    session_id = make_session(database)
    refusal = refusal_of(log.ingest, session_id, [observed(session_id)])
    log.close()
    database.close()
    assert refusal.extra == {"current_state": "stopped"}


def test_an_event_of_another_session_refuses_the_batch_and_names_it(
    database: Database, log: ObservationLog
) -> None:
    session_id, other = make_session(database), make_session(database)
    refusal = refusal_of(log.ingest, session_id, [observed(session_id), observed(other)])
    assert refusal.code is ErrorCode.VALIDATION_FAILED
    assert refusal.extra == {"fields": ["events.1.learn_session_id"]}
    assert log.all_of(session_id) == ()


def test_an_unknown_session_is_not_found(log: ObservationLog) -> None:
    session_id = str(uuid7())
    assert (
        refusal_of(log.ingest, session_id, [observed(session_id)]).code is ErrorCode.LEARN_SESSION_NOT_FOUND
    )
    assert refusal_of(log.remove, session_id, str(uuid7())).code is ErrorCode.LEARN_SESSION_NOT_FOUND


def test_pages_are_oldest_first_with_the_total(database: Database, log: ObservationLog) -> None:
    session_id = make_session(database)
    events = tuple(observed(session_id, f"Step {number}") for number in range(5))
    log.ingest(session_id, events)
    page = log.page(session_id, 2, 2)
    assert page.observations == events[2:4]
    assert (page.total, page.page, page.page_size) == (5, 2, 2)
    assert log.page(session_id, 9, 2).observations == ()


@pytest.mark.parametrize("state", sorted(EDITABLE))
def test_a_removed_observation_stays_removed_even_when_it_is_sent_again(
    database: Database, log: ObservationLog, state: LearnSessionState
) -> None:
    session_id = make_session(database)
    kept, removed = observed(session_id, "Keep"), observed(session_id, "Never mind", retain=True)
    log.ingest(session_id, [kept, removed])
    with database.write() as connection:
        connection.execute(update(learn_sessions).values(state=state.value))
    log.remove(session_id, removed.event_id)
    if state in OBSERVING:
        assert log.ingest(session_id, [removed]).duplicate == 1
    assert log.all_of(session_id) == (kept,)
    assert log.page(session_id, 1, 10).total == 1
    assert log.counters(session_id).accepted == 1
    assert refusal_of(log.remove, session_id, removed.event_id).code is ErrorCode.OBSERVATION_NOT_FOUND


def test_nothing_is_removed_once_drafting_has_begun(database: Database, log: ObservationLog) -> None:
    session_id = make_session(database)
    kept = observed(session_id)
    log.ingest(session_id, [kept])
    with database.write() as connection:
        connection.execute(update(learn_sessions).values(state="drafting_proposal"))
    refusal = refusal_of(log.remove, session_id, kept.event_id)
    assert refusal.code is ErrorCode.INVALID_LEARN_STATE_TRANSITION
    assert log.all_of(session_id) == (kept,)


def test_the_purge_keeps_what_is_marked_retain_and_other_sessions(
    database: Database, log: ObservationLog
) -> None:
    one, two = make_session(database), make_session(database)
    retained, other = observed(one, retain=True), observed(two)
    log.ingest(one, [observed(one), retained])
    log.ingest(two, [other])
    with database.write() as connection:
        assert log.purge(connection, one) == 1
    assert log.all_of(one) == (retained,)
    assert log.all_of(two) == (other,)


def test_boundaries_are_listed_oldest_first(database: Database, log: ObservationLog) -> None:
    session_id = make_session(database)
    marks = [
        WorkflowBoundary(
            boundary_id=f"00000000-0000-7000-8000-00000000000{digit}",
            learn_session_id=session_id,
            kind=BoundaryKind.MARK_STEP,
            source=BoundarySource.USER_CLICK,
            created_at=NOW - timedelta(seconds=digit),
        )
        for digit in (1, 2, 3)
    ]
    with database.write() as connection:
        for mark in marks:
            connection.execute(
                insert(boundaries).values(
                    boundary_id=mark.boundary_id, session_id=session_id, body=canonical_json(mark)
                )
            )
    assert log.boundaries_of(session_id) == tuple(reversed(marks))


def test_concurrent_batches_are_all_kept_and_a_refused_one_spoils_no_other(
    database: Database, log: ObservationLog
) -> None:
    sessions = [make_session(database) for _ in range(3)]
    stopped = make_session(database, LearnSessionState.STOPPED)
    with ThreadPoolExecutor(8) as pool:
        refused = [pool.submit(log.ingest, stopped, [observed(stopped)]) for _ in range(4)]
        taken = [
            pool.submit(log.ingest, session_id, [observed(session_id), observed(session_id)])
            for session_id in sessions * 8
        ]
        assert all(isinstance(future.exception(), Refusal) for future in refused)
        assert sum(future.result().accepted for future in taken) == 48
    for session_id in sessions:
        assert len(log.all_of(session_id)) == log.counters(session_id).accepted == 16


def test_a_full_disk_refuses_the_batch_whole_and_space_lets_it_in(database: Database) -> None:
    session_id = make_session(database)
    limit = {"pages": 0}

    @event.listens_for(database.engine, "begin")
    def limit_pages(connection: Connection) -> None:
        pages = limit["pages"] or 1_000_000
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")

    log = ObservationLog(database)
    with database.read() as connection:
        limit["pages"] = connection.exec_driver_sql("PRAGMA page_count").scalar_one() + 1
    batch = [
        observed(session_id, "Describe " + "at length " * 20, window_title="w" * 200) for _ in range(200)
    ]
    assert refusal_of(log.ingest, session_id, batch).code is ErrorCode.STORAGE_FULL
    assert log.counters(session_id) == ObservationCounters()
    limit["pages"] = 0
    assert log.ingest(session_id, batch).accepted == 200
    log.close()
