"""One validation run: the selected checks in order, each recorded on its own; and what its session decides about it."""

from datetime import datetime

from temporalio import workflow
from temporalio.common import SearchAttributePair
from temporalio.exceptions import ApplicationError, ChildWorkflowError

with workflow.unsafe.imports_passed_through():
    from activities.learning.validation_activities import ValidationActivities
    from contracts.abilities.availability import MAX_UNPROVED, InstallLane
    from contracts.base import clipped
    from contracts.learning.aggregate import LearnSessionAggregate
    from contracts.learning.lifecycle import LearningLifecycleEvent as Event
    from contracts.learning.lifecycle import LearningReceiptKind as Receipt
    from contracts.learning.session import LearnSessionState as S
    from contracts.learning.validation import (
        CHECK_REF,
        OFFERED_CHECKS,
        REQUIRED_CHECKS,
        RUNS_COMMANDS,
        CheckInput,
        CheckOutput,
        DraftProof,
        OverallResult,
        SafetyClass,
        SkillValidationReport,
        ValidationRun,
        ValidationRunInput,
        ValidationRunKind,
        ValidationRunOutput,
    )
    from contracts.workflow_ids import validation_run_id
    from workflows.learning.learn_session_messages import ValidateCommand
    from workflows.learning.session_decision import SessionDecision
    from workflows.platform.child_summary import ChildSummary
    from workflows.platform.presets import CHECK_CALL, REHEARSAL, WORKFLOW_TASK_TIMEOUT
    from workflows.platform.refusals import cause_of
    from workflows.platform.search_attributes import KIND_ATTRIBUTE


CHECKS_FAILED = "CHECKS_FAILED"
"""The type of the failure that a run with a failed check closes with; its detail is the run's result."""

FAILS_IN_SIGHT = "failed-run-closes-as-failed"
"""Runs of earlier versions closed as completed whatever they found."""


@workflow.defn(name="ValidationRunWorkflow")
class ValidationRunWorkflow:
    """Climbs the ladder lint → trigger → dry run → dependencies → rehearsal; ablation and variation where asked.

    A failed check does not stop the cheap ones behind it, so that one run shows everything there is to
    mend; but nothing is rehearsed that failed before, and a safety failure ends the run.
    """

    @workflow.init
    def __init__(self, request: ValidationRunInput) -> None:
        self._outcomes: list[CheckOutput] = []
        self._show(None)

    @workflow.run
    async def run(self, request: ValidationRunInput) -> ValidationRunOutput:
        """Runs the checks and sums them up.

        Raises:
            ApplicationError: ``CHECKS_FAILED`` with the sum as its detail, where a check has failed.
        """
        for check in request.checks:
            if check in RUNS_COMMANDS and not all(_is_fine(o) for o in self._outcomes):
                break
            self._show(check)
            outcome = await self._check(CheckInput(run=request, check=check))
            self._outcomes.append(outcome)
            if outcome.safety_failure is not None:
                break
        self._show(None)
        summed = self._summary(request)
        if summed.overall_result is OverallResult.FAILED and workflow.patched(FAILS_IN_SIGHT):
            # The list of workflows shows how each closed; the session reads the result from the failure.
            said = summed.safety_failure or summed.failed_summary or "a check failed"
            raise ApplicationError(said, summed, type=CHECKS_FAILED, non_retryable=True)
        return summed

    async def _check(self, request: CheckInput) -> CheckOutput:
        if doing := _IN_THE_SANDBOX.get(request.check):
            return await workflow.execute_activity_method(
                ValidationActivities.rehearse, request, summary=doing, **REHEARSAL
            )
        return await workflow.execute_local_activity_method(
            ValidationActivities.run_check, request, summary=request.check.value, **CHECK_CALL
        )

    def _summary(self, request: ValidationRunInput) -> ValidationRunOutput:
        passed = tuple(outcome.check for outcome in self._outcomes if outcome.passed)
        failed = [outcome for outcome in self._outcomes if not _is_fine(outcome)]
        unapplied = [outcome for outcome in self._outcomes if outcome.not_applicable is not None]
        everything = [o.check for o in self._outcomes if _is_fine(o)] == [*request.checks]
        unproved = tuple(step for outcome in self._outcomes for step in outcome.unproved)[:MAX_UNPROVED]
        fine = OverallResult.PARTIAL if unapplied else OverallResult.PASSED
        return ValidationRunOutput(
            overall_result=fine if everything else OverallResult.FAILED,
            passed_checks=passed,
            failed_summary=next((o.failed_summary for o in failed if o.failed_summary), None),
            safety_failure=next((o.safety_failure for o in self._outcomes if o.safety_failure), None),
            safety_class=SafetyClass.worst(outcome.safety_class for outcome in self._outcomes),
            name_is_free=next((o.name_is_free for o in self._outcomes if o.name_is_free is not None), None),
            not_applicable=tuple(outcome.check for outcome in unapplied),
            not_applicable_reason=next((o.not_applicable for o in unapplied), None),
            unproved=unproved,
        )

    def _show(self, running: ValidationRunKind | None) -> None:
        lines = [f"- {_mark(o)} {o.check.value} ({o.steps} cases)" for o in self._outcomes]
        if running is not None:
            lines.append(f"- … {running.value}")
        workflow.set_current_details("\n".join(lines) or "Not begun.")


_IN_THE_SANDBOX = {
    ValidationRunKind.REHEARSAL: "rehearse in the sandbox",
    ValidationRunKind.ABLATION: "leave out each step and see which conditions break",
    ValidationRunKind.VARIATION: "vary the input and see which conditions hold",
}


def _is_fine(outcome: CheckOutput) -> bool:
    return outcome.passed or outcome.not_applicable is not None


def _mark(outcome: CheckOutput) -> str:
    if outcome.not_applicable is not None:
        return "–"
    return "✓" if outcome.passed else "✗"


_NOTHING_FAILED = (OverallResult.PASSED, OverallResult.PARTIAL)


def begin(decision: SessionDecision, message: ValidateCommand) -> None:
    """A run begins. From review the session passes through drafting, as the table asks."""
    asked = message.selected or REQUIRED_CHECKS
    checks = tuple(check for check in OFFERED_CHECKS if check in asked)
    proposal = decision.next.proposal
    assert proposal is not None, "the table takes validate only where there is a proposal"
    run = ValidationRun(
        validation_run_id=str(workflow.uuid7()),
        proposal_id=proposal.proposal_id,
        run_kind=checks[-1],
        run_label=message.run_label,
        content_hash=proposal.content_hash,
        started_at=workflow.now(),
        overall_result=OverallResult.PARTIAL,
        result_refs=tuple(f"{CHECK_REF}{check.value}" for check in checks),
    )
    if decision.next.session.state is S.READY_FOR_REVIEW:
        decision.go(S.DRAFTING_PROPOSAL, Event.PROPOSAL_REVISED, None, "more tests were asked for")
    decision.set(validation=run)
    decision.set_session(validation_run_id=run.validation_run_id)
    decision.go(
        S.TESTING_PROPOSAL,
        Event.VALIDATION_STARTED,
        Receipt.TESTS_STARTED,
        validation_run_id=run.validation_run_id,
        checks=[check.value for check in checks],
    )


def run_input(aggregate: LearnSessionAggregate, correlation_id: str) -> ValidationRunInput:
    """What the child workflow of the run under way is given."""
    run = aggregate.validation
    assert run is not None, "only called while a run is under way"
    return ValidationRunInput(
        validation_run_id=run.validation_run_id,
        proposal_id=run.proposal_id,
        learn_session_id=aggregate.session.learn_session_id,
        owner_user_id=aggregate.session.owner_user_id,
        content_hash=run.content_hash,
        checks=run.checks,
        test_policy=aggregate.test_policy,
        correlation_id=correlation_id,
    )


def finish(decision: SessionDecision, output: ValidationRunOutput) -> None:
    """The result decides: quarantine, review, or back to drafting. Nothing is tried again by itself."""
    run = decision.next.validation
    assert run is not None, "only called while a run is under way"
    before = DraftProof(decision.next.passed_checks, decision.next.not_applicable_checks)
    proof = before.after(run.checks, output.passed_checks, output.not_applicable)
    passed, unapplied = proof.passed, proof.not_applicable
    unproved = output.unproved if ValidationRunKind.REHEARSAL in run.checks else decision.next.unproved
    decision.set(validation=None, passed_checks=passed, not_applicable_checks=unapplied, unproved=unproved)
    finished = run.changed(
        completed_at=workflow.now(),
        overall_result=output.overall_result,
        passed_checks=output.passed_checks,
        not_applicable=output.not_applicable,
    )
    decision.finish_run(finished, _report(decision.next, finished, output, passed))
    facts = {"validation_run_id": run.validation_run_id, "overall_result": output.overall_result.value}
    if output.safety_failure:
        decision.set_proposal(install_lane=InstallLane.QUARANTINED)
        decision.note(Event.VALIDATION_COMPLETED, Receipt.TESTS_FAILED, output.safety_failure, **facts)
        decision.go(S.QUARANTINED, Event.SESSION_QUARANTINED, Receipt.QUARANTINED, output.safety_failure)
    elif output.overall_result in _NOTHING_FAILED and proof.complete:
        reason = output.not_applicable_reason
        decision.go(S.READY_FOR_REVIEW, Event.VALIDATION_COMPLETED, Receipt.TESTS_PASSED, reason, **facts)
    elif output.overall_result in _NOTHING_FAILED:
        missing = ", ".join(check.value for check in REQUIRED_CHECKS if check not in (*passed, *unapplied))
        decision.go(
            S.DRAFTING_PROPOSAL,
            Event.VALIDATION_COMPLETED,
            Receipt.TESTS_PASSED,
            f"still to pass: {missing}",
            **facts,
        )
    else:
        decision.go(
            S.DRAFTING_PROPOSAL,
            Event.VALIDATION_COMPLETED,
            Receipt.TESTS_FAILED,
            output.failed_summary or "validation failed",
            **facts,
        )


def cancel(decision: SessionDecision) -> None:
    """Ends the run under way as cancelled, if there is one."""
    run = decision.next.validation
    if run is None:
        return
    decision.set(validation=None)
    decision.finish_run(run.changed(completed_at=workflow.now(), overall_result=OverallResult.CANCELLED))
    decision.note(
        Event.VALIDATION_COMPLETED,
        Receipt.TESTS_CANCELLED,
        "the session was cancelled",
        validation_run_id=run.validation_run_id,
    )


_IN_A_CANARY = frozenset(
    {ValidationRunKind.DRY_RUN, ValidationRunKind.DEPENDENCY_CHECK, ValidationRunKind.REHEARSAL}
)
"""What a recheck of an installed capability looks at, and runs."""


def _report(
    aggregate: LearnSessionAggregate,
    run: ValidationRun,
    output: ValidationRunOutput,
    passed: tuple[ValidationRunKind, ...],
) -> SkillValidationReport:
    finished_at: datetime = workflow.now()
    told = (output.safety_failure, output.failed_summary, output.not_applicable_reason)
    issues = tuple(text for text in told if text)
    return SkillValidationReport(
        proposal_id=run.proposal_id,
        lint_passed=ValidationRunKind.LINT in passed,
        trigger_tests_passed=ValidationRunKind.TRIGGER in passed,
        dry_run_passed=ValidationRunKind.DRY_RUN in passed,
        canary_passed=_IN_A_CANARY.issubset(passed),
        dependency_check_passed=ValidationRunKind.DEPENDENCY_CHECK in passed,
        collision_check_passed=ValidationRunKind.DEPENDENCY_CHECK in passed
        if output.name_is_free is None
        else output.name_is_free,
        rehearsal_passed=ValidationRunKind.REHEARSAL in passed,
        not_applicable=aggregate.not_applicable_checks,
        safety_class=output.safety_class,
        content_hash=run.content_hash,
        issues=issues,
        created_at=finished_at,
    )


def _summary_of(aggregate: LearnSessionAggregate, request: ValidationRunInput) -> str:
    of = f"“{clipped(aggregate.proposal.title, 100)}”: " if aggregate.proposal is not None else ""
    return f"Validate {of}{', '.join(check.value for check in request.checks)}"


async def run_checks(aggregate: LearnSessionAggregate) -> ValidationRunOutput:
    """Runs the checks of the run under way. A run that breaks has proven nothing."""
    request = run_input(aggregate, workflow.info().workflow_id)
    return await run_checks_of(request, _summary_of(aggregate, request))


async def run_checks_of(request: ValidationRunInput, summary: str) -> ValidationRunOutput:
    """Runs the checks of one draft as a child, of a lesson or an import. A run that breaks has proven nothing."""
    try:
        return await workflow.execute_child_workflow(
            ValidationRunWorkflow.run,
            request,
            id=validation_run_id(request.validation_run_id),
            task_timeout=WORKFLOW_TASK_TIMEOUT,
            static_summary=ChildSummary(summary, validation_run_id(request.validation_run_id)),
            search_attributes=workflow.info().typed_search_attributes.updated(  # pyright: ignore[reportUnknownMemberType]
                SearchAttributePair(KIND_ATTRIBUTE, "validation-run")
            ),
        )
    except ChildWorkflowError as error:
        cause = error.cause
        if isinstance(cause, ApplicationError) and cause.type == CHECKS_FAILED:
            return ValidationRunOutput.model_validate(cause.details[0])
        return ValidationRunOutput(
            overall_result=OverallResult.FAILED, passed_checks=(), failed_summary=cause_of(error)
        )
