"""A trial that has ended, for the tests of the API."""

from datetime import UTC, datetime

from contracts.learning.trials import TrialRun, TrialState
from contracts.workflow_ids import trial_workflow_id
from stores.learning.trials import KEPT, TrialStore
from stores.platform.database import Database


def add_trial(database: Database, owner: str, ability_id: str, trial_id: str) -> None:
    """Puts it on record with its resulting folder."""
    trials, now = TrialStore(database), datetime.now(UTC)
    folder = trials.keep_folder(owner, b"a packed folder", 1, now)
    trials.open(
        TrialRun(
            trial_id=trial_id,
            ability_id=ability_id,
            ability_version=1,
            owner_user_id=owner,
            state=TrialState.RUNNING,
            folder_digest=folder.digest,
            workflow_id=trial_workflow_id(trial_id),
            correlation_id="tried",
            started_at=now,
            updated_at=now,
            expires_at=now + KEPT,
        )
    )
    trials.end(trial_id, TrialState.PASSED, "All commands worked.", now, result=b"a packed result")
