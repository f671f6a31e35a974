"""Gateway to autonomous practice: starts its workflow."""

import anyio.to_thread
from temporalio.client import Client

from contracts.practice.practice import PracticeRef, PracticeRun, PracticeState, StartPracticeRequest
from gateways.platform.updates import start_options, start_or_join
from stores.practice.practice import PracticeStore
from workflows.practice.practice_messages import PracticeStart
from workflows.practice.practice_workflow import PracticeWorkflow


async def run_practice(client: Client, task_queue: str, run: PracticeRun) -> None:
    """Starts the workflow of a practice that the store has; one that runs stays.

    Raises:
        Refusal: ``TEMPORAL_UNAVAILABLE``; nothing was started.
    """
    ref = PracticeRef(
        learn_session_id=run.learn_session_id,
        owner_user_id=run.owner_user_id,
        correlation_id=run.correlation_id,
    )
    options = start_options(
        run.workflow_id,
        task_queue,
        kind="practice",
        owner=run.owner_user_id,
        summary=f"practice of {run.owner_user_id}",
    )
    await start_or_join(client, PracticeWorkflow.run, PracticeStart(ref=ref), options)


class PracticeGateway:
    """Starts practices, one for each session."""

    def __init__(self, client: Client, task_queue: str, practices: PracticeStore) -> None:
        self._client = client
        self._task_queue = task_queue
        self._practices = practices

    async def start(self, run: PracticeRun, request: StartPracticeRequest) -> PracticeRun:
        """Starts the practice, or returns the same one where it was started before.

        Raises:
            Refusal: ``CONFLICT`` when the session practises something else; ``TEMPORAL_UNAVAILABLE``. The record
                stays then: somebody else may have been told of it, and the workers start what is on record.
        """
        opened = await anyio.to_thread.run_sync(self._practices.open, run, request)
        if opened.state is PracticeState.RUNNING:
            await run_practice(self._client, self._task_queue, opened)
        return opened
