"""Conversations that go on between calls, with programs and sessions that remember what was said."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest

from clients.mcp.address_guard import Resolve, system_resolve
from clients.mcp.conversations import KeptConversations
from clients.mcp.tool_client import ToolClient
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import ToolAnswer, ToolFailureKind
from tests.clients.mcp.conftest import Calls
from tests.fixtures.mcp_servers import GoodServer, counting_pids, counting_program, registered, started
from tests.fixtures.mcp_serving import ASKED_FILE, lines_of
from tests.fixtures.processes import ended, kill

pytestmark = pytest.mark.anyio


class Desk:
    """Calls by a client that keeps conversations, of a program that counts them and of other servers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_wanted: Callable[[], bool] = lambda: True
        self.kept = self.keeping(idle_seconds=600)

    def keeping(
        self, idle_seconds: float, most: int = 16, resolve: Resolve = system_resolve
    ) -> KeptConversations:
        """From now on conversations are kept like this."""

        async def wanted(_: MCPServerRegistryEntry) -> bool:
            return self.is_wanted()

        self.kept = KeptConversations(idle_seconds, wanted, most)
        client = ToolClient(
            allow_private=True, local_programs=[sys.executable], kept=self.kept, resolve=resolve
        )
        self.calls = Calls(client)
        return self.kept

    def program(self, mode: str = "", server_id: str = "srv-tests") -> MCPServerRegistryEntry:
        """The program that counts its calls."""
        command = counting_program(self.folder, mode)
        return registered(transport="local_bridge", command=command, server_id=server_id)

    def pids(self) -> list[int]:
        """Of the programs that were started, in that order."""
        return counting_pids(self.folder)

    async def count(
        self, server: MCPServerRegistryEntry | None = None, party: str | None = "a", **fields
    ) -> int:
        """The number of the call in its conversation."""
        return number(await self.calls.make(server or self.program(), party=party, **fields))


def number(answer: ToolAnswer) -> int:
    return int(answer.content[0]["text"])


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """Nothing is kept at first, nor left behind."""
    desk = Desk(tmp_path)
    yield desk
    await desk.kept.close()
    await ended(*desk.pids())


async def test_the_calls_of_one_party_are_made_by_one_process_which_remembers(desk: Desk):
    assert [await desk.count() for _ in range(3)] == [1, 2, 3]
    assert len(desk.pids()) == 1


async def test_another_party_another_sign_in_and_another_command_have_processes_of_their_own(desk: Desk):
    assert await desk.count() == 1
    assert await desk.count(party="b") == 1
    assert await desk.count(bearer="another") == 1
    assert await desk.count(desk.program("another")) == 1
    assert await desk.count(desk.program(server_id="srv-another")) == 1
    assert await desk.count() == 2
    assert len(desk.pids()) == 5


async def test_a_call_of_no_party_has_its_own_process_which_ends_with_it(desk: Desk):
    assert [await desk.count(party=None) for _ in range(2)] == [1, 1]
    await ended(*desk.pids())


async def test_what_nobody_uses_any_more_is_ended(desk: Desk):
    desk.keeping(idle_seconds=0.05)
    await desk.count()
    await ended(desk.pids()[0])
    with anyio.fail_after(20):
        while len(desk.kept):
            await asyncio.sleep(0.01)
    assert await desk.count() == 1


@pytest.mark.parametrize("answer", [lambda: False, lambda: 1 / 0], ids=["refused", "not-known"])
async def test_what_is_not_wanted_any_more_is_ended(desk: Desk, answer: Callable[[], bool]):
    desk.is_wanted = answer
    await desk.count()
    await ended(desk.pids()[0])


async def test_a_process_that_has_died_meanwhile_is_started_anew_and_the_call_is_made_once(desk: Desk):
    await desk.count()
    await kill(desk.pids()[0])
    assert await desk.count() == 1
    assert desk.calls.announced == 2


async def test_a_process_that_does_not_say_it_is_there_is_started_anew(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("clients.mcp.conversations.THERE_WITHIN_MS", 200)
    server = desk.program("deaf")
    assert [await desk.count(server) for _ in range(2)] == [1, 1]
    await ended(desk.pids()[0])


async def test_a_process_that_does_not_know_the_question_whether_it_is_there_goes_on(desk: Desk):
    assert [await desk.count(desk.program("old")) for _ in range(2)] == [1, 2]


async def test_a_process_that_wrote_too_much_after_its_answer_is_started_anew(desk: Desk):
    server = desk.program("noisy")
    assert [await desk.count(server) for _ in range(3)] == [1, 1, 1]


async def test_a_call_that_is_cancelled_while_its_process_is_asked_whether_it_is_there_leaves_it(desk: Desk):
    server = desk.program("slow")
    await desk.count(server)
    calling = asyncio.create_task(desk.count(server))
    while not (desk.folder / "pinged").exists():
        await asyncio.sleep(0.01)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    (desk.folder / "go").touch()
    assert await desk.count(server) == 2


async def test_what_was_opened_for_a_call_that_was_never_sent_is_not_kept(desk: Desk):
    class Changed(Exception):
        pass

    async def announce() -> None:
        raise Changed

    with pytest.raises(Changed):
        await desk.count(announce=announce)
    assert len(desk.kept) == 0
    await ended(*desk.pids())


async def test_nothing_is_kept_once_the_worker_stops(desk: Desk):
    waiting = asyncio.create_task(desk.count(tool_name="wait"))
    while not desk.pids():
        await asyncio.sleep(0.01)
    await desk.kept.close()
    (desk.folder / "go").touch()
    assert await waiting == 1
    await ended(*desk.pids())


async def test_a_call_that_is_cancelled_ends_its_process(desk: Desk):
    await desk.count()
    calling = asyncio.create_task(desk.count(tool_name="hang"))
    while not (desk.folder / "hangs").exists():
        await asyncio.sleep(0.01)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    await ended(desk.pids()[0])
    assert await desk.count() == 1


async def test_a_call_that_takes_too_long_ends_its_process(desk: Desk):
    await desk.count()
    failure = await desk.calls.fail(desk.program(), "hang", party="a", timeout_ms=1_000)
    assert failure.kind is ToolFailureKind.TIMED_OUT
    await ended(desk.pids()[0])


async def test_a_call_that_is_given_up_before_it_is_sent_leaves_its_process_as_it_was(desk: Desk):
    await desk.count()
    comes, never = asyncio.Event(), asyncio.Event()

    async def announce() -> None:
        comes.set()
        await never.wait()

    calling = asyncio.create_task(desk.count(announce=announce))
    await comes.wait()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert await desk.count() == 2


async def test_a_call_that_may_not_be_made_any_more_leaves_its_process_as_it_was(desk: Desk):
    class Changed(Exception):
        pass

    async def announce() -> None:
        raise Changed

    await desk.count()
    with pytest.raises(Changed):
        await desk.count(announce=announce)
    assert await desk.count() == 2


async def test_a_call_that_the_server_refuses_leaves_its_process_as_it_was(desk: Desk):
    await desk.count()
    failure = await desk.calls.fail(desk.program(), "refuse", party="a")
    assert failure.kind is ToolFailureKind.REFUSED_BY_SERVER
    assert await desk.count() == 3


async def test_calls_at_the_same_time_have_a_process_each_and_the_first_goes_on(desk: Desk):
    waiting = asyncio.create_task(desk.count(tool_name="wait"))
    while not desk.pids():
        await asyncio.sleep(0.01)
    assert await desk.count() == 1
    await ended(desk.pids()[1])
    (desk.folder / "go").touch()
    assert await waiting == 1
    assert await desk.count() == 2
    assert len(desk.pids()) == 2


async def test_of_too_many_that_which_was_not_used_for_longest_is_ended(desk: Desk):
    desk.keeping(idle_seconds=600, most=2)
    await desk.count(party="a")
    await desk.count(party="b")
    await desk.count(party="a")
    await desk.count(party="c")
    await ended(desk.pids()[1])
    assert await desk.count(party="a") == 3
    assert len(desk.kept) == 2


class SessionServer(GoodServer):
    """A server with sessions."""

    program = "tests.fixtures.mcp_session_server"


def asked_of(folder: Path) -> list[str]:
    """The methods that the server of this folder was asked for, in that order."""
    return [one["method"] for one in lines_of(folder / ASKED_FILE)]


async def was_asked(folder: Path, method: str) -> None:
    """Returns once the server of this folder has been asked for ``method``."""
    with anyio.fail_after(20):
        while method not in asked_of(folder):
            await asyncio.sleep(0.01)


async def test_a_session_goes_on_and_is_ended_at_the_server_when_it_is_closed(desk: Desk, tmp_path: Path):
    with started(tmp_path / "sessions", SessionServer) as server:
        assert [await desk.count(server.entry()) for _ in range(2)] == [1, 2]
        assert await desk.count(server.entry(), party="b") == 1
        await desk.kept.close()
        asked = asked_of(tmp_path / "sessions")
    assert (asked.count("initialize"), asked.count("ping"), asked.count("DELETE")) == (2, 1, 2)


async def test_a_session_that_the_server_has_forgotten_is_opened_anew_and_the_call_is_made_once(
    desk: Desk, tmp_path: Path
):
    with started(tmp_path / "sessions", SessionServer) as server:
        assert await desk.count(server.entry()) == 1
        server.kill()
        server.start()
        assert await desk.count(server.entry()) == 1
        asked = asked_of(tmp_path / "sessions")
    assert (asked.count("tools/call"), desk.calls.announced) == (2, 2)


@pytest.mark.parametrize("how", ["cancelled", "timed-out"])
async def test_a_session_whose_call_is_cut_short_is_told_and_not_used_again(
    desk: Desk, tmp_path: Path, how: str
):
    folder = tmp_path / "sessions"
    with started(folder, SessionServer) as server:
        if how == "timed-out":
            failure = await desk.calls.fail(server.entry(), "hang", party="a", timeout_ms=3_000)
            assert failure.kind is ToolFailureKind.TIMED_OUT
        else:
            calling = asyncio.create_task(desk.count(server.entry(), tool_name="hang"))
            await was_asked(folder, "tools/call")
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
        assert await desk.count(server.entry()) == 1
        await was_asked(folder, "notifications/cancelled")
    assert asked_of(folder).count("initialize") == 2


async def test_a_session_ends_only_after_it_was_told_of_the_cut_however_slow_the_way_is(
    desk: Desk, tmp_path: Path
):
    folder = tmp_path / "sessions"
    with started(folder, SessionServer) as server:

        async def slow_once_called(host: str, port: int) -> tuple[str, ...]:
            with anyio.move_on_after(0.2):
                while "tools/call" in asked_of(folder) and "DELETE" not in asked_of(folder):
                    await anyio.sleep(0.01)
            return await system_resolve(host, port)

        desk.keeping(idle_seconds=600, resolve=slow_once_called)
        calling = asyncio.create_task(desk.count(server.entry(), tool_name="hang"))
        await was_asked(folder, "tools/call")
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        await desk.kept.close()
    assert asked_of(folder)[-3:] == ["notifications/cancelled", "ping", "DELETE"]


async def test_a_server_without_sessions_is_asked_in_a_conversation_a_call(
    desk: Desk, tool_server: GoodServer
):
    for _ in range(2):
        await desk.calls.make(tool_server.entry(), party="a", arguments={"line": "x"})
    assert len(desk.kept) == 0
