"""The Acrobat adapter as a row of the registry: one a user, made when it is first used, with its four tools."""

from datetime import datetime

from sqlalchemy import Connection, select, update
from uuid_utils import uuid7

from contracts.mcp.provider import MCPProvider, MCPTransport
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from contracts.mcp.server_registry import MCPServerRegistryEntry
from domain.acrobat.tool_definitions import adapter_server, tool_definitions
from domain.mcp.definition_hash import definition_hash
from stores.database import Database
from stores.journal import append
from stores.mcp.receipts import Told, receipt
from stores.mcp.server_rows import add_server, servers_of, take_turn
from stores.mcp.tool_discovery import take_tools_in
from stores.mcp.tools import pin_seen
from stores.mcp_tables import mcp_servers, mcp_tools


class AcrobatServers:
    """The adapter's rows. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pins = {one.tool_name: definition_hash(one) for one in tool_definitions()}

    def find(self, owner: str) -> MCPServerRegistryEntry | None:
        """The owner's row; None before the adapter was first used, and after it was deleted."""
        with self._database.read() as connection:
            return _row_of(connection, owner)

    def present(self, owner: str, now: datetime, correlation_id: str) -> MCPServerRegistryEntry:
        """The owner's row, made where there is none. Its tools are our own, so they are pinned as they are."""
        with self._database.read() as connection:
            known = _row_of(connection, owner)
            if known is not None and self._are_pinned(connection, known.server_id):
                return known
        with self._database.write() as connection:
            take_turn(connection)
            known = _row_of(connection, owner)
            if known is None:
                known = adapter_server(f"acrobat-{uuid7()}", now)
                add_server(connection, known, owner)
                told = Told(f"mcp-server/{known.server_id}", owner, correlation_id, now)
                summary = f"{known.display_name} was registered when it was first used."
                _, entry = receipt(
                    told,
                    MCPReceiptKind.SERVER_CREATE,
                    MCPReceiptStatus.OK,
                    summary,
                    server_id=known.server_id,
                )
                append(connection, [entry])
            if not self._are_pinned(connection, known.server_id):
                self._take_in(connection, known.server_id, owner, now, correlation_id)
        return known

    def _take_in(
        self, connection: Connection, server_id: str, owner: str, now: datetime, correlation_id: str
    ) -> None:
        take_tools_in(connection, server_id, owner, tool_definitions(), now, correlation_id)
        for name, pin in self._pins.items():
            pin_seen(connection, server_id, name, pin, now)
        # The same document gives the same output, so a call whose end nobody saw may be made again.
        connection.execute(
            update(mcp_tools).where(mcp_tools.c.server_id == server_id).values(declared_idempotent=True)
        )

    def _are_pinned(self, connection: Connection, server_id: str) -> bool:
        table = mcp_tools.c
        rows = connection.execute(
            select(table.tool_name, table.pinned_hash).where(
                table.server_id == server_id, table.state == "pinned"
            )
        )
        return {row.tool_name: row.pinned_hash for row in rows} == self._pins


def owner_of_server(connection: Connection, server_id: str) -> str | None:
    """Whose a server is; None when it is gone."""
    return connection.scalar(
        select(mcp_servers.c.owner).where(
            mcp_servers.c.server_id == server_id, mcp_servers.c.deleted_at.is_(None)
        )
    )


def _row_of(connection: Connection, owner: str) -> MCPServerRegistryEntry | None:
    for entry in reversed(servers_of(connection, owner)):
        if entry.provider is MCPProvider.ACROBAT and entry.transport is MCPTransport.LOCAL_BRIDGE:
            return entry
    return None
