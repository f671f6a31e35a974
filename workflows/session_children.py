"""A session's child workflows: one validation run, one install saga, each under its own id."""

from temporalio import workflow
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.exceptions import ChildWorkflowError

with workflow.unsafe.imports_passed_through():
    from contracts.learning.aggregate import LearnSessionAggregate
    from contracts.learning.install_work import InstallSagaOutput
    from contracts.learning.saga import SagaState
    from contracts.learning.validation import OverallResult
    from contracts.learning.validation_work import ValidationRunOutput
    from workflows import session_install, session_validation
    from workflows.ids import install_saga_id, validation_run_id
    from workflows.install_saga_workflow import InstallSagaWorkflow
    from workflows.session_view import KIND_ATTRIBUTE
    from workflows.validation_run_workflow import ValidationRunWorkflow


async def run_saga(aggregate: LearnSessionAggregate, saga_id: str) -> InstallSagaOutput:
    """Runs the saga of the open install. One that is cancelled or fails has undone what it did."""
    request = session_install.saga_input(aggregate, workflow.info().workflow_id)
    try:
        return await workflow.execute_child_workflow(
            InstallSagaWorkflow.run,
            request,
            id=install_saga_id(saga_id),
            static_summary=f"Install {request.skill_slug} ({request.lane.value})",
            search_attributes=_child_attributes("install-saga"),
        )
    except ChildWorkflowError as error:
        return InstallSagaOutput(state=SagaState.ROLLED_BACK, error=_cause(error))


async def run_checks(aggregate: LearnSessionAggregate, run_id: str) -> ValidationRunOutput:
    """Runs the checks of the run under way. A run that breaks has proven nothing."""
    request = session_validation.run_input(aggregate, workflow.info().workflow_id)
    try:
        return await workflow.execute_child_workflow(
            ValidationRunWorkflow.run,
            request,
            id=validation_run_id(run_id),
            static_summary=f"Validate {', '.join(check.value for check in request.checks)}",
            search_attributes=_child_attributes("validation-run"),
        )
    except ChildWorkflowError as error:
        return ValidationRunOutput(
            overall_result=OverallResult.FAILED, passed_checks=(), failed_summary=_cause(error)
        )


def _child_attributes(kind: str) -> TypedSearchAttributes:
    """The session's search attributes, under the child's own kind."""
    return workflow.info().typed_search_attributes.updated(  # pyright: ignore[reportUnknownMemberType]
        SearchAttributePair(KIND_ATTRIBUTE, kind)
    )


def _cause(error: ChildWorkflowError) -> str:
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    return f"{type(cause).__name__}: {cause}"[:240]
