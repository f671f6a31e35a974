"""A call is sent only where the server lists the tool as it was when the call was let pass."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from clients.mcp.conversations import KeptConversations
from clients.mcp.tool_client import Discovery, ToolChanged, ToolClient
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import ToolFailureKind
from domain.mcp.tool_definitions import definition_hash
from tests.clients.mcp.conftest import Calls
from tests.fixtures.mcp_servers import MisbehavingServer, counting_pids, counting_program, registered
from tests.fixtures.processes import ended

pytestmark = pytest.mark.anyio


class Program:
    """A local tool server that remembers, whose words can be changed while it runs."""

    def __init__(self, folder: Path) -> None:
        async def wanted(_: MCPServerRegistryEntry) -> bool:
            return True

        self.folder = folder
        self.kept = KeptConversations(600, wanted)
        self.client = ToolClient(local_programs=[sys.executable], kept=self.kept)
        self.calls = Calls(self.client)

    def entry(self, *modes: str) -> MCPServerRegistryEntry:
        return registered(transport="local_bridge", command=counting_program(self.folder, *modes))

    def describe(self, words: str) -> None:
        (self.folder / "description").write_text(words)

    @property
    def listings(self) -> int:
        return len((self.folder / "listings").read_text().splitlines())

    async def seen(self, *modes: str) -> str:
        """The hash of the tool as it is now."""
        return hash_of(await self.client.discover(self.entry(*modes), None, lambda: None), "count")

    async def count(self, seen: str, *modes: str) -> int:
        answer = await self.calls.make(self.entry(*modes), "count", party="a", definition_hash=seen)
        return int(answer.content[0]["text"])


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Program]:
    program = Program(tmp_path)
    yield program
    await program.kept.close()
    await ended(*counting_pids(tmp_path))


def hash_of(found: Discovery, name: str) -> str:
    tool = found.tool(name)
    assert tool is not None
    return definition_hash(tool)


async def test_a_tool_that_was_changed_is_not_called_and_what_is_there_now_is_told(
    calls: Calls, misbehaving_server: MisbehavingServer
):
    entry = misbehaving_server.entry()
    seen = hash_of(await calls.client.discover(entry, None, lambda: None), "append_line")
    await calls.make(entry, definition_hash=seen)
    misbehaving_server.change_tool("append_line", description="append_line, and mail it to everybody")
    with pytest.raises(ToolChanged) as raised:
        await calls.make(entry, definition_hash=seen)
    assert raised.value.failure.kind is ToolFailureKind.TOOL_CHANGED
    assert hash_of(raised.value.found, "append_line") != seen
    assert (len(misbehaving_server.effects()), calls.announced) == (1, 1)


async def test_a_tool_that_is_gone_is_not_called_and_what_is_there_now_is_told(
    calls: Calls, misbehaving_server: MisbehavingServer
):
    entry = misbehaving_server.entry()
    seen = hash_of(await calls.client.discover(entry, None, lambda: None), "append_line")
    misbehaving_server.remove_tool("append_line")
    with pytest.raises(ToolChanged) as raised:
        await calls.make(entry, definition_hash=seen)
    assert raised.value.failure.kind is ToolFailureKind.TOOL_UNKNOWN
    assert [tool.tool_name for tool in raised.value.found.tools] == ["read_line"]
    assert calls.announced == 0


async def test_a_program_that_was_edited_since_is_started_and_not_called(program: Program):
    seen = await program.seen()
    program.describe("Counts, and mails the count to everybody.")
    with pytest.raises(ToolChanged):
        await program.count(seen)
    assert program.calls.announced == 0


async def test_a_conversation_that_goes_on_lists_its_tools_once(program: Program):
    seen = await program.seen()
    assert [await program.count(seen) for _ in range(3)] == [1, 2, 3]
    assert program.listings == 2, "one was the discovery"


async def test_a_conversation_lists_its_tools_again_once_its_server_says_that_they_changed(program: Program):
    seen = await program.seen("telling")
    assert await program.count(seen, "telling") == 1
    program.describe("Counts, and mails the count to everybody.")
    with pytest.raises(ToolChanged):
        await program.count(seen, "telling")
    assert program.calls.announced == 1


async def test_a_conversation_lists_its_tools_again_after_a_while(
    program: Program, monkeypatch: pytest.MonkeyPatch
):
    seen = await program.seen()
    assert await program.count(seen) == 1
    program.describe("Counts, and mails the count to everybody.")
    monkeypatch.setattr("clients.mcp.conversation.LISTED_FOR_SECONDS", 0.0)
    with pytest.raises(ToolChanged):
        await program.count(seen)


async def test_what_is_no_tool_is_left_out_of_a_list_and_the_others_are_taken(program: Program):
    found = await program.client.discover(program.entry("spoilt"), None, lambda: None)
    assert [tool.tool_name for tool in found.tools] == ["count", "hang", "refuse", "wait"]
    assert [one.tool_name for one in found.left_out] == [
        "bare",
        "a tool without a name",
        "a tool without a name",
    ]
    assert "inputSchema" in found.left_out[0].reason


async def test_a_revision_that_nobody_knows_is_named_as_the_cause(program: Program):
    failure = await program.calls.fail(program.entry("ancient"), "count")
    assert failure.kind is ToolFailureKind.NOT_SENT
    assert "1999-01-01" in failure.message
    assert "ended" not in failure.message


async def test_of_two_tools_with_one_name_neither_is_taken(
    calls: Calls, misbehaving_server: MisbehavingServer
):
    misbehaving_server.add_tool("append_line")
    found = await calls.client.discover(misbehaving_server.entry(), None, lambda: None)
    assert [tool.tool_name for tool in found.tools] == ["read_line"]
    assert [(one.tool_name, one.reason) for one in found.left_out] == [
        ("append_line", "its name is there twice")
    ]
