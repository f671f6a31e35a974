"""Gateway to trials of abilities: starts and cancels their workflows."""

import anyio.to_thread
import structlog
from temporalio.client import Client
from temporalio.service import RPCError

from contracts.errors import Refusal
from contracts.learning.trials import TrialRun, TrialState
from gateways.platform.updates import start_options, start_or_join
from stores.learning.trials import TrialStore
from workflows.learning.trial_messages import TrialStart
from workflows.learning.trial_workflow import TrialWorkflow

log = structlog.get_logger(__name__)


class TrialGateway:
    """Starts trials, one workflow each."""

    def __init__(self, client: Client, task_queue: str, trials: TrialStore) -> None:
        self._client = client
        self._task_queue = task_queue
        self._trials = trials

    async def start(self, run: TrialRun, commands: int) -> TrialRun:
        """Starts the trial, or returns the same one where it was started before.

        Raises:
            Refusal: what ``TrialStore.open`` refuses; ``TEMPORAL_UNAVAILABLE``, nothing was started.
        """
        opened = await anyio.to_thread.run_sync(self._trials.open, run)
        if opened.state is not TrialState.RUNNING:
            return opened
        options = start_options(
            opened.workflow_id,
            self._task_queue,
            kind="trial",
            owner=opened.owner_user_id,
            summary=f"trial of {opened.ability_id}",
        )
        try:
            await start_or_join(
                self._client, TrialWorkflow.run, TrialStart(ref=opened.ref, commands=commands), options
            )
        except Refusal:
            await anyio.to_thread.run_sync(self._trials.forget, opened.trial_id)
            raise
        return opened

    async def cancel(self, run: TrialRun) -> None:
        """Asks the workflow to end; one that cannot be reached finds its trial gone, and ends by itself."""
        try:
            await self._client.get_workflow_handle(run.workflow_id).cancel()
        except (RPCError, RuntimeError) as error:
            log.info("a trial's workflow was not cancelled", workflow_id=run.workflow_id, error=str(error))
