"""Contents that are kept for hours or days: each has one owner, a kind, an expiry, and counts against a quota.

Functions within a transaction; the content is a blob, found by its digest.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, select, tuple_, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from stores.platform.blobs import put_blob
from stores.platform.database import advisory_lock, insert_or
from stores.platform.tables import temporary_artifacts

_TABLE = temporary_artifacts.c


class ArtifactKey(NamedTuple):
    """Names an artifact."""

    digest: str
    kind: str
    owner: str


@dataclass(frozen=True)
class ArtifactTerms:
    """How long artifacts are kept, and how much of their kinds one owner may have at once."""

    kept_for: timedelta
    most_bytes: int
    kinds: tuple[str, ...]
    """The kinds that count together."""
    full: str
    """The message of the refusal when the quota is used up."""


def keep_artifact(
    connection: Connection, owner: str, kind: str, content: bytes, now: datetime, terms: ArtifactTerms
) -> Mapping[str, Any]:
    """Keeps a content and returns its row; the same one again is kept from now on.

    Raises:
        Refusal: ``STORAGE_FULL`` when the owner would have more than the terms allow.
    """
    advisory_lock(connection, f"{terms.kinds[0]} artifacts {owner}")
    kept = connection.scalar(
        select(func.coalesce(func.sum(_TABLE.size_bytes), 0)).where(
            _TABLE.owner == owner, _TABLE.kind.in_(terms.kinds), _TABLE.expires_at > rfc3339(now)
        )
    )
    if int(kept or 0) + len(content) > terms.most_bytes:
        raise Refusal(ErrorCode.STORAGE_FULL, terms.full, limit_bytes=terms.most_bytes)
    digest = put_blob(connection, content, now)
    row = {
        "owner": owner,
        "kind": kind,
        "digest": digest,
        "size_bytes": len(content),
        "created_at": rfc3339(now),
        "expires_at": rfc3339(now + terms.kept_for),
    }
    statement = insert_or(connection, temporary_artifacts).on_conflict_do_update(
        index_elements=["owner", "kind", "digest"], set_={"expires_at": row["expires_at"]}
    )
    connection.execute(statement, row)
    return row


def is_artifact_kept(connection: Connection, owner: str, kind: str, digest: str, now: datetime) -> bool:
    """Whether the owner has this artifact, and its time is not over."""
    expires_at = connection.scalar(
        select(_TABLE.expires_at).where(_TABLE.owner == owner, _TABLE.kind == kind, _TABLE.digest == digest)
    )
    return expires_at is not None and expires_at > rfc3339(now)


def expire_artifact(
    connection: Connection, owner: str, kinds: tuple[str, ...], digest: str, at: datetime, now: datetime
) -> bool:
    """Sets the end of the owner's artifacts of these kinds with this digest; false where none is kept ``now``."""
    this = (
        _TABLE.owner == owner,
        _TABLE.kind.in_(kinds),
        _TABLE.digest == digest,
        _TABLE.expires_at > rfc3339(now),
    )
    changed = connection.execute(update(temporary_artifacts).where(*this).values(expires_at=rfc3339(at)))
    return changed.rowcount > 0


def expired_artifacts(
    connection: Connection, now: datetime, after: ArtifactKey | None, limit: int
) -> list[ArtifactKey]:
    """What is past its time, in the order of the digests, beyond ``after``."""
    place = (_TABLE.digest, _TABLE.kind, _TABLE.owner)
    query = select(*place).where(_TABLE.expires_at <= rfc3339(now)).order_by(*place).limit(limit)
    if after is not None:
        query = query.where(tuple_(*place) > tuple_(*after))
    return [ArtifactKey(*row) for row in connection.execute(query)]


def drop_artifact(connection: Connection, key: ArtifactKey, now: datetime) -> bool:
    """Forgets an artifact that is past its time; whether it was there."""
    this = (_TABLE.owner == key.owner, _TABLE.kind == key.kind, _TABLE.digest == key.digest)
    statement = delete(temporary_artifacts).where(*this, _TABLE.expires_at <= rfc3339(now))
    return connection.execute(statement).rowcount == 1
