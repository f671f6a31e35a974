"""Conversations that are open ahead of their calls: nothing is sent before the call, and none is left behind."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import AnyUrl

from activities.mcp.preopened_connections import OpenedCall, PreopenedConnections
from clients.mcp.tool_client import ToolClient
from contracts.mcp.dispatch import AskFirstDecision
from contracts.mcp.dispatch_work import DispatchStanding
from contracts.mcp.provider import MCPTransport
from stores.mcp.dispatch.attempt_rows import CallPlan, PlanOutdated
from stores.mcp.servers.server_rows import replace_server, server_of
from stores.platform.database import Database
from tests.fixtures.databases import migrated
from tests.fixtures.mcp_servers import MisbehavingServer
from tests.fixtures.sign_ins import NOBODY_SIGNS_IN
from tests.stores.mcp.call_desk import CallDesk, now

pytestmark = pytest.mark.anyio


@pytest.fixture
async def desk(tmp_path: Path, misbehaving_server: MisbehavingServer) -> AsyncIterator[CallDesk]:
    """Calls of a real server."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrated(url)
    store = Database(url)
    found = await ToolClient(allow_private=True).discover(misbehaving_server.entry(), None, lambda: None)
    desk = CallDesk(store, tools=found.tools)
    moved(desk, misbehaving_server.url)
    yield desk
    store.close()


def moved(desk: CallDesk, url: str) -> None:
    with desk.store.write() as connection:
        server = server_of(connection, desk.server_id, "alice")
        replace_server(connection, server.changed(endpoint_url=AnyUrl(url)))


def preopened(desk: CallDesk, kept_seconds: float = 20) -> PreopenedConnections:
    client = ToolClient(allow_private=True)
    return PreopenedConnections(desk.attempts, client, NOBODY_SIGNS_IN, kept_seconds=kept_seconds)


async def taken(heads: PreopenedConnections, desk: CallDesk, call: DispatchStanding) -> OpenedCall:
    opened = await heads.take(desk.order(call))
    assert isinstance(opened, OpenedCall)
    return opened


@contextmanager
def nothing_written(desk: CallDesk, call: DispatchStanding) -> Iterator[None]:
    before = desk.record(call)
    yield
    assert desk.record(call) == before


async def until_empty(heads: PreopenedConnections) -> None:
    with anyio.fail_after(20):
        while len(heads):
            await anyio.sleep(0.01)


async def test_a_call_is_sent_in_its_conversation_when_it_comes_and_not_before(
    desk: CallDesk, misbehaving_server: MisbehavingServer
) -> None:
    heads, call = preopened(desk), desk.asked("read_line")
    sent_before: list[Any] = []

    async def about_to_send() -> None:
        sent_before.extend(misbehaving_server.asked())
        desk.attempts.begin(desk.order(call), opened.plan, now())

    with nothing_written(desk, call):
        heads.give(call, now())
        opened = await taken(heads, desk, call)
    assert len(heads) == 0
    answer = await opened.answer(about_to_send)
    assert (sent_before, answer.is_error) == ([], False)
    assert len(misbehaving_server.asked()) == 1


async def test_a_conversation_that_no_call_takes_is_closed_and_nothing_was_sent(
    desk: CallDesk, misbehaving_server: MisbehavingServer
) -> None:
    heads, call = preopened(desk, kept_seconds=0.05), desk.asked("read_line")
    with nothing_written(desk, call):
        heads.give(call, now())
        assert len(heads) == 1
        await until_empty(heads)
    assert await heads.take(desk.order(call)) is None
    assert misbehaving_server.asked() == []


async def test_a_call_that_comes_as_its_conversation_is_given_up_opens_its_own(desk: CallDesk) -> None:
    heads, call = preopened(desk, kept_seconds=0.2), desk.asked("read_line")
    came = asyncio.Event()
    heads.give(call, now())
    asyncio.get_running_loop().call_later(0.2, came.set)
    await came.wait()
    assert await heads.take(desk.order(call)) is None


async def test_a_call_that_waits_is_not_begun_and_one_that_was_approved_is(
    desk: CallDesk, misbehaving_server: MisbehavingServer
) -> None:
    heads, call = preopened(desk), desk.asked("append_line")
    heads.give(call, now())
    assert len(heads) == 0
    approved = desk.decide(call, AskFirstDecision.APPROVE_ONCE).standing
    heads.give(approved, now())
    opened = await taken(heads, desk, approved)
    assert (opened.plan.call.arguments, opened.bearer) == ({"line": "milk"}, None)
    await opened.answer(_at_once)
    assert len(misbehaving_server.asked()) == 1


async def test_a_server_that_has_moved_meanwhile_is_sent_nothing(
    desk: CallDesk, misbehaving_server: MisbehavingServer
) -> None:
    heads, call = preopened(desk), desk.asked("read_line")
    heads.give(call, now())
    opened = await taken(heads, desk, call)
    moved(desk, "http://127.0.0.1:9/mcp")

    async def about_to_send() -> None:
        desk.attempts.begin(desk.order(call), opened.plan, now())

    with pytest.raises(PlanOutdated):
        await opened.answer(about_to_send)
    assert misbehaving_server.asked() == []


async def test_a_server_that_cannot_be_reached_leaves_the_call_to_find_out_itself(desk: CallDesk) -> None:
    moved(desk, "http://127.0.0.1:9/mcp")
    heads, call = preopened(desk), desk.asked("read_line")
    with nothing_written(desk, call):
        heads.give(call, now())
        await until_empty(heads)
    assert await heads.take(desk.order(call)) is None


async def test_an_attempt_that_was_made_has_no_opened_before(
    desk: CallDesk, misbehaving_server: MisbehavingServer
) -> None:
    heads, call = preopened(desk), desk.asked("read_line")
    desk.sent(call)
    heads.give(call, now())
    assert await heads.take(desk.order(call)) is None
    assert misbehaving_server.asked() == []


async def test_the_plan_of_a_decision_is_handed_to_the_call_of_a_local_program_which_nobody_starts_ahead(
    desk: CallDesk, misbehaving_server: MisbehavingServer
) -> None:
    heads, call = preopened(desk), desk.asked("append_line")
    command = misbehaving_server.command()
    with desk.store.write() as connection:
        server = server_of(connection, desk.server_id, "alice")
        local = server.changed(transport=MCPTransport.LOCAL_BRIDGE, endpoint_url=None, command=command)
        replace_server(connection, local)
    plans: list[CallPlan] = []
    approved = desk.decide(call, AskFirstDecision.APPROVE_ONCE, planned=plans.append).standing
    with nothing_written(desk, approved):
        heads.give(approved, now(), *plans)
        plan = await heads.take(desk.order(approved))
    assert [plan] == plans
    assert len(heads) == 0
    desk.attempts.begin(desk.order(approved), plans[0], now())


async def test_a_plan_that_no_call_takes_is_forgotten(desk: CallDesk) -> None:
    heads, call = preopened(desk, kept_seconds=0.05), desk.asked("append_line")
    plans: list[CallPlan] = []
    approved = desk.decide(call, AskFirstDecision.APPROVE_ONCE, planned=plans.append).standing
    heads.give(approved, now(), *plans)
    await until_empty(heads)
    assert await heads.take(desk.order(approved)) is None


async def _at_once() -> None:
    """There is nothing to do first."""
