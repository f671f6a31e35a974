"""Changing the key of the secret store: everything is sealed anew, then what nothing uses is dropped."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, select, text, update

from stores.database import Database
from stores.mcp_tables import secrets as table
from stores.secret_keys import KeyRing, SecretKeys
from stores.secret_problems import SecretKeyLost, SecretTampered
from stores.secret_sealing import ADVISORY_LOCK, opened, sealed, sealing_key

PAGE = 100
"""Records that are sealed anew in one transaction."""


@dataclass(frozen=True)
class Rotation:
    """What a rotation did."""

    key_id: str
    resealed: int
    dropped: tuple[str, ...]
    resumed: bool
    """Whether it finished one that had been interrupted, instead of making another key."""
    left: int
    """Records that no key opens any more, as they were."""


@dataclass(frozen=True)
class KeyUse:
    """How many records a key sealed, and whether it is still there."""

    key_id: str
    records: int
    current: bool
    lost: bool


def key_uses(database: Database, keys: SecretKeys) -> tuple[KeyUse, ...]:
    """Which keys sealed how much, by id; makes no key.

    Raises:
        SecretKeysUnavailable: the keys cannot be read.
    """
    ring = keys.kept_ring()
    known = set(keys.known())
    with database.read() as connection:
        rows = connection.execute(select(table.c.key_id, func.count()).group_by(table.c.key_id))
        counts = {row[0]: int(row[1]) for row in rows}
    current = ring.current if ring is not None else None
    return tuple(
        KeyUse(key_id, counts.get(key_id, 0), key_id == current, key_id not in known)
        for key_id in sorted(known | set(counts))
    )


def rotate_keys(database: Database, keys: SecretKeys) -> Rotation:
    """Seals everything with a new key, page by page, and drops the keys that nothing uses any more.

    One that was interrupted is finished instead: calling it again is always right. Secrets can be read and
    written meanwhile. What no key opens is left as it is.

    Raises:
        SecretKeysUnavailable: the keys cannot be read or written.
    """
    resealed = _reseal(database, keys)
    resumed = resealed > 0
    if not resumed:
        # Outside any transaction: whoever seals takes the database's lock first, then this one.
        with keys.changing():
            ring = keys.kept_ring()
            keys.save(ring.with_new_key() if ring is not None else KeyRing.new())
        resealed = _reseal(database, keys)
    dropped = _drop_unused(database, keys)
    current = keys.ring().current
    with database.read() as connection:
        left = connection.scalar(select(func.count()).select_from(table).where(table.c.key_id != current))
    return Rotation(current, resealed, dropped, resumed, left or 0)


def _reseal(database: Database, keys: SecretKeys) -> int:
    resealed, after = 0, ""
    while True:
        with database.write() as connection:
            key_id, key = sealing_key(connection, keys)
            rows = connection.execute(
                select(table)
                .where(table.c.key_id != key_id, table.c.ref > after)
                .order_by(table.c.ref)
                .limit(PAGE)
                .with_for_update()
            ).all()
            for row in rows:
                resealed += _reseal_one(connection, row, keys, key_id, key)
        if len(rows) < PAGE:
            return resealed
        after = rows[-1].ref


def _reseal_one(connection: Connection, row: Row[Any], keys: SecretKeys, key_id: str, key: bytes) -> bool:
    try:
        value = opened(row, keys)
    except (SecretKeyLost, SecretTampered):
        return False
    body = sealed(key, value, row.ref, row.owner, row.kind, row.version)
    connection.execute(update(table).where(table.c.ref == row.ref).values(key_id=key_id, sealed=body))
    return True


def _drop_unused(database: Database, keys: SecretKeys) -> tuple[str, ...]:
    with database.write() as connection:
        if connection.dialect.name != "sqlite":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})
        used = set(connection.scalars(select(table.c.key_id).distinct()))
        with keys.changing():
            ring = keys.kept_ring()
            kept = ring.only(used) if ring is not None else None
            if ring is None or kept is None or kept.keys.keys() == ring.keys.keys():
                return ()
            keys.save(kept)
    return tuple(sorted(ring.keys.keys() - kept.keys.keys()))
