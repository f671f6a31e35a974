"""Answers kept under idempotency keys: the first one is returned again, another request under the key is refused."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import BaseModel
from sqlalchemy import Column, Connection, insert, select, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.platform.commands import CommitKey
from stores.platform.canonical import canonical_json
from stores.platform.database import Database, insert_or
from stores.platform.tables import commits

M = TypeVar("M", bound=BaseModel)


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


_NO_RECEIPT = "{}"
# Never parsed: the digest covers the route, and only routes without a receipt ask here.


class Answers:
    """The kept answers; they go with the keys of commands, 24 hours after they were given."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def recall(self, key: CommitKey) -> str | None:
        """The body that was answered under this key, if one was kept.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED`` when the key stands for another request.
        """
        with self._database.read() as connection:
            return kept_under(connection, key, commits.c.response)

    def hold(self, key: CommitKey) -> None:
        """Binds the key to this request, whose answer is not kept: a later one may hold more.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED`` when it stands for another one.
        """
        with self._database.write() as connection:
            if not _claim(connection, key):
                kept_under(connection, key, commits.c.response)

    def keep(self, key: CommitKey, body: str) -> str:
        """Keeps ``body`` unless there is an answer already; returns the one that counts.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``.
        """
        with self._database.write() as connection:
            _claim(connection, key)
            connection.execute(
                update(commits)
                .where(
                    commits.c.owner == key.owner_user_id,
                    commits.c.key == key.key,
                    commits.c.request_digest == key.request_digest,
                    commits.c.response.is_(None),
                )
                .values(response=body)
            )
            return kept_under(connection, key, commits.c.response) or body


def answered_within(connection: Connection, key: CommitKey, act: Callable[[], str]) -> str:
    """What ``act`` answers, done and kept in the caller's transaction; under a known key, the first answer.

    However many ask under one key at once, one of them acts: the others wait for its row.

    Raises:
        Refusal: ``IDEMPOTENCY_KEY_REUSED`` when the key stands for another request.
    """
    kept = None if _claim(connection, key) else kept_under(connection, key, commits.c.response)
    if kept is not None:
        return kept
    body = act()
    connection.execute(
        update(commits)
        .where(commits.c.owner == key.owner_user_id, commits.c.key == key.key)
        .values(response=body)
    )
    return body


def answered(database: Database, key: CommitKey, model: type[M], act: Callable[[Connection], M]) -> M:
    """As ``answered_within``, in its own transaction and with a model for an answer.

    Raises:
        Refusal: ``IDEMPOTENCY_KEY_REUSED``, and what ``act`` refuses.
    """
    with database.write() as connection:
        body = answered_within(connection, key, lambda: canonical_json(act(connection)))
    return model.model_validate_json(body)


def recalled(connection: Connection, key: CommitKey, model: type[M]) -> M | None:
    """The receipt that ``remember`` kept under a key.

    Raises:
        Refusal: ``IDEMPOTENCY_KEY_REUSED`` when the key stands for another request.
    """
    receipt = kept_under(connection, key, commits.c.receipt)
    return None if receipt is None else model.model_validate_json(receipt)


def remember(connection: Connection, key: CommitKey, receipt: BaseModel, at: datetime) -> None:
    """Keeps the receipt of a command under its key, which must be new."""
    row = {"owner": key.owner_user_id, "key": key.key, "request_digest": key.request_digest}
    connection.execute(insert(commits).values(**row, receipt=canonical_json(receipt), created_at=rfc3339(at)))


def _claim(connection: Connection, key: CommitKey) -> bool:
    """Inserts the key if it is new; whether it was."""
    claimed = connection.execute(
        insert_or(connection, commits)
        .values(
            owner=key.owner_user_id,
            key=key.key,
            request_digest=key.request_digest,
            receipt=_NO_RECEIPT,
            created_at=rfc3339(datetime.now(UTC)),
        )
        .on_conflict_do_nothing()
    )
    return claimed.rowcount == 1
