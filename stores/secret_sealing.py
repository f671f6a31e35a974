"""Sealing and opening a record of the secret store with AES-256-GCM."""

import os
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import Connection, Row, text

from stores.canonical import canonical_json
from stores.secret_keys import SecretKeys
from stores.secret_problems import SecretKeyLost, SecretTampered

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
