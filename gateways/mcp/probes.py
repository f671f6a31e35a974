"""Gateway to the probe of one tool server: an update-with-start, or a start without waiting for the result."""

from datetime import timedelta

import structlog
from temporalio.client import Client, WithStartWorkflowOperation

from contracts.errors import Refusal
from contracts.mcp.servers import ProbeFindings, ProbeTask
from contracts.workflow_ids import mcp_probe_id
from gateways.platform.updates import (
    StartOptions,
    start_options,
    start_or_join,
    update_or_recall,
    update_with_start,
)
from workflows.mcp.mcp_messages import ProbeStart
from workflows.mcp.mcp_probe_workflow import McpProbeWorkflow

log = structlog.get_logger(__name__)

START_WITHIN = timedelta(seconds=2)
"""The timeout of a start whose result is not waited for; the next sweep probes the server anyway."""

MARGIN = timedelta(seconds=10)
"""The time of a worker beside the probe itself."""


class McpProbeGateway:
    """Has servers probed; every failure of a probe is raised as a ``Refusal``."""

    def __init__(self, client: Client, task_queue: str) -> None:
        self._client = client
        self._task_queue = task_queue

    async def probe_soon(self, server_id: str, owner: str, correlation_id: str) -> None:
        """Starts a probe without waiting for it; where Temporal is unavailable, the next sweep does it."""
        task = ProbeTask(server_id=server_id, owner=owner, correlation_id=correlation_id)
        start = ProbeStart(server_id=server_id, at_once=task)
        try:
            await start_or_join(
                self._client,
                McpProbeWorkflow.run,
                start,
                self._options(server_id, owner),
                within=START_WITHIN,
            )
        except Refusal:
            log.warning("a tool server is not probed yet", server_id=server_id)

    async def look(self, task: ProbeTask, key: str) -> ProbeFindings:
        """Probes a server and returns the findings; ``key`` is the update id, so one key is one probe at a time.

        Raises:
            Refusal: ``MCP_SERVER_NOT_FOUND`` when the server was removed meanwhile; ``TEMPORAL_UNAVAILABLE``.
        """

        async def attempt() -> ProbeFindings:
            start = WithStartWorkflowOperation(
                McpProbeWorkflow.run,
                ProbeStart(server_id=task.server_id),
                **self._options(task.server_id, task.owner),
            )
            within = timedelta(milliseconds=task.max_duration_ms) + MARGIN
            return await update_with_start(
                self._client, start, McpProbeWorkflow.look, task, update_id=key, within=within
            )

        return await update_or_recall(
            attempt,
            workflow_id=mcp_probe_id(task.server_id),
            conflict="The server is being looked at too often; repeat the command.",
        )

    def _options(self, server_id: str, owner: str) -> StartOptions:
        return start_options(
            mcp_probe_id(server_id), self._task_queue, kind="mcp-probe", owner=owner, summary=server_id
        )
