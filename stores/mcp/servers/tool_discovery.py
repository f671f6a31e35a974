"""Records discovered tools: added, changed, removed, returned, renamed, left out; the rows of tools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from contracts.base import clipped, counted, rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import MCPTool, MCPToolDefinition, MCPToolState
from domain.mcp.tool_definitions import (
    LeftOut,
    definition_diff,
    definition_hash,
    left_out_words,
    same_but_for_the_name,
    surface_hash,
    taken,
)
from domain.mcp.tool_effects import effect_of
from stores.mcp.mcp_tables import mcp_tools
from stores.mcp.receipts import ReceiptContext, receipt
from stores.mcp.servers.server_rows import lock_servers, mark_discovered, server_of
from stores.platform.canonical import canonical_json
from stores.platform.journal.journal import append


def tool_of(connection: Connection, server_id: str, tool_name: str) -> MCPTool | None:
    """A server's tool of that name, its policy left out; None when there never was one."""
    row = connection.execute(
        select(mcp_tools).where(mcp_tools.c.server_id == server_id, mcp_tools.c.tool_name == tool_name)
    ).one_or_none()
    return None if row is None else as_tool(row)


def no_such_tool(server_id: str) -> Refusal:
    """The refusal for a tool that the server is not known to have."""
    return Refusal(
        ErrorCode.MCP_TOOL_NOT_FOUND,
        f"The server has no tool of that name; list them: GET /api/mcp/servers/{server_id}/tools.",
    )


def tools_of(connection: Connection, server: MCPServerRegistryEntry) -> tuple[MCPTool, ...]:
    """All tools of a server that are or were, by name, their policy left out."""
    return tuple(as_tool(row) for row in tool_rows(connection, server.server_id))


def tool_rows(connection: Connection, server_id: str) -> Sequence[Row[Any]]:
    """The rows of a server's tools, by name."""
    return connection.execute(
        select(mcp_tools).where(mcp_tools.c.server_id == server_id).order_by(mcp_tools.c.tool_name)
    ).all()


def changed_tools(connection: Connection, server_ids: Sequence[str]) -> dict[str, int]:
    """How many tools of each server have changed and were not looked at since; without those that have none."""
    if not server_ids:
        return {}
    rows = connection.execute(
        select(mcp_tools.c.server_id, func.count())
        .where(mcp_tools.c.server_id.in_(server_ids), mcp_tools.c.state == MCPToolState.CHANGED.value)
        .group_by(mcp_tools.c.server_id)
    )
    return {server_id: number for server_id, number in rows}


def as_tool(row: Row[Any]) -> MCPTool:
    """A row as what people see; the diff is there when what is now is not what was pinned."""
    definition = MCPToolDefinition.model_validate_json(row.definition)
    state = MCPToolState(row.state)
    diff = None
    if state is MCPToolState.CHANGED and row.pinned_definition is not None:
        diff = definition_diff(MCPToolDefinition.model_validate_json(row.pinned_definition), definition)
    return MCPTool(
        server_id=row.server_id,
        definition=definition,
        definition_hash=row.definition_hash,
        pinned_hash=row.pinned_hash,
        state=state,
        effect=effect_of(definition),
        declared_idempotent=row.declared_idempotent,
        diff=diff,
        first_seen_at=datetime.fromisoformat(row.first_seen_at),
        updated_at=datetime.fromisoformat(row.updated_at),
    )


def forget_pins(connection: Connection, server_id: str, now: str) -> None:
    """Removes the pins of a server's tools, and their idempotence declarations."""
    connection.execute(
        update(mcp_tools)
        .where(mcp_tools.c.server_id == server_id)
        .values(pinned_hash=None, pinned_definition=None, declared_idempotent=False, updated_at=now)
    )
    connection.execute(
        update(mcp_tools)
        .where(mcp_tools.c.server_id == server_id, mcp_tools.c.state.in_(["pinned", "changed"]))
        .values(state=MCPToolState.ADDED.value)
    )


_NAMED_IN_A_RECEIPT = 5


@dataclass(frozen=True)
class RecordedTools:
    """What a discovery found; names only. ``renamed`` are pairs of a name that went and one that came."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    total: int = 0
    receipt_id: str | None = None


def record_tools(
    connection: Connection,
    server_id: str,
    owner: str,
    listed: tuple[MCPToolDefinition, ...],
    at: datetime,
    correlation_id: str,
    *,
    protocol_revision: str | None = None,
    left_out: tuple[LeftOut, ...] = (),
) -> RecordedTools:
    """Updates the rows to the discovered tools, with a receipt of the differences.

    ``left_out`` are the tools that were left out of ``listed`` before.

    ``connection`` must be of ``Database.write``.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``.
    """
    lock_servers(connection)
    server = server_of(connection, server_id, owner)
    intake = taken(listed)
    known = {row.tool_name: row for row in tool_rows(connection, server_id)}
    first = not known
    hashes = {name: definition_hash(found) for name, found in intake.definitions.items()}
    now = rfc3339(at)

    added, changed, returned = _record_definitions(
        connection, server_id, intake.definitions, hashes, known, now
    )
    gone = [
        row
        for name, row in known.items()
        if name not in intake.definitions and row.state != MCPToolState.REMOVED.value
    ]
    for row in gone:
        _update(connection, row, state=MCPToolState.REMOVED.value, updated_at=now)

    mark_discovered(connection, _seen(server, hashes, protocol_revision, at), at)
    found = RecordedTools(
        added=added,
        changed=changed,
        removed=tuple(row.tool_name for row in gone),
        returned=returned,
        renamed=_renamed(gone, {name: intake.definitions[name] for name in added}),
        left_out=(*left_out, *intake.left_out),
        total=len(intake.definitions),
    )
    if not (found.added or found.changed or found.removed or found.returned):
        return found
    context = ReceiptContext(f"mcp-server/{server_id}", owner, correlation_id, at)
    quiet = first or not (found.changed or found.removed)
    receipt_id, entry = receipt(
        context,
        MCPReceiptKind.TOOLS_CHANGED,
        MCPReceiptStatus.OK if quiet else MCPReceiptStatus.DEGRADED,
        _summary(found, first=first),
        server_id=server_id,
    )
    append(connection, [entry])
    return replace(found, receipt_id=receipt_id)


def _record_definitions(
    connection: Connection,
    server_id: str,
    definitions: Mapping[str, MCPToolDefinition],
    hashes: Mapping[str, str],
    known: Mapping[str, Any],
    now: str,
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Writes the rows of new and changed tools; their names: new, changed, there again as they were."""
    added: list[str] = []
    changed: list[str] = []
    returned: list[str] = []
    for name, definition in definitions.items():
        row = known.get(name)
        if row is None:
            connection.execute(insert(mcp_tools).values(_new_row(server_id, definition, hashes[name], now)))
            added.append(name)
            continue
        came_back = row.state == MCPToolState.REMOVED.value
        if row.definition_hash == hashes[name] and not came_back:
            continue
        _update(
            connection,
            row,
            state=_state(row, hashes[name]).value,
            definition_hash=hashes[name],
            definition=canonical_json(definition.model_dump(mode="json")),
            # The declaration was for another definition.
            declared_idempotent=row.declared_idempotent and row.definition_hash == hashes[name],
            updated_at=now,
        )
        (returned if came_back and row.definition_hash == hashes[name] else changed).append(name)
    return tuple(added), tuple(changed), tuple(returned)


def _new_row(server_id: str, definition: MCPToolDefinition, hash_: str, now: str) -> dict[str, Any]:
    return {
        "server_id": server_id,
        "tool_name": definition.tool_name,
        "state": MCPToolState.ADDED.value,
        "definition_hash": hash_,
        "pinned_hash": None,
        "declared_idempotent": False,
        "definition": canonical_json(definition.model_dump(mode="json")),
        "pinned_definition": None,
        "first_seen_at": now,
        "updated_at": now,
    }


def _update(connection: Connection, row: Row[Any], **values: Any) -> None:
    connection.execute(
        update(mcp_tools)
        .where(mcp_tools.c.server_id == row.server_id, mcp_tools.c.tool_name == row.tool_name)
        .values(values)
    )


def _state(row: Row[Any], hash_: str) -> MCPToolState:
    """A tool without a pin is changed once it is not any more what was listed first."""
    if row.pinned_hash is None:
        return MCPToolState.ADDED if row.definition_hash == hash_ else MCPToolState.CHANGED
    return MCPToolState.PINNED if row.pinned_hash == hash_ else MCPToolState.CHANGED


def _seen(
    server: MCPServerRegistryEntry, hashes: dict[str, str], protocol_revision: str | None, at: datetime
) -> MCPServerRegistryEntry:
    """The entry with what the server is now known to have; itself when that is nothing new."""
    seen: dict[str, Any] = {
        "tool_schema_hash": surface_hash(hashes),
        "supported_tools": tuple(sorted(hashes)),
    }
    if protocol_revision is not None:
        seen["protocol_revision"] = protocol_revision[:40]
    if all(getattr(server, name) == value for name, value in seen.items()):
        return server
    return server.changed(**seen, updated_at=at)


def _renamed(gone: list[Row[Any]], added: dict[str, MCPToolDefinition]) -> tuple[tuple[str, str], ...]:
    pairs: list[tuple[str, str]] = []
    left = dict(added)
    for row in gone:
        before = MCPToolDefinition.model_validate_json(row.definition)
        name = next((name for name, now in left.items() if same_but_for_the_name(before, now)), None)
        if name is not None:
            pairs.append((row.tool_name, name))
            del left[name]
    return tuple(pairs)


def _summary(found: RecordedTools, *, first: bool) -> str:
    parts = [counted(found.total, "tool")]
    if not first:
        parts += [
            f"{word}: {_names(names)}"
            for word, names in (
                ("added", found.added),
                ("changed", found.changed),
                ("removed", found.removed),
                ("back again", found.returned),
            )
            if names
        ]
    if found.renamed:
        parts.append("perhaps renamed: " + _names([f"{old} to {new}" for old, new in found.renamed]))
    if found.left_out:
        parts.append(left_out_words(found.left_out))
    start = "Discovered for the first time" if first else "Discovered again"
    return clipped(f"{start}: {'; '.join(parts)}.", 500)


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(clipped(name, 120) for name in names[:_NAMED_IN_A_RECEIPT])
    more = len(names) - _NAMED_IN_A_RECEIPT
    return f"{shown} and {more} more" if more > 0 else shown
