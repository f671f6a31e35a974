"""Installs one proposal as a saga: all of it, or nothing; and what its session decides before and after it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar, cast

from temporalio import workflow
from temporalio.common import SearchAttributePair
from temporalio.exceptions import ChildWorkflowError, FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.learning.session_activities import InstallActivities, SessionActivities
    from contracts.abilities.availability import InstallLane, UnprovedAcceptance
    from contracts.errors import ErrorCode
    from contracts.learning.aggregate import (
        BaseCheck,
        LearnSessionAggregate,
        OpenInstall,
    )
    from contracts.learning.install import (
        InstallSagaInput,
        InstallSagaOutput,
        SagaClose,
        SagaState,
        SagaStepInput,
        SagaStepName,
        SagaStepOutput,
    )
    from contracts.learning.lifecycle import LearningLifecycleEvent as Event
    from contracts.learning.lifecycle import LearningReceiptKind as Receipt
    from contracts.learning.session import LearnSessionState as S
    from contracts.learning.validation import unproved_digest
    from contracts.platform.commands import CommitKey
    from contracts.workflow_ids import install_saga_id
    from workflows.learning.session_decision import SessionDecision
    from workflows.platform.child_summary import ChildSummary
    from workflows.platform.presets import SAGA_STEP, STORE_CALL, UNDO_STEP, WORKFLOW_TASK_TIMEOUT
    from workflows.platform.refusals import application_error_in, cause_of
    from workflows.platform.search_attributes import KIND_ATTRIBUTE

Step = TypeVar("Step")


class CompensationStack(Generic[Step]):
    """Undos are pushed before their step runs, and run in reverse, each whatever became of the others."""

    def __init__(self, undo: Callable[[Step], Awaitable[None]]) -> None:
        """``undo`` undoes one step and must do nothing where the step never happened."""
        self._undo = undo
        self._steps: list[Step] = []

    def push(self, step: Step) -> None:
        """Registers a step that is about to run."""
        self._steps.append(step)

    async def unwind(self) -> tuple[Step, ...]:
        """Undoes everything in reverse, even while being cancelled. Returns the steps whose undo failed."""
        return await asyncio.shield(self._unwind())

    async def _unwind(self) -> tuple[Step, ...]:
        failed: list[Step] = []
        while self._steps:
            step = self._steps.pop()
            try:
                await self._undo(step)
            except Exception as error:
                workflow.logger.error("undo failed", extra={"step": str(step), "error": str(error)})
                failed.append(step)
        return tuple(failed)


UNDOES_ALL_ON_CANCEL = "undo-all-on-cancel"
"""The change by which a cancel undoes every step; runs that were cancelled before it undo those they know of."""


@workflow.defn(name="InstallSagaWorkflow")
class InstallSagaWorkflow:
    """plan → materialise → project → rebuild the bridge → refresh availability.

    Every step is idempotent and its undo is registered before it runs. A failure or a cancel at any step
    undoes what was done, in reverse, and leaves workspace, bridge and snapshot as they were.
    """

    @workflow.init
    def __init__(self, request: InstallSagaInput) -> None:
        self._request = request
        self._undo = CompensationStack(self._undo_step)
        self._step = SagaStepName.PLAN
        self._done: list[str] = []
        self._show()

    @workflow.run
    async def run(self, request: InstallSagaInput) -> InstallSagaOutput:
        """Runs the steps; answers how it ended, or goes on being cancelled once everything is undone."""
        try:
            version = await self._run_steps()
        except (FailureError, asyncio.CancelledError) as error:
            if is_cancelled_exception(error):
                if workflow.patched(UNDOES_ALL_ON_CANCEL):
                    self._expect_all_done()
                await asyncio.shield(self._roll_back("cancelled"))
                raise
            failure = application_error_in(cast("FailureError", error))
            if failure.type == ErrorCode.CONFLICT:
                self._expect_all_done()
            return await self._roll_back(f"{failure.type}: {failure.message}")
        return InstallSagaOutput(state=SagaState.INSTALLED, version=version)

    async def _run_steps(self) -> int | None:
        version: int | None = None
        for step in SagaStepName:
            self._step = step
            self._show()
            self._undo.push(step)
            output: SagaStepOutput = await workflow.execute_local_activity_method(
                InstallActivities.do_step,
                SagaStepInput(saga=self._request, step=step),
                summary=step.value,
                **SAGA_STEP,
            )
            version = output.version or version
            self._done.append(f"- ✓ {step.value} ({output.files} files)")
        self._show()
        return version

    def _expect_all_done(self) -> None:
        """Any step may have been done: an undo began before this run, or a workflow task was lost with its results."""
        steps = list(SagaStepName)
        for step in steps[steps.index(self._step) + 1 :]:
            self._undo.push(step)

    async def _roll_back(self, reason: str) -> InstallSagaOutput:
        failed_step = self._step
        self._done.append(f"- ✗ {failed_step.value}: {reason}")
        stuck = await self._undo.unwind()
        state = SagaState.ROLLBACK_FAILED if stuck else SagaState.ROLLED_BACK
        await self._close(state, reason)
        return InstallSagaOutput(state=state, failed_step=failed_step, error=reason[:240])

    async def _undo_step(self, step: SagaStepName) -> None:
        await workflow.execute_local_activity_method(
            InstallActivities.undo_step,
            SagaStepInput(saga=self._request, step=step),
            summary=f"undo {step.value}",
            **UNDO_STEP,
        )
        self._done.append(f"- ↶ {step.value}")
        self._show()

    async def _close(self, state: SagaState, error: str | None) -> None:
        await workflow.execute_local_activity_method(
            InstallActivities.close,
            SagaClose(saga=self._request, state=state, error=error[:240] if error else None),
            summary=state.value,
            **STORE_CALL,
        )

    def _show(self) -> None:
        doing = f"**{self._request.skill_slug}** → `{self._request.lane.value}`, at `{self._step.value}`"
        workflow.set_current_details("\n".join([doing, "", *self._done]))


def begin(
    decision: SessionDecision, lane: InstallLane, note: str | None, asked_under: CommitKey | None
) -> None:
    """An install begins. A private one has a state of its own; an approval stays where it is until done."""
    proposal = decision.next.proposal
    assert proposal is not None
    assert proposal.ability_id is not None, "installable proposals are named"
    install = OpenInstall(
        saga_id=str(workflow.uuid7()),
        lane=lane,
        ability_id=proposal.ability_id,
        asked_under=asked_under,
        accepted=_acceptance(decision, asked_under),
    )
    accepted, why = install.accepted, _accepted_in_words(install)
    facts = {
        "saga_id": install.saga_id,
        "install_lane": lane.value,
        "note": note,
        "accepted_unproved": accepted.model_dump(mode="json") if accepted else None,
    }
    decision.set(install=install)
    if lane is InstallLane.EXPERIMENTAL_PRIVATE:
        decision.go(S.INSTALLING_PRIVATE, Event.INSTALL_STARTED, Receipt.INSTALL_REQUESTED, why, **facts)
    else:
        decision.note(Event.INSTALL_STARTED, Receipt.INSTALL_REQUESTED, why, **facts)


def _acceptance(decision: SessionDecision, asked_under: CommitKey | None) -> UnprovedAcceptance | None:
    """The acceptance that the command was checked for; an install that nobody asked for has none."""
    steps = decision.next.unproved
    if not steps or asked_under is None:
        return None
    return UnprovedAcceptance(
        steps=steps,
        digest=unproved_digest(steps),
        accepted_by=asked_under.owner_user_id,
        accepted_at=workflow.now(),
    )


def _accepted_in_words(install: OpenInstall) -> str | None:
    accepted = install.accepted
    if accepted is None:
        return None
    return f"{accepted.accepted_by} accepted without proof: {'; '.join(one.step for one in accepted.steps)}"


def saga_input(aggregate: LearnSessionAggregate, correlation_id: str) -> InstallSagaInput:
    """What the child workflow of the open install is given."""
    install, proposal = aggregate.install, aggregate.proposal
    assert install is not None, "only called while an install is open"
    assert proposal is not None
    return InstallSagaInput(
        saga_id=install.saga_id,
        learn_session_id=aggregate.session.learn_session_id,
        proposal_id=proposal.proposal_id,
        owner_user_id=aggregate.session.owner_user_id,
        content_hash=proposal.content_hash,
        ability_id=install.ability_id,
        skill_slug=proposal.proposed_skill_slug,
        lane=install.lane,
        correlation_id=correlation_id,
        requested_at=aggregate.state_since,
    )


def finish(decision: SessionDecision, output: InstallSagaOutput) -> None:
    """The saga's end decides: installed, approved, or quarantined with everything as it was before."""
    install = decision.next.install
    assert install is not None, "only called while an install is open"
    decision.set(install=None)
    if output.state is SagaState.INSTALLED:
        _installed(decision, install, output)
    else:
        _failed(decision, install, output)


def _installed(decision: SessionDecision, install: OpenInstall, output: InstallSagaOutput) -> None:
    decision.set_session(ability_id=install.ability_id)
    decision.set_proposal(install_lane=install.lane)
    why = _accepted_in_words(install)
    facts = {"saga_id": install.saga_id, "install_lane": install.lane.value, "version": output.version}
    decision.note(Event.BRIDGE_REBUILD_STARTED)
    decision.note(Event.BRIDGE_REBUILD_COMPLETED, Receipt.BRIDGE_REBUILT)
    decision.note(Event.ABILITY_SNAPSHOT_UPDATED, Receipt.AVAILABILITY_UPDATED)
    decision.note(Event.ABILITY_ROUTE_ENABLED, Receipt.ACTIVATED)
    if install.lane is InstallLane.EXPERIMENTAL_PRIVATE:
        decision.go(S.INSTALLED_PRIVATE, Event.INSTALL_COMPLETED, Receipt.INSTALLED_PRIVATE, why, **facts)
    else:
        decision.note(Event.INSTALL_COMPLETED, None, None, **facts)
        decision.go(S.APPROVED, Event.SESSION_APPROVED, Receipt.APPROVED, why, **facts)


def _failed(decision: SessionDecision, install: OpenInstall, output: InstallSagaOutput) -> None:
    reason = output.error or f"the install ended as {output.state.value}"
    decision.set_proposal(install_lane=InstallLane.QUARANTINED)
    facts = {
        "saga_id": install.saga_id,
        "saga_state": output.state.value,
        "failed_step": output.failed_step.value if output.failed_step else None,
    }
    decision.note(Event.INSTALL_FAILED, Receipt.INSTALL_FAILED, reason, **facts)
    if decision.next.session.state is S.READY_FOR_REVIEW:
        # The table leads from review to quarantine only through installing (see the ADR on failed approvals).
        decision.go(S.INSTALLING_PRIVATE, Event.INSTALL_STARTED, None, "the approval's install failed")
    decision.go(S.QUARANTINED, Event.SESSION_QUARANTINED, Receipt.QUARANTINED, reason)


async def check_base(aggregate: LearnSessionAggregate, lane: InstallLane) -> None:
    """Refuses an improvement whose base has moved; makes no check where the proposal improves nothing.

    Raises:
        ApplicationError: ``PROPOSAL_STALE``, ``HAND_EDITED`` or ``INSTALL_LANE_DENIED``.
    """
    proposal = aggregate.proposal
    if proposal is None or proposal.base is None:
        return
    try:
        await workflow.execute_local_activity_method(
            SessionActivities.check_base,
            BaseCheck(proposal=proposal, lane=lane),
            summary="check the base",
            **STORE_CALL,
        )
    except FailureError as error:
        raise application_error_in(error) from None


async def run_saga(aggregate: LearnSessionAggregate) -> InstallSagaOutput:
    """Runs the saga of the open install. One that is cancelled or fails has undone what it did."""
    return await run_saga_of(saga_input(aggregate, workflow.info().workflow_id))


async def run_saga_of(request: InstallSagaInput) -> InstallSagaOutput:
    """Runs one saga as a child, of a lesson's draft or an import's."""
    try:
        return await workflow.execute_child_workflow(
            InstallSagaWorkflow.run,
            request,
            id=install_saga_id(request.saga_id),
            task_timeout=WORKFLOW_TASK_TIMEOUT,
            static_summary=ChildSummary(
                f"Install {request.skill_slug} ({request.lane.value})", install_saga_id(request.saga_id)
            ),
            search_attributes=workflow.info().typed_search_attributes.updated(  # pyright: ignore[reportUnknownMemberType]
                SearchAttributePair(KIND_ATTRIBUTE, "install-saga")
            ),
        )
    except ChildWorkflowError as error:
        return InstallSagaOutput(state=SagaState.ROLLED_BACK, error=cause_of(error))


async def undo_saga_of(request: InstallSagaInput, reason: str) -> bool:
    """Undoes from outside what a saga did that has ended, installed or not; whether everything is as it was.

    What it undid itself, or never did, is left alone. The session or import must still wait for it.
    """

    async def undo(step: SagaStepName) -> None:
        await workflow.execute_local_activity_method(
            InstallActivities.undo_step,
            SagaStepInput(saga=request, step=step),
            summary=f"undo {step.value} of {request.skill_slug}",
            **UNDO_STEP,
        )

    steps = CompensationStack(undo)
    for step in SagaStepName:
        steps.push(step)
    stuck = await steps.unwind()
    state = SagaState.ROLLBACK_FAILED if stuck else SagaState.ROLLED_BACK
    await workflow.execute_local_activity_method(
        InstallActivities.close,
        SagaClose(saga=request, state=state, error=reason[:240]),
        summary=f"{request.skill_slug} {state.value}",
        **STORE_CALL,
    )
    return not stuck
