"""Keys of this installation as they would stand in an answer of a tool, so that they can be masked there.

Access tokens need no list: they are known by their form.
"""

import base64
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from gateways.platform.payload_signing import FOLDER as PAYLOAD_KEYS
from stores.platform.secrets.key_places import KeyFile, SecretKeysUnavailable
from stores.platform.secrets.keys import FOLDER as SECRET_KEYS
from stores.platform.secrets.keys import KeyRing

KEPT_SECONDS = 10.0
"""How long keys that were read are used, so that a busy worker does not read them for every call."""


class OwnSecrets:
    """The keys in the files of a data directory, read anew every ten seconds. Safe to share between threads.

    A file that cannot be read gives none: the keys in it cannot be read by a tool that runs as the same user either.
    """

    def __init__(self, data_dir: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._files = [KeyFile(data_dir / folder) for folder in (PAYLOAD_KEYS, SECRET_KEYS)]
        self._clock = clock
        self._lock = threading.Lock()
        self._known: tuple[str, ...] = ()
        self._read_at: float | None = None

    def __call__(self) -> tuple[str, ...]:
        """Every key in each of its spellings: base64 (both alphabets, unpadded) and hexadecimal."""
        with self._lock:
            now = self._clock()
            if self._read_at is None or now - self._read_at > KEPT_SECONDS:
                self._known = tuple(dict.fromkeys(self._spelled()))
                self._read_at = now
            return self._known

    def _spelled(self) -> Iterator[str]:
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
