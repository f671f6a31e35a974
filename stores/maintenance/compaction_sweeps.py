"""The sweeps over what only grows: answered keys, receipts in their files, blobs (decisions "Wire rules")."""

import json
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, exists, select, tuple_

from contracts.base import rfc3339
from contracts.learning.session import LearnSessionState as S
from contracts.learning.state_machine import AT_REST
from contracts.maintenance.runs import SweepName
from domain.maintenance.retention import IDEMPOTENCY_KEPT, idempotency_key_expired
from stores.imports import import_tables
from stores.maintenance.sweeps import LEFT_ALONE, Settled, keys_after
from stores.mcp import mcp_tables
from stores.platform import tables
from stores.skills import skill_tables

WORKFLOW_KEYS_KEPT = timedelta(days=7)
"""How long the key of a workflow's own decision is kept: far longer than an activity waits for a worker."""

BLOBS_KEPT = timedelta(days=30)
"""How long content that no row refers to is kept."""

_COMMITS = tables.commits
_SESSIONS = tables.learn_sessions
_BLOBS = tables.blobs
_WORKFLOW_KEY = re.compile(r"^[a-z]+(?:-[a-z]+)*/.+#\d+$")
_DIGEST = re.compile(r'(?<![0-9a-f])(?<!"archive_sha256":")[0-9a-f]{64}(?![0-9a-f])')
"""A digest in a document; that of the archive which a skill was imported from names it, and keeps nothing."""

_BLOBS_A_LOOK = 5_000
"""Every look for references reads all that refers, so it is made for many blobs at once."""

MAY_STAGE: frozenset[S] = frozenset(S) - AT_REST - {S.IDLE, S.ARMED, S.CAPTURING, S.PAUSED}
"""The states in which a session may have staged a draft that no row refers to yet."""

REFERRING: tuple[Any, ...] = (
    tables.proposals.c.staged,
    tables.proposal_rounds.c.staged,
    tables.install_sagas.c.plan,
    tables.install_sagas.c.body,
    tables.ability_versions.c.body,
    tables.ability_contents.c.body,
    tables.abilities.c.body,
    tables.learn_sessions.c.aggregate,
    tables.commits.c.receipt,
    tables.temporary_artifacts.c.digest,
    tables.starting_contents.c.blob,
    mcp_tables.mcp_dispatches.c.body,
    mcp_tables.mcp_call_attempts.c.answer,
    import_tables.skill_imports.c.body,
    import_tables.skill_import_files.c.digest,
    skill_tables.skill_invocations.c.body,
    skill_tables.skill_results.c.outcome_digest,
)
"""Every column whose text may name a blob."""


class ForgetKeys:
    """Answered idempotency keys go after a day, a workflow's own after a week.

    The newest decision of a session stays as long as the session is not at rest, and a week after that: it is
    the one that a workflow may still repeat, because it has not heard that it was written.
    """

    name = SweepName.FORGET_KEYS
    batch = 200

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Keys, the oldest first; an item is the JSON list of the time, the owner and the key."""
        position = tuple_(_COMMITS.c.created_at, _COMMITS.c.owner, _COMMITS.c.key)
        query = select(_COMMITS.c.created_at, _COMMITS.c.owner, _COMMITS.c.key).where(
            _COMMITS.c.created_at <= rfc3339(now - IDEMPOTENCY_KEPT)
        )
        if after:
            query = query.where(position > tuple_(*json.loads(after)))
        order = (_COMMITS.c.created_at, _COMMITS.c.owner, _COMMITS.c.key)
        rows = connection.execute(query.order_by(*order).limit(limit))
        return [json.dumps(list(row), ensure_ascii=False) for row in rows]

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Forgets one key."""
        created_at, owner, key = json.loads(item)
        this = (_COMMITS.c.owner == owner, _COMMITS.c.key == key, _COMMITS.c.created_at == created_at)
        receipt = connection.scalar(select(_COMMITS.c.receipt).where(*this))
        written_at = datetime.fromisoformat(created_at)
        if receipt is None or not idempotency_key_expired(written_at, now):
            return LEFT_ALONE
        if _may_be_repeated(connection, receipt, key, written_at, now):
            return LEFT_ALONE
        return Settled(done=True, removed=connection.execute(delete(_COMMITS).where(*this)).rowcount)


class RemoveBlobs:
    """Content that no row refers to goes after 30 days.

    A draft is staged before a decision adopts it, and staging content that is there already leaves no trace:
    while any session is past its capture and not at rest, everything stays.
    """

    name = SweepName.REMOVE_BLOBS
    batch = 200

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Digests in their own order, of the content that no row refers to."""
        found: list[str] = []
        while len(found) < limit:
            old = _BLOBS.c.created_at <= rfc3339(now - BLOBS_KEPT)
            page = keys_after(connection, _BLOBS.c.digest, after, _BLOBS_A_LOOK, old)
            if not page:
                break
            referred = referred_digests(connection, set(page))
            found += [digest for digest in page if digest not in referred]
            after = page[-1]
        return found[:limit]

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Removes one blob."""
        if connection.dialect.name != "sqlite":
            # A transaction that has looked a blob up, to refer to it, finishes first; SQLite has one writer anyway.
            connection.exec_driver_sql("LOCK TABLE blobs IN ACCESS EXCLUSIVE MODE")
        staging = select(exists().where(_SESSIONS.c.state.in_([state.value for state in MAY_STAGE])))
        if connection.scalar(staging) or referred_digests(connection, {item}):
            return LEFT_ALONE
        old = (_BLOBS.c.digest == item, _BLOBS.c.created_at <= rfc3339(now - BLOBS_KEPT))
        removed = connection.execute(delete(_BLOBS).where(*old)).rowcount
        return Settled(done=removed == 1, removed=removed)


def referred_digests(connection: Connection, digests: set[str]) -> set[str]:
    """Those of ``digests`` that some row names."""
    referred: set[str] = set()
    only = next(iter(digests)) if len(digests) == 1 else None
    for column in REFERRING:
        query = select(column).where(column.is_not(None)).execution_options(yield_per=500)
        if only is not None:
            query = query.where(column.contains(only))
        for text in connection.scalars(query):
            referred.update(digest for digest in _DIGEST.findall(text) if digest in digests)
    return referred


def _may_be_repeated(
    connection: Connection, receipt: str, key: str, written_at: datetime, now: datetime
) -> bool:
    young = now < written_at + WORKFLOW_KEYS_KEPT
    if _WORKFLOW_KEY.match(key) and young:
        return True
    answered: dict[str, Any] = json.loads(receipt)
    session: dict[str, Any] = answered.get("session") or {}
    row = connection.execute(
        select(_SESSIONS.c.change, _SESSIONS.c.holds_slot).where(
            _SESSIONS.c.session_id == session.get("learn_session_id")
        )
    ).one_or_none()
    if row is None or answered.get("change") != row.change:
        return False
    return bool(row.holds_slot) or young
