"""One more validation of an imported skill: the checks of its draft, and what they came to is kept.

A lesson's draft is validated by its session; an import is over once it is installed.
"""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.imports.import_activities import ImportActivities
    from contracts.imports.import_work import ImportValidated
    from contracts.learning.validation import ValidationRunInput
    from workflows.learning.validation_run_workflow import run_checks_of
    from workflows.platform.presets import STORE_CALL

KIND = "import_validation"


@workflow.defn(name="ImportValidationWorkflow")
class ImportValidationWorkflow:
    """Runs the checks that were asked for, once, and ends with what they came to in the store."""

    @workflow.run
    async def run(self, request: ValidationRunInput) -> None:
        """A run that breaks has proven nothing, which is kept as its result."""
        output = await run_checks_of(request, "Validate an imported skill again")
        done = ImportValidated(run=request, output=output, at=workflow.now(), again=True)
        await workflow.execute_local_activity_method(
            ImportActivities.keep_validation, done, summary="keep what was proven", **STORE_CALL
        )
