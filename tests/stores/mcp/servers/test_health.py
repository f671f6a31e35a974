"""The health of servers as it is kept: once told, shown in files, claimed by one at a time; on both databases."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import insert, select

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.health import MCPConnectionOutcome, MCPHealthStatus
from contracts.mcp.provider import MCPProvider, MCPTransport
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import ToolFailure, ToolFailureKind
from domain.mcp.health import Admission
from stores.mcp.mcp_tables import mcp_server_health, mcp_servers
from stores.mcp.receipts import RECEIPTS
from stores.mcp.servers.health import BACKOFF_FILE, HEALTH_FILE, HealthStore
from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.journal.journal import read_stream
from stores.platform.projection.documents import read_document
from stores.platform.tables import journal

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def add_server(store: Database, server_id: str, owner: str = "alice", **fields: Any) -> None:
    entry = MCPServerRegistryEntry.model_validate(
        {
            "server_id": server_id,
            "provider": MCPProvider.CUSTOM_REMOTE,
            "display_name": server_id,
            "transport": MCPTransport.REMOTE_HTTP,
            "endpoint_url": "https://tools.example/mcp",
            "created_at": AT,
            "updated_at": AT,
        }
        | fields
    )
    with store.write() as connection:
        connection.execute(
            insert(mcp_servers).values(
                server_id=server_id,
                owner=owner,
                provider=entry.provider.value,
                enabled=entry.enabled,
                version=1,
                created_at=rfc3339(AT),
                updated_at=rfc3339(AT),
                body=canonical_json(entry),
            )
        )


def contact(kind: ToolFailureKind | None = None, at: datetime = AT, **fields: Any) -> MCPConnectionOutcome:
    failure = ToolFailure(kind=kind, message="as told", **fields) if kind is not None else None
    return MCPConnectionOutcome(happened_at=at, failure=failure)


def receipts(store: Database) -> list[str]:
    query = select(journal.c.document).where(journal.c.stream == RECEIPTS).order_by(journal.c.seq)
    with store.read() as connection:
        return [json.loads(one)["summary"].split(".")[0] for one in connection.scalars(query)]


def events(store: Database) -> list[dict[str, Any]]:
    with store.read() as connection:
        return [entry.document for entry in read_stream(connection, "system/mcp/capability_events")]


def file(store: Database, path: str) -> Any:
    with store.read() as connection:
        content = read_document(connection, "memory", path)
    return json.loads(content) if content is not None else None


def test_only_changes_are_told_and_the_files_show_them(store: Database) -> None:
    add_server(store, "lines")
    health = HealthStore(store)
    for _ in range(3):
        health.record("lines", "alice", contact())
    for _ in range(4):
        health.record("lines", "alice", contact(ToolFailureKind.TIMED_OUT))
    assert receipts(store) == ["health unknown → healthy", "health healthy → degraded (timed_out)"]
    (shown,) = file(store, HEALTH_FILE)
    assert (shown["server_id"], shown["owner_user_id"], shown["health_status"]) == (
        "lines",
        "alice",
        "degraded",
    )
    (left_alone,) = file(store, BACKOFF_FILE)
    assert left_alone["throttle_state"]["state"] == "none"
    health.record("lines", "alice", contact())
    assert file(store, BACKOFF_FILE) == []
    assert receipts(store)[-1] == "health degraded → healthy"
    told = [(one["event"], one["server_id"], one["server_health"]) for one in events(store)]
    assert told == [("mcp.health.changed", "lines", status) for status in ("healthy", "degraded", "healthy")]
    assert events(store)[1]["reason_codes"] == ["timed_out"]


def test_contacts_at_once_are_all_counted(store: Database) -> None:
    add_server(store, "lines")
    health = HealthStore(store)
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(lambda _: health.record("lines", "alice", contact(ToolFailureKind.NOT_SENT)), range(24))
        )
    found = health.owned("lines", "alice")
    assert (found.failure_count_rolling, found.health_status) == (24, MCPHealthStatus.DEGRADED)
    assert len(receipts(store)) == 1


def test_of_all_who_come_after_the_pause_one_probes(store: Database) -> None:
    add_server(store, "lines")
    health = HealthStore(store)
    for _ in range(3):
        health.record("lines", "alice", contact(ToolFailureKind.NOT_SENT))
    until = health.owned("lines", "alice").backoff_until
    assert until is not None
    assert health.admit("lines", "alice", until - timedelta(milliseconds=1)) == (Admission.WAIT, until)
    with ThreadPoolExecutor(8) as pool:
        found = [one for one, _ in pool.map(lambda _: health.admit("lines", "alice", until), range(16))]
    assert sorted(found) == [Admission.PROBE] + [Admission.WAIT] * 15
    health.record("lines", "alice", contact(at=until))
    assert health.admit("lines", "alice", until)[0] is Admission.OPEN


def test_each_due_server_is_claimed_once_a_page_at_a_time(store: Database) -> None:
    for number in range(5):
        add_server(store, f"server-{number}", enabled=number != 4)
    add_server(store, "native", transport=MCPTransport.PROVIDER_NATIVE, endpoint_url=None)
    health = HealthStore(store, probe_every=timedelta(minutes=5))
    pages = [{one.server_id for one in health.claim_due(AT, 3)} for _ in range(3)]
    assert pages[0] | pages[1] == {"server-0", "server-1", "server-2", "server-3"}
    assert [len(page) for page in pages] == [2, 2, 0]
    health.record("server-0", "alice", contact())
    assert health.claim_due(AT + timedelta(seconds=59), 9) == ()
    later = {one.server_id for one in health.claim_due(AT + timedelta(seconds=60), 9)}
    assert later == {"server-1", "server-2", "server-3"}
    assert "server-0" in {one.server_id for one in health.claim_due(AT + timedelta(minutes=5), 9)}


def test_a_server_that_is_gone_keeps_nothing_and_is_nobodys(store: Database) -> None:
    add_server(store, "lines")
    health = HealthStore(store)
    with pytest.raises(Refusal) as refused:
        health.owned("lines", "mallory")
    assert refused.value.code is ErrorCode.MCP_SERVER_NOT_FOUND
    with store.write() as connection:
        connection.execute(mcp_servers.update().values(deleted_at=rfc3339(AT)))
    health.record("lines", "alice", contact(ToolFailureKind.NOT_SENT))
    with store.read() as connection:
        assert connection.scalars(select(mcp_server_health.c.server_id)).all() == []
    assert receipts(store) == []
