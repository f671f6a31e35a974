"""The one way in which the API commands a workflow: an update that starts the workflow where it does not run."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeVar

from pydantic import BaseModel
from temporalio.client import Client, WithStartWorkflowOperation

from api.update_errors import as_refusals
from contracts.errors import Refusal

ANSWER_WITHIN = timedelta(seconds=10)
"""How long a command waits for a worker before the client is told to try again."""

REOPENINGS = 3
"""How often a command follows a workflow that was just closing."""

_Answer = TypeVar("_Answer", bound=BaseModel)


async def update_or_open(
    client: Client,
    start: WithStartWorkflowOperation[Any, Any],
    update: str,
    message: BaseModel | None,
    answer: type[_Answer],
    *,
    within: timedelta,
    update_id: str | None = None,
    nobody: Refusal | None = None,
) -> _Answer:
    """Sends one update, and waits ``within`` for its answer.

    ``update_id`` makes repeats of it one; ``nobody`` is the refusal when no worker has answered in time.

    Raises:
        Refusal: the workflow's own, or what became of the call.
        WorkflowWasClosing: the update may be sent again, with another ``start``.
    """
    try:
        with as_refusals(nobody):
            async with asyncio.timeout(within.total_seconds()):
                found: _Answer = await client.execute_update_with_start_workflow(  # pyright: ignore[reportUnknownMemberType]
                    update,
                    args=[] if message is None else [message],
                    result_type=answer,
                    start_workflow_operation=start,
                    id=update_id,
                    # Of two ends at one moment asyncio 3.11 may deliver both, the second to whoever comes next.
                    rpc_timeout=within + timedelta(seconds=1),
                )
                return found
    except BaseException:
        _take_note_of_failed(start)
        raise


def _take_note_of_failed(start: WithStartWorkflowOperation[Any, Any]) -> None:
    """The SDK keeps a start's failure for who asks for its handle; asked by nobody, it is reported as forgotten.

    It has it by now, or will have none: after a call that was given up nobody ever answers, so nothing waits here.
    """
    asking = start.workflow_handle()
    with suppress(Exception, asyncio.CancelledError):
        asking.send(None)
    asking.close()
