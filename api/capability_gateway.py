"""Starts rechecks of capabilities at Temporal, one at a time for each capability."""

from datetime import timedelta
from uuid import UUID, uuid5

import anyio.to_thread
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError

from api.update_errors import unavailable
from contracts.capabilities.reprobe import ReprobeRequest, ReprobeResponse
from contracts.learning.aggregate import CommitKey
from stores.capability_health_store import CapabilityHealthStore
from workflows.capability_reprobe_messages import ReprobeStart
from workflows.capability_reprobe_workflow import CapabilityReprobeWorkflow
from workflows.ids import REPROBE_SCHEDULE, capability_reprobe_id
from workflows.session_view import search_attributes_of

ANSWER_WITHIN = timedelta(seconds=10)

_KEYS = UUID("c1a3b6c2-0f0e-5c55-8a55-6f0f0e5d1c77")


class CapabilityGateway:
    """Starts rechecks. A canary's id comes from the caller's key, so a start that is repeated counts once."""

    def __init__(self, client: Client, task_queue: str, health: CapabilityHealthStore) -> None:
        self._client = client
        self._task_queue = task_queue
        self._health = health

    async def reprobe(
        self, request: ReprobeRequest, caller: str, key: CommitKey, correlation_id: str
    ) -> ReprobeResponse:
        """Starts a recheck, or joins the one that goes on.

        Raises:
            Refusal: as ``CapabilityHealthStore.recheckable``; ``TEMPORAL_UNAVAILABLE``, nothing was started.
        """
        status = await anyio.to_thread.run_sync(self._health.recheckable, request.capability_id, caller)
        workflow_id = capability_reprobe_id(request.capability_id)
        try:
            await self._client.start_workflow(
                CapabilityReprobeWorkflow.run,
                ReprobeStart(
                    capability_id=request.capability_id,
                    canaries=request.canaries,
                    reprobe_id=str(uuid5(_KEYS, f"{caller}/{key.key}")),
                    requested_by=caller,
                    correlation_id=correlation_id,
                ),
                id=workflow_id,
                task_queue=self._task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                search_attributes=search_attributes_of(REPROBE_SCHEDULE, caller),
                static_summary=f"recheck of {request.capability_id} by {caller}",
                rpc_timeout=ANSWER_WITHIN,
            )
        except (RPCError, RuntimeError) as error:
            # The SDK's first connection attempt fails with a plain RuntimeError.
            raise unavailable(error) from error
        return ReprobeResponse(
            capability_id=request.capability_id,
            canaries=request.canaries,
            health_status=status,
            workflow_id=workflow_id,
        )
