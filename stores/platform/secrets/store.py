"""Secret store: values sealed with AES-256-GCM, each bound to its reference, owner, kind and version; key rotation.

Other code knows a secret by its reference only. Each method is one transaction; the functions run within the
caller's, so that a secret changes together with the row that refers to it.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import Connection, Row, delete, func, select, text, update
from uuid_utils import uuid7

from contracts.base import rfc3339
from stores.platform.canonical import canonical_json
from stores.platform.database import Database, insert_or
from stores.platform.secrets.key_places import SecretConflict, SecretKeyLost, SecretNotFound, SecretTampered
from stores.platform.secrets.keys import KeyRing, KeySource, SecretKeys, open_secret_keys
from stores.platform.tables import secrets as table

MAX_BYTES = 65_536
"""The longest secret, as UTF-8."""

ADVISORY_LOCK = 0x41505052_4B455953
"""On PostgreSQL: shared by who seals until the transaction ends, taken alone by who drops keys."""

_NONCE_BYTES = 12


def sealing_key(connection: Connection, keys: SecretKeys) -> tuple[str, bytes]:
    """The current key and its id; until the transaction ends it is not dropped.

    Raises:
        SecretKeysUnavailable: the keys cannot be read.
    """
    if connection.dialect.name != "sqlite":
        # SQLite has one writer anyway.
        connection.execute(text("SELECT pg_advisory_xact_lock_shared(:key)"), {"key": ADVISORY_LOCK})
    # Read anew each time: another process may have rotated since.
    ring = keys.ring()
    return ring.current, ring.keys[ring.current]


def sealed(key: bytes, value: str, ref: str, owner: str, kind: str, version: int) -> bytes:
    """``value`` with a fresh nonce, bound to the record it is for.

    Raises:
        ValueError: it is longer than 64 KiB, or no text that UTF-8 can carry.
    """
    try:
        clear = value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a secret must be text that UTF-8 can carry") from None
    if len(clear) > MAX_BYTES:
        raise ValueError(f"a secret may have {MAX_BYTES} bytes, this one has {len(clear)}")
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, clear, _bound_to(ref, owner, kind, version))


def opened(row: Row[Any], keys: SecretKeys) -> str:
    """What a row of the table holds, in clear.

    Raises:
        SecretKeyLost: its key is gone.
        SecretTampered: it is not what was sealed for this record.
        SecretKeysUnavailable: the keys cannot be read.
    """
    key = keys.find(row.key_id)
    if key is None:
        raise SecretKeyLost(row.ref, row.key_id, keys.looked_into)
    nonce, body = row.sealed[:_NONCE_BYTES], row.sealed[_NONCE_BYTES:]
    try:
        clear = AESGCM(key).decrypt(nonce, body, _bound_to(row.ref, row.owner, row.kind, row.version))
    except (InvalidTag, ValueError):
        raise SecretTampered(row.ref) from None
    return clear.decode("utf-8")


def _bound_to(ref: str, owner: str, kind: str, version: int) -> bytes:
    # Sealed along: a value copied to another record, or put back from an older version, does not open.
    return canonical_json([ref, owner, kind, version]).encode("utf-8")


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
        # Outside any transaction: sealing takes the database's lock first, then this one.
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


class Revealed(NamedTuple):
    """A secret in clear, and its version. The value is not shown when it is printed."""

    value: str
    version: int

    def __repr__(self) -> str:
        return f"Revealed(value=…, version={self.version})"


class OpenedSecret(NamedTuple):
    """One of many secrets in clear. The value is not shown when it is printed."""

    ref: str
    version: int
    kind: str
    value: str

    def __repr__(self) -> str:
        return f"OpenedSecret(ref={self.ref!r}, version={self.version}, value=…)"


class SecretStore:
    """Secrets by reference. Safe to share between threads and processes."""

    def __init__(self, database: Database, keys: SecretKeys) -> None:
        self._database = database
        self._keys = keys

    @property
    def keys_place(self) -> str:
        """Where the keys are kept, for people."""
        return self._keys.place

    def put(
        self, owner: str, kind: str, value: str, *, ref: str | None = None, expires_at: datetime | None = None
    ) -> str:
        """Keeps a secret and returns its reference.

        With a ``ref`` of the owner's and of the same kind, the secret takes the place of what was there, one
        version on: repeating is harmless. After ``expires_at`` it is as if it were not there, and nightly
        maintenance removes it: for what is worthless then, such as a verifier, not for what can be renewed.

        Raises:
            SecretConflict: the reference is another owner's, or of another kind.
            SecretKeysUnavailable: the keys cannot be read.
            ValueError: the value is longer than 64 KiB.
        """
        with self._database.write() as connection:
            return self.put_within(connection, owner, kind, value, ref=ref, expires_at=expires_at)

    def reveal(self, ref: str, owner: str) -> Revealed:
        """The secret and its version.

        Raises:
            SecretNotFound: unknown, another owner's, or expired.
            SecretKeyLost: its key is gone.
            SecretTampered: what is stored is not what was sealed.
            SecretKeysUnavailable: the keys cannot be read.
        """
        try:
            with self._database.read() as connection:
                return self.reveal_within(connection, ref, owner)
        except SecretKeyLost:
            # It may have been sealed anew, and its old key dropped, between the reading of the two.
            with self._database.read() as connection:
                return self.reveal_within(connection, ref, owner)

    def versions(self) -> dict[str, int]:
        """The version of every secret by its reference, whoever's it is and expired or not; needs no key."""
        with self._database.read() as connection:
            return {row.ref: row.version for row in connection.execute(select(table.c.ref, table.c.version))}

    def each(self, refs: Sequence[str]) -> Iterator[OpenedSecret]:
        """These secrets, whoever's they are and expired or not, to be recognised where they may not stand.

        What no key opens, and what is gone meanwhile, is left out.

        Raises:
            SecretKeysUnavailable: the keys cannot be read.
        """
        for start in range(0, len(refs), PAGE):
            with self._database.read() as connection:
                rows = connection.execute(
                    select(table).where(table.c.ref.in_(refs[start : start + PAGE]))
                ).all()
            for row in rows:
                with suppress(SecretKeyLost, SecretTampered):
                    yield OpenedSecret(row.ref, row.version, row.kind, opened(row, self._keys))

    def replace(self, ref: str, owner: str, value: str, expected_version: int) -> int:
        """Puts ``value`` in the place of version ``expected_version``; returns the new version.

        Raises:
            SecretNotFound: unknown, another owner's, or expired.
            SecretConflict: another version was written meanwhile.
            SecretKeysUnavailable: the keys cannot be read.
            ValueError: the value is longer than 64 KiB.
        """
        with self._database.write() as connection:
            return self.replace_within(connection, ref, owner, value, expected_version)

    def drop(self, ref: str, owner: str) -> bool:
        """Removes the secret; False when there was none of this owner."""
        with self._database.write() as connection:
            return drop_within(connection, ref, owner)

    def put_within(
        self,
        connection: Connection,
        owner: str,
        kind: str,
        value: str,
        *,
        ref: str | None = None,
        expires_at: datetime | None = None,
    ) -> str:
        """``put`` in the caller's transaction."""
        key_id, key = sealing_key(connection, self._keys)
        ref = ref or f"secret-{uuid7()}"
        found = _row(connection, ref, lock=True)
        if found is not None and (found.owner, found.kind) != (owner, kind):
            raise SecretConflict(f"the reference {ref} is taken by another secret")
        version = found.version + 1 if found is not None else 1
        record = {
            "owner": owner,
            "kind": kind,
            "version": version,
            "key_id": key_id,
            "sealed": sealed(key, value, ref, owner, kind, version),
            "expires_at": rfc3339(expires_at) if expires_at else None,
            "updated_at": rfc3339(datetime.now(UTC)),
        }
        if found is not None:
            connection.execute(update(table).where(table.c.ref == ref).values(record))
            return ref
        written = connection.scalar(
            insert_or(connection, table)
            .values(ref=ref, **record)
            .on_conflict_do_nothing()
            .returning(table.c.ref)
        )
        if written is None:
            raise SecretConflict(f"the reference {ref} was taken at the same moment; try again")
        return ref

    def reveal_within(self, connection: Connection, ref: str, owner: str) -> Revealed:
        """``reveal`` in the caller's transaction."""
        row = _owned(connection, ref, owner)
        return Revealed(opened(row, self._keys), row.version)

    def keep_within(self, connection: Connection, ref: str, owner: str) -> None:
        """Lets a secret stay that was to end at some time, in the caller's transaction."""
        connection.execute(
            update(table).where(table.c.ref == ref, table.c.owner == owner).values(expires_at=None)
        )

    def replace_within(
        self, connection: Connection, ref: str, owner: str, value: str, expected_version: int
    ) -> int:
        """``replace`` in the caller's transaction."""
        key_id, key = sealing_key(connection, self._keys)
        row = _owned(connection, ref, owner, lock=True)
        if row.version != expected_version:
            raise SecretConflict(
                f"secret {ref} is at version {row.version}, not {expected_version}: it was replaced meanwhile; "
                "reveal it again"
            )
        version = row.version + 1
        connection.execute(
            update(table)
            .where(table.c.ref == ref)
            .values(
                version=version,
                key_id=key_id,
                sealed=sealed(key, value, ref, owner, row.kind, version),
                updated_at=rfc3339(datetime.now(UTC)),
            )
        )
        return version

    def key_uses(self) -> tuple[KeyUse, ...]:
        """Which keys sealed how much, by id; makes no key.

        Raises:
            SecretKeysUnavailable: the keys cannot be read.
        """
        return key_uses(self._database, self._keys)

    def rotate_keys(self) -> Rotation:
        """Seals everything with a new key and drops the old ones; finishes one that was interrupted.

        Raises:
            SecretKeysUnavailable: the keys cannot be read or written.
        """
        return rotate_keys(self._database, self._keys)


def open_secret_store(database: Database, data_dir: Path, source: KeySource, service: str) -> SecretStore:
    """The secret store of the installation in ``data_dir``; no key is read or made before it is needed.

    Raises:
        SecretKeysUnavailable: a keyring is asked for and there is none that keeps secrets.
    """
    return SecretStore(database, open_secret_keys(source, service, data_dir))


def drop_within(connection: Connection, ref: str, owner: str) -> bool:
    """``SecretStore.drop`` in the caller's transaction; needs no key."""
    return connection.execute(delete(table).where(table.c.ref == ref, table.c.owner == owner)).rowcount == 1


def _row(connection: Connection, ref: str, *, lock: bool = False) -> Row[Any] | None:
    query = select(table).where(table.c.ref == ref)
    return connection.execute(query.with_for_update() if lock else query).one_or_none()


def _owned(connection: Connection, ref: str, owner: str, *, lock: bool = False) -> Row[Any]:
    row = _row(connection, ref, lock=lock)
    expired = row is not None and row.expires_at is not None and row.expires_at <= rfc3339(datetime.now(UTC))
    if row is None or row.owner != owner or expired:
        raise SecretNotFound(ref)
    return row
