"""Uploaded documents and their outputs, stored for a week; the Acrobat adapter's server in the registry.

A document is named by a reference, never by a path: ``temp-artifact/{digest}`` or its digest alone, with or
without ``sha256:``. A reference is valid for its owner only.

Each user has one adapter server with its four tools, registered on first use.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, select, update
from uuid_utils import uuid7

from contracts.documents.acrobat import AcrobatSource, AcrobatSourceKind
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.provider import MCPProvider, MCPTransport
from contracts.mcp.receipts import MCPReceiptKind, MCPReceiptStatus
from contracts.mcp.servers import MCPServerRegistryEntry
from domain.documents.acrobat import adapter_server, tool_definitions
from domain.mcp.tool_definitions import definition_hash
from stores.mcp.mcp_tables import mcp_servers, mcp_tools
from stores.mcp.receipts import ReceiptContext, receipt
from stores.mcp.servers.server_rows import add_server, lock_servers, servers_of
from stores.mcp.servers.tool_discovery import record_tools
from stores.mcp.servers.tools import pin_seen
from stores.platform.blobs import get_blob
from stores.platform.database import Database
from stores.platform.journal.journal import append
from stores.platform.temporary_artifacts import (
    ArtifactTerms,
    expire_artifact,
    is_artifact_kept,
    keep_artifact,
)

KEPT = timedelta(days=7)
"""How long a document, and what was found in it, is kept after it was handed in last."""

MOST_KEPT_BYTES = 1024**3
"""What one user may have kept at once: 1 GiB."""

SOURCE, OUTPUT = "source", "output"

_SOURCE_PREFIX, _OUTPUT_PREFIX = "temp-artifact/", "acrobat-output/"
_BUNDLE_PREFIX = "materialized-bundle/"
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{64})")
_PREFIXES = {
    AcrobatSourceKind.TEMP_ARTIFACT_REF: (_SOURCE_PREFIX,),
    AcrobatSourceKind.DOCUMENT_REF: ("", "document/"),
    AcrobatSourceKind.MATERIALIZED_BUNDLE: (_BUNDLE_PREFIX,),
}


class AcrobatArtifacts:
    """What users keep. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep_source(self, owner: str, content: bytes, now: datetime) -> AcrobatSource:
        """Keeps a document; the same one again is kept a week from now.

        Raises:
            Refusal: ``STORAGE_FULL`` when the owner would have more than 1 GiB.
        """
        digest, row = self._keep(owner, SOURCE, content, now)
        return AcrobatSource(
            temp_artifact_ref=f"{_SOURCE_PREFIX}{digest}",
            digest=digest,
            size_bytes=len(content),
            created_at=datetime.fromisoformat(row["created_at"]),
            expires_at=datetime.fromisoformat(row["expires_at"]),
        )

    def keep_output(self, owner: str, content: bytes, now: datetime) -> str:
        """Keeps what was found in a document, and returns its reference.

        Raises:
            Refusal: ``STORAGE_FULL``.
        """
        digest, _ = self._keep(owner, OUTPUT, content, now)
        return f"{_OUTPUT_PREFIX}{digest}"

    def digest_of(self, owner: str, kind: AcrobatSourceKind, ref: str, now: datetime) -> str:
        """The digest of the document that a reference names.

        Raises:
            Refusal: ``ACROBAT_SOURCE_NOT_FOUND``: no such document of this owner, or its time is over.
        """
        digest = _digest_in(kind, ref)
        with self._database.read() as connection:
            if digest is None or not is_artifact_kept(connection, owner, SOURCE, digest, now):
                raise Refusal(
                    ErrorCode.ACROBAT_SOURCE_NOT_FOUND,
                    "There is no such document of yours, or its seven days are over; paths are not taken. Hand it"
                    " in: POST /api/adapters/acrobat/sources.",
                    source_ref_kind=kind.value,
                )
        return digest

    def source(self, owner: str, kind: AcrobatSourceKind, ref: str, now: datetime) -> tuple[str, bytes]:
        """The digest and the content of the document that a reference names.

        Raises:
            Refusal: ``ACROBAT_SOURCE_NOT_FOUND``.
        """
        digest = self.digest_of(owner, kind, ref, now)
        with self._database.read() as connection:
            return digest, get_blob(connection, digest)

    def output(self, owner: str, digest: str, now: datetime) -> bytes:
        """What was found in a document.

        Raises:
            Refusal: ``NOT_FOUND``: no such output of this owner, or its time is over.
        """
        with self._database.read() as connection:
            if _DIGEST.fullmatch(digest) is None or not is_artifact_kept(
                connection, owner, OUTPUT, digest, now
            ):
                raise Refusal(
                    ErrorCode.NOT_FOUND,
                    "There is no such output of yours, or its seven days are over; run the operation again.",
                )
            return get_blob(connection, digest)

    def forget(self, owner: str, digest: str, now: datetime) -> None:
        """Expires the owner's document, or output, with this digest at once.

        The next maintenance deletes its content, unless another owner still has the same.

        Raises:
            Refusal: ``NOT_FOUND``: no such document or output of this owner, or its time is over already.
        """
        with self._database.write() as connection:
            ended = expire_artifact(connection, owner, (SOURCE, OUTPUT), digest, now, now)
        if not ended:
            raise Refusal(
                ErrorCode.NOT_FOUND,
                "There is no such document or output of yours, or it is forgotten already.",
            )

    def _keep(self, owner: str, kind: str, content: bytes, now: datetime) -> tuple[str, Mapping[str, Any]]:
        with self._database.write() as connection:
            row = keep_artifact(connection, owner, kind, content, now, _terms())
        return row["digest"], row


def _digest_in(kind: AcrobatSourceKind, ref: str) -> str | None:
    for prefix in _PREFIXES[kind]:
        found = _DIGEST.fullmatch(ref.removeprefix(prefix)) if ref.startswith(prefix) else None
        if found is not None:
            return found[1]
    return None


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
            lock_servers(connection)
            known = _row_of(connection, owner)
            if known is None:
                known = adapter_server(f"acrobat-{uuid7()}", now)
                add_server(connection, known, owner)
                context = ReceiptContext(f"mcp-server/{known.server_id}", owner, correlation_id, now)
                summary = f"{known.display_name} was registered when it was first used."
                _, entry = receipt(
                    context,
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
        record_tools(connection, server_id, owner, tool_definitions(), now, correlation_id)
        for name, pin in self._pins.items():
            pin_seen(connection, server_id, name, pin, now)
        # The same document gives the same output, so a call with an unknown outcome may be retried.
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
    """The owner of a server; None when it was deleted."""
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


def _terms() -> ArtifactTerms:
    return ArtifactTerms(
        KEPT,
        MOST_KEPT_BYTES,
        (SOURCE, OUTPUT),
        "Your documents and outputs take 1 GiB, the most there may be; they go seven days after they came.",
    )
