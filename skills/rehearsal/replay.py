"""Replays commands of a demonstration on its starting state, each time in a folder of its own that is then removed."""

import posixpath
import threading
import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from contracts.generated_trees import GeneratedTrees
from contracts.learning.evidence import CommandUse
from contracts.learning.proposal import RehearsalCommand
from contracts.learning.session import REPLAY_BUDGET
from domain.learning.conditions.conditions import FolderContents
from domain.learning.proof.outcomes import compared_paths
from domain.learning.proof.variations import Variation
from skills.rehearsal.folder_contents import Facts, ReadContents
from skills.rehearsal.rehearsal import fresh_folder
from skills.rehearsal.sandbox import Sandbox, SandboxLimits
from skills.rehearsal.shell_session import SessionOutcome, Surroundings, prepare_jail, run_session
from skills.rehearsal.state_facts import state_facts

_SHARE_OF_ONE_REPLAY = 3
"""One replay may take this part of the time for all of them."""


@dataclass(frozen=True)
class Lesson:
    """A demonstration to be replayed: its commands, its starting state, and what the shell is given."""

    state_id: str
    commands: tuple[RehearsalCommand, ...]
    place: Callable[[Path], None]
    """Puts the starting state into an empty folder."""
    surroundings: Surroundings = field(default_factory=Surroundings)
    in_vain: frozenset[str] = frozenset()
    """The commands that failed and changed no file when they were shown, by event id."""
    asks_for_check: bool = False
    """Whether the goal says that something is to be checked."""


@dataclass(frozen=True)
class EvidenceBounds:
    """What the replays may take together, and at once."""

    seconds: float = REPLAY_BUDGET.total_seconds()
    at_once: int = 2
    limits: SandboxLimits | None = None
    facts: Facts = state_facts


@dataclass(frozen=True)
class Run:
    """One replay and the folder before and after it."""

    before: FolderContents
    after: FolderContents
    session: SessionOutcome
    failed_at: int | None
    """The index of the command that ended it early."""

    @property
    def succeeded(self) -> bool:
        """Whether every command was carried out."""
        return self.failed_at is None


class Replayer:
    """Replays a lesson as often as the time allows; used by several threads at once."""

    def __init__(
        self,
        lesson: Lesson,
        parent: Path,
        bounds: EvidenceBounds,
        progress: Callable[[str], None],
        cancelled: threading.Event,
    ) -> None:
        self._lesson = lesson
        self._parent = parent
        self._bounds = bounds
        self._progress = progress
        self._cancelled = cancelled
        self._ends_at = time.monotonic() + bounds.seconds
        self._folders: tuple[str, ...] = ()
        self._absent: tuple[str, ...] = ()
        self._before: tuple[tuple[str, ...], FolderContents] | None = None

    @property
    def is_over(self) -> bool:
        """Whether the time is up, or the work was cancelled."""
        return self._cancelled.is_set() or time.monotonic() >= self._ends_at

    @property
    def is_cancelled(self) -> bool:
        """Whether the work was cancelled."""
        return self._cancelled.is_set()

    def whole(self, commands: Sequence[RehearsalCommand]) -> Run:
        """Replays the commands of the demonstration as they were shown, failures included.

        Folders that commands were typed in and that nothing makes are made beforehand, in all further replays too:
        a starting state of files knows no empty ones.

        Raises:
            SandboxUnavailable: this host cannot isolate commands, so nothing was run.
        """
        run = self.replay(tolerant(commands), "the whole demonstration")
        if run.failed_at is None or self.is_over:
            return run
        folder = commands[run.failed_at].working_folder
        if posixpath.normpath(folder or ".") == "." or any(
            p.startswith(f"{folder}/") for p in run.after.paths()
        ):
            return run
        self._folders = tuple(dict.fromkeys(c.working_folder for c in commands if c.working_folder))
        return self.replay(tolerant(commands), "the whole demonstration, with its empty folders")

    def without(self, paths: Collection[str]) -> None:
        """Takes files away from the starting state, in all further replays."""
        self._absent = tuple(paths)
        self._before = None

    def replay(
        self, commands: Sequence[RehearsalCommand], label: str, variation: Variation | None = None
    ) -> Run:
        """Runs the commands on a fresh copy of the starting state, changed by a variation.

        Raises:
            SandboxUnavailable: this host cannot isolate commands, so nothing was run.
        """
        self._progress(label)
        with self._jail() as root:
            work = prepare_jail(root)
            self._lesson.place(work)
            for path in self._absent:
                (work / path).unlink()
            for folder in self._folders:
                (work / folder).mkdir(parents=True, exist_ok=True)
            if variation is not None:
                _vary(work, variation)
            before = self._read_before(work) if variation is None else ReadContents(work, self._bounds.facts)
            session = run_session(
                Sandbox(root, self._limits()),
                commands,
                self._lesson.surroundings,
                cancelled=self._cancelled,
                makes_folders=False,
            )
            after = ReadContents(work, self._bounds.facts, session.written)
        return Run(before, after, session, session.failed_at(commands))

    def _read_before(self, work: Path) -> FolderContents:
        """The starting state, which is read once."""
        if self._before is None or self._before[0] != self._folders:
            self._before = self._folders, ReadContents(work, self._bounds.facts)
        return self._before[1]

    def _limits(self) -> SandboxLimits:
        limits = self._bounds.limits or SandboxLimits()
        left = max(1.0, self._ends_at - time.monotonic())
        most = min(limits.wall_seconds, left, max(1.0, self._bounds.seconds / _SHARE_OF_ONE_REPLAY))
        return replace(limits, wall_seconds=most)

    @contextmanager
    def _jail(self) -> Generator[Path]:
        self._parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        with fresh_folder(self._parent) as root:
            yield root


def tolerant(commands: Sequence[RehearsalCommand]) -> tuple[RehearsalCommand, ...]:
    """The commands, none of which ends a replay by failing."""
    return tuple(command.changed(may_fail=True) for command in commands)


def worked_only_here(
    commands: Sequence[RehearsalCommand], in_vain: Collection[str], run: Run
) -> frozenset[str]:
    """Those of the commands ``in_vain``, by event id, that have written or removed a file in the replay."""
    before, after = run.before, run.after
    # A recording does not see permissions: a command that changed those alone may have done so when it was shown.
    files = {
        path
        for path in compared_paths(before) | compared_paths(after)
        if before.digest(path) != after.digest(path) or before.mode(path) == after.mode(path)
    }
    return frozenset(
        command.event_id
        for command, result in zip(commands, run.session.results, strict=True)
        if command.event_id in in_vain and not files.isdisjoint({*result.use.written, *result.use.removed})
    )


def uses_of(commands: Sequence[RehearsalCommand], run: Run) -> tuple[CommandUse, ...]:
    """The files that each command of a replay used; of a generated tree or a repository its folder."""
    used = {path for one in run.session.results for path in (*one.use.read, *one.use.written)}
    passing = GeneratedTrees(used - {*run.before.paths(), *run.after.paths()})

    def tree_of(path: str) -> str | None:
        lasting = run.after.tree_of(path) or run.before.tree_of(path)
        return lasting or (passing.tree_of(path) if path not in run.after.paths() else None)

    def named(paths: Collection[str]) -> tuple[str, ...]:
        return tuple(sorted({(tree_of(path) or path)[:240] for path in paths}))[:500]

    return tuple(
        CommandUse(
            event_id=command.event_id,
            succeeded=result.status == 0 or command.may_fail,
            read=named(result.use.read),
            written=named(result.use.written),
            removed=named(result.use.removed),
        )
        for command, result in zip(commands, run.session.results, strict=True)
    )


def _vary(work: Path, variation: Variation) -> None:
    for path, original in variation.copied.items():
        (work / path).write_bytes((work / original).read_bytes())
        (work / path).chmod((work / original).stat().st_mode)
    for path, text in variation.written.items():
        (work / path).write_text(text, encoding="utf-8")
    for path in variation.removed:
        (work / path).unlink()
