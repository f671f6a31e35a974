"""A change of policy and the calls that wait, standing approvals, and what a proposal would have changed."""

from dataclasses import replace
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.services import Services, open_mcp_services
from config.settings import Settings
from tests.e2e.calling import DESTROY, GLOBAL, READ, SCOPES, WRITE, Calling, calling
from tests.e2e.test_configuration_intents import intent
from tests.fixtures.stack import connect
from worker.embedded_temporal import free_port

__all__ = ["calling"]

pytestmark = pytest.mark.anyio


async def test_a_call_that_waits_is_blocked_or_let_go_when_policy_decides_it(calling: Calling) -> None:
    first, second = await calling.call(WRITE), await calling.call(DESTROY)
    assert {first["status"], second["status"]} == {"pending_approval"}
    await calling.policy(calling.tool(DESTROY), "disabled")
    assert (await calling.ended(second))["status"] == "blocked"
    assert calling.server.effects() == []
    await calling.policy(calling.tool(WRITE), "enabled")
    assert (await calling.ended(first))["status"] == "completed"
    assert [effect["tool"] for effect in calling.server.effects()] == ["append_line"]


async def test_a_standing_approval_is_used_listed_and_taken_back(calling: Calling) -> None:
    turn = {"turn_ref": "turn-7", "session_ref": "session-1"}
    asked = await calling.call(WRITE, **turn)
    await calling.decide(asked, "approve_until_end_of_turn")
    await calling.ended(asked)
    passed = await calling.call(WRITE, **turn)
    assert (passed["status"], passed["verdict"]["reason_code"]) == ("completed", "granted_end_of_turn")
    assert (await calling.call(WRITE, turn_ref="turn-8"))["status"] == "pending_approval"

    (grant,) = (await calling.person.ok("GET", "/api/mcp/grants"))["grants"]
    assert (grant["tool_name"], grant["scope"], grant["scope_ref"]) == (
        "append_line",
        "end_of_turn",
        "turn-7",
    )
    assert passed["verdict"]["grant_id"] == grant["grant_id"]
    assert grant["used"] >= 1
    path = f"/api/mcp/grants/{grant['grant_id']}"
    gone = await calling.person.ok("DELETE", path)
    assert (gone["revoked_by"], gone["revoked_at"] is not None) == ("alice", True)
    assert await calling.person.ok("DELETE", path) == gone
    assert len(await calling.receipts("grant_revoke")) == 1
    assert (await calling.person.ok("GET", "/api/mcp/grants"))["grants"] == []
    past = await calling.person.ok("GET", "/api/mcp/grants?include_past=true")
    assert past["grants"] == [gone]
    status, error = await calling.stack.learner("bob", SCOPES).refused("DELETE", path)
    assert (status, error["code"]) == (404, "MCP_GRANT_NOT_FOUND")
    assert (await calling.call(WRITE, **turn))["status"] == "pending_approval"


async def test_what_destroys_is_not_approved_for_a_session(calling: Calling) -> None:
    asked = await calling.call(DESTROY, session_ref="session-1")
    path = f"/api/mcp/ask-first/{asked['dispatch_id']}/approve"
    status, _ = await calling.person.refused("POST", path, {"decision": "approve_for_session"})
    assert status == 422
    await calling.decide(asked, "approve_once")
    assert (await calling.ended(asked))["status"] == "completed"
    assert (await calling.person.ok("GET", "/api/mcp/grants"))["grants"] == []


async def test_a_proposal_shows_which_calls_it_would_have_turned_and_changes_nothing(
    calling: Calling,
) -> None:
    read, asked = await calling.call(READ), await calling.call(WRITE)
    nothing = await calling.preview(GLOBAL, "ask_first")
    assert (nothing["replayed"], nothing["unchanged"]) == (2, 1)
    (flip,) = nothing["flips"]
    assert (flip["dispatch_id"], flip["was"], flip["would_be"]) == (
        read["dispatch_id"],
        "enabled",
        "ask_first",
    )
    allowed = await calling.preview(calling.tool(WRITE), "enabled")
    assert [one["dispatch_id"] for one in allowed["flips"]] == [asked["dispatch_id"]]
    off = await calling.preview(calling.target, "disabled")
    assert {one["would_be"] for one in off["flips"]} == {"disabled"}
    assert len(off["flips"]) == 2
    assert (await calling.person.ok("GET", "/api/mcp/policy"))["policy_version"] == 0
    assert (await calling.person.ok("GET", f"/api/mcp/dispatches/{asked['dispatch_id']}"))[
        "status"
    ] == "pending_approval"
    assert (
        await calling.stack.learner("bob").ok(
            "POST", "/api/mcp/policy/preview", {"target": GLOBAL, "decision": {"mode": "disabled"}}
        )
    )["replayed"] == 0


async def test_the_lists_of_runtimes_can_be_tried_out_too(calling: Calling) -> None:
    codex = await calling.call(READ, runtime="codex")
    await calling.call(READ, runtime="claude")
    path = "/api/mcp/policy/preview"
    lists = {"provider": "codex", "denied_servers": [calling.server_id]}
    found = await calling.person.ok("POST", path, {"runtimes": lists})
    assert (found["replayed"], found["unchanged"]) == (2, 1)
    (flip,) = found["flips"]
    assert (flip["dispatch_id"], flip["would_be"]) == (codex["dispatch_id"], "disabled")
    assert "denied to codex" in flip["why"]
    assert (await calling.call(READ, runtime="codex"))["status"] == "completed"
    await calling.person.ok("PUT", "/api/mcp/policy/runtimes", lists)
    assert (await calling.person.ok("POST", path, {"runtimes": lists}))["flips"] == []
    lifted = await calling.person.ok("POST", path, {"runtimes": {"provider": "codex"}})
    assert {one["would_be"] for one in lifted["flips"]} == {"enabled"}


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"target": GLOBAL},
        {"decision": {"mode": "disabled"}},
        {"target": GLOBAL, "decision": {"mode": "disabled"}, "runtimes": {"provider": "codex"}},
    ],
)
async def test_a_preview_is_of_one_proposal(calling: Calling, asked: dict[str, Any]) -> None:
    status, error = await calling.person.refused("POST", "/api/mcp/policy/preview", asked)
    assert (status, error["code"]) == (422, "VALIDATION_FAILED")
    assert "in their place" in error["message"]


async def test_a_wrappers_intent_reaches_the_calls_that_wait(calling: Calling) -> None:
    waiting = await calling.call(WRITE)
    assert waiting["status"] == "pending_approval"
    payload = {"target": calling.target, "decision": {"mode": "disabled"}}
    await calling.person.ok("POST", "/api/config/intents", intent(payload, target="connector_policy"))
    assert (await calling.ended(waiting))["status"] == "blocked"
    assert calling.server.effects() == []


async def test_a_preview_of_ending_a_standing_approval_names_the_calls_it_let_pass(calling: Calling) -> None:
    turn = {"turn_ref": "turn-7"}
    asked = await calling.call(WRITE, **turn)
    await calling.decide(asked, "approve_until_end_of_turn")
    await calling.ended(asked)
    passed = await calling.call(WRITE, **turn)
    target = {"target_kind": "temporary_grant", "dispatch_id": asked["dispatch_id"]}
    (flip,) = (await calling.preview(target, "disabled"))["flips"]
    assert (flip["dispatch_id"], flip["was"], flip["would_be"]) == (
        passed["dispatch_id"],
        "enabled",
        "ask_first",
    )
    await calling.policy(target, "disabled")
    assert (await calling.call(WRITE, **turn))["status"] == "pending_approval"


async def test_policy_is_decided_while_temporal_is_away_and_holds_when_a_call_is_approved(
    calling: Calling,
) -> None:
    waiting = await calling.call(WRITE)
    nobody = await connect(f"127.0.0.1:{free_port()}", lazy=True)
    settings, services = calling.stack.settings, calling.stack.services

    async def opened(_: Settings) -> Services:
        return replace(services, client=nobody, mcp=open_mcp_services(settings, services.database, nobody))

    app = create_app(settings, opened)
    app.state.services = await opened(settings)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://apprentice") as http:
        away = replace(calling, person=replace(calling.person, http=http))
        await away.policy(away.tool(WRITE), "disabled")
    assert (await calling.person.ok("GET", f"/api/mcp/dispatches/{waiting['dispatch_id']}"))[
        "status"
    ] == "pending_approval"
    path = f"/api/mcp/ask-first/{waiting['dispatch_id']}/approve"
    await calling.person.call("POST", path, {"decision": "approve_once"})
    assert (await calling.ended(waiting))["status"] == "blocked"
    assert calling.server.effects() == []
