"""What an activity logs names its workflow, and carries the correlation id of what was asked for."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import pytest
import structlog
from pydantic import BaseModel
from temporalio import activity, workflow
from temporalio.worker import Worker

from tests.fixtures.stack import connect
from worker.log_context import LogContext

pytestmark = pytest.mark.anyio

SOON = timedelta(seconds=20)


class Order(BaseModel):
    """What an activity is told, with an id of its own."""

    correlation_id: str


def bound() -> list[str | None]:
    said = structlog.contextvars.get_contextvars()
    return [said.get("workflow_id"), said.get("activity"), said.get("correlation_id")]


@activity.defn
async def asynchronous() -> list[str | None]:
    return bound()


@activity.defn
def threaded() -> list[str | None]:
    return bound()


@activity.defn
async def ordered(order: Order) -> list[str | None]:
    return bound()


@workflow.defn(sandboxed=False)
class Telling:
    """Asks each kind of activity what its lines would say."""

    @workflow.run
    async def run(self) -> list[list[str | None]]:
        return [
            await workflow.execute_activity(asynchronous, start_to_close_timeout=SOON),
            await workflow.execute_local_activity(threaded, start_to_close_timeout=SOON),
            await workflow.execute_activity(
                ordered, Order(correlation_id="of-the-order"), start_to_close_timeout=SOON
            ),
        ]


@pytest.mark.parametrize("memo", [{"correlation_id": "of-the-call"}, None], ids=["memo", "no-memo"])
async def test_a_line_of_an_activity_carries_what_it_is_about(
    temporal_address: str, memo: dict[str, str] | None
) -> None:
    client = await connect(temporal_address)
    workflow_id, queue = f"telling-{uuid4()}", str(uuid4())
    with ThreadPoolExecutor(1) as threads:
        async with Worker(
            client,
            task_queue=queue,
            workflows=[Telling],
            activities=[asynchronous, threaded, ordered],
            activity_executor=threads,
            interceptors=[LogContext()],
        ):
            told = await client.execute_workflow(Telling.run, id=workflow_id, task_queue=queue, memo=memo)
    known = memo["correlation_id"] if memo else None
    assert told == [
        [workflow_id, "asynchronous", known],
        [workflow_id, "threaded", known],
        [workflow_id, "ordered", known or "of-the-order"],
    ]
    assert bound() == [None, None, None]
