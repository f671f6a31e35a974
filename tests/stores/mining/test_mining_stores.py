"""What mining keeps: candidates with their journal entries, settings with their file, runs. On both databases."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.proposal import ProposalState
from contracts.mining.candidates import (
    CandidateState,
    MiningCandidate,
    MiningGate,
    MiningMode,
    MiningSettings,
)
from contracts.mining.runs import (
    CandidateBuild,
    CandidateGivenUp,
    MiningProgress,
    MiningRunClosing,
    MiningRunOpening,
    MiningRunState,
    MiningTrigger,
)
from stores.learning.observations import ObservationLog
from stores.mining.candidate_reads import CandidateReads
from stores.mining.candidates import CLUSTERS, FEEDBACK, CandidateStore
from stores.mining.mining import STUCK_AFTER, MiningTraces
from stores.mining.runs import CURRENT, MiningRunStore, MiningSettingsStore
from stores.platform import tables
from stores.platform.database import Database, PageRequest
from stores.platform.journal.journal import RECEIPTS, read_stream
from stores.platform.projection.documents import read_document
from tests.fixtures.past import add_proposal, make_proposal
from tests.stores.mining.mining_past import NOW, capture, mine


@pytest.fixture
def database(store: Database) -> Database:
    return store


@pytest.fixture
def log(database: Database) -> Iterator[ObservationLog]:
    log = ObservationLog(database)
    yield log
    log.close()


def listed(database: Database, owner: str = "ann") -> list[MiningCandidate]:
    page = CandidateReads(database).page(owner, PageRequest())
    return [view.candidate for view in page.candidates]


def lines(database: Database, stream: str) -> list[dict[str, Any]]:
    with database.read() as connection:
        return [entry.document for entry in read_stream(connection, stream)]


def build_of(candidate: MiningCandidate, **fields: Any) -> CandidateBuild:
    values: dict[str, Any] = {
        "candidate_id": candidate.candidate_id,
        "owner_user_id": candidate.owner_user_id,
        "correlation_id": "test",
        "now": NOW,
    }
    return CandidateBuild(**(values | fields))


def found(database: Database, log: ObservationLog) -> MiningCandidate:
    for _ in range(3):
        capture(database)
    mine(database, log)
    (candidate,) = listed(database)
    return candidate


def test_looking_again_changes_nothing_and_another_capture_joins(
    database: Database, log: ObservationLog
) -> None:
    first = found(database, log)
    assert first.cluster.variation_score == 0
    mine(database, log, now=NOW + timedelta(days=1))
    assert listed(database) == [first]
    assert len(lines(database, CLUSTERS)) == 1
    capture(database)
    mine(database, log, now=NOW + timedelta(days=2))
    (grown,) = listed(database)
    assert grown.candidate_id == first.candidate_id
    assert len(grown.source_session_ids) == 4
    assert [line["event_kind"] for line in lines(database, RECEIPTS)] == ["candidate_found"]


def test_a_capture_that_cannot_be_read_is_named_and_the_others_count(
    database: Database, log: ObservationLog
) -> None:
    bad = capture(database)
    with database.write() as connection:
        table = tables.learn_sessions
        connection.execute(update(table).where(table.c.session_id == bad).values(aggregate="{}"))
    for _ in range(3):
        capture(database)
    result = mine(database, log)
    assert (result.traces, result.candidates) == (3, 1)
    assert [failure.item for failure in result.failures] == [f"session {bad}"]
    assert "ValidationError" in result.failures[0].reason


def test_a_candidate_expires_when_its_captures_are_purged_even_where_some_are_retained(
    database: Database, log: ObservationLog
) -> None:
    candidate = found(database, log)
    with database.write() as connection:
        log.purge(connection, candidate.source_session_ids[0])
    result = mine(database, log)
    assert result.closed[MiningGate.ENOUGH_TRACES] == 1
    (expired,) = listed(database)
    assert expired.state is CandidateState.EXPIRED
    with pytest.raises(Refusal) as refused:
        CandidateStore(database).begin_build(build_of(expired))
    assert refused.value.code is ErrorCode.CONFLICT
    capture(database)
    mine(database, log)
    (again,) = listed(database)
    assert (again.candidate_id, again.state) == (candidate.candidate_id, CandidateState.OPEN)


def test_a_retained_event_of_a_purged_session_is_no_trace(database: Database, log: ObservationLog) -> None:
    for _ in range(3):
        session_id = capture(database, retain=True)
        with database.write() as connection:
            table = tables.learn_sessions
            connection.execute(
                update(table)
                .where(table.c.session_id == session_id)
                .values(observations_purged_at=rfc3339(NOW))
            )
    assert mine(database, log).excluded.total() == 3


def test_a_build_begins_once_and_one_that_failed_waits_for_new_evidence(
    database: Database, log: ObservationLog
) -> None:
    candidate = found(database, log)
    store = CandidateStore(database)
    begun = store.begin_build(build_of(candidate))
    assert (begun.state, begun.attempt) == (CandidateState.BUILDING, 1)
    assert store.begin_build(build_of(candidate)) == begun
    assert mine(database, log).traces == 0, "its captures are spent while it is being built"
    given_up = CandidateGivenUp(candidate_id=begun.candidate_id, reason="The tests failed.", now=NOW)
    failed = store.give_up(given_up, "test")
    assert (failed.state, failed.reason) == (CandidateState.FAILED, "The tests failed.")
    assert mine(database, log).to_build == ()
    assert listed(database) == [failed]
    capture(database)
    assert mine(database, log).to_build == (candidate.candidate_id,)
    again = store.begin_build(build_of(candidate, asked_by="ann", reason="please"))
    assert again.attempt == 2
    assert again.earlier_session_ids == (begun.learn_session_id,)
    assert [line["feedback_kind"] for line in lines(database, FEEDBACK)] == ["accepted"]


def test_a_build_that_nobody_saw_through_is_taken_up_again(database: Database, log: ObservationLog) -> None:
    candidate = found(database, log)
    CandidateStore(database).begin_build(build_of(candidate))
    assert mine(database, log, now=NOW + STUCK_AFTER / 2).to_build == ()
    assert mine(database, log, now=NOW + STUCK_AFTER).to_build == (candidate.candidate_id,)


def test_a_deferred_build_is_open_again(database: Database, log: ObservationLog) -> None:
    candidate = found(database, log)
    store = CandidateStore(database)
    store.begin_build(build_of(candidate))
    given_up = CandidateGivenUp(candidate_id=candidate.candidate_id, reason="busy", deferred=True, now=NOW)
    assert store.give_up(given_up, "test").state is CandidateState.OPEN


def test_nothing_is_built_unasked_once_its_owner_has_said_so(database: Database, log: ObservationLog) -> None:
    candidate = found(database, log)
    MiningSettingsStore(database).save("ann", MiningSettings(mode=MiningMode.ASK_BEFORE_BUILD), NOW)
    store = CandidateStore(database)
    with pytest.raises(Refusal, match="unasked") as refused:
        store.begin_build(build_of(candidate))
    assert refused.value.code is ErrorCode.CONFLICT
    assert listed(database) == [candidate]
    assert store.begin_build(build_of(candidate, asked_by="ann")).state is CandidateState.BUILDING


def test_a_capture_that_got_a_proposal_meanwhile_stops_the_build(
    database: Database, log: ObservationLog
) -> None:
    candidate = found(database, log)
    proposal = make_proposal(timedelta(), ProposalState.REJECTED).changed(
        source_trace_ids=candidate.cluster.successful_trace_ids[1:2]
    )
    add_proposal(database, proposal)
    with pytest.raises(Refusal, match="another proposal") as refused:
        CandidateStore(database).begin_build(build_of(candidate))
    assert refused.value.code is ErrorCode.CONFLICT
    assert mine(database, log).traces == 2


def test_a_build_is_taken_back_by_dismissing_only_before_it_begins(
    database: Database, log: ObservationLog
) -> None:
    candidate = found(database, log)
    store = CandidateStore(database)
    store.begin_build(build_of(candidate))
    with pytest.raises(Refusal, match="building") as refused:
        store.dismiss(candidate.candidate_id, "ann", None, "test", NOW)
    assert refused.value.code is ErrorCode.CONFLICT
    with pytest.raises(Refusal) as unknown:
        store.dismiss(candidate.candidate_id, "bob", None, "test", NOW)
    assert unknown.value.code is ErrorCode.NOT_FOUND


def test_people_are_looked_at_by_name_each_once(database: Database, log: ObservationLog) -> None:
    for owner in ("cleo", "ann", "bob", "ann"):
        capture(database, owner)
    traces = MiningTraces(database, log)
    assert traces.people_after("", 2) == ("ann", "bob")
    assert traces.people_after("bob", 2) == ("cleo",)
    assert traces.people_after("cleo", 2) == ()


def test_settings_are_kept_by_person_and_written_to_the_tree(database: Database) -> None:
    store = MiningSettingsStore(database)
    assert store.of("ann") == MiningSettings()
    wanted = MiningSettings(mode=MiningMode.OFF, min_successful_traces=4)
    store.save("bob", MiningSettings(), NOW)
    store.save("ann", MiningSettings(observe_outside_agent=True), NOW)
    store.save("ann", wanted, NOW)
    assert (store.of("ann"), store.of("bob")) == (wanted, MiningSettings())
    with database.read() as connection:
        file = json.loads(read_document(connection, "memory", CURRENT) or b"{}")
    assert list(file["people"]) == ["ann", "bob"]
    assert file["people"]["ann"]["mode"] == "off"


def test_a_run_is_opened_once_and_its_first_end_stands(database: Database) -> None:
    runs = MiningRunStore(database)
    opening = MiningRunOpening(
        run_id=str(uuid7()),
        trigger=MiningTrigger.MANUAL,
        owner_user_id="ann",
        workflow_id="skill-mining/x",
        started_at=NOW,
    )
    opened = runs.open(opening)
    assert runs.open(opening) == opened
    progress = MiningProgress(people=1, cursor="ann")
    runs.note(opening.run_id, progress)
    closing = MiningRunClosing(
        run_id=opening.run_id, state=MiningRunState.COMPLETED, progress=progress, finished_at=NOW
    )
    ended = runs.close(closing)
    again = runs.close(closing.changed(state=MiningRunState.FAILED))
    assert (ended.state, again.state) == (MiningRunState.COMPLETED, MiningRunState.COMPLETED)
    assert runs.get(opening.run_id, "ann").progress == progress
    with pytest.raises(Refusal) as refused:
        runs.get(opening.run_id, "bob")
    assert refused.value.code is ErrorCode.NOT_FOUND
    runs.forget(opening.run_id)
    with pytest.raises(Refusal):
        runs.note(opening.run_id, progress)
