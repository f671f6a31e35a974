"""A server that is deleted takes its standing approvals with it, in the one transaction and each with its receipt."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from uuid_utils import uuid7

from contracts.mcp.dispatch import GrantScope, MCPGrant
from stores.mcp.mcp_tables import GRANTS
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


def add(stack: Stack, owner: str, server_id: str, **fields: object) -> str:
    """A standing approval of this owner for a tool of the server; its id."""
    now = datetime.now(UTC)
    given = {
        "grant_id": str(uuid7()),
        "owner_user_id": owner,
        "dispatch_id": str(uuid4()),
        "server_id": server_id,
        "tool_name": "draft_create",
        "tool_definition_hash": "5d" * 32,
        "scope": GrantScope.SESSION,
        "scope_ref": "session-1",
        "granted_by": owner,
        "created_at": now,
        "expires_at": now + timedelta(hours=12),
        **fields,
    }
    grant = MCPGrant.model_validate(given)
    with stack.database.write() as connection:
        GRANTS.add_if_absent(connection, grant)
    return grant.grant_id


async def a_server(person: Learner) -> str:
    body = {"provider": "custom_remote", "display_name": "Mail", "transport": "provider_native"}
    made = await person.ok("POST", "/api/mcp/servers/register", body)
    return str(made["server"]["registry"]["server_id"])


async def test_standing_approvals_go_with_their_server_and_others_stay(stack: Stack) -> None:
    alice = stack.learner()
    mail, other = await a_server(alice), await a_server(alice)
    gone = {add(stack, "alice", mail), add(stack, "alice", mail, tool_name="mail_search")}
    over = add(stack, "alice", mail, expires_at=datetime.now(UTC) - timedelta(minutes=1))
    kept = add(stack, "alice", other)
    first = await alice.ok("DELETE", f"/api/mcp/servers/{mail}", idempotency_key="once")
    assert first["grants_revoked"] == 2
    assert first == await alice.ok("DELETE", f"/api/mcp/servers/{mail}", idempotency_key="once")

    standing = (await alice.ok("GET", "/api/mcp/grants"))["grants"]
    assert [grant["grant_id"] for grant in standing] == [kept]
    past = (await alice.ok("GET", "/api/mcp/grants?include_past=true"))["grants"]
    taken_back = {grant["grant_id"]: grant for grant in past if grant.get("revoked_at")}
    assert set(taken_back) == gone
    assert {grant["revoked_by"] for grant in taken_back.values()} == {"alice"}
    assert over not in taken_back
    receipts = (await alice.ok("GET", "/api/mcp/receipts"))["receipts"]
    kinds = [one["receipt_kind"] for one in receipts]
    assert kinds.count("grant_revoke") == 2
    deleted = next(one for one in receipts if one["receipt_kind"] == "server_delete")
    assert "Standing approvals taken back: 2." in deleted["summary"]


async def test_a_server_without_approvals_is_deleted_without_a_word_on_them(stack: Stack) -> None:
    alice = stack.learner()
    mail = await a_server(alice)
    assert (await alice.ok("DELETE", f"/api/mcp/servers/{mail}"))["grants_revoked"] == 0
    receipts = (await alice.ok("GET", "/api/mcp/receipts"))["receipts"]
    assert "Standing approvals" not in str(receipts)
