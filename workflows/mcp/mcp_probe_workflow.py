"""Probes of tool servers: of one on request, of all that are due by schedule (DOC3 §0.2D, §0.6E)."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError, FailureError

with workflow.unsafe.imports_passed_through():
    from activities.mcp.probe_activities import McpProbeActivities
    from contracts.errors import ErrorCode
    from contracts.mcp.servers import DueOrder, DueServer, ProbeFindings, ProbeTask
    from workflows.mcp.mcp_messages import SWEEP_PAGE, ProbeEnd, ProbeStart, SweepEnd, SweepStart
    from workflows.platform.presets import SERVER_PROBE, STORE_CALL
    from workflows.platform.refusals import application_error_in, refused


@workflow.defn(name="McpProbeWorkflow")
class McpProbeWorkflow:
    """Looks at one server, one look after another, and closes when everybody who asked has been answered.

    It remembers nothing: what a look finds is written where the look is made.
    """

    @workflow.init
    def __init__(self, start: ProbeStart) -> None:
        self._server_id = start.server_id
        self._turn = asyncio.Lock()
        self._asked = 0
        self._looks = 0

    @workflow.run
    async def run(self, start: ProbeStart) -> ProbeEnd:
        """Makes the probe without a waiting client, if there is one, and answers those with one."""
        if start.at_once is not None:
            self._asked += 1
            try:
                await self._look(start.at_once)
            except FailureError as error:
                workflow.logger.warning(
                    "a tool server could not be looked at",
                    extra={"server": self._server_id, "error": str(error.cause or error)},
                )
        await workflow.wait_condition(lambda: self._asked > 0 and workflow.all_handlers_finished())
        return ProbeEnd(looks=self._looks)

    @workflow.update(description="Look at the server now and say what was found")
    async def look(self, task: ProbeTask) -> ProbeFindings:
        self._asked += 1
        try:
            return await self._look(task)
        except FailureError as error:
            raise application_error_in(error) from None

    @look.validator
    def _is_meant(self, task: ProbeTask) -> None:
        if task.server_id != self._server_id:
            raise refused(ErrorCode.INTERNAL_ERROR, f"This workflow is the server {self._server_id}'s.")

    async def _look(self, task: ProbeTask) -> ProbeFindings:
        async with self._turn:
            found = await workflow.execute_activity_method(
                McpProbeActivities.look_at_server,
                task.changed(at=workflow.now()),
                summary="connect, sign in, list the tools",
                **SERVER_PROBE,
            )
            self._looks += 1
            workflow.set_current_details(
                f"**{found.health.health_status.value}** after {self._looks} looks. "
                f"{found.not_tried or (found.failure.kind.value if found.failure else '')}"
            )
            return found


@workflow.defn(name="McpHealthSweepWorkflow")
class McpHealthSweepWorkflow:
    """Looks at every server that is due, a page at a time; one that cannot be looked at holds up no other."""

    @workflow.init
    def __init__(self, start: SweepStart) -> None:
        self._correlation_id = start.correlation_id or str(workflow.uuid4())
        self._end = SweepEnd()

    @workflow.run
    async def run(self, start: SweepStart) -> SweepEnd:
        """Goes on until no server is due."""
        for _ in range(start.most_pages):
            due = await workflow.execute_local_activity_method(
                McpProbeActivities.claim_due_servers,
                DueOrder(limit=SWEEP_PAGE, at=workflow.now()),
                summary="choose the servers that are due",
                **STORE_CALL,
            )
            for found in await asyncio.gather(*(self._look(one) for one in due)):
                self._count(found)
            workflow.set_current_details(
                f"{self._end.answered} answered, {self._end.failed} did not, "
                f"{self._end.left_alone} were left alone."
            )
            if len(due) < SWEEP_PAGE:
                break
        return self._end

    async def _look(self, due: DueServer) -> ProbeFindings | None:
        task = ProbeTask(
            server_id=due.server_id,
            owner=due.owner,
            correlation_id=self._correlation_id,
            at=workflow.now(),
        )
        try:
            return await workflow.execute_activity_method(
                McpProbeActivities.look_at_server, task, summary=due.server_id, **SERVER_PROBE
            )
        except ActivityError as error:
            workflow.logger.warning(
                "a tool server could not be looked at",
                extra={"server": due.server_id, "error": str(error.cause or error)},
            )
            return None

    def _count(self, found: ProbeFindings | None) -> None:
        if found is None or found.not_tried is not None:
            field = "left_alone"
        else:
            field = "answered" if found.failure is None else "failed"
        self._end = self._end.changed(**{field: getattr(self._end, field) + 1})
