"""Gateway to skill mining: starts mining runs, and builds of candidates."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

import anyio.to_thread
from temporalio.client import Client, WithStartWorkflowOperation, WorkflowUpdateFailedError

from contracts.errors import ErrorCode, Refusal
from contracts.mining.candidates import MiningCandidate
from contracts.mining.runs import CandidateBuild, MiningRun, MiningRunOpening, MiningTrigger
from contracts.workflow_ids import MINING_SCHEDULE, mined_skill_id, skill_mining_id
from gateways.platform.updates import WorkflowWasClosing, start_options, start_or_join, update_with_start
from stores.mining.runs import MiningRunStore
from workflows.mining.mined_skill_workflow import MinedSkillWorkflow
from workflows.mining.skill_mining_messages import MinedSkillStart, MiningStart
from workflows.mining.skill_mining_workflow import SkillMiningWorkflow

OPENS_WITHIN = timedelta(seconds=30)
"""A build is answered when its session exists; after this the client is asked to try again."""

_KEYS = UUID("6f0f7a35-55b5-5f1c-8a3c-40a2f0a6f5d1")


def mining_run_id(owner: str, key: str) -> str:
    """The id of the run that this idempotency key of this caller starts."""
    return str(uuid5(_KEYS, f"{owner}/{key}"))


class MiningGateway:
    """Starts runs and builds; one call to Temporal each."""

    def __init__(self, client: Client, task_queue: str, runs: MiningRunStore) -> None:
        self._client = client
        self._task_queue = task_queue
        self._runs = runs

    async def start(self, run_id: str, owner: str) -> MiningRun:
        """Starts a run over the captures of ``owner``, or returns the one that was started under this id.

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
        start = MiningStart(trigger=MiningTrigger.MANUAL, run_id=run_id, owner_user_id=owner)
        options = start_options(
            run.workflow_id,
            self._task_queue,
            kind=MINING_SCHEDULE,
            owner=owner,
            summary=f"skill mining for {owner}",
        )
        try:
            await start_or_join(self._client, SkillMiningWorkflow.run, start, options)
        except Refusal:
            await anyio.to_thread.run_sync(self._runs.forget, run_id)
            raise
        return run

    async def build(self, build: CandidateBuild) -> MiningCandidate:
        """Builds the candidate; returns once its session exists.

        Raises:
            Refusal: what the build refuses; ``TEMPORAL_UNAVAILABLE`` when no worker answers.
        """
        start = WithStartWorkflowOperation(
            MinedSkillWorkflow.run,
            MinedSkillStart(build=build),
            **start_options(
                mined_skill_id(build.candidate_id),
                self._task_queue,
                kind="mined-skill",
                owner=build.owner_user_id,
                summary=f"mined skill of {build.owner_user_id}",
            ),
        )
        try:
            return await update_with_start(
                self._client, start, MinedSkillWorkflow.opened, within=OPENS_WITHIN
            )
        except (WorkflowWasClosing, WorkflowUpdateFailedError):
            raise Refusal(
                ErrorCode.CONFLICT, "The build has just ended; read the candidate and try again."
            ) from None
