"""Expired sessions, observations and proposals are archived; those that an open session needs are not."""

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from contracts.base import rfc3339
from contracts.learning.lifecycle import LearningReceiptKind
from contracts.learning.proposal import ProposalState
from contracts.learning.session import LearnSessionState as S
from contracts.learning.session import ObservationMode
from contracts.maintenance.runs import ArchivedProposal, ArchivedSession, SweepName
from stores.learning.starting_states import StartingStates
from stores.maintenance.archive_sweeps import archived_proposal_path, archived_session_path
from stores.platform import tables
from stores.platform.journal.chains import verify_chains
from stores.platform.journal.journal import JournalFilter, read_entries
from stores.platform.projection.documents import read_document
from stores.platform.projection.projector import Projector
from tests.fixtures.past import (
    NOW,
    Nights,
    add_observations,
    add_proposal,
    add_session,
    days,
    held,
    is_archived,
    make_proposal,
    row_counts,
    spoil_session,
)
from tests.fixtures.starting import state_of
from tests.stores.platform.projection.tree_snapshots import snapshot

INSTANT = timedelta(microseconds=1)


def test_a_session_is_archived_at_the_end_of_its_thirtieth_day_at_rest(nights: Nights) -> None:
    due = add_session(nights.database, days(30))
    young = add_session(nights.database, days(30) - INSTANT)
    progress = nights.run(SweepName.ARCHIVE_SESSIONS).progress(SweepName.ARCHIVE_SESSIONS)
    assert (progress.examined, progress.done, progress.sample_ids) == (1, 1, (due,))
    assert is_archived(nights.database, "learn_sessions", due)
    assert not is_archived(nights.database, "learn_sessions", young)


def test_an_archived_session_leaves_a_document_an_event_and_a_receipt(nights: Nights) -> None:
    due = add_session(nights.database, days(31))
    add_observations(nights.database, due, [True, False])
    run = nights.run(SweepName.ARCHIVE_SESSIONS)
    with nights.database.read() as connection:
        content = read_document(connection, "memory", archived_session_path(due))
        event, receipt = read_entries(connection, JournalFilter(session_id=due))
    assert content is not None
    archived = ArchivedSession.model_validate_json(content)
    assert archived.aggregate.session.learn_session_id == due
    assert (archived.archived_at, archived.observations_held) == (NOW, 1)
    assert event.document["event_kind"] == "session.archived"
    assert receipt.document["event_kind"] == LearningReceiptKind.ARCHIVED.value
    assert receipt.correlation_id == f"nightly-maintenance/{run.run_id}"
    assert verify_chains(nights.database).intact


@pytest.mark.acceptance("R11.2-46")
def test_observations_go_seven_days_after_the_session_came_to_rest_and_retained_ones_stay(
    nights: Nights,
) -> None:
    due = add_session(nights.database, days(7))
    young = add_session(nights.database, days(7) - INSTANT)
    resting_before = {
        one: add_observations(nights.database, one, [False, True, False]) for one in (due, young)
    }
    progress = nights.run(SweepName.PURGE_OBSERVATIONS).progress(SweepName.PURGE_OBSERVATIONS)
    assert (progress.done, progress.removed) == (1, 2)
    assert held(nights.database, due) == [resting_before[due][1]]
    assert held(nights.database, young) == resting_before[young]


@pytest.mark.parametrize("state", [ProposalState.CANCELLED, ProposalState.REJECTED])
def test_an_ended_proposal_is_archived_after_14_days_with_its_validation(
    nights: Nights, state: ProposalState
) -> None:
    due = add_proposal(nights.database, make_proposal(days(14), state))
    young = add_proposal(nights.database, make_proposal(days(14) - INSTANT, state))
    installed = add_proposal(nights.database, make_proposal(days(99), ProposalState.INSTALLED_PRIVATE))
    nights.run(SweepName.ARCHIVE_PROPOSALS)
    with nights.database.read() as connection:
        content = read_document(connection, "memory", archived_proposal_path(due))
    assert content is not None
    archived = ArchivedProposal.model_validate_json(content)
    assert archived.proposal.proposal_id == due
    (run,), (step,) = archived.validation_runs, archived.validation_steps
    assert (run.proposal_id, step.validation_run_id) == (due, run.validation_run_id)
    assert is_archived(nights.database, "proposals", due)
    assert not is_archived(nights.database, "proposals", young)
    assert not is_archived(nights.database, "proposals", installed)


@pytest.mark.thorough
@pytest.mark.acceptance("0A.33-12")
def test_a_proposal_under_review_is_whole_after_every_night_of_two_months(nights: Nights) -> None:
    database = nights.database
    proposal = make_proposal(days(60), ProposalState.READY_FOR_REVIEW)
    session = add_session(database, None, state=S.READY_FOR_REVIEW, proposal=proposal)
    observed = add_observations(database, session, [False, False])
    pinned = add_proposal(database, proposal.changed(learn_session_id=session), staged='{"round": 1}')

    def reviewed() -> list[tuple[object, ...]]:
        with database.read() as connection:
            return [
                tuple(row)
                for table in (tables.proposals, tables.validation_runs, tables.validation_steps)
                for row in connection.execute(select(table))
            ]

    before = reviewed()
    for _ in range(60):
        nights.run()
    assert reviewed() == before
    assert held(database, session) == observed
    assert not is_archived(database, "proposals", pinned)
    assert not is_archived(database, "learn_sessions", session)


@pytest.mark.acceptance("0A.33-12")
def test_what_an_open_session_refers_to_stays_until_that_session_rests(nights: Nights) -> None:
    database = nights.database
    original = add_session(database, days(60), state=S.REJECTED)
    observed = add_observations(database, original, [False])
    proposal = add_proposal(database, make_proposal(days(60), ProposalState.REJECTED))
    clone = add_session(database, None, clone_of=original, proposal_id=proposal)
    run = nights.run()
    assert [run.progress(sweep).skipped for sweep in list(SweepName)[:3]] == [1, 1, 1]
    assert not is_archived(database, "learn_sessions", original)
    assert not is_archived(database, "proposals", proposal)
    assert held(database, original) == observed

    table = tables.learn_sessions
    with database.write() as connection:
        connection.execute(
            update(table).where(table.c.session_id == clone).values(state="cancelled", holds_slot=False)
        )
    nights.run()
    assert is_archived(database, "learn_sessions", original)
    assert is_archived(database, "proposals", proposal)
    assert held(database, original) == []


def test_traces_that_an_open_proposal_was_drafted_from_stay(nights: Nights) -> None:
    trace = make_proposal(days(0), ProposalState.DRAFT).source_trace_ids
    source = add_session(nights.database, days(60), active_trace_ids=trace)
    proposal = make_proposal(days(0), ProposalState.DRAFT).changed(source_trace_ids=trace)
    add_session(nights.database, None, state=S.DRAFTING_PROPOSAL, proposal=proposal)
    nights.run()
    assert not is_archived(nights.database, "learn_sessions", source)


def test_a_session_that_was_reopened_is_left_alone(nights: Nights) -> None:
    reopened = add_session(nights.database, days(60), state=S.QUARANTINED)
    add_observations(nights.database, reopened, [False])
    run = nights.run()
    assert run.progress(SweepName.ARCHIVE_SESSIONS).examined == 0
    assert len(held(nights.database, reopened)) == 1


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_a_bad_item_is_counted_reported_and_passed_over(nights: Nights, limit: int) -> None:
    good = [add_session(nights.database, days(40)) for _ in range(4)]
    spoil_session(nights.database, good[1])
    progress = nights.run(SweepName.ARCHIVE_SESSIONS, limit=limit).progress(SweepName.ARCHIVE_SESSIONS)
    assert (progress.examined, progress.done, progress.failed) == (4, 3, 1)
    (failure,) = progress.failures
    assert failure.item == good[1]
    assert "ValidationError" in failure.reason
    archived = [is_archived(nights.database, "learn_sessions", one) for one in good]
    assert archived == [True, False, True, True]


def test_a_second_run_in_the_same_night_finds_nothing_left(nights: Nights, tmp_path: Path) -> None:
    for _ in range(3):
        add_observations(nights.database, add_session(nights.database, days(40)), [False, True])
    add_proposal(nights.database, make_proposal(days(20), ProposalState.CANCELLED))
    projector = Projector(nights.database, tmp_path / "memory", tmp_path / "workspace")
    first = nights.run()
    projector.catch_up()
    tree, rows = snapshot(tmp_path / "memory"), row_counts(nights.database)
    second = nights.run()
    projector.catch_up()
    assert sum(sweep.done for sweep in first.sweeps) == 7
    assert sum(sweep.done for sweep in second.sweeps) == 0
    assert (snapshot(tmp_path / "memory"), row_counts(nights.database)) == (tree, rows)
    assert projector.verify().intact


def test_a_preview_counts_the_same_and_changes_nothing(nights: Nights, tmp_path: Path) -> None:
    sessions = [add_session(nights.database, days(40)) for _ in range(3)]
    add_observations(nights.database, sessions[0], [False, True])
    spoil_session(nights.database, sessions[2])
    add_proposal(nights.database, make_proposal(days(20), ProposalState.REJECTED))
    projector = Projector(nights.database, tmp_path / "memory", tmp_path / "workspace")
    projector.catch_up()
    tree, rows = snapshot(tmp_path), row_counts(nights.database)
    preview = nights.run(dry_run=True)
    projector.catch_up()
    memory = {path: content for path, content in snapshot(tmp_path).items() if "store.db" not in path}
    assert memory == {path: content for path, content in tree.items() if "store.db" not in path}
    assert row_counts(nights.database) == rows
    with nights.database.read() as connection:
        archived = connection.scalars(select(tables.learn_sessions.c.archived_at)).all()
    assert archived == [None, None, None]
    assert preview.sweeps == nights.run().sweeps


def test_a_page_that_is_asked_to_stop_goes_on_later_without_counting_twice(nights: Nights) -> None:
    sessions = [add_session(nights.database, days(40)) for _ in range(25)]
    run_id = nights.open()
    first = nights.page(run_id, SweepName.ARCHIVE_SESSIONS, alive=lambda: False)
    assert (first.done, first.finished) == (10, False)
    again = nights.page(run_id, SweepName.ARCHIVE_SESSIONS)
    assert (again.examined, again.done, again.finished) == (25, 25, True)
    assert nights.page(run_id, SweepName.ARCHIVE_SESSIONS) == again
    assert all(is_archived(nights.database, "learn_sessions", one) for one in sessions)


def test_starting_states_go_with_the_observations_after_seven_days(nights: Nights) -> None:
    states = StartingStates(nights.database)
    of_days = {days(7): "", days(7) - INSTANT: ""}
    table = tables.learn_sessions
    for rested in of_days:
        session_id = add_session(nights.database, None, observation_mode=ObservationMode.OUTSIDE_AGENT)
        states.keep(state_of(session_id, {"sales.csv": b"a,b\n"}))
        of_days[rested] = session_id
        with nights.database.write() as connection:
            resting = {"at_rest_at": rfc3339(NOW - rested), "state": S.CANCELLED.value, "holds_slot": False}
            connection.execute(update(table).where(table.c.session_id == session_id).values(resting))
    progress = nights.run(SweepName.PURGE_OBSERVATIONS).progress(SweepName.PURGE_OBSERVATIONS)
    assert (progress.done, progress.removed) == (1, 1)
    due, young = of_days.values()
    assert states.of_session(due) == ()
    assert len(states.of_session(young)) == 1
    with nights.database.read() as connection:
        assert connection.scalar(select(func.count()).select_from(tables.blobs)) == 1
