"""Spool of redacted events on disk until the API has confirmed them; survives crashes of either side.

One folder, private to the user; one JSON Lines file a run of a recorder (``{session}.{run}.jsonl``), and
beside it a ``.delivered`` file with the byte offset up to which the API has confirmed. Appends are synced
before they count. A run locks its file for its lifetime: so a later run can distinguish a crashed run's file,
which it delivers first, from one that is still being written.
"""

import fcntl
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import uuid_utils
from pydantic import ValidationError

from contracts.learning.observation import ObservedActionEvent
from domain.learning.redaction.redaction import redact_event

DEFAULT_MAX_BYTES = 64 * 1024 * 1024
"""What all files of a spool folder may take together; about 100,000 commands."""

_MAX_BATCH_BYTES = 256 * 1024


class SpoolError(Exception):
    """The spool folder cannot be used; the message says which and why."""


class SpoolFull(SpoolError):
    """The spool has reached its size limit; nothing of the refused events was written."""


@dataclass(frozen=True, slots=True)
class SpoolBatch:
    """Undelivered events of one session and one file, and where the file stands once they are confirmed."""

    learn_session_id: str
    events: tuple[ObservedActionEvent, ...]
    unreadable: int
    end_offset: int
    file: "SpoolFile"


class SpoolFile:
    """One run's events on disk, locked by whoever writes or delivers them. Made by ``Spool``."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.learn_session_id = path.name.split(".", 1)[0]
        self._descriptor = descriptor
        self._offset_path = path.with_suffix(".delivered")
        self.delivered = self._stored_offset()
        self.pending = sum(_event_in(line) is not None for line, _ in self._lines_after(self.delivered))

    @property
    def size(self) -> int:
        """Bytes on disk, a torn tail included."""
        return os.fstat(self._descriptor).st_size

    def append(self, lines: bytes, count: int) -> None:
        """Adds ``count`` whole lines and syncs them; a partial write is taken back.

        Raises:
            OSError: the disk refused; the file is as it was before.
        """
        before = self.size
        try:
            written = 0
            while written < len(lines):
                written += os.pwrite(self._descriptor, lines[written:], before + written)
            os.fsync(self._descriptor)
        except OSError:
            os.ftruncate(self._descriptor, before)
            raise
        self.pending += count

    def read_batch(self, limit: int) -> SpoolBatch | None:
        """The next undelivered events, at most ``limit``; ``None`` when there is no further whole line."""
        events: list[ObservedActionEvent] = []
        unreadable = 0
        end = self.delivered
        for line, line_end in self._lines_after(end):
            event = _event_in(line)
            if event is None:
                unreadable += 1
            else:
                events.append(event)
            end = line_end
            if len(events) == limit or end - self.delivered >= _MAX_BATCH_BYTES:
                break
        if end == self.delivered:
            return None
        return SpoolBatch(self.learn_session_id, tuple(events), unreadable, end, self)

    def confirm(self, offset: int, count: int) -> None:
        """Records durably that everything before ``offset`` is delivered: ``count`` events more."""
        temporary = self._offset_path.with_suffix(".delivered-new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, str(offset).encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(self._offset_path)
        _sync_folder(self.path.parent)
        self.delivered = offset
        self.pending -= count

    def remove(self) -> None:
        """Deletes the file and its offset; the lock is kept until ``close``."""
        self.path.unlink(missing_ok=True)
        self._offset_path.unlink(missing_ok=True)
        _sync_folder(self.path.parent)

    def close(self) -> None:
        """Gives the file free for another run."""
        os.close(self._descriptor)

    def _stored_offset(self) -> int:
        with suppress(FileNotFoundError, ValueError):
            return min(int(self._offset_path.read_text(encoding="ascii")), self.size)
        return 0

    def _lines_after(self, offset: int) -> Iterator[tuple[bytes, int]]:
        with self.path.open("rb") as stream:
            stream.seek(offset)
            for line in stream:
                if not line.endswith(b"\n"):
                    return
                offset += len(line)
                yield line, offset


class Spool:
    """A recorder's spool: its own file to append to, and the files of past runs. Safe across threads.

    Args:
        folder: made if needed, and private to the user (0700).
        learn_session_id: the session that this run's events belong to.
        max_bytes: what the folder's files may take together.

    Raises:
        SpoolError: the folder cannot be made, or belongs to somebody else.
    """

    def __init__(self, folder: Path, learn_session_id: str, *, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self.folder = folder
        self._max_bytes = max_bytes
        self._lock = threading.RLock()
        _make_private(folder)
        self._own = self._create(learn_session_id)
        self._older = self._claim_older()

    def append(self, events: Sequence[ObservedActionEvent]) -> None:
        """Keeps ``events`` durably, redacted once more: nothing else may touch the disk.

        Raises:
            SpoolFull: the size limit would be passed, or the disk is full.
        """
        lines = b"".join(redact_event(e).model_dump_json(exclude_none=True).encode() + b"\n" for e in events)
        with self._lock:
            used = self._own.size + sum(file.size for file in self._older)
            if used + len(lines) > self._max_bytes:
                raise SpoolFull(
                    f"the spool {self.folder} holds {used} bytes and its limit is {self._max_bytes}: let a "
                    "recorder deliver what waits there, or remove the files of sessions that are over"
                )
            try:
                self._own.append(lines, len(events))
            except OSError as error:
                raise SpoolFull(f"the spool {self.folder} cannot be written ({error}): free space") from error

    def next_batch(self, limit: int, *, skip_sessions: frozenset[str] = frozenset()) -> SpoolBatch | None:
        """The oldest undelivered events of one session, earlier runs first; ``None`` when there are none."""
        with self._lock:
            for file in [*self._older, self._own]:
                if file.learn_session_id in skip_sessions:
                    continue
                batch = file.read_batch(limit)
                if batch is not None:
                    return batch
                if file is not self._own:
                    self._finish(file)
        return None

    def confirm(self, batch: SpoolBatch) -> None:
        """Records that the API has ``batch``; it is never handed out again."""
        with self._lock:
            batch.file.confirm(batch.end_offset, len(batch.events))

    def pending(self, *, skip_sessions: frozenset[str] = frozenset()) -> int:
        """How many events of this run and of claimed earlier runs wait for delivery."""
        with self._lock:
            files = [*self._older, self._own]
            return sum(file.pending for file in files if file.learn_session_id not in skip_sessions)

    def forget_own(self) -> None:
        """Gives up what this run wrote and nobody has taken yet: it was never to be kept."""
        with self._lock:
            self._own.confirm(self._own.size, self._own.pending)

    def close(self) -> None:
        """Lets go of all files; what is delivered is removed, what is not stays for the next run."""
        with self._lock:
            for file in [*self._older, self._own]:
                if file.read_batch(1) is None:
                    file.remove()
                file.close()
            self._older = []

    def _create(self, learn_session_id: str) -> SpoolFile:
        path = self.folder / f"{learn_session_id}.{uuid_utils.uuid7()}.jsonl"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _sync_folder(self.folder)
        return SpoolFile(path, descriptor)

    def _claim_older(self) -> list[SpoolFile]:
        others = (p for p in self.folder.glob("*.*.jsonl") if p != self._own.path)
        claimed = (_claim(path) for path in sorted(others, key=lambda p: p.name.split(".")[1]))
        return [file for file in claimed if file is not None]

    def _finish(self, file: SpoolFile) -> None:
        self._older.remove(file)
        file.remove()
        file.close()


def _claim(path: Path) -> SpoolFile | None:
    """An earlier run's file, locked; ``None`` where its run is alive or another run was faster."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    if os.fstat(descriptor).st_nlink == 0:
        os.close(descriptor)
        return None
    return SpoolFile(path, descriptor)


def _event_in(line: bytes) -> ObservedActionEvent | None:
    # Redacted again on the way out: the rules may know more than when the line was written.
    try:
        return redact_event(ObservedActionEvent.model_validate_json(line))
    except ValidationError:
        return None


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if folder.stat().st_uid != os.getuid():
            raise SpoolError(
                f"the spool folder {folder} belongs to another user: choose a folder of your own"
            )
        folder.chmod(0o700)
    except OSError as error:
        raise SpoolError(f"the spool folder {folder} cannot be used ({error}): choose another") from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class RecorderError(Exception):
    """The recorder cannot start or go on; the message says why and what to do."""
