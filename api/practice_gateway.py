"""Starts autonomous practice at Temporal."""

from datetime import timedelta

import anyio.to_thread
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError

from api.update_errors import unavailable
from contracts.learning.practice import PracticeRef, PracticeRun, PracticeState, StartPracticeRequest
from stores.practice_store import PracticeStore
from workflows.practice_messages import PracticeStart
from workflows.practice_workflow import PracticeWorkflow
from workflows.session_view import search_attributes_of

ANSWER_WITHIN = timedelta(seconds=10)


class PracticeGateway:
    """One call to Temporal a practice."""

    def __init__(self, client: Client, task_queue: str, practices: PracticeStore) -> None:
        self._client = client
        self._task_queue = task_queue
        self._practices = practices

    async def start(self, run: PracticeRun, request: StartPracticeRequest) -> PracticeRun:
        """Starts the practice, or answers with the same one where it was started before.

        Raises:
            Refusal: ``CONFLICT`` when the session practises something else; ``TEMPORAL_UNAVAILABLE``, and then
                nothing was started.
        """
        opened = await anyio.to_thread.run_sync(self._practices.open, run, request)
        if opened.state is not PracticeState.RUNNING:
            return opened
        ref = PracticeRef(
            learn_session_id=opened.learn_session_id,
            owner_user_id=opened.owner_user_id,
            correlation_id=opened.correlation_id,
        )
        try:
            await self._client.start_workflow(
                PracticeWorkflow.run,
                PracticeStart(ref=ref),
                id=opened.workflow_id,
                task_queue=self._task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                search_attributes=search_attributes_of("practice", opened.owner_user_id),
                static_summary=f"practice of {opened.owner_user_id}",
                rpc_timeout=ANSWER_WITHIN,
            )
        except (RPCError, RuntimeError) as error:
            # The SDK's first connection attempt fails with a plain RuntimeError.
            await anyio.to_thread.run_sync(self._practices.forget, opened.learn_session_id)
            raise unavailable(error) from error
        return opened
