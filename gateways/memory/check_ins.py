"""Gateway to the workflows of check-ins: start, and have one look at the store."""

from temporalio.client import Client

from contracts.memory.check_ins import CheckIn, CheckInStart
from contracts.workflow_ids import LOOK, check_in_workflow_id
from gateways.platform.updates import ANSWER_WITHIN, signal_running, start_options, start_or_join
from workflows.memory.check_in_workflow import KIND, CheckInWorkflow


async def run_check_in(client: Client, task_queue: str, check_in: CheckIn) -> None:
    """Starts the workflow of a check-in, or joins the one that runs.

    Raises:
        Refusal: ``TEMPORAL_UNAVAILABLE``; the store has the check-in, and a worker starts it later.
    """
    start = CheckInStart(
        check_in_id=check_in.check_in_id, owner_user_id=check_in.owner_user_id, due_at=check_in.due_at
    )
    options = start_options(
        check_in_workflow_id(check_in.check_in_id),
        task_queue,
        kind=KIND,
        owner=check_in.owner_user_id,
        summary=f"check-in at {check_in.due_at:%Y-%m-%d %H:%M} UTC for {check_in.owner_user_id}"[:200],
    )
    await start_or_join(client, CheckInWorkflow.run, start, options)


async def tell_check_in(client: Client, check_in_id: str) -> None:
    """Has the workflow of a check-in look at the store, if it runs.

    Raises:
        Refusal: ``TEMPORAL_UNAVAILABLE``; it finds out when it is due.
    """
    await signal_running(client, check_in_workflow_id(check_in_id), LOOK, within=ANSWER_WITHIN)
