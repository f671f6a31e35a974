"""Rules for the starting state of a demonstration: paths and links that are safe, and contents without secrets.

Applied by the recorder before anything leaves the machine, and again by the service, which trusts no recorder.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID, uuid5

from contracts.learning.observation import ObservedActionEvent
from contracts.learning.starting_state import MAX_DEPTH, EntryKind, StartingEntry, StartingState
from domain.learning.conditions.rows import may_hold_rows
from domain.learning.redaction.kept_files import path_holds_secret, reason_by_content, reason_by_name
from domain.learning.redaction.redaction import redact

TOO_LARGE = "it is larger than the limit of one file"
TOTAL_REACHED = "the limit of all files together was reached"
NO_TIME = "there was no time to look through it for secrets"
UNREADABLE = "it could not be read"
UNUSED = "no step that was kept uses it"


def never() -> bool:
    """There is always time left."""
    return False


@dataclass(frozen=True)
class CleanState:
    """A starting state whose secrets are left out, and the contents that it keeps, by their digests."""

    state: StartingState
    contents: Mapping[str, bytes]

    @property
    def kept_bytes(self) -> int:
        """Bytes of all kept contents, equal ones once."""
        return sum(map(len, self.contents.values()))


def without_secrets(
    state: StartingState, contents: Mapping[str, bytes], out_of_time: Callable[[], bool] = never
) -> CleanState:
    """``state`` with what may hold a secret left out, by name or by content, and the contents that remain.

    An entry whose path or link itself holds a secret goes altogether, and the state counts as partial. Asked
    between two files, ``out_of_time`` ends the search: what was not looked through by then is left out as well.
    """
    reasons: dict[str, str | None] = {}
    entries = tuple(_clean(entry, contents, reasons, out_of_time) for entry in state.entries)
    remaining = tuple(entry for entry in entries if entry is not None)
    kept = {entry.sha256 for entry in remaining if entry.kept}
    clean = state.changed(
        folder_name=redact(state.folder_name).text[:160],
        locale=redact(state.locale).text[:80],
        time_zone=redact(state.time_zone).text[:80],
        entries=remaining,
        partial=state.partial or len(remaining) < len(entries),
    )
    return CleanState(clean, {digest: content for digest, content in contents.items() if digest in kept})


def _clean(
    entry: StartingEntry,
    contents: Mapping[str, bytes],
    reasons: dict[str, str | None],
    out_of_time: Callable[[], bool],
) -> StartingEntry | None:
    if path_holds_secret(entry.path) or (entry.link_target and path_holds_secret(entry.link_target)):
        return None
    if entry.kind is not EntryKind.FILE:
        return entry
    reason = reason_by_name(entry.path)
    if reason is None and entry.kept and entry.sha256 is not None:
        if entry.sha256 not in reasons:
            reasons[entry.sha256] = NO_TIME if out_of_time() else reason_by_content(contents[entry.sha256])
        reason = reasons[entry.sha256]
    if reason is None:
        left_out = redact(entry.left_out).text[:120] if entry.left_out else entry.left_out
        return entry if left_out == entry.left_out else entry.changed(left_out=left_out)
    # A digest would confirm a guess of what the file holds.
    return entry.changed(kept=False, sha256=None, whole_sha256=None, left_out=reason)


def problem_of(state: StartingState, sizes: Mapping[str, int]) -> str | None:
    """What is wrong with a state that a recorder sent, whose archive has contents of these ``sizes`` by digest."""
    return next(_problems(state, sizes), None)


def _problems(state: StartingState, sizes: Mapping[str, int]) -> Iterator[str]:
    kinds: dict[str, EntryKind] = {}
    for number, entry in enumerate(state.entries):
        if not is_safe_path(entry.path):
            yield f"entry {number}: its path is not a plain path below the folder"
        if entry.path in kinds:
            yield f"entry {number}: its path is there twice"
        kinds[entry.path] = entry.kind
        problem = _problem_of_entry(entry, sizes)
        if problem:
            yield f"entry {number}: {problem}"
    for number, entry in enumerate(state.entries):
        if any(kinds.get(above, EntryKind.FOLDER) is not EntryKind.FOLDER for above in _above(entry.path)):
            yield f"entry {number}: it lies below something that is no folder"
    named = {entry.sha256 for entry in state.entries if entry.kept}
    if not sizes.keys() <= named:
        yield "a content belongs to no kept file"


def _problem_of_entry(entry: StartingEntry, sizes: Mapping[str, int]) -> str | None:
    if (entry.kind is EntryKind.LINK) != (entry.link_target is not None):
        return "a link has a target, and nothing else has"
    if entry.link_target is not None and (not entry.link_target or "\0" in entry.link_target):
        return "the target of the link is no path"
    if not entry.kept:
        return None
    if entry.kind is not EntryKind.FILE or entry.sha256 is None:
        return "only the content of a file with a digest is kept"
    if entry.sha256 not in sizes:
        return "its content is missing"
    if entry.whole_size_bytes is not None and entry.whole_size_bytes <= entry.size_bytes:
        return "the whole file is larger than its beginning"
    return None if sizes[entry.sha256] == entry.size_bytes else "its size is not that of its content"


def first_lines(path: str, head: bytes) -> bytes | None:
    """The whole lines of a large file's beginning; None where it has none, or is no file of rows.

    What makes sense only as a whole (a picture, an archive, a document of JSON) is not cut.
    """
    end = head.rfind(b"\n") + 1
    return head[:end] if end and b"\0" not in head and may_hold_rows(path) else None


def state_before(
    states: Sequence[StartingState], events: Sequence[ObservedActionEvent]
) -> StartingState | None:
    """The state that was taken last before the first of the events."""
    if not events:
        return None
    before = [state for state in states if state.taken_at <= events[0].created_at]
    return max(before, key=lambda state: state.taken_at, default=None)


def extended_state(
    state: StartingState, files: Mapping[str, tuple[bytes, int]]
) -> tuple[StartingState, Mapping[str, bytes]]:
    """``state`` with these files (content and mode) as if they had been there, and their contents by digest.

    The same state and files give the same id again. It counts as taken before ``state``, so that it is only used
    where it is named.
    """
    added = tuple(
        StartingEntry(
            path=path,
            kind=EntryKind.FILE,
            size_bytes=len(content),
            mode=mode,
            modified_at=state.taken_at,
            sha256=hashlib.sha256(content).hexdigest(),
            kept=True,
        )
        for path, (content, mode) in sorted(files.items())
    )
    named = "\n".join(f"{one.sha256} {one.mode:o} {one.path}" for one in added)
    extended = state.changed(
        state_id=str(uuid5(UUID(state.state_id), named)),
        entries=(*(entry for entry in state.entries if entry.path not in files), *added),
        replaces=(),
        taken_at=state.taken_at - timedelta(microseconds=1),
    )
    return extended, {one.sha256: files[one.path][0] for one in added if one.sha256}


def beginnings(state: StartingState) -> tuple[StartingEntry, ...]:
    """The files of which the state holds the first lines alone."""
    return tuple(entry for entry in state.entries if entry.kept and entry.whole_size_bytes is not None)


def is_safe_path(path: str) -> bool:
    """Whether a path is relative, normal, without ``..``, and no deeper than a starting state may be."""
    parts = path.split("/")
    return "\0" not in path and len(parts) <= MAX_DEPTH + 1 and not {"", ".", ".."}.intersection(parts)


def link_stays_inside(path: str, target: str) -> bool:
    """Whether a link at ``path`` leads to a place below the folder, whatever other such links are on its way.

    ``..`` is taken at the beginning alone: behind a name that is a link itself it would lead elsewhere.
    """
    parts = target.split("/")
    up = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
    if not target or target.startswith("/") or "\0" in target or ".." in parts[up:]:
        return False
    return up <= path.count("/")


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
