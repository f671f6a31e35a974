"""The way from the API to the look at one tool server: one update-with-start, or a start nobody waits for."""

from datetime import timedelta

import structlog
from temporalio.client import Client, WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError

from api.opening_update import REOPENINGS, update_or_open
from api.update_errors import WorkflowWasClosing
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.probe import ProbeFindings, ProbeTask
from workflows.ids import mcp_probe_id
from workflows.mcp_probe_messages import ProbeStart
from workflows.mcp_probe_workflow import McpProbeWorkflow
from workflows.session_view import search_attributes_of

log = structlog.get_logger(__name__)

START_WITHIN = timedelta(seconds=2)
"""A look that nobody waits for is not worth more; the next sweep makes it anyway."""

MARGIN = timedelta(seconds=10)
"""What a worker may take beside the look itself."""

KIND = "mcp-probe"

UPDATE = "look"
"""The one update of the workflow."""


class McpProbeGateway:
    """Has servers looked at. Every refusal comes back as a ``Refusal``, whoever made it."""

    def __init__(self, client: Client, task_queue: str) -> None:
        self._client = client
        self._task_queue = task_queue

    async def probe_soon(self, server_id: str, owner: str, correlation_id: str) -> None:
        """Has a server looked at now, without waiting; where Temporal is away, the next sweep does it."""
        task = ProbeTask(server_id=server_id, owner=owner, correlation_id=correlation_id)
        try:
            await self._client.start_workflow(
                McpProbeWorkflow.run,
                ProbeStart(server_id=server_id, at_once=task),
                id=mcp_probe_id(server_id),
                task_queue=self._task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                search_attributes=search_attributes_of(KIND, owner),
                static_summary=server_id,
                rpc_timeout=START_WITHIN,
            )
        except (RPCError, RuntimeError) as error:
            # The SDK's first connection attempt fails with a plain RuntimeError.
            log.warning("a tool server is not looked at yet", server_id=server_id, error=str(error))

    async def look(self, task: ProbeTask, key: str) -> ProbeFindings:
        """Has a server looked at, and what was found. Under one ``key``, at most one look at a time.

        Raises:
            Refusal: ``MCP_SERVER_NOT_FOUND`` when it went meanwhile; ``TEMPORAL_UNAVAILABLE``.
        """
        for _ in range(REOPENINGS):
            try:
                return await self._update(task, key)
            except WorkflowWasClosing:
                continue
        raise Refusal(ErrorCode.CONFLICT, "The server is being looked at too often; repeat the command.")

    async def _update(self, task: ProbeTask, key: str) -> ProbeFindings:
        start = WithStartWorkflowOperation(
            McpProbeWorkflow.run,
            ProbeStart(server_id=task.server_id),
            id=mcp_probe_id(task.server_id),
            task_queue=self._task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            search_attributes=search_attributes_of(KIND, task.owner),
            static_summary=task.server_id,
        )
        patience = timedelta(milliseconds=task.max_duration_ms) + MARGIN
        return await update_or_open(
            self._client, start, UPDATE, task, ProbeFindings, update_id=key, within=patience
        )
