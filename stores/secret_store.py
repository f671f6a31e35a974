"""Secrets at rest: sealed with AES-256-GCM, each bound to its reference, owner, kind and version.

Everything else knows a secret by its reference only. Each method is one transaction; the functions below take
part in the caller's, so that a secret changes together with the row that refers to it.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, delete, select, update
from uuid_utils import uuid7

from contracts.base import rfc3339
from stores.database import Database
from stores.mcp_tables import secrets as table
from stores.secret_keys import KeySource, SecretKeys, open_secret_keys
from stores.secret_problems import SecretConflict, SecretKeyLost, SecretNotFound
from stores.secret_rotation import KeyUse, Rotation, key_uses, rotate_keys
from stores.secret_sealing import opened, sealed, sealing_key
from stores.upsert import insert_or


class Revealed(NamedTuple):
    """A secret in clear, and its version. The value is not shown when it is printed."""

    value: str
    version: int

    def __repr__(self) -> str:
        return f"Revealed(value=…, version={self.version})"


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
            SecretConflict: the reference is somebody else's, or of another kind.
            SecretKeysUnavailable: the keys cannot be read.
            ValueError: the value is longer than 64 KiB.
        """
        with self._database.write() as connection:
            return self.put_within(connection, owner, kind, value, ref=ref, expires_at=expires_at)

    def reveal(self, ref: str, owner: str) -> Revealed:
        """The secret and its version.

        Raises:
            SecretNotFound: unknown, somebody else's, or expired.
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

    def replace(self, ref: str, owner: str, value: str, expected_version: int) -> int:
        """Puts ``value`` in the place of version ``expected_version``; returns the new version.

        Raises:
            SecretNotFound: unknown, somebody else's, or expired.
            SecretConflict: another version is there: somebody was faster.
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
