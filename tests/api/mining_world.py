"""What mining has found for Alice, put into the store as a run would."""

from datetime import UTC, datetime

from uuid_utils import uuid7

from contracts.learning.mining import MiningCandidate, TraceSourceMode, WorkflowTraceCluster
from contracts.learning.mining_runs import MiningRunOpening, MiningTrigger
from stores.database import Database
from stores.mining_candidates import write_candidate
from stores.mining_runs import MiningRunStore


def add_mined(
    database: Database, owner: str, candidate_id: str, run_id: str, session_id: str | None = None
) -> None:
    """One open candidate, of this session's capture, and one run."""
    now = datetime.now(UTC)
    session_id = session_id or str(uuid7())
    candidate = MiningCandidate(
        candidate_id=candidate_id,
        owner_user_id=owner,
        title="Pack the photos",
        cluster=WorkflowTraceCluster(
            cluster_id=str(uuid7()),
            normalized_goal="pack photos",
            app_family="terminal",
            source_mode=TraceSourceMode.USER_GUIDED,
            created_at=now,
            updated_at=now,
        ),
        source_session_ids=(session_id,),
        representative_session_id=session_id,
        created_at=now,
        updated_at=now,
    )
    with database.write() as connection:
        write_candidate(connection, candidate)
    MiningRunStore(database).open(
        MiningRunOpening(
            run_id=run_id,
            trigger=MiningTrigger.MANUAL,
            owner_user_id=owner,
            workflow_id=f"skill-mining/{run_id}",
            started_at=now,
        )
    )
