"""Takes the starting state of a demonstration: what its folder holds before the first command, without secrets.

Done before the shell's first prompt, within seconds: what there was no time for is listed and not kept. Nothing is
written to the disk here.
"""

import gzip
import hashlib
import io
import os
import stat
import tarfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import uuid_utils

from contracts.base import clipped
from contracts.learning.starting_state import (
    CONTENTS_FOLDER,
    MAX_DEPTH,
    MAX_HEAD_BYTES,
    STATE_NAME,
    EntryKind,
    InputLimits,
    StartingEntry,
    StartingState,
)
from domain.learning.redaction.kept_files import reason_by_content, reason_by_name
from domain.learning.starting_state import (
    NO_TIME,
    TOO_LARGE,
    TOTAL_REACHED,
    UNREADABLE,
    CleanState,
    beginnings,
    first_lines,
    is_safe_path,
    without_secrets,
)
from host.folder_capture import (
    FoundEntry,
    FoundFolder,
    FoundKind,
    digest_of,
    list_folder,
    read_file,
    read_head,
)

_MARK_KEPT_S = 8 * 24 * 3600.0
_LONGEST_PATH = 400


@dataclass(frozen=True)
class InputOptions:
    """What is kept of the folder; ``private_folders`` never are, such as the product's own data.

    ``budget_s`` bounds how long taking the state may hold the first prompt up.
    """

    limits: InputLimits = field(default_factory=InputLimits)
    private_folders: Sequence[Path] = ()
    budget_s: float = 4.0


@dataclass(frozen=True)
class TakenState:
    """A starting state, and the bytes of the files that it keeps."""

    clean: CleanState

    def text(self) -> str:
        """One line for the person, said when recording begins."""
        files = [entry for entry in self.clean.state.entries if entry.kind is EntryKind.FILE]
        kept = sum(entry.kept for entry in files)
        if not files:
            return "this folder holds no files to keep as the lesson's starting point"
        which = f"the {kept} files" if kept == len(files) else f"{kept} of the {len(files)} files"
        which = "the 1 file" if kept == len(files) == 1 else which
        said = (
            f"keeping {which} of this folder ({_size(self.clean.kept_bytes)}) as the lesson's starting point"
        )
        if kept < len(files):
            said += ", without those that are too large or may hold secrets"
        if cut := len(beginnings(self.clean.state)):
            said += f", of {cut} large {'one' if cut == 1 else 'ones'} the first lines"
        return f"{said}; --no-inputs leaves them out"


def may_be_kept(folder: Path) -> bool:
    """Whether what stands in a folder may be kept: not that of the whole machine, nor of everything a person has."""
    with suppress(RuntimeError, OSError):
        if folder.resolve() == Path.home().resolve():
            return False
    return folder.resolve().parent != folder.resolve()


HOME_FOLDER = "this is your home folder: its files are not kept as the lesson's starting point"


def lesson_folder(begun_in: Path, entered_in: Path) -> Path:
    """The folder of a demonstration that was begun in one folder and whose first command is entered in another.

    Who goes to another folder before doing anything means that folder. Below the first one it is the first, unless
    that is one of which nothing may be kept.
    """
    if entered_in.is_relative_to(begun_in) and may_be_kept(begun_in):
        return begun_in
    return entered_in if may_be_kept(entered_in) else begun_in


def take_starting_state(folder: Path, session_id: str, options: InputOptions) -> TakenState:
    """Lists ``folder``, reads what may be kept of it, and leaves out what may hold a secret."""
    until = time.monotonic() + options.budget_s

    def out_of_time() -> bool:
        return time.monotonic() > until

    found = _listed(folder, options, out_of_time)
    contents = _Contents()
    entries = [
        _entry(folder, one, options.limits, contents, out_of_time)
        for one in found.entries
        if len(one.path) <= _LONGEST_PATH and is_safe_path(one.path) and _fits(one.link_target)
    ]
    state = StartingState(
        state_id=str(uuid_utils.uuid7()),
        learn_session_id=session_id,
        folder_name=clipped(os.fsencode(folder.name).decode("utf-8", errors="replace"), 160),
        entries=tuple(entries),
        partial=found.partial or len(entries) < len(found.entries),
        locale=_locale(),
        time_zone=_time_zone(),
        taken_at=datetime.now(UTC),
    )
    clean = without_secrets(state, contents.by_digest, out_of_time)
    return TakenState(replace(clean, state=_with_digests(folder, clean.state, options.limits, out_of_time)))


def folder_entry(folder: Path, path: str) -> StartingEntry:
    """The entry of a folder itself, in a state of one that holds it."""
    status = folder.stat()
    return StartingEntry(
        path=path,
        kind=EntryKind.FOLDER,
        mode=stat.S_IMODE(status.st_mode),
        modified_at=datetime.fromtimestamp(max(0, status.st_mtime_ns) / 1e9, UTC),
    )


def state_archive(clean: CleanState) -> bytes:
    """The archive in which a state is sent: a gzip'd tar, ``state.json`` first, then each content by its digest."""
    packed = io.BytesIO()
    # Fast rather than small: it is made while somebody waits for a prompt.
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        _put(archive, STATE_NAME, clean.state.model_dump_json().encode())
        for digest, content in clean.contents.items():
            _put(archive, f"{CONTENTS_FOLDER}{digest}", content)
    return packed.getvalue()


class LeftFolder:
    """Remembers how wrapped commands left a folder, so that only the first of several takes its starting state."""

    def __init__(self, marks: Path, session_id: str, folder: Path, options: InputOptions) -> None:
        """``marks`` is a private folder of small files, one a session and folder."""
        name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
        self._mark = marks / f"{session_id}.{name}.left"
        self._folder = folder
        self._options = options

    def is_as_it_was_left(self) -> bool:
        """Whether nothing changed since the command before this one."""
        with suppress(OSError):
            return self._mark.read_text(encoding="ascii") == self._fingerprint()
        return False

    def remember(self) -> None:
        """Notes how the folder is now, and forgets notes of long ago."""
        with suppress(OSError):
            self._mark.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._mark.write_text(self._fingerprint(), encoding="ascii")
            for old in self._mark.parent.glob("*.left"):
                if time.time() - old.stat().st_mtime > _MARK_KEPT_S:
                    old.unlink(missing_ok=True)

    def _fingerprint(self) -> str:
        until = time.monotonic() + self._options.budget_s
        found = _listed(self._folder, self._options, lambda: time.monotonic() > until)
        return hashlib.sha256(repr(found.entries).encode()).hexdigest()


def _listed(folder: Path, options: InputOptions, out_of_time: Callable[[], bool]) -> FoundFolder:
    return list_folder(
        folder,
        max_entries=options.limits.max_files,
        max_depth=MAX_DEPTH,
        leave_out=options.private_folders,
        out_of_time=out_of_time,
    )


def _entry(
    folder: Path,
    one: FoundEntry,
    limits: InputLimits,
    contents: "_Contents",
    out_of_time: Callable[[], bool],
) -> StartingEntry:
    entry = StartingEntry(
        path=one.path,
        kind=EntryKind(one.kind.value),
        size_bytes=one.size_bytes,
        mode=one.mode,
        modified_at=datetime.fromtimestamp(max(0, one.modified_ns) / 1e9, UTC),
        link_target=one.link_target,
    )
    if one.kind is not FoundKind.FILE:
        return entry
    reason = reason_by_name(one.path)
    if reason is None and out_of_time():
        reason = NO_TIME
    if reason is not None:
        return entry.changed(left_out=reason)
    is_large = one.size_bytes > limits.max_file_bytes
    content = (
        _beginning(folder, one, limits) if is_large else read_file(folder, one.path, limits.max_file_bytes)
    )
    if content is None:
        return entry.changed(left_out=TOO_LARGE if is_large else UNREADABLE)
    digest = hashlib.sha256(content).hexdigest()
    if not contents.add(digest, content, limits.max_total_bytes):
        return entry.changed(left_out=TOTAL_REACHED)
    whole = one.size_bytes if is_large else None
    return entry.changed(size_bytes=len(content), whole_size_bytes=whole, sha256=digest, kept=True)


def _with_digests(
    folder: Path, state: StartingState, limits: InputLimits, out_of_time: Callable[[], bool]
) -> StartingState:
    """The digests of files beyond the limits, in the time that is left: nothing that is kept waits for them."""

    def known(entry: StartingEntry) -> StartingEntry:
        beyond = entry.whole_size_bytes is not None or entry.left_out in (TOO_LARGE, TOTAL_REACHED)
        if not beyond or out_of_time():
            return entry
        if entry.left_out == TOTAL_REACHED:
            # Nobody has looked through it yet, and a digest would confirm a guess of a secret.
            content = read_file(folder, entry.path, limits.max_file_bytes)
            if content is None or reason_by_content(content):
                return entry
        return entry.changed(whole_sha256=digest_of(folder, entry.path, out_of_time))

    return state.changed(entries=tuple(map(known, state.entries)))


def _beginning(folder: Path, one: FoundEntry, limits: InputLimits) -> bytes | None:
    head = read_head(folder, one.path, min(MAX_HEAD_BYTES, limits.max_file_bytes))
    return first_lines(one.path, head) if head is not None else None


class _Contents:
    """What was read, equal contents once, up to a total."""

    def __init__(self) -> None:
        self.by_digest: dict[str, bytes] = {}
        self._total = 0

    def add(self, digest: str, content: bytes, most: int) -> bool:
        if digest not in self.by_digest:
            if self._total + len(content) > most:
                return False
            self.by_digest[digest] = content
            self._total += len(content)
        return True


def _fits(target: str | None) -> bool:
    return target is None or 0 < len(target) <= _LONGEST_PATH


def _put(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def _size(count: int) -> str:
    if count < 1024:
        return f"{count} bytes"
    kib = count / 1024
    return f"{kib:.0f} KiB" if kib < 1024 else f"{kib / 1024:.1f} MiB"


def _locale() -> str:
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    return clipped(next((name for name in names if name), "C.UTF-8"), 80)


def _time_zone() -> str:
    """The zone by its name, as far as the machine says one."""
    named = os.environ.get("TZ", "").removeprefix(":")
    if not named:
        with suppress(OSError):
            named = os.path.realpath("/etc/localtime").partition("/zoneinfo/")[2]
    return clipped(named or "UTC", 80)
