"""What can go wrong between the API and a workflow's update, as refusals that a client understands."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import structlog
from temporalio.client import WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from contracts.errors import ErrorCode, Refusal

log = structlog.get_logger(__name__)


class WorkflowWasClosing(Exception):
    """The run ended while the update was on its way; another attempt opens the next run."""


@contextmanager
def as_refusals(nobody: Refusal | None = None) -> Generator[None]:
    """Whatever goes wrong with the update made inside, in words that a client understands.

    ``nobody`` is the answer when no worker has answered in time; without one, that the client tries again.

    Raises:
        Refusal: the workflow's own, or what became of the call.
        WorkflowWasClosing: the update may be sent again, to the next run.
    """
    try:
        yield
    except WorkflowUpdateFailedError as error:
        raise _answer_to(error) from None
    except (TimeoutError, WorkflowUpdateRPCTimeoutOrCancelledError) as error:
        raise (nobody or no_worker_answers()) from error
    except RPCError as error:
        raise _rpc_refusal(error, nobody or no_worker_answers()) from error
    except RuntimeError as error:
        # The SDK's first connection attempt fails with a plain RuntimeError.
        raise unavailable(error) from error


def _answer_to(error: WorkflowUpdateFailedError) -> Exception:
    """What a failed update says: the workflow's own refusal, or that its run was just closing."""
    cause = error.cause
    if not isinstance(cause, ApplicationError):
        return error
    if cause.type == "AcceptedUpdateCompletedWorkflow":
        return WorkflowWasClosing()
    if cause.type not in ErrorCode.__members__:
        return Refusal(ErrorCode.INTERNAL_ERROR, f"{cause.type}: {cause.message}"[:240])
    extra: dict[str, Any] = cause.details[0] if cause.details else {}
    return Refusal(ErrorCode(cause.type), cause.message, **extra)


def _rpc_refusal(error: RPCError, nobody: Refusal) -> Exception:
    """What a failed call says; ``nobody`` is the answer when the time ran out."""
    match error.status:
        case RPCStatusCode.NOT_FOUND:
            return WorkflowWasClosing()
        case RPCStatusCode.RESOURCE_EXHAUSTED:
            return Refusal(ErrorCode.TOO_MANY_REQUESTS, "Too many commands at once; try again shortly.")
        case RPCStatusCode.DEADLINE_EXCEEDED | RPCStatusCode.CANCELLED:
            return nobody
        case _:
            return unavailable(error)


def no_worker_answers() -> Refusal:
    """Temporal took the command, and no worker has said anything to it in time."""
    return Refusal(
        ErrorCode.TEMPORAL_UNAVAILABLE, "No worker has answered in time; try again with the same key."
    )


def unavailable(error: Exception) -> Refusal:
    """Temporal itself cannot be reached."""
    log.warning("temporal is unavailable", error=str(error))
    return Refusal(ErrorCode.TEMPORAL_UNAVAILABLE, "Temporal cannot be reached; try again with the same key.")
