"""Refusals as the application errors that workflows raise and the API reads back."""

from collections.abc import Mapping

from temporalio.exceptions import ActivityError, ApplicationError, ChildWorkflowError, FailureError

from contracts.errors import ErrorCode
from contracts.learning.state_machine import CommandRefusal


def refused(code: ErrorCode, message: str, extra: Mapping[str, object] | None = None) -> ApplicationError:
    """A permanent refusal: the type is the stable code, the detail is what the envelope carries beside it."""
    return ApplicationError(message, dict(extra or {}), type=code.value, non_retryable=True)


def application_error_in(error: FailureError) -> ApplicationError:
    """What an activity failed with. A local activity raises it bare, an ordinary one wraps it."""
    cause = error.cause if isinstance(error, ActivityError) else error
    if isinstance(cause, ApplicationError):
        return cause
    return ApplicationError(str(cause or error), type=ErrorCode.INTERNAL_ERROR.value, non_retryable=True)


def cause_of(error: ChildWorkflowError) -> str:
    """The first cause of a child's failure, as text of at most 240 characters."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    return f"{type(cause).__name__}: {cause}"[:240]


def refused_command(found: CommandRefusal) -> ApplicationError:
    """The refusal of a command in the session's present state."""
    return refused(
        found.code,
        found.message,
        {
            "current_state": found.current_state.value,
            "allowed": [command.value for command in found.allowed],
        },
    )
