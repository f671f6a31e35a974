"""What can go wrong between the API and a workflow's update, as refusals that a client understands."""

from typing import Any

import structlog
from temporalio.client import WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from contracts.errors import ErrorCode, Refusal

log = structlog.get_logger(__name__)


class WorkflowWasClosing(Exception):
    """The run ended while the update was on its way; another attempt opens the next run."""


def answer_to(error: WorkflowUpdateFailedError) -> Exception:
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


def rpc_refusal(error: RPCError, nobody: Refusal) -> Exception:
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
