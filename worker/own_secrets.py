"""Secrets that this installation keeps, as fingerprints, so that they can be masked in an answer of a tool.

They are those of the secret store (tokens and keys of every sign-in, whoever's it is), the installation's own keys,
what its settings refer to, and the variables that local programs are given. Access tokens need no list: they are known
by their form.
"""

import base64
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from clients.mcp.oauth_tokens import TokenSet
from clients.platform.key_reference import KeyUnavailable, read_api_key
from clients.platform.secret_fingerprints import Fingerprint, Fingerprints, fingerprints_of
from domain.learning.redaction.secret_names import is_secret_name
from gateways.platform.payload_signing import FOLDER as PAYLOAD_KEYS
from stores.mcp.auth.tokens import TOKEN
from stores.platform.secrets.key_places import KeyFile, SecretKeysUnavailable
from stores.platform.secrets.keys import FOLDER as SECRET_KEYS
from stores.platform.secrets.keys import KeyRing
from stores.platform.secrets.store import OpenedSecret, SecretStore

KEPT_SECONDS = 10.0
"""How long what was read of key files and references is used: a busy worker does not read them for every call."""


class OwnSecrets:
    """Fingerprints of all that is secret here. A secret is in clear only while they are taken, once a version.

    What changed in the store is known at the next call, key files are read anew every ten seconds. A key file that
    cannot be read gives none: a tool that runs as the same user cannot read it either. Safe to share between threads.
    """

    def __init__(
        self,
        data_dir: Path,
        kept: SecretStore,
        references: Collection[str] = (),
        variables: Iterable[str] = (),
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``references`` are ``env:NAME`` or ``file:PATH``. Of ``variables``, which local programs may be given, those
        count whose name is a secret's."""
        self._files = [KeyFile(data_dir / folder) for folder in (PAYLOAD_KEYS, SECRET_KEYS)]
        self._references = tuple(references)
        self._kept = kept
        self._clock = clock
        self._lock = threading.Lock()
        named = (environ.get(name, "") for name in variables if is_secret_name(name))
        self._given = tuple(one for value in named for one in fingerprints_of(value))
        self._of_files: tuple[Fingerprint, ...] = ()
        self._read_at: float | None = None
        self._of_store: dict[str, tuple[int, tuple[Fingerprint, ...]]] = {}
        self._all = Fingerprints(self._given)

    def __call__(self) -> Fingerprints:
        """All that is known now; asks the database, so it belongs in a thread."""
        with self._lock:
            files, store = self._files_changed(), self._store_changed()
            if files or store:
                stored = (one for _, taken in self._of_store.values() for one in taken)
                self._all = Fingerprints((*self._given, *self._of_files, *stored))
            return self._all

    def _files_changed(self) -> bool:
        now, before = self._clock(), self._of_files
        if self._read_at is None or now - self._read_at > KEPT_SECONDS:
            self._of_files = tuple(one for spelled in self._spelled() for one in fingerprints_of(spelled))
            self._read_at = now
        return self._of_files != before

    def _store_changed(self) -> bool:
        versions = self._kept.versions()
        gone = self._of_store.keys() - versions.keys()
        for ref in gone:
            del self._of_store[ref]
        known = {ref: version for ref, (version, _) in self._of_store.items()}
        fresh = [ref for ref, version in versions.items() if known.get(ref) != version]
        changed = bool(gone)
        # While the keys cannot be read no sign-in can be used either; what was known stays known.
        with suppress(SecretKeysUnavailable):
            for secret in self._kept.each(fresh):
                taken = tuple(one for value in _values(secret) for one in fingerprints_of(value))
                self._of_store[secret.ref] = (secret.version, taken)
                changed = True
        return changed

    def _spelled(self) -> Iterator[str]:
        """What is referred to, and every key in its spellings: base64 (both alphabets, unpadded) and hexadecimal."""
        for reference in self._references:
            with suppress(KeyUnavailable):
                yield read_api_key(reference)
        for file in self._files:
            try:
                text = file.read()
                keys = KeyRing.from_text(text).keys.values() if text is not None else ()
            except (SecretKeysUnavailable, ValueError, OSError):
                continue
            for key in keys:
                yield base64.b64encode(key).decode().rstrip("=")
                yield base64.urlsafe_b64encode(key).decode().rstrip("=")
                yield key.hex()
                yield key.hex().upper()


def _values(secret: OpenedSecret) -> tuple[str, ...]:
    if secret.kind != TOKEN:
        return (secret.value,)
    tokens = TokenSet.opened(secret.value)
    return (tokens.access_token, tokens.refresh_token or "")
