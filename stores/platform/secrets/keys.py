"""Key ring of the secret store: several keys, one of them current, in the system's keyring or a file.

A key id on every record, and a ring that still opens what older keys sealed (trust.md §4 "Secrets").
"""

import base64
import binascii
import json
import secrets
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Protocol

from filelock import FileLock, Timeout
from keyring.backend import KeyringBackend
from uuid_utils import uuid7

from stores.platform.secrets.key_places import (
    KeyFile,
    SecretKeysUnavailable,
    SystemKeyring,
    private_folder,
    real_keyring,
)

KeySource = Literal["auto", "keyring", "file"]

FOLDER = "secrets"
"""The folder in the data directory that holds the key file, and the lock under which a ring is changed."""

KEY_BYTES = 32
"""AES-256."""

_LOCK_FILE = "keys.lock"
_LOCK_SECONDS = 60.0


@dataclass(frozen=True)
class KeyRing:
    """Keys by id, and the one that seals. Says nothing of the keys when it is printed."""

    current: str
    keys: Mapping[str, bytes] = field(repr=False)

    @classmethod
    def new(cls) -> "KeyRing":
        """A ring with one fresh key."""
        return cls("", {}).with_new_key()

    def with_new_key(self) -> "KeyRing":
        """This ring with a fresh key, which is current from now on."""
        key_id = f"key-{datetime.now(UTC):%Y%m%d}-{uuid7().hex[-8:]}"
        return KeyRing(key_id, {**self.keys, key_id: secrets.token_bytes(KEY_BYTES)})

    def only(self, kept: set[str]) -> "KeyRing":
        """This ring without the keys that are neither current nor in ``kept``."""
        wanted = kept | {self.current}
        return KeyRing(self.current, {key_id: key for key_id, key in self.keys.items() if key_id in wanted})

    def to_text(self) -> str:
        """The ring as it is kept. Secret."""
        keys = {key_id: base64.b64encode(key).decode("ascii") for key_id, key in self.keys.items()}
        return json.dumps({"schema_version": 1, "current": self.current, "keys": keys})

    @classmethod
    def from_text(cls, text: str) -> "KeyRing":
        """The ring that ``to_text`` wrote.

        Raises:
            ValueError: it is damaged; the message holds nothing of it.
        """
        try:
            document = json.loads(text)
            keys = {key_id: base64.b64decode(key, validate=True) for key_id, key in document["keys"].items()}
            ring = cls(document["current"], keys)
        except (ValueError, TypeError, KeyError, AttributeError, binascii.Error):
            raise ValueError("it is not a key ring, or damaged") from None
        if ring.current not in keys or any(len(key) != KEY_BYTES for key in keys.values()):
            raise ValueError("it is not a key ring, or damaged")
        return ring


class KeyPlace(Protocol):
    """Where the text of a ring is kept. For one writer at a time."""

    def read(self) -> str | None:
        """The text, or ``None`` when nothing was ever kept here; ``SecretKeysUnavailable`` when unreadable."""
        ...

    def write(self, text: str) -> None:
        """Keeps the text, durably and as a whole."""
        ...

    def __str__(self) -> str:
        """Where it is, for people."""
        ...


class SecretKeys:
    """The ring over its places. The first place is the one that is written; all are looked into.

    Safe to share between threads, and between processes of one machine.
    """

    def __init__(self, folder: Path, places: Sequence[KeyPlace]) -> None:
        """``folder`` holds the lock; ``places`` are never empty."""
        self._folder = folder
        self._places = tuple(places)
        self._cached: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"SecretKeys({', '.join(map(str, self._places))})"

    @property
    def place(self) -> str:
        """Where new keys are kept, for people."""
        return str(self._places[0])

    @property
    def looked_into(self) -> str:
        """Every place that is looked into for a key, for people."""
        return " or ".join(map(str, self._places))

    def ring(self) -> KeyRing:
        """The ring as it is now; the first one is made here, once for all processes.

        Raises:
            SecretKeysUnavailable: a place cannot be read; nothing was overwritten.
        """
        ring = self.kept_ring()
        if ring is None:
            with self.changing():
                ring = self.kept_ring() or self.save(KeyRing.new())
        with self._lock:
            self._cached = dict(ring.keys)
        return ring

    def kept_ring(self) -> KeyRing | None:
        """The ring as it is now, or ``None`` when there is none yet.

        Raises:
            SecretKeysUnavailable: a place cannot be read.
        """
        return self._read(self._places[0])

    def find(self, key_id: str) -> bytes | None:
        """The key with this id, wherever it is kept; ``None`` when it is lost.

        Raises:
            SecretKeysUnavailable: a place cannot be read.
        """
        with self._lock:
            key = self._cached.get(key_id)
        return key if key is not None else self.known().get(key_id)

    def known(self) -> Mapping[str, bytes]:
        """Every key that there is, in all places.

        Raises:
            SecretKeysUnavailable: a place cannot be read.
        """
        known: dict[str, bytes] = {}
        for place in self._places:
            ring = self._read(place)
            known |= ring.keys if ring is not None else {}
        return known

    def save(self, ring: KeyRing) -> KeyRing:
        """Keeps the ring instead of the one that is there; only inside ``changing``.

        Raises:
            SecretKeysUnavailable: it cannot be kept.
        """
        self._places[0].write(ring.to_text())
        return ring

    @contextmanager
    def changing(self) -> Generator[None]:
        """Exclusive lock on the key ring for this machine.

        Raises:
            SecretKeysUnavailable: another process has been changing it for a minute, or the folder cannot be written.
        """
        private_folder(self._folder)
        lock = FileLock(self._folder / _LOCK_FILE, timeout=_LOCK_SECONDS, mode=0o600, fallback_to_soft=False)
        try:
            lock.acquire()
        except Timeout:
            raise SecretKeysUnavailable(
                f"{self.place} has been changed by another process for {_LOCK_SECONDS:g} s; "
                "wait for `apprentice secrets rotate` to end, or stop the process that hangs"
            ) from None
        except OSError as error:
            raise SecretKeysUnavailable(
                f"{self._folder} cannot be locked: {error.strerror}; make it writable for the user that runs "
                "Apprentice"
            ) from None
        try:
            yield
        finally:
            lock.release()

    def _read(self, place: KeyPlace) -> KeyRing | None:
        text = place.read()
        if text is None:
            return None
        try:
            return KeyRing.from_text(text)
        except ValueError as error:
            raise SecretKeysUnavailable(
                f"{place} cannot be used: {error}; put it back from a backup. It is never overwritten"
            ) from None


def open_secret_keys(
    source: KeySource, service: str, data_dir: Path, backend: KeyringBackend | None = None
) -> SecretKeys:
    """The keys of the installation in ``data_dir``.

    ``auto`` writes to the file if there is one, else to a real keyring, else to a new file; it looks into both,
    so that a keyring that comes or goes loses nothing. ``service`` names the keyring's entry; ``backend`` is the
    keyring to use instead of the system's.

    Raises:
        SecretKeysUnavailable: ``keyring`` is asked for and there is none that keeps secrets.
    """
    folder = data_dir / FOLDER
    file = KeyFile(folder)
    if source == "file":
        return SecretKeys(folder, [file])
    found = real_keyring(backend)
    if found is None:
        if source == "auto":
            return SecretKeys(folder, [file])
        raise SecretKeysUnavailable(
            "secret_key_source is keyring, but this system has none that keeps secrets; "
            "unlock or install one, or set APPRENTICE_SECRET_KEY_SOURCE=file"
        )
    system = SystemKeyring(service, folder, found)
    if source == "keyring":
        return SecretKeys(folder, [system])
    return SecretKeys(folder, [file, system] if file.exists() else [system, file])
