"""Calls and listings of tools over streamable HTTP, against real servers that behave."""

import pytest
from mcp import Tool

from clients.mcp.listing import definition_of
from clients.mcp.tool_client import ToolClient
from contracts.mcp.tools import MCPToolDefinition, ToolFailureKind
from tests.fixtures.mcp_servers import GoodServer, MisbehavingServer, tool

pytestmark = pytest.mark.anyio

NOTHING_PUBLIC = ToolClient(allow_private=False)


def unheard() -> None:
    """A heartbeat that nobody listens to."""


async def test_a_call_brings_the_answer_and_its_idempotency_key_reaches_the_tool(
    calls, tool_server: GoodServer
):
    answer = await calls.make(tool_server.entry(), idempotency_key="key-1", arguments={"line": "hello"})
    assert answer.structured_content == {"effects": 1, "line": "hello"}
    assert answer.content[0]["type"] == "text"
    assert (answer.is_error, answer.server_name, answer.protocol_revision) == (
        False,
        "tests-good",
        "2026-07-28",
    )
    assert answer.output_bytes > 0
    assert tool_server.effects("key-1") == [
        {"tool": "append_line", "key": "key-1", "arguments": {"line": "hello"}}
    ]


@pytest.mark.parametrize(("support", "kept"), [("required", False), ("optional", True), ("forbidden", True)])
def test_a_tool_that_can_only_be_called_as_a_task_is_not_taken_in(support: str, kept: bool) -> None:
    listed = Tool.model_validate(
        {"name": "render_film", "inputSchema": {"type": "object"}, "execution": {"taskSupport": support}}
    )
    assert isinstance(definition_of(listed), MCPToolDefinition) is kept


async def test_the_caller_is_told_right_before_the_call_goes_out(calls, tool_server: GoodServer):
    seen: list[int] = []

    async def announce() -> None:
        seen.append(len(tool_server.effects()))

    await calls.make(tool_server.entry(), announce=announce)
    assert seen == [0]
    assert len(tool_server.effects()) == 1


async def test_what_the_caller_raises_before_the_call_is_raised_as_it_is_and_nothing_is_sent(
    calls, misbehaving_server: MisbehavingServer
):
    class Changed(Exception):
        pass

    async def announce() -> None:
        raise Changed

    with pytest.raises(Changed):
        await calls.make(misbehaving_server.entry(), announce=announce)
    assert misbehaving_server.asked() == []


async def test_the_token_is_in_the_header_of_each_request_and_nowhere_else(
    calls, misbehaving_server: MisbehavingServer, canary: str
):
    await calls.make(misbehaving_server.entry(), bearer=canary, arguments={"line": "x"})
    asked = misbehaving_server.asked("server/discover") + misbehaving_server.asked()
    assert len(asked) == 2
    for one in asked:
        assert one["headers"].pop("authorization") == f"Bearer {canary}"
        assert canary not in str(one)


async def test_an_error_of_the_tool_itself_is_an_answer(calls, tool_server: GoodServer):
    answer = await calls.make(tool_server.entry(), "fail", arguments={"reason": "no"})
    assert answer.is_error
    assert answer.content


async def test_a_tool_that_is_not_there_is_named_so_by_servers_of_either_kind(
    calls, tool_server: GoodServer, misbehaving_server: MisbehavingServer
):
    for server in (tool_server, misbehaving_server):
        failure = await calls.fail(server.entry(), "no_such_tool")
        assert failure.kind is ToolFailureKind.TOOL_UNKNOWN


async def test_a_tool_that_says_another_is_unknown_has_answered(calls, tool_server: GoodServer):
    failure = await calls.make(tool_server.entry(), "append_line", arguments={})
    assert failure.is_error


async def test_a_server_of_an_older_protocol_is_spoken_to_in_its_own(
    calls, misbehaving_server: MisbehavingServer
):
    misbehaving_server.order("status", on="server/discover", status=400)
    answer = await calls.make(misbehaving_server.entry())
    assert answer.structured_content is not None
    assert answer.protocol_revision == "2025-11-25"
    assert len(misbehaving_server.effects()) == 1
    assert len(misbehaving_server.asked("DELETE")) == 1, "the session is ended"


async def test_a_call_that_was_turned_down_for_its_headers_is_made_again_after_listing(
    calls, misbehaving_server: MisbehavingServer
):
    misbehaving_server.order("refuse", code=-32020, message="headers", times=1)
    await calls.make(misbehaving_server.entry())
    assert len(misbehaving_server.effects()) == 1
    assert len(misbehaving_server.asked("tools/list")) == 1


async def test_nothing_of_this_machine_or_network_is_reached_unless_that_is_allowed(
    calls, misbehaving_server: MisbehavingServer
):
    calls.client = NOTHING_PUBLIC
    for url in (misbehaving_server.url, misbehaving_server.url.replace("http:", "https:")):
        failure = await calls.fail(misbehaving_server.entry(endpoint_url=url))
        assert failure.kind is ToolFailureKind.ADDRESS_REFUSED
    assert misbehaving_server.asked("server/discover") == []


async def test_a_listing_brings_every_page_by_name(calls, misbehaving_server: MisbehavingServer):
    misbehaving_server.set_tools(*(tool(f"tool_{n:03}", readOnlyHint=n % 2 == 0) for n in reversed(range(7))))
    misbehaving_server.order("pages", on="tools/list", size=3)
    found = await calls.client.discover(misbehaving_server.entry(), None, unheard)
    assert [one.tool_name for one in found.tools] == [f"tool_{n:03}" for n in range(7)]
    assert [one.read_only for one in found.tools] == [True, False] * 3 + [True]
    assert found.tools[0].output_schema is not None
    assert (found.server_name, found.left_out) == ("tests-bad", ())


async def test_a_listing_is_bounded_in_number_and_size_and_says_what_it_left_out(
    calls, misbehaving_server: MisbehavingServer
):
    good = [tool(f"tool_{n:03}") for n in range(498)]
    bad = [
        tool("long_words", description="x" * 20_001),
        tool("n" * 121),
        tool("big_schema") | {"inputSchema": {"type": "object", "description": "x" * 300_000}},
        tool("tool_000", description="the same name again"),
    ]
    misbehaving_server.set_tools(*good, *bad, *(tool(f"last_{n}") for n in range(5)))
    found = await calls.client.discover(misbehaving_server.entry(), None, unheard)
    assert len(found.tools) == 500
    assert [(one.tool_name, one.reason) for one in found.left_out] == [
        ("long_words", "its description has more than 20000 characters"),
        ("n" * 119 + "…", "its name has more than 120 characters"),
        ("big_schema", "its schemas have more than 262144 bytes"),
        ("tool_000", "its name is there twice"),
        ("last_3", "a server may have 500 tools"),
        ("last_4", "a server may have 500 tools"),
    ]
    assert found.tools[2].description != "the same name again"
