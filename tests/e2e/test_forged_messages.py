"""Whoever reaches the Temporal server, and has not the keys of the installation, is believed in nothing."""

import anyio
import pytest
from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowUpdateFailedError
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from contracts.mcp.dispatch import AskFirstDecision
from contracts.mcp.dispatch_work import DecideOrder
from contracts.platform.commands import CommitKey
from contracts.workflow_ids import mcp_dispatch_id
from stores.mcp.dispatch.reads import DispatchStore
from tests.fixtures.mcp_servers import GoodServer
from tests.fixtures.stack import connect
from tests.fixtures.tool_calls import ToolUser
from workflows.mcp.mcp_dispatch_workflow import McpDispatchWorkflow
from workflows.mcp.mcp_messages import DispatchStart

pytestmark = pytest.mark.anyio


@pytest.fixture
async def stranger(temporal_address: str) -> Client:
    """Somebody who reaches the server."""
    return await connect(temporal_address)


async def waiting(agent: ToolUser) -> str:
    """A call that waits for a person."""
    paused = await agent.ask("append_line", {"line": "milk"})
    assert paused["status"] == "pending_approval"
    return paused["dispatch_id"]


def approval(dispatch_id: str) -> DecideOrder:
    """What the API would send when a person approves."""
    return DecideOrder(
        dispatch_id=dispatch_id,
        commit_key=CommitKey(owner_user_id="alice", key="client-x", request_digest="0" * 64),
        decision=AskFirstDecision.APPROVE_ONCE,
        decided_by="alice",
    )


async def test_a_stranger_approves_nothing(
    agent: ToolUser, stranger: Client, tool_server: GoodServer
) -> None:
    dispatch_id = await waiting(agent)
    handle = stranger.get_workflow_handle(mcp_dispatch_id(dispatch_id))
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await handle.execute_update(McpDispatchWorkflow.decide, approval(dispatch_id))
    assert isinstance(refused.value.cause, ApplicationError)
    assert "not signed for this workflow" in str(refused.value.cause.cause)
    assert (await agent.view(dispatch_id))["status"] == "pending_approval"
    assert tool_server.effects() == []
    await agent.approve(dispatch_id)
    assert (await agent.ended(dispatch_id))["status"] == "completed"


async def test_a_genuine_approval_counts_for_the_call_it_was_given_to(
    agent: ToolUser, stranger: Client, tool_server: GoodServer
) -> None:
    approved, other = await waiting(agent), await waiting(agent)
    await agent.approve(approved)
    await agent.ended(approved)
    seen = await approval_in_history(stranger, approved)
    assert b"approve_once" in seen.data, "the history stays readable"
    forged = Payload(metadata=seen.metadata, data=seen.data.replace(approved.encode(), other.encode()))
    handle = stranger.get_workflow_handle(mcp_dispatch_id(other))
    for payload in (seen, forged):
        with pytest.raises(WorkflowUpdateFailedError):
            await handle.execute_update("decide", RawValue(payload))
    assert (await agent.view(other))["status"] == "pending_approval"
    assert len(tool_server.effects()) == 1


async def test_a_workflow_that_a_stranger_starts_does_nothing(
    agent: ToolUser, stranger: Client, tool_server: GoodServer
) -> None:
    stack = agent.stack
    dispatch_id = await waiting(agent)
    kept = DispatchStore(stack.database).owned(dispatch_id, "alice").record.order
    order = kept.changed(dispatch_id="01936f5e-0000-7000-8000-000000000009")
    handle = await stranger.start_workflow(
        McpDispatchWorkflow.run,
        DispatchStart(order=order),
        id=mcp_dispatch_id(order.dispatch_id),
        task_queue=stack.settings.task_queue,
    )
    with anyio.fail_after(30):
        events: list[int] = []
        while EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED not in events:
            history = await handle.fetch_history()
            events = [event.event_type for event in history.events]
            await anyio.sleep(0.05)
    assert EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED not in events
    assert DispatchStore(stack.database).find(order.dispatch_id) is None
    await handle.terminate()


async def approval_in_history(client: Client, dispatch_id: str) -> Payload:
    """The message of the approval as anybody can read it."""
    history = await client.get_workflow_handle(mcp_dispatch_id(dispatch_id)).fetch_history()
    accepted = [
        event.workflow_execution_update_accepted_event_attributes.accepted_request
        for event in history.events
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED
    ]
    [found] = [one.input.args.payloads[0] for one in accepted if one.input.name == "decide"]
    return found
