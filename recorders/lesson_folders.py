"""Further folders of a terminal lesson: found in a command line or by where it is entered, kept as they were before it.

A folder becomes one of the lesson's once a command that is kept was entered in it, or changed something in it that its
line names; what was only looked at, or only read, does not. Nothing is kept twice: a folder inside another one counts
as it was when it was met first.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

import uuid_utils

from contracts.learning.observation import MAX_FOLDERS, LessonFolder
from contracts.learning.starting_state import StartingEntry
from domain.learning.commands.shell_grammar import SimpleCommand, UnreadableCommand, split_commands
from domain.learning.interpretation.meaningful import SHOWING
from domain.learning.lesson_folders import below_root, placed
from domain.learning.redaction.kept_files import path_holds_secret
from domain.learning.starting_state import CleanState, is_safe_path
from host.folder_capture import list_folder
from host.folder_snapshot import FolderSnapshot, take_snapshot
from recorders.starting_state import InputOptions, TakenState, folder_entry, may_be_kept, take_starting_state

MOST_CANDIDATES = 3
"""Folders of one command line that are looked at before it runs."""

_SYSTEM = tuple(
    map(Path, ("/bin", "/boot", "/dev", "/etc", "/lib", "/proc", "/run", "/sbin", "/sys", "/usr"))
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_COPYING = frozenset({"cp", "ln", "install", "rsync"})
_READING = SHOWING - {"cd", "pushd"} | {
    "awk",
    "cut",
    "gawk",
    "join",
    "jq",
    "paste",
    "sort",
    "tr",
    "uniq",
    "test",
    "[",
    "[[",
    "echo",
}
_INTERPRETERS = ("python", "bash", "sh", "perl", "ruby", "node")
_EXPANDED = re.compile(r"[*?{$`\[]")
_LONGEST_PATH = 400


@dataclass(frozen=True)
class Candidate:
    """A folder outside the lesson's as it was before a command; ``taken`` is ``None`` where it was not there."""

    folder: Path
    shown: Path
    """As the command line or the shell names it: links on the way are not resolved."""
    taken: TakenState | None
    marks: object
    """Marks of its files, to see whether anything in it changed."""
    entered: bool
    assigned: bool = False
    """Whether it was put into a variable, so that later commands may name it without its path."""


class LessonFolders:
    """The folders of one lesson, the first one first, and their starting state as a whole."""

    def __init__(
        self, first: Path, taken: TakenState | None, session_id: str, options: InputOptions | None
    ) -> None:
        """Without ``options`` or a state that was ``taken`` of the first folder there are no further ones."""
        self.taken = taken
        self._session = session_id
        self._options = options
        self._shown: dict[Path, Path] = {first: first}
        self._made: frozenset[Path] = frozenset()

    @property
    def first(self) -> Path:
        """The folder that the lesson began in."""
        return next(iter(self._shown))

    @property
    def root(self) -> Path:
        """The nearest folder that holds all of them."""
        return Path(below_root([str(folder) for folder in self._shown])[0])

    @property
    def paths(self) -> tuple[Path, ...]:
        """All of them."""
        return tuple(self._shown)

    @property
    def described(self) -> tuple[LessonFolder, ...]:
        """All of them for an event; empty where there is one only."""
        if len(self._shown) == 1:
            return ()
        _, names = below_root([str(folder) for folder in self._shown])
        return tuple(
            LessonFolder(name=name, places=_places(folder, shown), made=folder in self._made)
            for name, (folder, shown) in zip(names, self._shown.items(), strict=True)
        )

    def holds(self, folder: Path) -> bool:
        """Whether the folder is one of them, or lies in one."""
        return any(folder.is_relative_to(one) for one in self._shown)

    def looked_at(self, folder: Path) -> FolderSnapshot:
        """The present files of a folder, without the product's own."""
        found = take_snapshot(folder)
        private = [path for path in self._private() if path.is_relative_to(folder)]
        if not private:
            return found
        own = tuple(f"{path.relative_to(folder).as_posix()}/" for path in private)
        return replace(found, files={p: mark for p, mark in found.files.items() if not p.startswith(own)})

    def candidates(
        self, entered_in: Path, line: str, known: Sequence[Candidate] = ()
    ) -> tuple[Candidate, ...]:
        """Folders outside that a command may work in, looked at now: the one it is entered in, and those it names.

        Of those met before, ``known``, the ones that stand in a variable count as they were then.
        """
        if self._options is None or self.taken is None or len(self._shown) >= MAX_FOLDERS:
            return ()
        here = entered_in.resolve()
        lasting = [
            replace(one, entered=here.is_relative_to(one.folder))
            for one in known
            if one.assigned and not self.holds(one.folder)
        ][-MOST_CANDIDATES:]
        wanted: dict[Path, tuple[Path, bool, bool]] = {}
        if not self.holds(here) and self._may_be_kept(here):
            wanted[here] = (entered_in, True, False)
        for named, assigned in _named(line, entered_in):
            folder, shown = _folder_of(named, self._may_hold)
            if folder is not None and not self.holds(folder) and folder not in wanted:
                wanted[folder] = (shown, False, assigned)
        new = [
            (folder, how) for folder, how in wanted.items() if folder not in {one.folder for one in lasting}
        ]
        most = new[: min(MOST_CANDIDATES, MAX_FOLDERS - len(self._shown))]
        found = (
            self._candidate(folder, shown, entered=entered, assigned=assigned, share=len(most))
            for folder, (shown, entered, assigned) in most
        )
        return (*lasting, *found)

    def with_candidates(self, met: Sequence[Candidate]) -> "LessonFolders":
        """The folders with those in which the command did something added; the same object where there are none."""
        found = self
        for one in met:
            changed = one.entered or one.marks != self._marks(one.folder)
            if changed and self._may_be_kept(one.folder) and not found.holds(one.folder):
                more = found.with_one(one)
                found = more if more.is_within_limits else found
        return found

    @property
    def is_within_limits(self) -> bool:
        """Whether the starting state is no larger than that of one lesson may be."""
        if self.taken is None or self._options is None:
            return True
        limits, clean = self._options.limits, self.taken.clean
        return len(clean.state.entries) <= limits.max_files and clean.kept_bytes <= limits.max_total_bytes

    def with_one(self, one: Candidate) -> "LessonFolders":
        """The folders with a further one, and their starting state with that of it."""
        more = LessonFolders(self.first, None, self._session, self._options)
        more._shown = {**self._shown, one.folder: one.shown}
        more._made = self._made if one.taken is not None else self._made | {one.folder}
        more.taken = _joined(self, more.root, one)
        return more

    def _may_be_kept(self, folder: Path) -> bool:
        """Whether a further folder may be kept: no system's, nobody else's, none that all users write to."""
        assert self._options is not None
        with suppress(OSError, RuntimeError):
            status = folder.stat()
            return (
                may_be_kept(folder)
                and not Path.home().resolve().is_relative_to(folder)
                and not any(folder.is_relative_to(one) for one in (*_SYSTEM, *self._private()))
                and status.st_uid == os.geteuid()
                and not status.st_mode & stat.S_IWOTH
                and len(str(folder)) <= _LONGEST_PATH
                and not path_holds_secret(str(folder))
            )
        return False

    def _may_hold(self, folder: Path) -> bool:
        """Whether a folder that a line only names may be kept: none that holds one of the lesson's."""
        return self._may_be_kept(folder) and not any(one.is_relative_to(folder) for one in self._shown)

    def _candidate(
        self, folder: Path, shown: Path, *, entered: bool, assigned: bool, share: int
    ) -> Candidate:
        assert self._options is not None
        assert self.taken is not None
        limits, clean = self._options.limits, self.taken.clean
        left = limits.changed(
            # The folders themselves are entries as well.
            max_files=max(0, limits.max_files - len(clean.state.entries) - 2),
            max_total_bytes=max(0, limits.max_total_bytes - clean.kept_bytes),
        )
        options = replace(
            self._options,
            limits=left,
            budget_s=self._options.budget_s / 2 / share,
            private_folders=(*self._options.private_folders, *self._shown),
        )
        there = folder.is_dir()
        taken = take_starting_state(folder, self._session, options) if there else None
        return Candidate(folder, shown, taken, self._marks(folder), entered, assigned)

    def _marks(self, folder: Path) -> object:
        return list_folder(folder, leave_out=self._private()).entries if folder.is_dir() else None

    def _private(self) -> tuple[Path, ...]:
        return tuple(path.resolve() for path in self._options.private_folders) if self._options else ()


def merged_snapshot(root: Path, snapshots: Mapping[Path, FolderSnapshot]) -> FolderSnapshot:
    """The files of several folders by their path relative to the root that holds them."""
    files = {
        placed(os.path.relpath(folder, root), path): mark
        for folder, snapshot in snapshots.items()
        for path, mark in snapshot.files.items()
    }
    return FolderSnapshot(
        root,
        files,
        any(one.is_partial for one in snapshots.values()),
        min(one.taken_ns for one in snapshots.values()),
    )


def _joined(old: LessonFolders, root: Path, one: Candidate) -> TakenState:
    """The starting state of all folders, as entries of the root that holds them."""
    assert old.taken is not None
    clean = old.taken.clean
    prefix, name = os.path.relpath(old.root, root), os.path.relpath(one.folder, root)
    entries = [_moved(entry, prefix) for entry in clean.state.entries]
    contents = dict(clean.contents)
    partial = clean.state.partial
    if len(old.paths) == 1 and prefix != ".":
        entries.append(folder_entry(old.first, prefix))
    if one.taken is not None:
        further = one.taken.clean
        entries += [_moved(entry, name) for entry in further.state.entries]
        entries += [folder_entry(one.folder, name)] if name != "." else []
        contents |= further.contents
        partial = partial or further.state.partial
    safe = tuple(entry for entry in entries if is_safe_path(entry.path))
    held = {entry.sha256 for entry in safe if entry.kept}
    state = clean.state.changed(
        state_id=str(uuid_utils.uuid7()),
        entries=safe,
        partial=partial or len(safe) < len(entries),
        replaces=(*clean.state.replaces, clean.state.state_id),
    )
    return TakenState(CleanState(state, {d: c for d, c in contents.items() if d in held}))


def _moved(entry: StartingEntry, prefix: str) -> StartingEntry:
    path = placed(prefix, entry.path)
    if len(path) > _LONGEST_PATH:
        # Too long for an entry: the caller leaves out what is no plain path.
        path = ".."
    return entry.changed(path=path)


def _named(line: str, cwd: Path) -> Iterator[tuple[Path, bool]]:
    """What the words of a command line name from the home folder, from the top, or above where it is entered.

    With each whether it is put into a variable.
    """
    with suppress(UnreadableCommand, RuntimeError):
        for command in split_commands(line):
            for word in _written_to(command):
                _, equals, value = word.partition("=")
                for text in (word, value) if equals else (word,):
                    path = _path(text, cwd)
                    if path is not None:
                        yield path, bool(_ASSIGNMENT.match(word))


def _written_to(command: SimpleCommand) -> Iterator[str]:
    """The words that may name what the command changes: not the program, nor what it only reads as far as one knows."""
    yield from (one.target for one in command.redirections if one.writes)
    assigned = [*takewhile(_ASSIGNMENT.match, command.words)]
    yield from assigned
    name, *words = command.words[len(assigned) :] or ("",)
    program = name.rpartition("/")[2]
    if program in _COPYING and not any(word.startswith(("-t", "--target")) for word in words):
        yield from words[-1:]
    elif program not in _READING or any(word.startswith(("-o", "--output")) for word in words):
        yield from words[1:] if program.startswith(_INTERPRETERS) else words


def _path(text: str, cwd: Path) -> Path | None:
    text = text.replace("${HOME}", "~").replace("$HOME", "~")
    if text.startswith("~/"):
        text = f"{Path.home()}{text[1:]}"
    if "\0" in text or not (text.startswith("/") or text.split("/")[0] == ".."):
        return None
    head = _EXPANDED.split(text, maxsplit=1)[0]
    if head != text:
        head = head.rpartition("/")[0]
    return Path(os.path.normpath(cwd / head)) if head else None


def _folder_of(path: Path, may_be_kept: Callable[[Path], bool]) -> tuple[Path | None, Path]:
    """The folder that a path names or lies in, links resolved; one that is not there yet begins where nothing is."""
    with suppress(OSError, RuntimeError):
        if path.is_dir():
            return (path.resolve(), path) if may_be_kept(path.resolve()) else (None, path)
        if may_be_kept(path.parent.resolve()):
            return path.parent.resolve(), path.parent
        new = path
        while not new.parent.is_dir() and new.parent != new:
            new = new.parent
        parent = new.parent.resolve()
        if may_be_kept(parent):
            return parent, new.parent
        if not new.exists() and os.access(parent, os.W_OK) and parent != Path(parent.anchor):
            return parent / new.name, new
    return None, path


def _places(folder: Path, shown: Path) -> tuple[str, ...]:
    """How a folder is named from anywhere, the shortest way first."""
    found: list[str] = []
    for home in (Path.home(), Path.home().resolve()):
        for path in (shown, folder):
            if path != home and path.is_relative_to(home):
                found.append(f"~/{path.relative_to(home).as_posix()}")
    found += [shown.as_posix(), folder.as_posix()]
    fitting = [one for one in dict.fromkeys(found) if len(one) <= _LONGEST_PATH]
    return tuple(fitting[:4])
