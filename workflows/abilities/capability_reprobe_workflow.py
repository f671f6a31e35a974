"""Rechecks capabilities by low-risk canaries: asked for by a person, or by the schedule (DOC3 §1.1I)."""

from uuid import UUID, uuid5

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from activities.abilities.ability_activities import ReprobeActivities
    from contracts.abilities.capability_health import CanaryResult, CanaryTask, ReprobeSelection
    from workflows.abilities.ability_messages import ReprobeEnd, ReprobeStart
    from workflows.platform.presets import CHECK_CALL, STORE_CALL


@workflow.defn(name="CapabilityReprobeWorkflow")
class CapabilityReprobeWorkflow:
    """Takes the runtime's inventory, then runs the canaries of each capability until one is bad.

    Health is decided where a canary's outcome is written, in one transaction; failures of the past stay
    where they are. A canary that cannot be run at all leaves its capability as it was.
    """

    @workflow.init
    def __init__(self, start: ReprobeStart) -> None:
        self._start = start
        self._reprobe_id = start.reprobe_id or str(workflow.uuid4())
        self._results: dict[str, CanaryResult] = {}
        self._troubles: list[str] = []

    @workflow.run
    async def run(self, start: ReprobeStart) -> ReprobeEnd:
        """Rechecks what was asked for, or what is due."""
        missing = await workflow.execute_local_activity_method(
            ReprobeActivities.take_inventory, summary="take the runtime's inventory", **STORE_CALL
        )
        due = await workflow.execute_local_activity_method(
            ReprobeActivities.select_due,
            ReprobeSelection(
                capability_id=start.capability_id, ability_id=start.ability_id, now=workflow.now()
            ),
            summary="choose what to recheck",
            **STORE_CALL,
        )
        for capability_id in due:
            await self._recheck(capability_id)
            self._show(len(due))
        return ReprobeEnd(results=tuple(self._results.values()), missing_runtime_caps=missing)

    async def _recheck(self, capability_id: str) -> None:
        for number in range(1, self._start.canaries + 1):
            try:
                result = await self._canary(capability_id, number)
            except ActivityError as error:
                self._troubles.append(f"{capability_id}: {error.cause or error}")
                workflow.logger.warning(
                    "a canary could not be run",
                    extra={"capability": capability_id, "error": str(error.cause)},
                )
                return
            if result is None:
                return
            self._results[capability_id] = result
            if not result.success:
                return

    async def _canary(self, capability_id: str, number: int) -> CanaryResult | None:
        task = CanaryTask(
            capability_id=capability_id,
            outcome_id=str(uuid5(UUID(self._reprobe_id), f"{capability_id}/{number}")),
            requested_by=self._start.requested_by,
            correlation_id=self._start.correlation_id or self._reprobe_id,
        )
        return await workflow.execute_local_activity_method(
            ReprobeActivities.run_canary, task, summary=f"canary {number} of {capability_id}", **CHECK_CALL
        )

    def _show(self, total: int) -> None:
        lines = [
            f"Rechecked {len(self._results)} of {total}.",
            "",
            "| capability | canary | health |",
            "|---|---|---|",
        ]
        lines += [
            f"| {one.capability_id} | {'good' if one.success else one.summary or 'bad'} | {one.health_status.value} |"
            for one in self._results.values()
        ]
        lines += [f"- {trouble}" for trouble in self._troubles]
        workflow.set_current_details("\n".join(lines))
