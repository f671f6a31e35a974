"""Starts mining runs and builds of candidates at Temporal."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

import anyio.to_thread
import structlog
from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowUpdateFailedError,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError

from api.opening_update import update_or_open
from api.update_errors import WorkflowWasClosing, unavailable
from contracts.errors import ErrorCode, Refusal
from contracts.learning.mining import MiningCandidate
from contracts.learning.mining_runs import CandidateBuild, MiningRun, MiningRunOpening, MiningTrigger
from stores.mining_runs import MiningRunStore
from workflows.ids import MINING_SCHEDULE, mined_skill_id, skill_mining_id
from workflows.mined_skill_workflow import MinedSkillWorkflow
from workflows.session_view import search_attributes_of
from workflows.skill_mining_messages import MinedSkillStart, MiningStart
from workflows.skill_mining_workflow import SkillMiningWorkflow

log = structlog.get_logger(__name__)

ANSWER_WITHIN = timedelta(seconds=10)

OPENS_WITHIN = timedelta(seconds=30)
"""A build is answered when its session is there; after this the client is told to ask again."""

_KEYS = UUID("6f0f7a35-55b5-5f1c-8a3c-40a2f0a6f5d1")


def mining_run_id(owner: str, key: str) -> str:
    """The run that this idempotency key of this caller starts."""
    return str(uuid5(_KEYS, f"{owner}/{key}"))


class MiningGateway:
    """One call to Temporal a command."""

    def __init__(self, client: Client, task_queue: str, runs: MiningRunStore) -> None:
        self._client = client
        self._task_queue = task_queue
        self._runs = runs

    async def start(self, run_id: str, owner: str) -> MiningRun:
        """Starts a run over the captures of ``owner``, or answers with the one that was started under this id.

        Raises:
            Refusal: ``TEMPORAL_UNAVAILABLE``; nothing was started.
        """
        opening = MiningRunOpening(
            run_id=run_id,
            trigger=MiningTrigger.MANUAL,
            owner_user_id=owner,
            workflow_id=skill_mining_id(run_id),
            started_at=datetime.now(UTC),
        )
        run = await anyio.to_thread.run_sync(self._runs.open, opening)
        try:
            await self._client.start_workflow(
                SkillMiningWorkflow.run,
                MiningStart(trigger=MiningTrigger.MANUAL, run_id=run_id, owner_user_id=owner),
                id=run.workflow_id,
                task_queue=self._task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                search_attributes=search_attributes_of(MINING_SCHEDULE, owner),
                static_summary=f"skill mining for {owner}",
                rpc_timeout=ANSWER_WITHIN,
            )
        except (RPCError, RuntimeError) as error:
            # The SDK's first connection attempt fails with a plain RuntimeError.
            await anyio.to_thread.run_sync(self._runs.forget, run_id)
            raise unavailable(error) from error
        return run

    async def build(self, build: CandidateBuild) -> MiningCandidate:
        """Builds the candidate; answers once its session is there.

        Raises:
            Refusal: what the build refuses; ``TEMPORAL_UNAVAILABLE`` when nobody answers.
        """
        start = WithStartWorkflowOperation(
            MinedSkillWorkflow.run,
            MinedSkillStart(build=build),
            id=mined_skill_id(build.candidate_id),
            task_queue=self._task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            search_attributes=search_attributes_of("mined-skill", build.owner_user_id),
            static_summary=f"mined skill of {build.owner_user_id}",
        )
        try:
            return await update_or_open(
                self._client, start, "opened", None, MiningCandidate, within=OPENS_WITHIN
            )
        except (WorkflowWasClosing, WorkflowUpdateFailedError):
            raise Refusal(
                ErrorCode.CONFLICT, "The build has just ended; read the candidate and try again."
            ) from None
