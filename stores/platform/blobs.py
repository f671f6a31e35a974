"""Content too large for a workflow's history, kept once under its own digest."""

from datetime import datetime
from typing import TypeVar

from pydantic import BaseModel
from sqlalchemy import Connection, select

from contracts.base import rfc3339
from stores.platform.canonical import digest_of
from stores.platform.database import insert_or
from stores.platform.tables import blobs

M = TypeVar("M", bound=BaseModel)


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
    digest = digest_of(content)
    known = connection.scalar(select(blobs.c.digest).where(blobs.c.digest == digest))
    if known is None:
        row = {"digest": digest, "content": content, "created_at": rfc3339(now)}
        connection.execute(insert_or(connection, blobs).on_conflict_do_nothing(), row)
    return digest


def get_blob(connection: Connection, digest: str) -> bytes:
    """The content kept under ``digest``.

    Raises:
        BlobNotFoundError: nothing is kept under it.
        BlobDamagedError: what is kept is not what was put.
    """
    content: bytes | None = connection.scalar(select(blobs.c.content).where(blobs.c.digest == digest))
    if content is None:
        raise BlobNotFoundError(digest)
    found = digest_of(content)
    if found != digest:
        raise BlobDamagedError(digest, found)
    return bytes(content)


def read_blob(connection: Connection, digest: str, model: type[M]) -> M:
    """The model that is kept under ``digest`` as JSON; raises what ``get_blob`` raises."""
    return model.model_validate_json(get_blob(connection, digest))
