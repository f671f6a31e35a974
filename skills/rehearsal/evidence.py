"""Replays a demonstration on its starting state and finds what it proves: slice, ablation, variation.

The slice keeps the commands that contribute to the final state. Ablation leaves out each of them in turn: a condition
that no omission breaks is vacuous, and a command whose omission changes nothing is no part of the lesson. Variation
runs the method on changed input: a condition that does not hold there was a coincidence.
"""

import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from contracts.learning.evidence import (
    MAX_CONDITIONS,
    CommandUse,
    ConditionProof,
    LeftOutCommand,
    LessonEvidence,
    ProofCondition,
    WrittenScript,
)
from contracts.learning.proposal import RehearsalCommand
from domain.learning.commands.command_line import named_paths, scripts_run
from domain.learning.interpretation.slicing import GENERATED, Slice, collapsed, contributing
from domain.learning.proof.candidates import candidates
from domain.learning.proof.conditions import FolderContents, objection
from domain.learning.proof.variations import Variation, variations
from skills.rehearsal.folder_contents import Facts, ReadContents, no_facts
from skills.rehearsal.rehearsal import fresh_folder
from skills.rehearsal.sandbox import Sandbox, SandboxLimits
from skills.rehearsal.shell_session import SessionOutcome, Surroundings, prepare_jail, run_session

MOST_SCRIPTS, MAX_SCRIPT_CHARACTERS = 20, 65_536
"""The programs that are kept of one lesson, and how long each may be."""

MOST_ABLATIONS = 40
"""Commands that are left out in turn; of a longer lesson the last ones."""


@dataclass(frozen=True)
class Lesson:
    """A demonstration to be replayed: its commands, its starting state, and what the shell is given."""

    state_id: str
    commands: tuple[RehearsalCommand, ...]
    place: Callable[[Path], None]
    """Puts the starting state into an empty folder."""
    surroundings: Surroundings = field(default_factory=Surroundings)


@dataclass(frozen=True)
class EvidenceBounds:
    """What the replays may take together, and at once."""

    seconds: float = 60.0
    at_once: int = 2
    limits: SandboxLimits | None = None
    facts: Facts = no_facts


@dataclass(frozen=True)
class _Run:
    """One replay and the folder before and after it."""

    before: FolderContents
    after: FolderContents
    session: SessionOutcome
    failed_at: int | None


class EvidenceFinder:
    """Finds the evidence of one lesson. The folders of its replays are removed when they end."""

    def __init__(
        self,
        lesson: Lesson,
        parent: Path,
        bounds: EvidenceBounds,
        progress: Callable[[str], None],
        cancelled: threading.Event,
    ) -> None:
        """``progress`` is called from several threads, with what is being tried."""
        self._lesson = lesson
        self._parent = parent
        self._bounds = bounds
        self._progress = progress
        self._cancelled = cancelled
        self._ends_at = time.monotonic() + bounds.seconds

    def find(self, now: datetime) -> LessonEvidence:
        """Replays the lesson and everything that is left out or varied, within the time given.

        Raises:
            SandboxUnavailable: this host cannot isolate commands, so nothing was run.
        """
        every = self._lesson.commands
        whole = self._replay(every, "the whole demonstration", tolerant=True)
        uses = _uses(every, whole)
        slice_ = contributing([c.command for c in every], uses, _changed(whole.before, whole.after))
        kept, run, left_out = self._shortest(every, whole, slice_)
        if not kept or run.failed_at is not None:
            return self._evidence(
                now, every, uses, (), (), "its commands do not work on their starting state"
            )
        inputs = _inputs(kept, uses, whole.before)
        wanted = candidates(run.before, run.after, [c.command for c in kept], inputs)[:MAX_CONDITIONS]
        without = self._ablations(kept, run, wanted)
        useless = [n for n, broken in without.items() if broken is None]
        if useless:
            shorter = tuple(c for n, c in enumerate(kept) if n not in useless)
            again = self._replay(shorter, "without what changes nothing")
            if again.failed_at is None and same_outcome(run.after, again.after):
                left_out += tuple(_useless(kept[n]) for n in useless)
                without = {
                    sum(1 for m in range(n) if m not in useless): broken
                    for n, broken in without.items()
                    if n not in useless
                }
                kept = shorter
        proofs = self._varied(kept, run.before, inputs, _proofs(wanted, without))
        found = self._evidence(now, kept, uses, left_out, proofs, "", inputs)
        return found.changed(scripts=_scripts(kept, run))

    def _evidence(
        self,
        now: datetime,
        kept: Sequence[RehearsalCommand],
        uses: Sequence[CommandUse],
        left_out: Sequence[LeftOutCommand],
        proofs: Sequence[ConditionProof],
        note: str,
        inputs: Sequence[str] = (),
    ) -> LessonEvidence:
        return LessonEvidence(
            state_id=self._lesson.state_id,
            reproduced=not note,
            note=note,
            kept=tuple(c.event_id for c in kept),
            left_out=tuple(left_out),
            uses=tuple(uses),
            inputs=tuple(inputs)[:500],
            folders=tuple(sorted({folder for path in inputs for folder in _parents(path)}))[:200],
            proofs=tuple(proofs),
            made_at=now,
        )

    def _shortest(
        self, every: Sequence[RehearsalCommand], whole: _Run, found: Slice
    ) -> tuple[tuple[RehearsalCommand, ...], _Run, tuple[LeftOutCommand, ...]]:
        """The slice where its replay ends like the whole; else everything that worked."""
        kept = tuple(c for c in every if c.event_id in found.kept)
        run = self._replay(kept, "the commands that contribute")
        if run.failed_at is None and same_outcome(whole.after, run.after):
            return kept, run, found.left_out
        worked = tuple(
            command
            for command, result in zip(every, whole.session.results, strict=True)
            if result.status == 0 or command.may_fail
        )
        return worked, self._replay(worked, "the commands that worked"), ()

    def _ablations(
        self, kept: Sequence[RehearsalCommand], run: _Run, wanted: Sequence[ProofCondition]
    ) -> dict[int, frozenset[int] | None]:
        """For each command left out the conditions that break; ``None`` where nothing at all changes."""
        places = range(max(0, len(kept) - MOST_ABLATIONS), len(kept))

        def without(place: int) -> tuple[int, frozenset[int] | None] | None:
            if self._is_over:
                return None
            rest = tuple(c for n, c in enumerate(kept) if n != place)
            other = self._replay(rest, f"without command {place + 1} of {len(kept)}")
            if other.failed_at is None and same_outcome(run.after, other.after):
                return place, None
            broken = (
                n for n, one in enumerate(wanted) if objection(one, other.before, other.after) is not None
            )
            return place, frozenset(broken)

        with ThreadPoolExecutor(self._bounds.at_once, thread_name_prefix="ablation") as pool:
            return dict(found for found in pool.map(without, places) if found is not None)

    def _varied(
        self,
        kept: Sequence[RehearsalCommand],
        before: FolderContents,
        inputs: Sequence[str],
        proofs: Sequence[ConditionProof],
    ) -> tuple[ConditionProof, ...]:
        """The proofs after trying the method on changed input; what does not hold there is left out."""
        named = {path for c in kept for path in named_paths(c.command, c.working_folder)}

        def tried(variation: Variation) -> list[bool] | None:
            if self._is_over:
                return None
            run = self._replay(kept, variation.label, variation=variation)
            if run.failed_at is not None:
                return None
            return [objection(one.condition, run.before, run.after) is None for one in proofs]

        with ThreadPoolExecutor(self._bounds.at_once, thread_name_prefix="variation") as pool:
            seen = [
                found for found in pool.map(tried, variations(before, inputs, named)) if found is not None
            ]
        return tuple(
            proof.changed(tried=len(seen), holds_for=sum(1 for found in seen if found[n]))
            for n, proof in enumerate(proofs)
            if all(found[n] for found in seen)
        )

    @property
    def _is_over(self) -> bool:
        return self._cancelled.is_set() or time.monotonic() >= self._ends_at

    def _replay(
        self,
        commands: Sequence[RehearsalCommand],
        label: str,
        *,
        tolerant: bool = False,
        variation: Variation | None = None,
    ) -> _Run:
        self._progress(label)
        taken = tuple(c.changed(may_fail=True) for c in commands) if tolerant else tuple(commands)
        with self._jail() as root:
            work = prepare_jail(root)
            self._lesson.place(work)
            if variation is not None:
                _vary(work, variation)
            before = ReadContents(work, self._bounds.facts)
            left = max(1.0, self._ends_at - time.monotonic())
            limits = self._bounds.limits or SandboxLimits()
            bounded = replace(limits, wall_seconds=min(limits.wall_seconds, left))
            session = run_session(
                Sandbox(root, bounded), taken, self._lesson.surroundings, cancelled=self._cancelled
            )
            after = ReadContents(work, self._bounds.facts)
        return _Run(before, after, session, session.failed_at(taken))

    @contextmanager
    def _jail(self) -> Generator[Path]:
        self._parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        with fresh_folder(self._parent) as root:
            yield root


def same_outcome(one: FolderContents, other: FolderContents) -> bool:
    """Whether two replays ended alike: the same files, texts, permissions, archive members and state.

    Files that are no text (archives, databases, images) may differ in bytes: many hold the time they were made.
    """
    paths = {path for path in one.paths() if _is_compared(path)}
    if paths != {path for path in other.paths() if _is_compared(path)}:
        return False
    if one.facts() != other.facts():
        return False
    return all(
        one.text(path) == other.text(path)
        and one.mode(path) == other.mode(path)
        and one.members(path) == other.members(path)
        for path in paths
    )


def _is_compared(path: str) -> bool:
    return not any(part in GENERATED or part == ".git" for part in path.split("/"))


def _changed(before: FolderContents, after: FolderContents) -> set[str]:
    paths = {*before.paths(), *after.paths()}
    return {
        collapsed(path)
        for path in paths
        if before.digest(path) != after.digest(path) or before.mode(path) != after.mode(path)
    }


def _uses(commands: Sequence[RehearsalCommand], run: _Run) -> tuple[CommandUse, ...]:
    def named(paths: set[str]) -> tuple[str, ...]:
        return tuple(sorted({collapsed(path)[:240] for path in paths}))[:500]

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


def _inputs(
    kept: Sequence[RehearsalCommand], uses: Sequence[CommandUse], before: FolderContents
) -> tuple[str, ...]:
    ids = {command.event_id for command in kept}
    read = {path for use in uses if use.event_id in ids for path in use.read}
    return tuple(sorted(path for path in read if path in before.paths()))


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]


def _scripts(kept: Sequence[RehearsalCommand], run: _Run) -> tuple[WrittenScript, ...]:
    """The programs that kept commands made and later ones ran."""
    ran = {path for command in kept for path in scripts_run(command.command, command.working_folder)}
    found = (
        WrittenScript(path=path, content=text)
        for path in sorted(ran - {*run.before.paths()})
        if (text := run.after.text(path)) and len(text) <= MAX_SCRIPT_CHARACTERS
    )
    return tuple(found)[:MOST_SCRIPTS]


def _proofs(
    wanted: Sequence[ProofCondition], without: Mapping[int, frozenset[int] | None]
) -> tuple[ConditionProof, ...]:
    """The conditions that at least one omission breaks."""
    found = (
        ConditionProof(
            condition=condition,
            told_apart_by=tuple(
                place + 1 for place, broken in sorted(without.items()) if n in (broken or ())
            ),
        )
        for n, condition in enumerate(wanted)
    )
    return tuple(proof for proof in found if proof.told_apart_by)


def _useless(command: RehearsalCommand) -> LeftOutCommand:
    return LeftOutCommand(
        event_id=command.event_id, reason="Leaving it out changes nothing in the result of the demonstration."
    )


def _vary(work: Path, variation: Variation) -> None:
    for path, text in variation.written.items():
        (work / path).write_text(text, encoding="utf-8")
    for path in variation.removed:
        (work / path).unlink()
