"""Worker, API and Temporal are killed at every point of a tool call that waits, and of one that was approved.

Whatever happens, what the tool does is done once, or the call says that nobody knows. It is never done twice.
"""

from collections.abc import Callable

import anyio
import httpx
import pytest

from tests.faults.deployment import Deployment
from tests.faults.patience import eventually
from tests.faults.tool_user import ToolUser, tool_user
from tests.faults.trapped_calls import ANSWERED, WRITTEN
from tests.faults.traps import HOLD
from tests.fixtures.mcp_servers import GoodServer, MisbehavingServer

pytestmark = pytest.mark.anyio


@pytest.fixture
async def alice(deployment: Deployment, http: httpx.AsyncClient, tool_server: GoodServer) -> ToolUser:
    """A user whose tool server behaves."""
    return await tool_user(deployment, http, tool_server)


@pytest.fixture
async def bob(
    deployment: Deployment, http: httpx.AsyncClient, misbehaving_server: MisbehavingServer
) -> ToolUser:
    """A user whose tool server can be held before and after its work."""
    return await tool_user(deployment, http, misbehaving_server)


def kill_everything(deployment: Deployment) -> None:
    deployment.kill_workers()
    deployment.kill_api()
    deployment.temporal.kill()


async def start_everything(deployment: Deployment) -> None:
    await deployment.temporal.start()
    deployment.start_workers()
    await deployment.start_api()


@pytest.mark.parametrize("point", ["judge_dispatch.any.before", "judge_dispatch.any.after"])
async def test_a_worker_killed_before_and_after_policy_was_asked(alice: ToolUser, point: str) -> None:
    deployment = alice.deployment
    deployment.traps.set(point)
    async with deployment.replacing_workers():
        dispatch_id = await alice.ask()
        await alice.approve(dispatch_id)
        assert await alice.ended(dispatch_id) == "completed"
    assert deployment.traps.has_sprung(point)


@pytest.mark.parametrize(
    ("point", "ends"),
    [
        ("decide_dispatch.any.before", "completed"),
        ("decide_dispatch.any.after", "completed"),
        ("call_tool.any.before", "completed"),
        pytest.param(WRITTEN, "outcome_unknown", marks=pytest.mark.everyday),
        (ANSWERED, "outcome_unknown"),
        ("call_tool.any.after", "completed"),
    ],
)
async def test_a_worker_killed_at_every_point_of_an_approved_call(
    alice: ToolUser, point: str, ends: str
) -> None:
    deployment = alice.deployment
    dispatch_id = await alice.ask()
    deployment.traps.set(point)
    async with deployment.replacing_workers():
        await alice.approve(dispatch_id)
        assert await alice.ended(dispatch_id) == ends
    assert deployment.traps.has_sprung(point)
    assert len(alice.server.effects(dispatch_id)) == (0 if point == WRITTEN else 1)


@pytest.mark.parametrize("point", ["inspect_call.any.before", "inspect_call.any.after"])
async def test_the_next_worker_killed_while_it_finds_out_what_became_of_a_call(
    alice: ToolUser, point: str
) -> None:
    deployment = alice.deployment
    dispatch_id = await alice.ask()
    for trap in (ANSWERED, point):
        deployment.traps.set(trap)
    async with deployment.replacing_workers():
        await alice.approve(dispatch_id)
        assert await alice.ended(dispatch_id) == "outcome_unknown"
    assert deployment.traps.has_sprung(point)
    assert len(alice.server.effects(dispatch_id)) == 1


@pytest.mark.parametrize("point", ["end_dispatch.any.before", "end_dispatch.any.after"])
async def test_a_worker_killed_while_a_call_is_given_up(alice: ToolUser, point: str) -> None:
    deployment = alice.deployment
    dispatch_id = await alice.ask()
    deployment.traps.set(point)
    async with deployment.replacing_workers():
        await alice.person.ok("POST", f"/api/mcp/dispatches/{dispatch_id}/cancel", {})
        await eventually(lambda: alice.has_come_to(dispatch_id, "cancelled"), "the call is never given up")
    assert deployment.traps.has_sprung(point)
    assert alice.server.effects(dispatch_id) == []


@pytest.mark.parametrize("point", ["reconsider_dispatch.any.before", "reconsider_dispatch.any.after"])
async def test_a_worker_killed_while_a_call_that_was_released_looks_again(
    alice: ToolUser, point: str
) -> None:
    deployment = alice.deployment
    dispatch_id = await alice.ask()
    deployment.traps.set(point)
    target = {"target_kind": "server", "server_id": alice.server_id}
    async with deployment.replacing_workers():
        allowed = {"target": target, "decision": {"mode": "enabled"}}
        await alice.person.ok("POST", "/api/mcp/policy/update", allowed)
        assert await alice.ended(dispatch_id) == "completed"
    assert deployment.traps.has_sprung(point)
    assert len(alice.server.effects(dispatch_id)) == 1


@pytest.mark.parametrize("point", ["release_dispatches.any.before", "release_dispatches.any.after"])
async def test_a_worker_killed_while_it_tells_the_calls_that_an_approval_covers(
    alice: ToolUser, point: str
) -> None:
    deployment = alice.deployment
    calls = [await alice.ask(turn_ref="turn-1") for _ in range(3)]
    deployment.traps.set(point)
    async with deployment.replacing_workers():
        await alice.approve(calls[0], "approve_until_end_of_turn")
        # Those that the worker was making then may have an unknown outcome; none is left waiting.
        assert {await alice.ended(one) for one in calls} <= {"completed", "outcome_unknown"}
    assert deployment.traps.has_sprung(point)
    assert {effect["key"] for effect in alice.server.effects()} <= set(calls)


@pytest.mark.parametrize("held", ["hold", "hold_after"])
async def test_every_worker_killed_while_the_tool_runs(
    bob: ToolUser, misbehaving_server: MisbehavingServer, held: str
) -> None:
    dispatch_id = await bob.ask()
    misbehaving_server.order(held)
    await bob.approve(dispatch_id)
    await eventually(lambda: bool(misbehaving_server.asked()), "the tool is never called")
    bob.deployment.kill_workers()
    bob.deployment.start_workers()
    misbehaving_server.lift()
    assert await bob.ended(dispatch_id) == "outcome_unknown"
    await eventually(lambda: len(bob.server.effects(dispatch_id)) == 1, "the tool does not do its work")
    assert len(misbehaving_server.asked()) == 1


@pytest.mark.parametrize(
    "kill",
    [
        Deployment.kill_workers,
        Deployment.kill_api,
        lambda all_of_it: all_of_it.temporal.kill(),
        kill_everything,
    ],
    ids=["workers", "api", "temporal", "everything"],
)
async def test_what_waits_survives_and_the_first_approval_afterwards_works(
    alice: ToolUser, kill: Callable[[Deployment], None]
) -> None:
    waiting = [await alice.ask() for _ in range(3)]
    kill(alice.deployment)
    await start_everything(alice.deployment)
    answer = await alice.approve(waiting[1])
    assert answer["resumed"] is True
    assert await alice.ended(waiting[1]) == "completed"
    others = [waiting[0], waiting[2]]
    assert all([await alice.has_come_to(one, "pending_approval") for one in others])
    assert [effect["key"] for effect in alice.server.effects()] == [waiting[1]]


async def test_what_waits_survives_that_temporal_loses_its_data(alice: ToolUser) -> None:
    deployment = alice.deployment
    dispatch_id = await alice.ask()
    deployment.temporal.kill()
    deployment.kill_workers()
    deployment.temporal.lose_everything()
    await start_everything(deployment)
    await alice.approve(dispatch_id)
    assert await alice.ended(dispatch_id) == "completed"


async def test_the_api_killed_before_it_answers_and_asked_again(alice: ToolUser) -> None:
    deployment = alice.deployment
    deployment.traps.set("answer.dispatches")
    with pytest.raises(httpx.TransportError):
        await alice.ask(key="the-same-call")
    await deployment.api_has_died()
    await deployment.start_api()
    dispatch_id = await alice.ask(key="the-same-call")
    assert (await alice.person.ok("GET", "/api/mcp/dispatches"))["total"] == 1

    deployment.traps.set("answer.approve")
    with pytest.raises(httpx.TransportError):
        await alice.approve(dispatch_id, key="the-same-approval")
    await deployment.api_has_died()
    await deployment.start_api()
    answers = [await alice.approve(dispatch_id, key="the-same-approval") for _ in range(2)]
    assert answers[0] == answers[1]
    assert await alice.ended(dispatch_id) == "completed"


@pytest.mark.parametrize(
    "point",
    [
        "decide_dispatch.any.before",
        "decide_dispatch.any.after",
        "call_tool.any.before",
        WRITTEN,
        ANSWERED,
        "call_tool.any.after",
    ],
)
async def test_temporal_killed_at_the_points_of_an_approved_call(alice: ToolUser, point: str) -> None:
    deployment = alice.deployment
    dispatch_id = await alice.ask()
    deployment.traps.set(point, HOLD)
    async with anyio.create_task_group() as group:
        group.start_soon(alice.approve, dispatch_id)
        await deployment.traps.victim(point)
        deployment.temporal.kill()
        deployment.traps.clear()
        await deployment.temporal.start()
    assert await alice.ended(dispatch_id) in ("completed", "outcome_unknown")
    assert len(alice.server.effects(dispatch_id)) == 1


@pytest.mark.parametrize("held", ["hold", "hold_after"])
async def test_temporal_killed_while_the_tool_runs(
    bob: ToolUser, misbehaving_server: MisbehavingServer, held: str
) -> None:
    dispatch_id = await bob.ask()
    misbehaving_server.order(held)
    await bob.approve(dispatch_id)
    await eventually(lambda: bool(misbehaving_server.asked()), "the tool is never called")
    bob.deployment.temporal.kill()
    misbehaving_server.lift()
    await bob.deployment.temporal.start()
    assert await bob.ended(dispatch_id) in ("completed", "outcome_unknown")
    await eventually(lambda: len(bob.server.effects(dispatch_id)) == 1, "the tool does not do its work")
    assert len(misbehaving_server.asked()) == 1


async def test_a_tool_that_was_declared_idempotent_is_called_again_under_the_same_key(
    alice: ToolUser,
) -> None:
    deployment = alice.deployment
    path = f"/api/mcp/servers/{alice.server_id}/tools"
    tools = (await alice.person.ok("GET", path))["tools"]
    seen = next(one["definition_hash"] for one in tools if one["definition"]["tool_name"] == "put_line")
    review = {"definition_hash": seen, "declared_idempotent": True}
    await alice.person.ok("POST", f"{path}/put_line/review", review)
    dispatch_id = await alice.ask("put_line")
    deployment.traps.set(ANSWERED)
    async with deployment.replacing_workers():
        await alice.approve(dispatch_id)
        await eventually(lambda: alice.has_come_to(dispatch_id, "completed"), "the call is not repeated")
    effects = alice.server.effects(dispatch_id)
    assert [effect["tool"] for effect in effects] == ["put_line"] * 2
    assert (await alice.view(dispatch_id))["attempts"] == 2
