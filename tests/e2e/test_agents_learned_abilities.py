"""Apprentice as a tool server: what an agent that speaks MCP finds, reads and reports, over real HTTP."""

import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from mcp import MCPError
from starlette.requests import Request

from api.agent_server.endpoint import AgentEndpoint
from api.app import create_app
from config.settings import Settings
from contracts.errors import Refusal
from contracts.platform.identity import Scope
from domain.learning.drafting.method import EXAMPLE
from stores.platform.projection.projector import Projector
from tests.fixtures.agents import agent, agent_token, answer, refusal
from tests.fixtures.foreign_words import pydantics_words
from tests.fixtures.learner import Learner
from tests.fixtures.served import served
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"accept": "application/json, text/event-stream"}


@pytest.fixture
async def address(stack: Stack) -> AsyncIterator[str]:
    async with served(stack) as address:
        yield address


async def install_for_everybody(alice: Learner) -> str:
    await alice.teach()
    await alice.propose_act("install", {"install_lane": "approved_workspace"})
    session = await alice.ok("GET", f"/api/learn/sessions/{alice.session_id}/detail")
    return str(session["ability_id"])


@pytest.fixture
async def taught(stack: Stack) -> str:
    """The id of an ability that alice has installed for everybody."""
    return await install_for_everybody(stack.learner())


@pytest.mark.parametrize(
    "headers", [{}, {"authorization": "Bearer apr_wrong"}, {"authorization": "Basic eDp5"}]
)
async def test_nobody_is_let_in_without_a_token_that_holds(address: str, headers: dict[str, str]) -> None:
    async with httpx.AsyncClient(base_url=address) as http:
        response = await http.post("/mcp", json=PING, headers=ACCEPT | headers)
    assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
    assert response.json()["error"]["code"] == "UNAUTHENTICATED"


async def test_a_revoked_token_ends_at_once_also_in_the_middle_of_a_conversation(
    stack: Stack, address: str
) -> None:
    token = agent_token(stack)
    admin = Learner(stack.http, stack.admin_secret, "admin")
    token_id = (await admin.ok("GET", "/api/tokens"))["tokens"][0]["token_id"]
    async with agent(address, token) as client:
        assert await client.list_tools()
        await admin.ok("DELETE", f"/api/tokens/{token_id}")
        with pytest.raises(MCPError):
            await client.call_tool("find_ability", {"query": "make the report"})


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
async def test_a_client_of_any_revision_connects_and_sees_the_tools_of_its_token(
    stack: Stack, address: str, mode: str
) -> None:
    async with agent(address, agent_token(stack), mode=mode) as client:
        # Without a first question the client does not know whom it talks to.
        if mode != "2026-07-28":
            assert client.server_info is not None
            assert client.server_info.name == "apprentice"
            assert "find_ability" in str(client.instructions)
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == [
        "find_ability",
        "read_skill",
        "verify_checkpoint",
        "find_tool",
        "explain_route",
        "call_tool",
        "get_call",
        "get_skill_run",
        "ask_clarifying_question",
        "calendar_query",
        "call_status",
        "debit_wallet",
        "fetch_trends",
        "fetch_wallet_balance",
        "generate_content",
        "generate_reflection",
        "get_agent_profile",
        "link_identity",
        "log_social_event",
        "place_call",
        "propose_small_adjustments",
        "publish_content",
        "query_relevant_memories",
        "register_openclaw_profile",
        "schedule_check_in",
        "semantic_filter",
        "send_message",
        "send_message_to_user",
        "store_memory_item",
        "summarise_conversation_segment",
        "undelivered_messages",
        "unlink_identity",
        "update_agent_state",
        "upsert_world_fact",
        "validate_content",
    ]
    for tool in tools:
        assert tool.description
        assert tool.title
        assert tool.annotations is not None
        assert tool.input_schema["type"] == "object"
        assert tool.output_schema is not None


async def test_a_token_sees_and_calls_only_what_its_scopes_allow(stack: Stack, address: str) -> None:
    async with agent(address, agent_token(stack, scopes=[Scope.READ])) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [
            "find_ability",
            "read_skill",
            "get_skill_run",
            "call_status",
            "fetch_trends",
            "fetch_wallet_balance",
            "generate_content",
            "generate_reflection",
            "get_agent_profile",
            "query_relevant_memories",
            "semantic_filter",
            "summarise_conversation_segment",
            "validate_content",
        ]
        error = await refusal(client, "find_tool", {})
    assert (error["code"], error["required_scope"]) == ("FORBIDDEN", "call")


async def test_an_agent_finds_an_installed_ability_and_reads_how_it_is_done(
    stack: Stack, address: str, taught: str
) -> None:
    async with agent(address, agent_token(stack, "bob")) as client:
        goal = (await stack.learner().ok("GET", f"/api/abilities/{taught}"))["ability"]["title"]
        found = await answer(client, "find_ability", {"query": goal})
        assert found["abilities"][0]["ability_id"] == taught
        assert found["abilities"][0]["fits"]
        assert "read_skill" in found["next_step"]
        skill = await answer(client, "read_skill", {"ability_id": taught})
        assert skill["content"].startswith("---\n")
        assert "SKILL.md" in {file["path"] for file in skill["files"]}
        for file in skill["files"]:
            part = await answer(client, "read_skill", {"ability_id": taught, "path": file["path"]})
            assert len(part["content"].encode()) == file["bytes"]
        nothing = await answer(client, "find_ability", {"query": "zzzz qqqq"})
    assert not any(one["fits"] for one in nothing["abilities"])


async def test_how_it_was_done_once_is_read_only_by_whoever_asks_for_that_file(
    stack: Stack, address: str, taught: str
) -> None:
    alice = stack.learner()
    async with agent(address, agent_token(stack)) as client:
        goal = (await alice.ok("GET", f"/api/abilities/{taught}"))["ability"]["title"]
        given = {
            "the system prompt": client.instructions,
            "the list of tools": await client.list_tools(),
            "what is found": await answer(client, "find_ability", {"query": goal}),
            "the skill": await answer(client, "read_skill", {"ability_id": taught}),
        }
        example = await answer(client, "read_skill", {"ability_id": taught, "path": EXAMPLE})
    given |= {
        "the list of abilities": await alice.ok("GET", "/api/abilities/availability"),
        "a lookup": await alice.ok("POST", "/api/abilities/lookup", {"user_query": goal}),
        "the ability": await alice.ok("GET", f"/api/abilities/{taught}"),
    }
    shown = ("An example, not a recipe: files", "sort -t, ")
    assert all(one in example["content"] for one in shown)
    assert [where for where, text in given.items() if any(one in str(text) for one in shown)] == []
    Projector(stack.database, stack.settings.memory_root, stack.settings.workspace).catch_up()
    files = [path for path in stack.settings.workspace.rglob("*") if path.is_file()]
    assert [path for path in files if shown[0] in path.read_text()] == [
        path for path in files if path.as_posix().endswith(EXAMPLE)
    ]


@pytest.mark.thorough
@pytest.mark.acceptance("R11.2-27")
async def test_the_workflow_graph_is_nowhere_in_what_an_agent_is_given(stack: Stack, address: str) -> None:
    alice = stack.learner()
    taught = await install_for_everybody(alice)
    graph = await graph_for_review(alice)
    async with agent(address, agent_token(stack)) as client:
        skill = await answer(client, "read_skill", {"ability_id": taught})
        given = [
            await answer(client, "read_skill", {"ability_id": taught, "path": file["path"]})
            for file in skill["files"]
        ]
        hidden = await refusal(client, "read_skill", {"ability_id": taught, "path": "workflow_graph.json"})
    assert hidden["code"] == "NOT_FOUND"
    traces = traces_of(graph)
    for part in given:
        assert "workflow_graph" not in part["path"]
        assert [trace for trace in traces if trace in part["content"]] == []
    Projector(stack.database, stack.settings.memory_root, stack.settings.workspace).catch_up()
    projected = [path for path in stack.settings.workspace.rglob("*") if path.is_file()]
    assert any(path.name == "SKILL.md" for path in projected)
    for path in projected:
        assert [trace for trace in traces if trace in path.read_text()] == [], path


async def graph_for_review(learner: Learner) -> dict[str, Any]:
    """The graph as the service gives it to a person."""
    files = await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/files")
    graph = files["workflow_graph"]["graph"]
    assert graph["steps"]
    return dict(graph)


def traces_of(graph: dict[str, Any]) -> set[str]:
    """What would show that a text holds the graph: its keys, its ids and the labels of its actions."""
    actions = {step["label"] for step in graph["steps"] if step["step_type"] == "action"}
    ids = {step["step_id"] for step in graph["steps"]} | {graph["workflow_id"]}
    keys = ({"step_type"} | graph.keys() | graph["steps"][0].keys()) - ORDINARY_KEYS
    return ids | actions | keys


ORDINARY_KEYS = {"title", "steps", "label", "description", "schema_version"}
"""Keys of the graph that other documents have too."""


@pytest.mark.acceptance("R11.2-27")
@pytest.mark.parametrize(
    ("scopes", "runtime"), [(("read", "call"), None), (("read", "learn", "approve"), "codex")]
)
async def test_no_token_of_an_agent_is_given_the_workflow_graph(
    stack: Stack, scopes: tuple[str, ...], runtime: str | None
) -> None:
    alice = stack.learner()
    await alice.teach()
    graph = await graph_for_review(alice)
    path = f"/api/learn/proposals/{alice.proposal_id}"
    picture = await alice.call("GET", f"{path}/graph.svg")
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/svg+xml")
    assert picture.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert picture.text.count("<rect") == len(graph["steps"])
    granted = [Scope(scope) for scope in scopes]
    _, secret = stack.services.tokens.create("agent", "alice", granted, datetime.now(UTC), runtime=runtime)
    machine = Learner(stack.http, secret, "alice")
    files = await machine.ok("GET", f"{path}/files")
    assert files["files"]
    assert files.get("workflow_graph") is None
    status, error = await machine.refused("GET", f"{path}/graph.svg")
    assert (status, error["code"]) == (403, "FORBIDDEN")


async def test_what_is_not_in_service_is_neither_found_nor_read(
    stack: Stack, address: str, taught: str
) -> None:
    alice = stack.learner()
    title = (await alice.ok("GET", f"/api/abilities/{taught}"))["ability"]["title"]
    await alice.ok("POST", f"/api/abilities/{taught}/deactivate", {})
    async with agent(address, agent_token(stack)) as client:
        assert (await answer(client, "find_ability", {"query": title}))["abilities"] == []
        assert (await refusal(client, "read_skill", {"ability_id": taught}))["code"] == "INSTALL_LANE_DENIED"
        assert (await refusal(client, "read_skill", {"ability_id": "none"}))["code"] == "ABILITY_NOT_FOUND"


async def test_a_private_ability_is_its_owners_alone(stack: Stack, address: str) -> None:
    alice = stack.learner()
    await alice.teach(allow_private_install=True)
    await alice.propose_act("install", {"install_lane": "experimental_private"})
    ability = (await alice.ok("GET", f"/api/learn/sessions/{alice.session_id}/detail"))["ability_id"]
    async with agent(address, agent_token(stack, "alice")) as client:
        assert (await answer(client, "read_skill", {"ability_id": ability}))["version"] == 1
    async with agent(address, agent_token(stack, "bob")) as client:
        error = await refusal(client, "read_skill", {"ability_id": ability})
    assert error["code"] == "ABILITY_NOT_FOUND"


@pytest.mark.parametrize("path", ["../SKILL.md", "/etc/passwd", "nothing.md"])
async def test_only_the_files_of_the_skill_are_read(
    stack: Stack, address: str, taught: str, path: str
) -> None:
    async with agent(address, agent_token(stack)) as client:
        error = await refusal(client, "read_skill", {"ability_id": taught, "path": path})
    assert error["code"] == "NOT_FOUND"
    assert "SKILL.md" in error["message"]


async def test_a_reported_checkpoint_is_recorded_once_under_its_key(
    stack: Stack, address: str, taught: str
) -> None:
    alice = stack.learner()
    report = {"checkpoint_id": "cp-01", "status": "reached", "evidence": "it is there", "ability_id": taught}
    key = {"apprentice/idempotency-key": "one"}
    async with agent(address, agent_token(stack)) as client:
        first = await answer(client, "verify_checkpoint", report, meta=key)
        again = await answer(client, "verify_checkpoint", report, meta=key)
        other = await refusal(client, "verify_checkpoint", report | {"evidence": "else"}, meta=key)
    assert first == again
    assert other["code"] == "IDEMPOTENCY_KEY_REUSED"
    receipts = await alice.ok("GET", f"/api/abilities/{taught}/checkpoint-receipts")
    assert [receipt["receipt_id"] for receipt in receipts["receipts"]] == [first["receipt_id"]]


async def test_wrong_arguments_are_named_and_not_repeated(stack: Stack, address: str) -> None:
    async with agent(address, agent_token(stack)) as client:
        error = await refusal(
            client,
            "verify_checkpoint",
            {"checkpoint_id": "canary-9f", "status": "reached", "evidence": "x", "ability_id": "a"},
        )
        assert error["fields"][0]["path"] == "checkpoint_id"
        assert "canary-9f" not in str(error)
        nowhere = {"checkpoint_id": "cp-01", "status": "reached", "evidence": "x"}
        assert "ability_id" in (await refusal(client, "verify_checkpoint", nowhere))["message"]
        bad_key = await refusal(
            client, "find_ability", {"query": "x"}, meta={"apprentice/idempotency-key": "x" * 200}
        )
        assert bad_key["code"] == "VALIDATION_FAILED"
        with pytest.raises(MCPError, match="no such tool"):
            await client.call_tool("delete_everything", {})


async def test_pages_of_other_sites_and_foreign_names_are_turned_away(stack: Stack, address: str) -> None:
    token = {"authorization": f"Bearer {agent_token(stack)}"}
    async with httpx.AsyncClient(base_url=address, headers=ACCEPT | token) as http:
        for headers in (
            {"origin": "https://evil.example"},
            {"origin": "null"},
            {"host": "evil.example:80"},
            {"host": "evil.example", "origin": "http://evil.example"},
        ):
            response = await http.post("/mcp", json=PING, headers=headers)
            assert (response.status_code, response.json()["error"]["code"]) == (403, "FORBIDDEN"), headers
        own = await http.post("/mcp", json=PING, headers={"origin": address})
    assert own.status_code == 200


async def test_a_public_name_is_an_own_name(stack: Stack) -> None:
    def seen_as(host: str, settings: Settings) -> bool:
        scope = {"type": "http", "headers": [(b"host", host.encode())]}
        try:
            AgentEndpoint(settings)._refuse_rebinding(Request(scope))  # pyright: ignore[reportPrivateUsage]
        except Refusal:
            return False
        return True

    public = stack.settings.model_copy(update={"public_url": "https://agents.example"})
    assert seen_as("agents.example", public)
    assert not seen_as("agents.example.evil.example", public)
    open_bind = stack.settings.model_copy(update={"api_host": "0.0.0.0"})
    assert seen_as("apprentice:8040", open_bind)
    assert not seen_as("", stack.settings)


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ('{"jsonrpc": ', -32700, "cannot be read as JSON"),
        ('{"said": "hidden"}', -32600, '"jsonrpc": "2.0"'),
        ('["hidden"]', -32600, '"jsonrpc": "2.0"'),
    ],
)
async def test_what_is_no_message_of_the_protocol_is_refused_in_plain_words(
    stack: Stack, address: str, body: str, code: int, words: str
) -> None:
    head = ACCEPT | {"authorization": f"Bearer {agent_token(stack)}", "content-type": "application/json"}
    async with httpx.AsyncClient(base_url=address) as http:
        response = await http.post("/mcp", content=body, headers=head)
    assert (response.status_code, response.json()["error"]["code"]) == (400, code)
    assert words in response.json()["error"]["message"]
    assert not pydantics_words(response.text)
    assert "hidden" not in response.text


async def test_a_body_that_is_too_large_is_refused_as_everywhere(stack: Stack, address: str) -> None:
    async with httpx.AsyncClient(base_url=address) as http:
        response = await http.post("/mcp", content=b" " * (4 * 1024 * 1024 + 1))
    assert (response.status_code, response.json()["error"]["code"]) == (413, "PAYLOAD_TOO_LARGE")


async def test_the_endpoint_changes_neither_the_logging_nor_the_document(stack: Stack) -> None:
    root = logging.getLogger()
    before = (list(root.handlers), root.level)
    app = create_app(stack.settings)
    assert (list(root.handlers), root.level) == before
    assert not any(path.startswith("/mcp") for path in app.openapi()["paths"])
    assert app.openapi()["paths"].keys() == stack.app.openapi()["paths"].keys()


async def test_what_agents_ask_is_counted_under_its_route(stack: Stack, address: str) -> None:
    async with agent(address, agent_token(stack)) as client:
        await client.list_tools()
    metrics = await stack.http.get("/metrics", headers={"authorization": f"Bearer {stack.admin_secret}"})
    assert 'route="/mcp",status="200"' in metrics.text
