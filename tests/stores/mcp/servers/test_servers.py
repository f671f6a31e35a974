"""The registry of tool servers: one transaction a change, one receipt, and nothing that was not allowed."""

import json
from datetime import timedelta
from typing import Any

import pytest
from pydantic import AnyUrl
from sqlalchemy import insert, select
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.provider import MCPAuthState, MCPProvider, MCPTransport
from contracts.mcp.receipts import MCPReceiptKind
from contracts.mcp.servers import MCPAuthProfileAction, MCPServerCommand, MCPServerPatchRequest
from contracts.mcp.tools import MCPToolDefinition, MCPToolState
from domain.mcp.deferred_rows import DEFERRED_ROWS
from stores.mcp.mcp_tables import mcp_dispatches, mcp_servers
from stores.mcp.receipts import ReceiptReads
from stores.mcp.servers.server_rows import CURRENT
from stores.mcp.servers.servers import ServerStore
from stores.mcp.servers.tools import ToolStore, pin_seen
from stores.platform.database import Database
from stores.platform.journal.chains import verify_chains
from stores.platform.projection.documents import read_document
from tests.stores.mcp.registrations import NOW, RULES, asked, key, registered, signed_in, told


@pytest.fixture
def servers(store: Database) -> ServerStore:
    return ServerStore(store, RULES)


def test_a_registered_server_is_in_its_owners_list_with_a_receipt(
    store: Database, servers: ServerStore
) -> None:
    made = servers.register(asked(), key(), told())
    (item, *others) = servers.list_for("alice").servers
    assert item == made.server
    assert item.last_receipt_id == made.receipt_id
    assert [one.registry.server_id for one in others] == [row.entry.server_id for row in DEFERRED_ROWS]
    (receipt,) = ReceiptReads(store).newest("alice", 10).receipts
    assert (receipt.receipt_id, receipt.receipt_kind) == (made.receipt_id, MCPReceiptKind.SERVER_CREATE)
    assert (receipt.server_id, receipt.actor) == (item.registry.server_id, "alice")


def test_a_server_is_still_what_it_was_until_it_is_off_elsewhere_or_gone(
    store: Database, servers: ServerStore
) -> None:
    known = registered(store)

    def patched(**changes: Any) -> bool:
        servers.patch(known.server_id, MCPServerPatchRequest(**changes), key(), told(known.server_id))
        return servers.is_still_callable(known)

    assert servers.is_still_callable(known)
    assert patched(display_name="Issues")
    assert not patched(enabled=False)
    assert patched(enabled=True)
    assert not patched(endpoint_url=AnyUrl("https://elsewhere.example.com/mcp"))
    assert patched(endpoint_url=known.endpoint_url)
    servers.delete(known.server_id, key(), told(known.server_id))
    assert not servers.is_still_callable(known)


@pytest.mark.parametrize(
    ("status", "is_still_callable"),
    [(MCPAuthState.HEALTHY, True), (MCPAuthState.CHALLENGE_REQUIRED, True), (MCPAuthState.REVOKED, False)],
)
def test_a_server_is_not_what_it_was_once_its_sign_in_is_taken_back(
    store: Database, servers: ServerStore, status: MCPAuthState, is_still_callable: bool
) -> None:
    signed_in(store, "profile-1", status=status)
    assert servers.is_still_callable(registered(store, auth_profile_id="profile-1")) is is_still_callable


def test_a_server_of_somebody_else_is_not_there(servers: ServerStore, store: Database) -> None:
    server_id = registered(store, "mallory").server_id
    for act in (
        lambda: servers.owned(server_id, "alice"),
        lambda: servers.patch(server_id, MCPServerPatchRequest(display_name="Mine"), key(), told(server_id)),
        lambda: servers.delete(server_id, key(), told(server_id)),
        lambda: ToolStore(store).list_for(server_id, "alice"),
    ):
        with pytest.raises(Refusal) as refused:
            act()
        assert refused.value.code is ErrorCode.MCP_SERVER_NOT_FOUND
    assert all(one.deferred_design_only for one in servers.list_for("alice").servers)


def test_the_same_registration_under_its_key_is_one_server(servers: ServerStore) -> None:
    first = servers.register(asked(), key("again"), told())
    assert servers.register(asked(), key("again"), told()) == first
    assert len([one for one in servers.list_for("alice").servers if not one.deferred_design_only]) == 1
    with pytest.raises(Refusal) as refused:
        servers.register(asked(display_name="Other"), key("again", body="other"), told())
    assert refused.value.code is ErrorCode.IDEMPOTENCY_KEY_REUSED


def test_a_sign_in_must_be_there_be_the_owners_and_be_for_the_provider(
    store: Database, servers: ServerStore
) -> None:
    signed_in(store, "bobs", owner="bob")
    signed_in(store, "office", provider=MCPProvider.M365)
    for profile_id, code in (
        ("nowhere", ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND),
        ("bobs", ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND),
        ("office", ErrorCode.VALIDATION_FAILED),
    ):
        with pytest.raises(Refusal) as refused:
            servers.register(asked(auth_profile_id=profile_id), key(), told())
        assert refused.value.code is code


def test_a_patch_changes_what_it_names_and_says_so(store: Database, servers: ServerStore) -> None:
    signed_in(store, "mine")
    server_id = registered(store, auth_profile_id="mine", data_classes=["internal"]).server_id
    patch = MCPServerPatchRequest(display_name="Tickets of the office", enabled=False)
    done = servers.patch(server_id, patch, key(), told(server_id))
    assert done.server.registry.display_name == "Tickets of the office"
    assert not done.server.registry.enabled
    assert done.server.registry.auth_profile_id == "mine"
    assert done.server.registry.data_classes == ("internal",)
    newest = ReceiptReads(store).newest("alice", 1).receipts[0]
    assert newest.summary.endswith("changed: display_name, enabled.")
    detached = servers.patch(server_id, MCPServerPatchRequest(auth_profile_id=None), key(), told(server_id))
    assert detached.server.registry.auth_profile_id is None


def test_the_folders_of_a_program_are_changed_and_those_of_an_address_refused(
    store: Database, servers: ServerStore
) -> None:
    command = MCPServerCommand(program="mcp-server-time", arguments=("-v",), readable_folders=("/srv/a",))
    made = registered(store, transport=MCPTransport.LOCAL_BRIDGE, endpoint_url=None, command=command)
    patch = MCPServerPatchRequest(readable_folders=(), writable_folders=("/srv/b",))
    changed = servers.patch(made.server_id, patch, key(), told(made.server_id)).server.registry
    assert changed.command == command.changed(readable_folders=(), writable_folders=("/srv/b",))
    wrong = MCPServerPatchRequest(writable_folders=("b/../c",))
    with pytest.raises(Refusal) as relative:
        servers.patch(made.server_id, wrong, key(), told(made.server_id))
    assert relative.value.extra["fields"] == ["command.writable_folders"]
    remote = registered(store, display_name="Remote").server_id
    with pytest.raises(Refusal) as refused:
        servers.patch(remote, patch, key(), told(remote))
    assert refused.value.extra["fields"] == ["readable_folders", "writable_folders"]


def test_a_patch_that_changes_nothing_leaves_no_receipt(store: Database, servers: ServerStore) -> None:
    server_id = registered(store).server_id
    done = servers.patch(server_id, MCPServerPatchRequest(enabled=True), key(), told(server_id))
    assert (done.updated, done.receipt_id) == (False, None)
    assert len(ReceiptReads(store).newest("alice", 10).receipts) == 1


def test_a_server_that_moves_loses_its_pins_and_must_say_what_of_its_sign_in(
    store: Database, servers: ServerStore
) -> None:
    signed_in(store, "mine")
    server_id = registered(store, auth_profile_id="mine").server_id
    tools = ToolStore(store)
    tools.take_in(server_id, "alice", (MCPToolDefinition(tool_name="find"),), NOW, "c")
    (tool,) = tools.list_for(server_id, "alice").tools
    with store.write() as connection:
        assert pin_seen(connection, server_id, "find", tool.definition_hash, NOW)
    elsewhere = {"endpoint_url": "https://other.example.com/mcp"}
    with pytest.raises(Refusal) as refused:
        servers.patch(server_id, MCPServerPatchRequest.model_validate(elsewhere), key(), told(server_id))
    assert refused.value.extra["fields"] == ["auth_profile_id"]
    assert tools.list_for(server_id, "alice").tools[0].state is MCPToolState.PINNED
    moved = MCPServerPatchRequest.model_validate({**elsewhere, "auth_profile_id": "mine"})
    servers.patch(server_id, moved, key(), told(server_id))
    (tool,) = tools.list_for(server_id, "alice").tools
    assert (tool.state, tool.pinned_hash) == (MCPToolState.ADDED, None)
    # Another path of the same host is the same server.
    with store.write() as connection:
        assert pin_seen(connection, server_id, "find", tool.definition_hash, NOW)
    nearby = MCPServerPatchRequest.model_validate({"endpoint_url": "https://other.example.com/v2/mcp"})
    servers.patch(server_id, nearby, key(), told(server_id))
    assert tools.list_for(server_id, "alice").tools[0].state is MCPToolState.PINNED


@pytest.mark.acceptance("mcp_server_delete_retains_shared_profile")
def test_deleting_one_of_several_servers_keeps_the_sign_in_they_share(
    store: Database, servers: ServerStore
) -> None:
    signed_in(store, "shared", shared_profile=True)
    one, other = (registered(store, auth_profile_id="shared").server_id for _ in range(2))
    gone = servers.delete(one, key(), told(one))
    assert gone.auth_profile_action is MCPAuthProfileAction.RETAINED_SHARED
    assert gone.detached_auth_profile_id == "shared"
    last = servers.delete(other, key(), told(other))
    assert last.auth_profile_action is MCPAuthProfileAction.RETAINED_UNREFERENCED
    alone = registered(store).server_id
    assert servers.delete(alone, key(), told(alone)).auth_profile_action is MCPAuthProfileAction.NONE
    assert registered(store, auth_profile_id="shared").auth_profile_id == "shared"


@pytest.mark.parametrize("status", ["running", "pending_approval"])
def test_a_server_with_calls_under_way_is_not_deleted(
    store: Database, servers: ServerStore, status: str
) -> None:
    server_id = registered(store).server_id
    dispatch_id = str(uuid7())
    with store.write() as connection:
        connection.execute(
            insert(mcp_dispatches).values(
                dispatch_id=dispatch_id,
                owner="alice",
                status=status,
                server_id=server_id,
                tool_name="find",
                version=1,
                created_at=rfc3339(NOW),
                updated_at=rfc3339(NOW),
                body="{}",
            )
        )
    with pytest.raises(Refusal) as refused:
        servers.delete(server_id, key(), told(server_id))
    assert refused.value.code is ErrorCode.MCP_SERVER_DELETE_BLOCKED
    assert servers.owned(server_id, "alice").server_id == server_id
    with store.write() as connection:
        connection.execute(mcp_dispatches.update().values(status="completed"))
    assert servers.delete(server_id, key(), told(server_id)).deleted


def test_a_delete_under_its_key_is_answered_the_same_again(store: Database, servers: ServerStore) -> None:
    server_id = registered(store).server_id
    first = servers.delete(server_id, key("gone"), told(server_id))
    assert servers.delete(server_id, key("gone"), told(server_id)) == first
    with pytest.raises(Refusal) as refused:
        servers.delete(server_id, key(), told(server_id))
    assert refused.value.code is ErrorCode.MCP_SERVER_NOT_FOUND


@pytest.mark.parametrize("row", DEFERRED_ROWS, ids=lambda row: row.entry.server_id)
def test_a_deferred_server_is_neither_registered_nor_acted_on(
    store: Database, servers: ServerStore, row
) -> None:
    server_id = row.entry.server_id
    for act in (
        lambda: servers.register(asked(display_name=row.entry.display_name.upper()), key(), told()),
        lambda: servers.patch(server_id, MCPServerPatchRequest(enabled=True), key(), told(server_id)),
        lambda: servers.delete(server_id, key(), told(server_id)),
        lambda: ToolStore(store).list_for(server_id, "alice"),
    ):
        with pytest.raises(Refusal) as refused:
            act()
        assert refused.value.code is ErrorCode.MCP_SERVER_NOT_ACTIVE_IN_BUILD


def test_the_list_in_the_memory_tree_changes_with_the_registry_and_holds_no_reference_to_a_secret(
    store: Database, servers: ServerStore
) -> None:
    signed_in(store, "mine", secret_ref="secret/of-alice", token_ref="token/of-alice")
    command = MCPServerCommand(program="mcp-server-time", environment_refs={"TZ": "WORKER_TZ"})
    local = registered(store, endpoint_url=None, command=command, transport=MCPTransport.LOCAL_BRIDGE)
    web = registered(store, "bob")
    mine = registered(store, auth_profile_id="mine")
    with store.read() as connection:
        content = read_document(connection, "memory", CURRENT) or b""
    listed = {(one["owner_user_id"], one["server_id"]) for one in json.loads(content)}
    assert listed == {("alice", local.server_id), ("bob", web.server_id), ("alice", mine.server_id)}
    assert b"of-alice" not in content
    servers.delete(local.server_id, key(), told(local.server_id))
    with store.read() as connection:
        assert local.server_id.encode() not in (read_document(connection, "memory", CURRENT) or b"")
    assert verify_chains(store).intact


def test_a_refused_registration_leaves_nothing(store: Database, servers: ServerStore) -> None:
    with pytest.raises(Refusal):
        servers.register(asked(endpoint_url="http://127.0.0.1/mcp"), key("k"), told())
    with store.read() as connection:
        assert connection.scalar(select(mcp_servers.c.server_id)) is None
    assert ReceiptReads(store).newest("alice", 10).receipts == ()
    # The key is free again, for nothing was done under it.
    assert servers.register(asked(), key("k"), told()).accepted


def test_receipts_are_paged_by_a_cursor_without_gap_or_repeat(store: Database, servers: ServerStore) -> None:
    ids = [servers.register(asked(), key(), told()).receipt_id for _ in range(5)]
    reads, seen, cursor = ReceiptReads(store), [], None
    while True:
        page = reads.newest("alice", 2, cursor)
        seen += [one.receipt_id for one in page.receipts]
        if page.next_cursor is None:
            break
        cursor = int(page.next_cursor)
    assert seen == ids[::-1]
    assert reads.newest("bob", 10).receipts == ()


def test_a_receipt_names_the_request_by_a_uuid_whatever_the_client_called_it(store: Database) -> None:
    servers = ServerStore(store, RULES)
    own = str(uuid7())
    servers.register(asked(), key(), told(correlation_id=own))
    servers.register(asked(), key(), told(correlation_id="build/17"))
    named, known = ReceiptReads(store).newest("alice", 2).receipts
    assert known.correlation_id == own
    assert named.correlation_id not in (None, own)


def test_the_newest_server_comes_first(store: Database, servers: ServerStore) -> None:
    older = registered(store).server_id
    later = told()
    later = type(later)(later.aggregate, later.owner, later.correlation_id, NOW + timedelta(seconds=1))
    newer = servers.register(asked(), key(), later).server.registry.server_id
    shown = [one.registry.server_id for one in servers.list_for("alice").servers]
    assert shown[:2] == [newer, older]


def test_a_key_goes_to_servers_of_several_addresses_only_where_a_person_says_so(
    store: Database, servers: ServerStore
) -> None:
    signed_in(store, "key", auth_mode="api_key")
    registered(store, auth_profile_id="key", endpoint_url="https://one.example.com/mcp")
    registered(store, auth_profile_id="key", endpoint_url="https://one.example.com/other")
    with pytest.raises(Refusal) as refused:
        registered(store, auth_profile_id="key", endpoint_url="https://two.example.com/mcp")
    assert refused.value.extra["fields"] == ["auth_profile_id"]
    signed_in(store, "for-both", auth_mode="api_key", shared_profile=True)
    for host in ("one", "two"):
        registered(store, auth_profile_id="for-both", endpoint_url=f"https://{host}.example.com/mcp")
