"""Rows and files of mining and practice are deleted once their term is over, and not before."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert, select
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.learning.session import LearnSessionState
from contracts.maintenance.runs import SweepName, SweepProgress
from contracts.mining.candidates import CandidateState, MiningCandidate, TraceSourceMode, WorkflowTraceCluster
from contracts.mining.runs import MiningRun, MiningRunState, MiningTrigger
from stores.mining.candidate_reads import CANDIDATES as STORED
from stores.platform import tables
from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from tests.fixtures.past import NOW, Nights, add_observations, add_session, days

INSTANT = timedelta(microseconds=1)
RUNS, CANDIDATES, FILES = (
    SweepName.REMOVE_MINING_RUNS,
    SweepName.REMOVE_MINING_CANDIDATES,
    SweepName.REMOVE_PRACTICE_FILES,
)


def add_run(
    database: Database,
    age: timedelta,
    state: MiningRunState = MiningRunState.COMPLETED,
    *,
    lasted: timedelta = INSTANT,
) -> str:
    run = MiningRun(
        run_id=str(uuid7()),
        trigger=MiningTrigger.SCHEDULE,
        state=state,
        workflow_id="skill-mining",
        started_at=NOW - age,
        updated_at=NOW - age,
        finished_at=None if state is MiningRunState.RUNNING else NOW - age + lasted,
    )
    with database.write() as connection:
        connection.execute(
            insert(tables.mining_runs).values(
                run_id=run.run_id, started_at=rfc3339(run.started_at), body=canonical_json(run)
            )
        )
    return run.run_id


def add_candidate(
    database: Database, age: timedelta, state: CandidateState, *sources: str, built: str | None = None
) -> str:
    since = NOW - age
    candidate = MiningCandidate(
        candidate_id=str(uuid7()),
        owner_user_id="ann",
        title="Export the report",
        cluster=WorkflowTraceCluster(
            cluster_id=str(uuid7()),
            normalized_goal="export the report",
            app_family="terminal",
            source_mode=TraceSourceMode.AGENT_OBSERVED,
            created_at=since,
            updated_at=since,
        ),
        source_session_ids=sources or (str(uuid7()),),
        representative_session_id=sources[0] if sources else str(uuid7()),
        state=state,
        learn_session_id=built,
        created_at=since,
        updated_at=since,
    )
    with database.write() as connection:
        STORED.put(connection, candidate)
    return candidate.candidate_id


def left(database: Database, table: str) -> set[str]:
    columns = tables.metadata.tables[table].primary_key.columns
    with database.read() as connection:
        return set(connection.scalars(select(*columns)))


def swept(nights: Nights, sweep: SweepName, *, dry_run: bool = False, limit: int = 100) -> SweepProgress:
    return nights.run(sweep, dry_run=dry_run, limit=limit).progress(sweep)


@pytest.mark.parametrize("limit", [1, 100])
def test_a_mining_run_is_forgotten_90_days_after_its_end_and_not_before(nights: Nights, limit: int) -> None:
    old = [add_run(nights.database, days(90) + INSTANT), add_run(nights.database, days(200))]
    young = add_run(nights.database, days(90) - INSTANT)
    ended_late = add_run(nights.database, days(90), lasted=days(1))
    progress = swept(nights, RUNS, limit=limit)

    assert left(nights.database, "mining_runs") == {young, ended_late}
    assert set(progress.sample_ids) == set(old)
    assert (progress.done, progress.skipped, progress.removed) == (2, 1, 2)


def test_a_mining_run_that_goes_on_is_left_alone(nights: Nights) -> None:
    going_on = add_run(nights.database, days(300), MiningRunState.RUNNING)

    assert swept(nights, RUNS).skipped == 1
    assert left(nights.database, "mining_runs") == {going_on}


@pytest.mark.parametrize("state", CandidateState)
def test_only_candidates_that_came_to_nothing_are_forgotten(nights: Nights, state: CandidateState) -> None:
    candidate = add_candidate(nights.database, days(90), state)
    ended = state in {CandidateState.DISMISSED, CandidateState.EXPIRED}
    swept(nights, CANDIDATES)

    assert left(nights.database, "mining_candidates") == (set() if ended else {candidate})


def test_a_candidate_is_kept_for_90_days(nights: Nights) -> None:
    young = add_candidate(nights.database, days(90) - INSTANT, CandidateState.DISMISSED)
    swept(nights, CANDIDATES)

    assert left(nights.database, "mining_candidates") == {young}


def test_a_dismissed_candidate_stays_while_its_captures_could_be_found_again(nights: Nights) -> None:
    shown = add_session(nights.database, days(100))
    add_observations(nights.database, shown, [True])
    dismissed = add_candidate(nights.database, days(95), CandidateState.DISMISSED, shown)
    add_candidate(nights.database, days(95), CandidateState.EXPIRED, shown)

    assert swept(nights, CANDIDATES).skipped == 1
    assert left(nights.database, "mining_candidates") == {dismissed}


def test_a_candidate_stays_while_the_copy_that_was_built_from_it_holds_observations(nights: Nights) -> None:
    copy = add_session(nights.database, days(100))
    add_observations(nights.database, copy, [True])
    expired = add_candidate(nights.database, days(95), CandidateState.EXPIRED, built=copy)
    swept(nights, CANDIDATES)

    assert left(nights.database, "mining_candidates") == {expired}


def purged(database: Database, session_id: str, at: datetime = NOW) -> str:
    table = tables.learn_sessions
    with database.write() as connection:
        connection.execute(
            table.update().where(table.c.session_id == session_id).values(observations_purged_at=rfc3339(at))
        )
    return session_id


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "practice"


def start_file(folder: Path, session_id: str) -> Path:
    (folder / session_id).mkdir(parents=True)
    file = folder / session_id / "sales.csv"
    file.write_text("north,3\n")
    return file


@pytest.mark.parametrize("limit", [1, 100])
def test_start_files_go_once_the_session_is_at_rest_and_purged(
    nights: Nights, folder: Path, limit: int
) -> None:
    over = [
        start_file(folder, purged(nights.database, add_session(nights.database, days(8)))) for _ in range(3)
    ]
    unpurged = start_file(folder, add_session(nights.database, days(8)))
    going_on = start_file(
        folder, add_session(nights.database, None, state=LearnSessionState.DRAFTING_PROPOSAL)
    )
    strange = start_file(folder, "notes-of-mine")
    progress = swept(nights, FILES, limit=limit)

    assert not any(file.parent.exists() for file in over)
    assert all(file.exists() for file in (unpurged, going_on, strange))
    assert (progress.done, progress.removed) == (3, 3)


def test_what_an_open_session_refers_to_keeps_its_start_files(nights: Nights, folder: Path) -> None:
    session_id = purged(nights.database, add_session(nights.database, days(8)))
    add_session(nights.database, None, clone_of=session_id)
    file = start_file(folder, session_id)

    assert swept(nights, FILES).skipped == 1
    assert file.exists()


def test_a_preview_counts_start_files_and_touches_none(nights: Nights, folder: Path) -> None:
    file = start_file(folder, purged(nights.database, add_session(nights.database, days(8))))

    assert (swept(nights, FILES, dry_run=True).done, file.exists()) == (1, True)
    assert (swept(nights, FILES).done, file.exists()) == (1, False)
    assert swept(nights, FILES).examined == 0


def test_a_link_in_place_of_a_folder_is_left_alone(nights: Nights, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder.mkdir()
    (folder / purged(nights.database, add_session(nights.database, days(8)))).symlink_to(
        tmp_path / "elsewhere"
    )

    assert swept(nights, FILES).examined == 0
    assert (tmp_path / "elsewhere").is_dir()


def test_without_any_practice_there_is_nothing_to_do(nights: Nights) -> None:
    assert swept(nights, FILES).finished
