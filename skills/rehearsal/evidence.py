"""Replays a demonstration on its starting state and finds what it proves: slice, ablation, variation.

The slice keeps the commands that contribute to the final state. Ablation leaves out each of them in turn, then stages
and options of the others: a condition that no omission breaks is vacuous, and a command whose omission changes nothing
is no part of the lesson. Variation runs the method on changed input: a condition that does not hold there was a
coincidence.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from contracts.base import clipped
from contracts.learning.evidence import (
    MAX_CONDITIONS,
    MAX_JUDGED,
    MAX_SCRIPTS,
    CommandUse,
    ConditionKind,
    ConditionVerdict,
    JudgedCondition,
    LeftOutCommand,
    LessonEvidence,
    ProofCondition,
    RepeatedCommand,
    WrittenScript,
)
from contracts.learning.proposal import RehearsalCommand
from domain.learning.commands.command_line import named_paths, scripts_run
from domain.learning.conditions.condition_reading import THERE
from domain.learning.conditions.conditions import objection
from domain.learning.conditions.input_globs import InputGlobs
from domain.learning.proof.candidates import candidates, selected
from domain.learning.proof.file_flow import (
    earlier_results,
    folders_of,
    inputs_of,
    sources_of,
    touched_of,
    used_by,
)
from domain.learning.proof.outcomes import (
    NOTHING_VOLATILE,
    changed_paths,
    differences,
    same_changes,
    same_outcome,
)
from domain.learning.proof.proofs import one_order_each, proof_of, with_presence, without_presence
from domain.learning.proof.reductions import reductions
from domain.learning.proof.vacuity import Effect, Trial, effect_on, judged
from domain.learning.proof.variations import Variation, quiet_variations, variations
from skills.rehearsal.dry_run import missing_programs
from skills.rehearsal.lesson_checks import CheckFinder
from skills.rehearsal.replay import EvidenceBounds, Lesson, Replayer, Run, tolerant, uses_of, worked_only_here
from skills.rehearsal.shortening import Shortened, Shortening

__all__ = ["EvidenceBounds", "EvidenceFinder", "Lesson", "same_outcome"]

_T = TypeVar("_T")

MAX_SCRIPT_CHARACTERS = 65_536
"""How long a program may be that is kept."""

MOST_ABLATIONS = 40
"""Commands that are left out in turn; of a longer lesson the last ones."""

MOST_REDUCTIONS = 24
"""Parts of commands that are left out in turn."""

_MOST_CANDIDATES = 120
_MOST_CANDIDATES_OF_A_FILE = 14
_IN_VAIN = "It failed when it was shown and changed no file: that it works on a copy proves nothing of it."


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
        self._commands = lesson.commands
        self._in_vain: tuple[LeftOutCommand, ...] = ()
        self._at_once = bounds.at_once
        self._replayer = Replayer(lesson, parent, bounds, progress, cancelled)
        self._shortening = Shortening(self._replayer, self._is_same)
        self._volatile = NOTHING_VOLATILE
        self._is_anew = False
        self.needed: frozenset[str] | None = None
        """After ``find``: the files of the starting state that suffice; ``None`` where all may be needed."""

    def find(self, now: datetime, given: Sequence[ProofCondition] = ()) -> LessonEvidence:
        """Replays the lesson and everything that is left out or varied, within the time given.

        ``given`` are conditions of any origin that are judged as well, at most ``MAX_CONDITIONS`` of them.

        Raises:
            SandboxUnavailable: this host cannot isolate commands, so nothing was run.
        """
        whole = self._whole()
        every = self._commands
        uses = uses_of(every, whole)
        if whole.failed_at is not None:
            return self._nothing(now, uses, self._why_it_ended(whole))
        again = self._replayer.replay(tolerant(every), "the whole demonstration again")
        self._volatile = differences(whole.after, again.after)
        if anew := self._made_anew(whole, uses):
            (whole, again), self._is_anew = anew, True
            uses = uses_of(every, whole)
        short = self._shortening.slice_of(every, whole, uses)
        short = self._shortening.without_undone(short, uses)
        if not short.kept:
            return self._nothing(now, uses, "no command changes anything that lasts", short.left_out)
        short = self._shortening.put_right(self._shortening.without_lines(short), uses)
        kept, run = short.kept, short.run
        ids = {c.event_id for c in kept}
        inputs = inputs_of(ids, uses, whole.before)
        wanted = self._wanted(kept, run, again, uses, inputs)
        # What a person says of a file that is made: that it is there, whether or not it was before.
        there = (c.changed(argument=THERE) for c in wanted if c.kind is ConditionKind.EXISTS)
        asked = (*wanted, *given[:MAX_CONDITIONS], *there)
        short, omitted = self._ablated(short, uses, asked)
        kept = short.kept
        finder = CheckFinder(self._replayer, every, kept, uses, whole, asked=self._lesson.asks_for_check)
        possible = self._at_the_same_time(finder.check_at, finder.places)
        varied = self._varied(
            kept, [one.command for one in possible], used_by(ids, uses, whole.before), run, asked
        )
        checks = {
            one.command.event_id: one.proof(held_for=len(varied))
            for n, one in enumerate(possible)
            if all(n in held for _, held in varied)
        }
        trials = [*omitted, *(trial for trial, _ in varied), *self._reduced(kept, run, asked)]
        verdicts = [judged(one, n, run.before, run.after, trials) for n, one in enumerate(asked)]
        is_whole = not self._replayer.is_over and len(kept) <= MOST_ABLATIONS
        told_apart = [n for n in range(len(wanted)) if verdicts[n].verdict is ConditionVerdict.TOLD_APART]
        told_apart = one_order_each(told_apart, wanted, trials, [c.command for c in kept])
        told_apart = without_presence(told_apart, wanted)
        best = selected([wanted[n] for n in told_apart])
        repeated = {c: result.status == 0 for c, result in zip(kept, short.run.session.results, strict=True)}
        repeated |= {one.command: True for one in possible if one.command.event_id in checks}
        note = _failed_here(kept, whole, every)
        proven = [wanted[n] for n in told_apart if wanted[n] in best]
        touched = touched_of({*checks, *(c.event_id for c in kept)}, uses, run.before)
        self.needed = touched if not note and self._suffice(touched, kept, run, proven) else None
        dropped = [verdicts[n] for n, one in enumerate(wanted) if one not in proven]
        lasting = [c for c in every if c.event_id in {*checks, *(one.event_id for one in kept)}]
        return LessonEvidence(
            state_id=self._lesson.state_id,
            reproduced=not note,
            note=note,
            kept=tuple(c.event_id for c in lasting),
            left_out=self._left_out(one for one in short.left_out if one.event_id not in checks),
            repeated_as=tuple(
                RepeatedCommand(event_id=c.event_id, command=c.command, ends_well=ends_well)
                for c, ends_well in repeated.items()
                if any(c.event_id == one.event_id and c.command != one.command for one in every)
            ),
            uses=uses,
            inputs=inputs[:500],
            folders=folders_of(inputs, kept, run.before)[:200],
            scripts=_scripts(kept, run),
            not_needed=() if note else missing_programs(c.command for c in lasting)[:100],
            proofs=(
                *checks.values(),
                *(proof_of(wanted[n], n, trials) for n in told_apart if wanted[n] in best),
            )[:MAX_CONDITIONS],
            judged=_certain((*verdicts[len(wanted) :], *dropped), is_whole=is_whole)[:MAX_JUDGED],
            judged_with=tuple(c.event_id for c in lasting),
            made_at=now,
        )

    def _whole(self) -> Run:
        """The whole demonstration, without the commands that do here what they failed to do when they were shown."""
        whole = self._replayer.whole(self._commands)
        if not (only_here := worked_only_here(self._commands, self._lesson.in_vain, whole)):
            return whole
        self._in_vain += tuple(LeftOutCommand(event_id=one, reason=_IN_VAIN) for one in sorted(only_here))
        self._commands = tuple(c for c in self._commands if c.event_id not in only_here)
        return self._whole()

    def _nothing(
        self, now: datetime, uses: Sequence[CommandUse], note: str, left_out: Sequence[LeftOutCommand] = ()
    ) -> LessonEvidence:
        return LessonEvidence(
            state_id=self._lesson.state_id,
            reproduced=False,
            note=note[:240],
            left_out=self._left_out(left_out),
            uses=tuple(uses),
            made_at=now,
        )

    def _left_out(self, others: Iterable[LeftOutCommand]) -> tuple[LeftOutCommand, ...]:
        """What failed when it was shown and what else was left out, each with the beginning of its command."""
        shown = {c.event_id: clipped(c.command, 120) for c in self._lesson.commands}
        return tuple(one.changed(command=shown.get(one.event_id, "")) for one in (*self._in_vain, *others))

    def _why_it_ended(self, run: Run) -> str:
        command = self._commands[run.failed_at or 0].command
        shown = command.splitlines()[0][:80] if command else ""
        outcome = run.session.outcome
        if outcome.cancelled:
            return "it was cancelled"
        if outcome.timed_out:
            return f"“{shown}” did not end within the time allowed"
        if outcome.violations:
            return f"“{shown}” was ended: {outcome.violations[0]}"
        return f"“{shown}” ended the shell, so nothing after it could be replayed"

    def _is_same(self, one: Run, other: Run) -> bool:
        return other.succeeded and same_outcome(one.after, other.after, self._volatile)

    def _made_anew(self, whole: Run, uses: Sequence[CommandUse]) -> tuple[Run, Run] | None:
        """The whole, twice, without the results of earlier tries; None where there are none, or it needs them.

        With them in the folder, a command that makes them again changes nothing.
        """
        earlier = earlier_results(uses, whole.before)
        if not earlier or self._replayer.is_over:
            return None
        every = tolerant(self._commands)
        self._replayer.without(earlier)
        anew = self._replayer.replay(every, "without the results of earlier tries")
        if self._is_same(whole, anew):
            return anew, self._replayer.replay(every, "without the results of earlier tries, again")
        self._replayer.without(())
        return None

    def _wanted(
        self,
        kept: Sequence[RehearsalCommand],
        run: Run,
        again: Run,
        uses: Sequence[CommandUse],
        inputs: Sequence[str],
    ) -> tuple[ProofCondition, ...]:
        found = candidates(
            run.before,
            run.after,
            [c.command for c in kept],
            inputs,
            sources=sources_of({c.event_id for c in kept}, uses, run.before),
            most=_MOST_CANDIDATES,
            most_for_one_file=_MOST_CANDIDATES_OF_A_FILE,
            locale=self._lesson.surroundings.locale,
            folders=[c.working_folder for c in kept],
        )
        stable = (one for one in with_presence(found, run.before) if one.path not in self._volatile.facts)
        return tuple(one for one in stable if objection(one, again.before, again.after) is None)

    def _ablated(
        self, short: Shortened, uses: Sequence[CommandUse], asked: Sequence[ProofCondition]
    ) -> tuple[Shortened, list[Trial]]:
        """The commands whose omission changes something, and what each omission did."""
        trials = self._ablations(short.kept, short.run, asked)
        while useless := [place for place, trial in trials.items() if trial is None]:
            shorter = self._shortening.without_useless(short, useless)
            if len(shorter.kept) == len(short.kept):
                break
            # What commands did for each other shows only now: an undo is useless without what it undid, and what
            # was looked at before it was removed is not needed without the look.
            short = self._shortening.without_undone(shorter, uses)
            trials = self._ablations(short.kept, short.run, asked)
        return short, [trial for trial in trials.values() if trial is not None]

    def _ablations(
        self, kept: Sequence[RehearsalCommand], run: Run, asked: Sequence[ProofCondition]
    ) -> dict[int, Trial | None]:
        """For each command left out what becomes of the conditions; ``None`` where nothing at all changes."""
        places = range(max(0, len(kept) - MOST_ABLATIONS), len(kept))

        def without(place: int) -> tuple[int, Trial | None] | None:
            if self._replayer.is_over:
                return None
            rest = tuple(c for n, c in enumerate(kept) if n != place)
            other = self._replayer.replay(rest, f"without command {place + 1} of {len(kept)}")
            if self._replayer.is_cancelled:
                return None
            if self._is_same(run, other):
                return place, None
            return place, Trial(_effects(asked, other), command=place + 1)

        return dict(self._at_the_same_time(without, places))

    def _suffice(
        self,
        touched: frozenset[str],
        kept: Sequence[RehearsalCommand],
        run: Run,
        proven: Sequence[ProofCondition],
    ) -> bool:
        """Whether the lesson does the same without the other files: some count by their names alone."""
        unused = tuple(sorted({*run.before.paths()} - touched))
        if not unused:
            return self._is_anew
        if self._replayer.is_over:
            return False
        label = "with only the files that are used"
        other = self._replayer.replay(kept, label, Variation(label, removed=unused))
        return (
            other.succeeded
            and same_changes((run.before, run.after), (other.before, other.after), self._volatile)
            and all(objection(one, other.before, other.after) is None for one in proven)
        )

    def _reduced(
        self, kept: Sequence[RehearsalCommand], run: Run, asked: Sequence[ProofCondition]
    ) -> list[Trial]:
        """What becomes of the conditions without a stage of a pipeline, or without an option."""
        parts = [(place, one) for place, command in enumerate(kept) for one in reductions(command.command)][
            :MOST_REDUCTIONS
        ]

        def without(part: int) -> Trial | None:
            place, one = parts[part]
            if self._replayer.is_over:
                return None
            words = f"without {one.words} in command {place + 1}"
            shorter = kept[place].changed(command=one.command)
            commands = tuple(shorter if n == place else c for n, c in enumerate(kept))
            other = self._replayer.replay(commands, words)
            if not other.succeeded or self._is_same(run, other):
                return None
            return Trial(_effects(asked, other), reduced=words)

        return self._at_the_same_time(without, range(len(parts)))

    def _varied(
        self,
        kept: Sequence[RehearsalCommand],
        checks: Sequence[RehearsalCommand],
        used: Sequence[str],
        run: Run,
        asked: Sequence[ProofCondition],
    ) -> list[tuple[Trial, frozenset[int]]]:
        """What becomes of the conditions on changed input, and which checks pass there.

        Where the commands do not work there, nothing is said.
        """
        named = {path for c in kept for path in named_paths(c.command, c.working_folder)}
        named |= {path for path in used if any(path in c.command for c in kept)}
        globs = InputGlobs(tuple(c.command for c in kept), tuple(c.working_folder for c in kept))
        taken = [path for path in used if globs.pattern(path) is not None]
        tried = (
            *variations(run.before, used, named, taken),
            *quiet_variations(run.before, used, named, _changed_texts(run)),
        )

        def on(number: int) -> tuple[Trial, frozenset[int]] | None:
            if self._replayer.is_over:
                return None
            variation = tried[number]
            other = self._replayer.replay((*kept, *checks), variation.label, variation)
            if not other.succeeded:
                return None
            effects = _effects(asked, other, is_omission=False)
            ends = other.session.results[len(kept) :]
            trial = Trial(effects, is_variation=True, has_repeated_rows=variation.has_repeated_rows)
            return trial, frozenset(n for n, result in enumerate(ends) if result.status == 0)

        return self._at_the_same_time(on, range(len(tried)))

    def _at_the_same_time(self, work: Callable[[int], _T | None], places: Iterable[int]) -> list[_T]:
        with ThreadPoolExecutor(self._at_once, thread_name_prefix="replay") as pool:
            return [found for found in pool.map(work, places) if found is not None]


def _certain(verdicts: Sequence[JudgedCondition], *, is_whole: bool) -> tuple[JudgedCondition, ...]:
    """The verdicts; where the time did not suffice to leave everything out, nothing is known to be vacuous."""
    return tuple(one for one in verdicts if is_whole or one.verdict is not ConditionVerdict.VACUOUS)


def _failed_here(kept: Sequence[RehearsalCommand], whole: Run, every: Sequence[RehearsalCommand]) -> str:
    """Which command of the lesson fails here though it did not when it was shown."""
    ids = {command.event_id for command in kept}
    for command, result in zip(every, whole.session.results, strict=True):
        if command.event_id in ids and result.status != 0 and not command.may_fail:
            shown = command.command.splitlines()[0][:80]
            return f"“{shown}” fails here (exit status {result.status}), which it did not when it was shown"
    return ""


def _changed_texts(run: Run) -> list[str]:
    """The texts that the lesson made or changed."""
    changed = changed_paths(run.before, run.after) & {*run.after.paths()}
    texts = (run.after.text(path) for path in sorted(changed))
    return [text for text in texts if text and text.strip()]


def _effects(asked: Sequence[ProofCondition], run: Run, *, is_omission: bool = True) -> tuple[Effect, ...]:
    return tuple(effect_on(one, run.before, run.after, is_omission=is_omission) for one in asked)


def _scripts(kept: Sequence[RehearsalCommand], run: Run) -> tuple[WrittenScript, ...]:
    """The programs that kept commands made and later ones ran."""
    ran = {path for command in kept for path in scripts_run(command.command, command.working_folder)}
    found = (
        WrittenScript(path=path, content=text)
        for path in sorted(ran - {*run.before.paths()})
        if (text := run.after.text(path)) and len(text) <= MAX_SCRIPT_CHARACTERS
    )
    return tuple(found)[:MAX_SCRIPTS]
