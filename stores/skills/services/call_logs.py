"""Call logs: one file of JSON lines for each call, on disk before ``write`` returns (AM-19, AM-43, O-22, O-23).

A file is named by a hash of the call's id, which is data of the caller. A line that a killed process left half
written is ended before the next one.
"""

import fcntl
import json
import os
import stat
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from host.atomic_file import sync_folder

MAX_ENTRY_BYTES = 65_536
"""The longest entry: 64 KiB as JSON."""

MAX_LOG_BYTES = 16_777_216
"""The longest log of one call: 16 MiB."""

KEPT_SECONDS = 30 * 86_400
"""How long a log is kept after its last entry: 30 days (O-23)."""


class CallLogFailed(Exception):
    """The entry is not on disk; the text says why and holds nothing of it."""


class CallLogs:
    """All call logs of an installation. Safe to share between threads and processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path_of(self, owner: str, call_id: str) -> Path:
        """Where the log of an owner's call lies."""
        name = sha256("\0".join((owner, call_id)).encode(errors="surrogatepass")).hexdigest()[:40]
        return self._folder / f"{name}.jsonl"

    def write(self, owner: str, call_id: str, entry: dict[str, Any]) -> None:
        """Appends an entry.

        Raises:
            CallLogFailed: it is no JSON, too long, or cannot be written.
        """
        try:
            line = json.dumps(entry, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        except (TypeError, ValueError, RecursionError) as error:
            raise CallLogFailed(f"the entry is no JSON ({type(error).__name__})") from None
        if len(line) > MAX_ENTRY_BYTES:
            raise CallLogFailed("the entry is longer than 64 KiB")
        try:
            self._append(self.path_of(owner, call_id), line)
        except OSError as error:
            raise CallLogFailed(
                f"the call log cannot be written ({error.strerror or type(error).__name__})"
            ) from None

    def prune(self, now: float) -> int:
        """Removes logs whose last entry is older than they are kept; how many."""
        removed = 0
        for path in self._folder.glob("*.jsonl"):
            with suppress(OSError):
                if now - path.stat().st_mtime > KEPT_SECONDS:
                    path.unlink()
                    removed += 1
        return removed

    def _append(self, path: Path, line: bytes) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OSError("it is no file")
            if status.st_size + len(line) > MAX_LOG_BYTES:
                raise OSError("it is full")
            if status.st_size and os.pread(descriptor, 1, status.st_size - 1) != b"\n":
                line = b"\n" + line
            view = memoryview(line)
            while view:
                view = view[os.write(descriptor, view) :]
            os.fsync(descriptor)
            if not status.st_size:
                sync_folder(self._folder)
                self.prune(time.time())
        finally:
            os.close(descriptor)
