"""Trials: each its owner's, for a day; folders and results count against a quota and go with their trial."""

from datetime import UTC, datetime, timedelta

import pytest

from contracts.errors import ErrorCode, Refusal
from contracts.learning.trials import TrialRun, TrialState
from contracts.workflow_ids import trial_workflow_id
from stores.learning.trials import KEPT, MOST_RUNNING, TrialStore, expired_trials
from stores.platform.canonical import digest_of
from stores.platform.database import Database
from stores.platform.temporary_artifacts import expired_artifacts

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
INSTANT = timedelta(microseconds=1)
FOLDER, RESULT = b"a packed folder", b"a packed result"


def run(number: int = 1, owner: str = "ann", at: datetime = NOW) -> TrialRun:
    trial_id = f"0199aa10-7c00-7000-8000-{number:012x}"
    return TrialRun(
        trial_id=trial_id,
        ability_id="learned.sort",
        ability_version=1,
        owner_user_id=owner,
        state=TrialState.RUNNING,
        folder_digest=digest_of(FOLDER),
        workflow_id=trial_workflow_id(trial_id),
        correlation_id="c",
        started_at=at,
        updated_at=at,
        expires_at=at + KEPT,
    )


def code_of(refused: pytest.ExceptionInfo[Refusal]) -> ErrorCode:
    return refused.value.code


def test_a_trial_runs_on_a_folder_of_its_owner_and_ends_with_a_result(store: Database) -> None:
    trials = TrialStore(store)
    kept = trials.keep_folder("ann", FOLDER, 3, NOW)
    assert kept.folder_ref == f"trial-folder/{digest_of(FOLDER)}"
    opened = trials.open(run())
    assert trials.open(run()) == opened
    assert trials.folder(opened) == FOLDER
    assert trials.note_progress(opened.trial_id, "running command 1 of 2", NOW)
    assert trials.owned(opened.trial_id, "ann", NOW).progress == "running command 1 of 2"
    with pytest.raises(Refusal) as early:
        trials.result(opened.trial_id, "ann", NOW)
    assert code_of(early) is ErrorCode.CONFLICT
    ended = trials.end(opened.trial_id, TrialState.PASSED, "fine", NOW, result=RESULT)
    assert ended is not None
    assert trials.result(opened.trial_id, "ann", NOW) == RESULT
    assert trials.end(opened.trial_id, TrialState.FAILED, "late", NOW) == ended
    assert not trials.note_progress(opened.trial_id, "late", NOW)


def test_a_trial_is_its_owners_alone(store: Database) -> None:
    trials = TrialStore(store)
    trials.keep_folder("ann", FOLDER, 1, NOW)
    trials.open(run())
    for ask in (trials.owned, trials.result, trials.remove):
        with pytest.raises(Refusal) as refused:
            ask(run().trial_id, "bob", NOW)
        assert code_of(refused) is ErrorCode.NOT_FOUND
    with pytest.raises(Refusal) as refused:
        trials.open(run(2, "bob"))
    assert code_of(refused) is ErrorCode.NOT_FOUND


def test_a_trial_and_its_folders_last_a_day_and_no_longer(store: Database) -> None:
    trials = TrialStore(store)
    trials.keep_folder("ann", FOLDER, 1, NOW - KEPT + INSTANT)
    trials.open(run())
    trials.end(run().trial_id, TrialState.PASSED, "fine", NOW, result=RESULT)
    last, over = NOW + KEPT - INSTANT, NOW + KEPT
    assert trials.result(run().trial_id, "ann", last) == RESULT
    with store.read() as connection:
        assert expired_trials(connection, last, "", 10) == []
        assert expired_artifacts(connection, last, None, 10) == []
        assert expired_trials(connection, over, "", 10) == [run().trial_id]
        assert {one.digest for one in expired_artifacts(connection, over, None, 10)} == {
            digest_of(FOLDER),
            digest_of(RESULT),
        }
    with pytest.raises(Refusal):
        trials.owned(run().trial_id, "ann", over)


def test_a_folder_whose_day_is_over_is_handed_in_again(store: Database) -> None:
    trials = TrialStore(store)
    trials.keep_folder("ann", FOLDER, 1, NOW - KEPT)
    with pytest.raises(Refusal) as refused:
        trials.open(run())
    assert code_of(refused) is ErrorCode.NOT_FOUND


def test_only_so_many_trials_run_at_once(store: Database) -> None:
    trials = TrialStore(store)
    trials.keep_folder("ann", FOLDER, 1, NOW)
    for number in range(MOST_RUNNING):
        trials.open(run(number))
    with pytest.raises(Refusal) as refused:
        trials.open(run(99))
    assert code_of(refused) is ErrorCode.TOO_MANY_REQUESTS
    trials.end(run(0).trial_id, TrialState.CANCELLED, "enough", NOW)
    trials.open(run(99))


def test_a_removed_trial_leaves_a_folder_that_another_trial_has(store: Database) -> None:
    trials = TrialStore(store)
    trials.keep_folder("ann", FOLDER, 1, NOW)
    trials.open(run(1))
    trials.open(run(2))
    trials.end(run(1).trial_id, TrialState.PASSED, "fine", NOW, result=RESULT)
    trials.remove(run(1).trial_id, "ann", NOW)
    with store.read() as connection:
        assert [one.digest for one in expired_artifacts(connection, NOW, None, 10)] == [digest_of(RESULT)]
    trials.remove(run(2).trial_id, "ann", NOW)
    assert trials.end(run(2).trial_id, TrialState.PASSED, "late", NOW, result=RESULT) is None
    with store.read() as connection:
        assert len(expired_artifacts(connection, NOW, None, 10)) == 2


def test_more_than_there_may_be_is_refused(store: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stores.learning.trials.MOST_KEPT_BYTES", len(FOLDER) + 3)
    trials = TrialStore(store)
    trials.keep_folder("ann", FOLDER, 1, NOW)
    trials.open(run())
    with pytest.raises(Refusal) as refused:
        trials.end(run().trial_id, TrialState.PASSED, "fine", NOW, result=RESULT)
    assert code_of(refused) is ErrorCode.STORAGE_FULL
    assert trials.owned(run().trial_id, "ann", NOW).state is TrialState.RUNNING
