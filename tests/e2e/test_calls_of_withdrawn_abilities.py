"""An ability goes out of use while tools are called for it: what waits and what runs is stopped, and none begins."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import pytest
from temporalio.client import WithStartWorkflowOperation, WorkflowUpdateStage
from temporalio.common import WorkflowIDConflictPolicy

from contracts.abilities.availability import AbilityLifecycleAction
from contracts.abilities.lifecycle import AbilityOrder
from contracts.platform.commands import CommitKey
from contracts.workflow_ids import ability_workflow_id, mcp_dispatch_id
from stores.platform.canonical import digest_of
from tests.fixtures.agents import agent as mcp_client
from tests.fixtures.agents import agent_token, answer, refusal
from tests.fixtures.mcp_servers import MisbehavingServer
from tests.fixtures.served import served
from tests.fixtures.stack import Stack, connect
from tests.fixtures.taught import Taught
from tests.fixtures.tool_calls import ToolUser, tool_stack, tool_user
from tests.replay.test_replay import replayer
from worker.recovery import keep_stopped, stop_calls_of_withdrawn
from workflows.abilities.ability_messages import AbilityStart
from workflows.abilities.ability_workflow import AbilityWorkflow

pytestmark = pytest.mark.anyio

MILK = {"line": "milk"}
QUARANTINED_BY_HEALTH = "the ability's capability was quarantined"


@dataclass(frozen=True)
class InUse:
    """Alice's ability, for which tools of a server are called that can be held."""

    user: ToolUser
    server: MisbehavingServer
    taught: Taught

    @property
    def stack(self) -> Stack:
        return self.user.stack

    @property
    def ability_id(self) -> str:
        return self.taught.ability_id

    async def waiting(self) -> str:
        """A call for the ability that waits for an approval."""
        asked = await self.user.ask("append_line", MILK, ability_id=self.ability_id)
        assert asked["status"] == "pending_approval"
        return str(asked["dispatch_id"])

    async def in_flight(self) -> str:
        """A call for the ability that the tool has had its effect of, and has not answered."""
        before = len(self.server.effects())
        dispatch_id = await self.waiting()
        self.server.order("hold_after")
        await self.user.approve(dispatch_id)
        with anyio.fail_after(30):
            while len(self.server.effects()) == before:
                await anyio.sleep(0.02)
        assert (await self.user.view(dispatch_id))["status"] == "running"
        return dispatch_id

    async def command(self, action: str, body: dict[str, Any] | None = None) -> None:
        await self.user.person.ok("POST", f"/api/abilities/{self.ability_id}/{action}", body)

    def order(self, action: AbilityLifecycleAction) -> AbilityOrder:
        return AbilityOrder(
            commit_key=CommitKey(owner_user_id="alice", key=str(uuid4()), request_digest=digest_of("x")),
            correlation_id="test",
            ability_id=self.ability_id,
            action=action,
            reason="It looks wrong",
            caller_user_id="alice",
        )

    async def closed(self) -> None:
        """The ability's workflow has ended, and what it did can be replayed."""
        handle = self.stack.client.get_workflow_handle(ability_workflow_id(self.ability_id))
        with anyio.fail_after(30):
            await handle.result()
        await replayer([AbilityWorkflow]).replay_workflow(await handle.fetch_history())

    async def assert_stopped(self, waiting: str, in_flight: str, by: str, reason: str) -> None:
        """Both calls have ended unanswered, and their receipts say who gave them up and why."""
        unsent, sent = await self.user.ended(waiting), await self.user.ended(in_flight)
        assert (unsent["status"], unsent["ask_first"]["status"]) == ("cancelled", "cancelled")
        assert unsent["ask_first"]["decision_reason"] == reason
        assert unsent["error_message"] == f"{by} gave the call up ({reason}); nothing was sent."
        assert (sent["status"], sent["error_code"]) == ("outcome_unknown", "MCP_OUTCOME_UNKNOWN")
        assert sent["error_message"].startswith(f"{by} gave the call up ({reason}), after it had been sent")
        assert "Look at its effect" in sent["next_action"]
        for dispatch_id in (waiting, in_flight):
            last = self.user.receipts(dispatch_id)[-1]
            assert (last["receipt_kind"], last["actor"]) == ("dispatch", by)
            assert last["summary"].endswith(f"; given up: {reason}")
        self.server.lift()
        assert [one["key"] for one in self.server.effects()] == [in_flight]


@pytest.fixture
async def in_use(
    tmp_path: Path, temporal_address: str, misbehaving_server: MisbehavingServer
) -> AsyncIterator[InUse]:
    """Alice with an approved ability and a server."""
    async with tool_stack(tmp_path, await connect(temporal_address)) as stack:
        user = tool_user(stack)
        await user.register(misbehaving_server)
        await user.person.teach()
        await user.person.propose_act("approve")
        found = await user.person.ok("GET", f"/api/learn/sessions/{user.person.session_id}/detail")
        bridge = await user.person.ok("GET", "/api/capabilities/bridge")
        capability_id = bridge["entries"][0]["capability_id"]
        taught = Taught(stack, user.person, found["ability_id"], capability_id)
        yield InUse(user, misbehaving_server, taught)


@asynccontextmanager
async def watched(stack: Stack) -> AsyncIterator[None]:
    """A worker's look at what is out of use, again and again."""
    looking = asyncio.create_task(
        keep_stopped(stack.client, stack.settings, stack.database, every_seconds=0.05)
    )
    try:
        yield
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking


async def look(stack: Stack) -> tuple[str, ...]:
    return await stop_calls_of_withdrawn(stack.client, stack.settings, stack.database)


@pytest.mark.parametrize(
    ("action", "became"),
    [("quarantine", "quarantined"), ("deactivate", "deactivated"), ("archive", "archived")],
)
async def test_a_person_who_takes_an_ability_out_of_use_stops_what_waits_and_what_runs_for_it(
    in_use: InUse, action: str, became: str
) -> None:
    waiting, in_flight = await in_use.waiting(), await in_use.in_flight()
    other = await in_use.user.ask("append_line", MILK)
    await in_use.command(action, {"reason": "It looks wrong"})
    await in_use.assert_stopped(waiting, in_flight, "alice", f"the ability was {became}")
    assert (await in_use.user.view(other["dispatch_id"]))["status"] == "pending_approval"
    # Being stopped is no failure of the ability's, nor a use.
    stats = (await in_use.user.person.ok("GET", "/api/capabilities/stats"))["capabilities"]
    assert [one["uses"] for one in stats] == [0]
    await in_use.closed()


async def test_nothing_runs_on_when_whoever_sent_the_command_is_gone_before_it_is_answered(
    in_use: InUse,
) -> None:
    waiting, in_flight = await in_use.waiting(), await in_use.in_flight()
    order = in_use.order(AbilityLifecycleAction.QUARANTINE)
    await in_use.stack.client.start_update_with_start_workflow(
        AbilityWorkflow.command,
        order,
        wait_for_stage=WorkflowUpdateStage.ACCEPTED,
        start_workflow_operation=WithStartWorkflowOperation(
            AbilityWorkflow.run,
            AbilityStart(ability_id=in_use.ability_id),
            id=ability_workflow_id(in_use.ability_id),
            task_queue=in_use.stack.settings.task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        ),
    )
    await in_use.assert_stopped(waiting, in_flight, "alice", "the ability was quarantined")
    await in_use.closed()


async def test_a_call_that_temporal_has_lost_is_stopped_as_well_and_later_ones_are_left_alone(
    in_use: InUse,
) -> None:
    lost = await in_use.waiting()
    await in_use.stack.client.get_workflow_handle(mcp_dispatch_id(lost)).terminate("lost")
    await in_use.command("deactivate")
    ended = await in_use.user.ended(lost)
    assert (ended["status"], ended["ask_first"]["decision_reason"]) == (
        "cancelled",
        "the ability was deactivated",
    )
    await in_use.command("activate")
    later = await in_use.waiting()
    await in_use.closed()
    assert (await in_use.user.view(later))["status"] == "pending_approval"


async def test_a_quarantine_by_health_stops_what_waits_and_what_runs_whoever_reported_the_failure(
    in_use: InUse,
) -> None:
    async with watched(in_use.stack):
        await in_use.taught.fails(4)
        waiting, in_flight = await in_use.waiting(), await in_use.in_flight()
        other = await in_use.user.ask("append_line", MILK)
        await in_use.taught.fails(1)
        await in_use.assert_stopped(waiting, in_flight, "system", QUARANTINED_BY_HEALTH)
        assert (await in_use.user.view(other["dispatch_id"]))["status"] == "pending_approval"
    events = await in_use.user.person.ok("GET", "/api/learn/receipts?event_kind=quarantined")
    assert "5 times" in events["receipts"][0]["reason"]


@pytest.mark.thorough
@pytest.mark.acceptance("0A.33-8", "9.9-55")
async def test_an_ability_whose_capability_is_quarantined_is_not_called_for_until_it_is_rechecked(
    in_use: InUse,
) -> None:
    await in_use.taught.fails(5)
    refused = await in_use.user.ask("read_line", MILK, ability_id=in_use.ability_id)
    assert (refused["status"], refused["error_code"]) == ("blocked", "MCP_POLICY_BLOCKED")
    assert "nothing was sent. Its capability is quarantined" in refused["error_message"]
    assert "5 times within 7 days" in refused["error_message"]
    assert "apprentice capabilities reprobe" in refused["next_action"]
    receipts = in_use.user.receipts(refused["dispatch_id"])
    assert [(one["receipt_kind"], one["status"]) for one in receipts] == [("dispatch", "blocked")]
    assert in_use.server.asked() == []
    async with served(in_use.stack) as address, mcp_client(address, agent_token(in_use.stack)) as client:
        told = await refusal(client, "read_skill", {"ability_id": in_use.ability_id})
        assert told["code"] == "INSTALL_LANE_DENIED"
        assert "Its capability is quarantined" in told["message"]
        await in_use.taught.reprobe(5)
        assert (await answer(client, "read_skill", {"ability_id": in_use.ability_id}))["version"] == 1
    again = await in_use.user.ask("read_line", MILK, ability_id=in_use.ability_id)
    assert again["status"] == "completed"


async def test_a_use_that_fails_once_too_often_has_the_calls_that_wait_stopped_at_the_next_look(
    in_use: InUse,
) -> None:
    waiting = await in_use.waiting()
    await in_use.taught.fails(4)
    in_use.server.order("refuse", code=-32602, message="no", times=1)
    failed = await in_use.user.ask("read_line", MILK, ability_id=in_use.ability_id)
    assert failed["status"] == "failed"
    assert (await in_use.taught.usable())[0] is False
    assert await look(in_use.stack) == ()
    found = await in_use.user.view(waiting)
    assert (found["status"], found["ask_first"]["decision_reason"]) == ("cancelled", QUARANTINED_BY_HEALTH)


async def test_a_call_that_is_approved_before_anybody_has_looked_is_not_sent(in_use: InUse) -> None:
    waiting = await in_use.waiting()
    await in_use.taught.fails(5)
    await in_use.user.approve(waiting)
    ended = await in_use.user.ended(waiting)
    assert (ended["status"], ended["attempts"]) == ("blocked", 0)
    assert in_use.server.effects() == []


async def test_a_look_finds_nothing_to_do_while_the_ability_is_in_use(in_use: InUse) -> None:
    waiting = await in_use.waiting()
    await in_use.taught.fails(3)
    assert await look(in_use.stack) == ()
    assert (await in_use.user.view(waiting))["status"] == "pending_approval"
    assert (await in_use.taught.health())["health_status"] == "degraded"
