"""The install of one reviewed import, alone or as a member of a pack: drafted, validated, installed by a saga."""

from collections.abc import Awaitable, Callable

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.imports.import_activities import ImportActivities
    from contracts.base import clipped
    from contracts.errors import ErrorCode
    from contracts.imports.import_work import ImportInstall, ImportValidated, ImportWork, WorkDone
    from contracts.learning.install import InstallSagaInput, InstallSagaOutput, SagaState
    from contracts.learning.validation import DraftProof
    from workflows.learning.install_saga_workflow import run_saga_of
    from workflows.learning.validation_run_workflow import run_checks_of
    from workflows.platform.presets import IMPORT_WORK, STORE_CALL
    from workflows.platform.refusals import application_error_in


async def tried(act: Callable[[], Awaitable[WorkDone]]) -> WorkDone:
    """What work came to; one that fails for good is a failed step, which can be retried."""
    try:
        return await act()
    except ActivityError as error:
        if is_cancelled_exception(error):
            raise
        cause = application_error_in(error)
        return WorkDone(
            error_code=cause.type or ErrorCode.INTERNAL_ERROR.value,
            error=clipped(cause.message, 240),
            expired=cause.type == ErrorCode.SKILL_IMPORT_UPLOAD_EXPIRED.value,
        )


async def prepare(work: ImportWork) -> ImportInstall:
    """Drafts the bundle; prepared again, the same is there."""
    return await workflow.execute_activity_method(
        ImportActivities.prepare_install, work, summary="draft", **IMPORT_WORK
    )


async def install_import(
    work: ImportWork, before_saga: Callable[[InstallSagaInput], None] = lambda _: None
) -> WorkDone:
    """Validates the draft of the bundle and installs it, as a learned skill; all of it, or nothing.

    ``before_saga`` is told of the saga just before it runs.
    """
    prepared = await prepare(work)
    slug = prepared.saga.skill_slug
    output = await run_checks_of(prepared.validation, f"Validate the imported {slug}")
    await workflow.execute_local_activity_method(
        ImportActivities.keep_validation,
        ImportValidated(run=prepared.validation, output=output, at=workflow.now()),
        summary="keep what was proven",
        **STORE_CALL,
    )
    if not DraftProof(output.passed_checks, output.not_applicable).complete:
        failed = next((one for one in prepared.validation.checks if not output.accounts_for(one)), None)
        why = output.safety_failure or output.failed_summary or "it has failed"
        why = f"The check {failed.value}: {why}" if failed is not None else why
        return WorkDone(error_code=ErrorCode.VALIDATION_REQUIRED.value, error=clipped(why, 240))
    before_saga(prepared.saga)
    return _installed(await run_saga_of(prepared.saga))


def _installed(ended: InstallSagaOutput) -> WorkDone:
    """What the saga's end means for the import; what it failed for is its error."""
    if ended.state is SagaState.INSTALLED:
        return WorkDone()
    error = ended.error or f"The install ended as {ended.state.value}."
    code = error.partition(":")[0]
    known = code in {one.value for one in ErrorCode}
    return WorkDone(error_code=code if known else ErrorCode.INTERNAL_ERROR.value, error=clipped(error, 240))
