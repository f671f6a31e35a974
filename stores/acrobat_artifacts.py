"""Documents that were handed in to be read, and what was found in them: kept for a week or until they are forgotten.

A document is named by a reference, never by a path: ``temp-artifact/{digest}`` or its digest alone, with or
without ``sha256:``. A reference counts for its owner only, whoever else handed in the same document.
"""

import re
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, select, tuple_, update

from contracts.adapters.acrobat import AcrobatSource, AcrobatSourceKind
from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from stores.blobs import get_blob, put_blob
from stores.database import Database
from stores.mcp_tables import acrobat_artifacts
from stores.turns import one_at_a_time
from stores.upsert import insert_or

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


class ArtifactKey(NamedTuple):
    """Names an artifact."""

    digest: str
    kind: str
    owner: str


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
            if digest is None or not _is_kept(connection, owner, SOURCE, digest, now):
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
            if _DIGEST.fullmatch(digest) is None or not _is_kept(connection, owner, OUTPUT, digest, now):
                raise Refusal(
                    ErrorCode.NOT_FOUND,
                    "There is no such output of yours, or its seven days are over; run the operation again.",
                )
            return get_blob(connection, digest)

    def forget(self, owner: str, digest: str, now: datetime) -> None:
        """Ends the time of the owner's document, or of what was found, with this digest: nobody reads it any more.

        Its content is deleted by the next maintenance, which first looks whether somebody else has kept the same.

        Raises:
            Refusal: ``NOT_FOUND``: no such document or output of this owner, or its time is over already.
        """
        table = acrobat_artifacts.c
        this = (table.owner == owner, table.digest == digest, table.expires_at > rfc3339(now))
        with self._database.write() as connection:
            ended = connection.execute(
                update(acrobat_artifacts).where(*this).values(expires_at=rfc3339(now))
            ).rowcount
        if not ended:
            raise Refusal(
                ErrorCode.NOT_FOUND,
                "There is no such document or output of yours, or it is forgotten already.",
            )

    def _keep(self, owner: str, kind: str, content: bytes, now: datetime) -> tuple[str, dict[str, Any]]:
        with self._database.write() as connection:
            one_at_a_time(connection, f"acrobat artifacts {owner}")
            kept = connection.scalar(
                select(func.coalesce(func.sum(acrobat_artifacts.c.size_bytes), 0)).where(
                    acrobat_artifacts.c.owner == owner, acrobat_artifacts.c.expires_at > rfc3339(now)
                )
            )
            if int(kept or 0) + len(content) > MOST_KEPT_BYTES:
                raise Refusal(
                    ErrorCode.STORAGE_FULL,
                    "Your documents and outputs take 1 GiB, the most there may be; they go seven days after they"
                    " came.",
                    limit_bytes=MOST_KEPT_BYTES,
                )
            digest = put_blob(connection, content, now)
            row = {
                "owner": owner,
                "kind": kind,
                "digest": digest,
                "size_bytes": len(content),
                "created_at": rfc3339(now),
                "expires_at": rfc3339(now + KEPT),
            }
            statement = insert_or(connection, acrobat_artifacts).on_conflict_do_update(
                index_elements=["owner", "kind", "digest"], set_={"expires_at": row["expires_at"]}
            )
            connection.execute(statement, row)
        return digest, row


def expired_artifacts(
    connection: Connection, now: datetime, after: ArtifactKey | None, limit: int
) -> list[ArtifactKey]:
    """What is past its time, in the order of the digests, beyond ``after``."""
    table = acrobat_artifacts.c
    place = (table.digest, table.kind, table.owner)
    query = select(*place).where(table.expires_at <= rfc3339(now)).order_by(*place).limit(limit)
    if after is not None:
        query = query.where(tuple_(*place) > tuple_(*after))
    return [ArtifactKey(*row) for row in connection.execute(query)]


def drop_artifact(connection: Connection, key: ArtifactKey, now: datetime) -> bool:
    """Forgets an artifact that is past its time; whether it was there."""
    table = acrobat_artifacts.c
    this = (table.owner == key.owner, table.kind == key.kind, table.digest == key.digest)
    statement = delete(acrobat_artifacts).where(*this, table.expires_at <= rfc3339(now))
    return connection.execute(statement).rowcount == 1


def _is_kept(connection: Connection, owner: str, kind: str, digest: str, now: datetime) -> bool:
    table = acrobat_artifacts.c
    expires_at = connection.scalar(
        select(table.expires_at).where(table.owner == owner, table.kind == kind, table.digest == digest)
    )
    return expires_at is not None and expires_at > rfc3339(now)


def _digest_in(kind: AcrobatSourceKind, ref: str) -> str | None:
    for prefix in _PREFIXES[kind]:
        found = _DIGEST.fullmatch(ref.removeprefix(prefix)) if ref.startswith(prefix) else None
        if found is not None:
            return found[1]
    return None
