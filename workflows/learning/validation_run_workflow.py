"""One validation run: the selected checks in order, each proven and recorded on its own."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.learning.validation_activities import ValidationActivities
    from contracts.learning.validation import (
        CheckInput,
        CheckOutput,
        OverallResult,
        SafetyClass,
        ValidationRunInput,
        ValidationRunKind,
        ValidationRunOutput,
    )
    from workflows.platform.presets import CHECK_CALL, REHEARSAL


@workflow.defn(name="ValidationRunWorkflow")
class ValidationRunWorkflow:
    """Climbs the ladder lint → trigger → dry run → dependencies → rehearsal.

    A failed check does not stop the cheap ones behind it, so that one run shows everything there is to
    mend; but nothing is rehearsed that failed before, and a safety failure ends the run.
    """

    @workflow.init
    def __init__(self, request: ValidationRunInput) -> None:
        self._outcomes: list[CheckOutput] = []
        self._show(None)

    @workflow.run
    async def run(self, request: ValidationRunInput) -> ValidationRunOutput:
        """Runs the checks and sums them up."""
        for check in request.checks:
            if check is ValidationRunKind.REHEARSAL and not all(_is_fine(o) for o in self._outcomes):
                break
            self._show(check)
            outcome = await self._check(CheckInput(run=request, check=check))
            self._outcomes.append(outcome)
            if outcome.safety_failure is not None:
                break
        self._show(None)
        return self._summary(request)

    async def _check(self, request: CheckInput) -> CheckOutput:
        if request.check is ValidationRunKind.REHEARSAL:
            return await workflow.execute_activity_method(
                ValidationActivities.rehearse, request, summary="rehearse in the sandbox", **REHEARSAL
            )
        return await workflow.execute_local_activity_method(
            ValidationActivities.run_check, request, summary=request.check.value, **CHECK_CALL
        )

    def _summary(self, request: ValidationRunInput) -> ValidationRunOutput:
        passed = tuple(outcome.check for outcome in self._outcomes if outcome.passed)
        failed = [outcome for outcome in self._outcomes if not _is_fine(outcome)]
        unapplied = [outcome for outcome in self._outcomes if outcome.not_applicable is not None]
        everything = [o.check for o in self._outcomes if _is_fine(o)] == [*request.checks]
        fine = OverallResult.PARTIAL if unapplied else OverallResult.PASSED
        classes = [outcome.safety_class for outcome in self._outcomes]
        worst = max(classes, key=list(SafetyClass).index, default=SafetyClass.LOW)
        return ValidationRunOutput(
            overall_result=fine if everything else OverallResult.FAILED,
            passed_checks=passed,
            failed_summary=next((o.failed_summary for o in failed if o.failed_summary), None),
            safety_failure=next((o.safety_failure for o in self._outcomes if o.safety_failure), None),
            safety_class=worst,
            not_applicable=tuple(outcome.check for outcome in unapplied),
            not_applicable_reason=next((o.not_applicable for o in unapplied), None),
        )

    def _show(self, running: ValidationRunKind | None) -> None:
        lines = [f"- {_mark(o)} {o.check.value} ({o.steps} cases)" for o in self._outcomes]
        if running is not None:
            lines.append(f"- … {running.value}")
        workflow.set_current_details("\n".join(lines) or "Not begun.")


def _is_fine(outcome: CheckOutput) -> bool:
    return outcome.passed or outcome.not_applicable is not None


def _mark(outcome: CheckOutput) -> str:
    if outcome.not_applicable is not None:
        return "–"
    return "✓" if outcome.passed else "✗"
