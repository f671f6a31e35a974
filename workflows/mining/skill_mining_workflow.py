"""Skill mining: looks through people's captures page by page, and builds what their owners let it build."""

import asyncio

from temporalio import workflow
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    ChildWorkflowError,
    WorkflowAlreadyStartedError,
    is_cancelled_exception,
)

with workflow.unsafe.imports_passed_through():
    from activities.mining.mining_activities import MiningActivities
    from contracts.base import clipped
    from contracts.mining.runs import (
        CandidateBuild,
        CandidateToBuild,
        MiningPage,
        MiningPageResult,
        MiningProgress,
        MiningRunClosing,
        MiningRunOpening,
        MiningRunState,
    )
    from contracts.workflow_ids import mined_skill_id, skill_mining_id
    from workflows.mining.mined_skill_workflow import MinedSkillWorkflow
    from workflows.mining.skill_mining_messages import MinedSkillStart, MiningEnd, MiningPosition, MiningStart
    from workflows.platform.child_summary import ChildSummary
    from workflows.platform.presets import STORE_CALL, SWEEP_PAGE, WORKFLOW_TASK_TIMEOUT
    from workflows.platform.refusals import application_error_in
    from workflows.platform.search_attributes import KIND_ATTRIBUTE, OWNER_ATTRIBUTE


BUILDS_AT_ONCE = 4

FAILED = "MiningFailed"
"""The type of the failure of a run that was given up."""


@workflow.defn(name="SkillMiningWorkflow")
class SkillMiningWorkflow:
    """A page of people at a time, each with a cursor that advances; then the builds of that page.

    What a page found is in the store before the next one begins, so a killed worker loses nothing.
    """

    @workflow.init
    def __init__(self, start: MiningStart) -> None:
        self._start = start
        position = start.position or MiningPosition(
            run_id=start.run_id or str(workflow.uuid7()),
            started_at=workflow.now(),
            progress=MiningProgress(),
        )
        self._run_id = position.run_id
        self._now = position.started_at
        self._progress: MiningProgress = position.progress
        self._pages = 0
        self._places = asyncio.Semaphore(BUILDS_AT_ONCE)
        self._show("opening")

    @workflow.run
    async def run(self, start: MiningStart) -> MiningEnd:
        """Looks at everybody, or at the one person named, and closes the record, also when cancelled."""
        await self._open()
        try:
            while not self._progress.finished:
                if self._pages >= start.pages_a_run or workflow.info().is_continue_as_new_suggested():
                    self._go_on_as_new()
                await self._page()
        except (ActivityError, asyncio.CancelledError) as error:
            if is_cancelled_exception(error):
                await asyncio.shield(self._close(MiningRunState.CANCELLED))
                raise
            await self._fail(error)
        await self._close(MiningRunState.COMPLETED)
        return MiningEnd(run_id=self._run_id, state=MiningRunState.COMPLETED, progress=self._progress)

    async def _open(self) -> None:
        await workflow.execute_local_activity_method(
            MiningActivities.open_mining,
            MiningRunOpening(
                run_id=self._run_id,
                trigger=self._start.trigger,
                owner_user_id=self._start.owner_user_id,
                workflow_id=workflow.info().workflow_id,
                started_at=self._now,
            ),
            summary="open the record",
            **STORE_CALL,
        )

    async def _page(self) -> None:
        self._show("looking")
        before = self._progress
        found: MiningPageResult = await workflow.execute_activity_method(
            MiningActivities.mine_page,
            MiningPage(
                run_id=self._run_id,
                owner_user_id=self._start.owner_user_id,
                before=before,
                limit=self._start.page_size,
                now=self._now,
            ),
            summary=f"people after {before.people}",
            **SWEEP_PAGE,
        )
        self._pages += 1
        self._progress = found.progress
        if found.to_build:
            self._show(f"building {len(found.to_build)}")
            built = await asyncio.gather(*(self._build(one) for one in found.to_build))
            self._progress = self._progress.changed(
                built=self._progress.built + sum(built),
                builds_failed=self._progress.builds_failed + len(built) - sum(built),
            )

    async def _build(self, candidate: CandidateToBuild) -> bool:
        build = CandidateBuild(
            candidate_id=candidate.candidate_id,
            owner_user_id=candidate.owner_user_id,
            correlation_id=skill_mining_id(self._run_id),
            now=workflow.now(),
        )
        async with self._places:
            try:
                end = await workflow.execute_child_workflow(
                    MinedSkillWorkflow.run,
                    MinedSkillStart(build=build),
                    id=mined_skill_id(candidate.candidate_id),
                    task_timeout=WORKFLOW_TASK_TIMEOUT,
                    static_summary=ChildSummary(
                        f"mined skill of {candidate.owner_user_id}", mined_skill_id(candidate.candidate_id)
                    ),
                    # What a build has begun it sees through, whatever becomes of the run.
                    parent_close_policy=workflow.ParentClosePolicy.ABANDON,
                    cancellation_type=workflow.ChildWorkflowCancellationType.ABANDON,
                    search_attributes=TypedSearchAttributes(
                        [
                            SearchAttributePair(KIND_ATTRIBUTE, "mined-skill"),
                            SearchAttributePair(OWNER_ATTRIBUTE, candidate.owner_user_id),
                        ]
                    ),
                )
            except (ChildWorkflowError, WorkflowAlreadyStartedError) as error:
                if is_cancelled_exception(error):
                    raise
                workflow.logger.warning(
                    "a candidate was not built",
                    extra={"candidate": candidate.candidate_id, "error": type(error).__name__},
                )
                return False
        return end.built

    async def _fail(self, error: ActivityError | asyncio.CancelledError) -> None:
        assert isinstance(error, ActivityError), "cancellation is dealt with before"
        reason = clipped(application_error_in(error).message, 240)
        await self._close(MiningRunState.FAILED, reason)
        raise ApplicationError(reason, type=FAILED, non_retryable=True)

    async def _close(self, state: MiningRunState, error: str | None = None) -> None:
        await workflow.execute_local_activity_method(
            MiningActivities.close_mining,
            MiningRunClosing(
                run_id=self._run_id,
                state=state,
                progress=self._progress,
                error=error,
                finished_at=workflow.now(),
            ),
            summary=state.value,
            **STORE_CALL,
        )
        self._show(state.value)

    def _go_on_as_new(self) -> None:
        position = MiningPosition(run_id=self._run_id, started_at=self._now, progress=self._progress)
        workflow.continue_as_new(self._start.changed(position=position))

    def _show(self, doing: str) -> None:
        done = self._progress
        gates = ", ".join(f"{gate.value} {count}" for gate, count in done.closed_gates.items()) or "none"
        whose = self._start.owner_user_id or "everybody"
        workflow.set_current_details(
            f"**Mining run** `{self._run_id}` ({self._start.trigger.value}, {whose}), {doing}\n\n"
            "| people | off | traces | left out | tasks | candidates | built | deferred | failed |\n"
            "|---|---|---|---|---|---|---|---|---|\n"
            f"| {done.people} | {done.people_off} | {done.traces} | {done.excluded} | {done.clusters}"
            f" | {done.candidates} | {done.built} | {done.deferred} | {done.failed + done.builds_failed} |\n\n"
            f"Closed gates: {gates}"
        )
