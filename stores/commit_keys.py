"""What was kept under an idempotency key, and the refusal where a key stands for something else."""

from typing import Any

from sqlalchemy import Column, Connection, select

from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import CommitKey
from stores.tables import commits


def kept_under(connection: Connection, key: CommitKey, column: Column[Any]) -> str | None:
    """What ``column`` of the commits holds under ``key``; ``None`` when nothing was kept.

    Raises:
        Refusal: ``IDEMPOTENCY_KEY_REUSED`` when the key stands for another request.
    """
    row = connection.execute(
        select(commits.c.request_digest, column.label("kept")).where(
            commits.c.owner == key.owner_user_id, commits.c.key == key.key
        )
    ).one_or_none()
    if row is None:
        return None
    if row.request_digest != key.request_digest:
        raise Refusal(
            ErrorCode.IDEMPOTENCY_KEY_REUSED,
            "This idempotency key was used for a different request; use a new key.",
        )
    kept: str | None = row.kept
    return kept
