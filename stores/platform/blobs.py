"""Content too large for a workflow's history, kept once under its own digest."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import TypeVar

from pydantic import BaseModel
from sqlalchemy import Connection, Executable, bindparam, select

from contracts.base import rfc3339
from stores.platform.canonical import digest_of
from stores.platform.database import batches, insert_for
from stores.platform.tables import blobs

M = TypeVar("M", bound=BaseModel)

_KEPT = select(blobs.c.digest, blobs.c.content).where(
    blobs.c.digest.in_(bindparam("digests", expanding=True))
)


@cache
def _puts(dialect: str) -> Executable:
    return insert_for(dialect, blobs).on_conflict_do_nothing()


class BlobNotFoundError(KeyError):
    """No blob has this digest."""

    def __init__(self, digest: str) -> None:
        super().__init__(digest)
        self.digest = digest

    def __str__(self) -> str:
        return f"no blob has the digest {self.digest}: it was purged, or written to another database"


class BlobDamagedError(ValueError):
    """A blob's content no longer has the digest it is kept under; restore it from a backup."""

    def __init__(self, digest: str, found: str) -> None:
        super().__init__(f"the blob {digest} now has the digest {found}; restore it from a backup")
        self.digest = digest


def put_blob(connection: Connection, content: bytes, now: datetime) -> str:
    """Keeps ``content`` and returns its digest; keeping the same content again changes nothing."""
    return put_blobs(connection, [content], now)[0]


def put_blobs(connection: Connection, contents: Sequence[bytes], now: datetime) -> list[str]:
    """As ``put_blob`` for several contents, by one statement; their digests in the same order."""
    digests = [digest_of(content) for content in contents]
    at = rfc3339(now)
    rows = {
        digest: {"digest": digest, "content": content, "created_at": at}
        for digest, content in zip(digests, contents, strict=True)
    }
    if rows:
        connection.execute(_puts(connection.dialect.name), list(rows.values()))
    return digests


def get_blob(connection: Connection, digest: str) -> bytes:
    """The content kept under ``digest``.

    Raises:
        BlobNotFoundError: nothing is kept under it.
        BlobDamagedError: what is kept is not what was put.
    """
    return get_blobs(connection, [digest])[digest]


def get_blobs(connection: Connection, digests: Iterable[str]) -> dict[str, bytes]:
    """The contents kept under these digests, read together; raises what ``get_blob`` raises."""
    wanted = sorted(set(digests))
    kept = {
        row.digest: intact(row.digest, row.content)
        for some in batches(wanted)
        for row in connection.execute(_KEPT, {"digests": some})
    }
    for digest in wanted:
        if digest not in kept:
            raise BlobNotFoundError(digest)
    return kept


def intact(digest: str, content: bytes) -> bytes:
    """The content that a query found under ``digest``.

    Raises:
        BlobDamagedError: it is not what was put.
    """
    content = bytes(content)
    found = digest_of(content)
    if found != digest:
        raise BlobDamagedError(digest, found)
    return content


def read_blob(connection: Connection, digest: str, model: type[M]) -> M:
    """The model that is kept under ``digest`` as JSON; raises what ``get_blob`` raises."""
    return model.model_validate_json(get_blob(connection, digest))
