"""Rehearses every demonstration that the draft keeps, each with its own inputs in its own folder.

Names what of a demonstration no rehearsal can repeat (DOC3 §0C.14).
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from contracts.base import clipped
from contracts.learning.evidence import UnrehearsedCommand
from contracts.learning.interpretation import REHEARSED_EFFECTS, ObservedEffect
from contracts.learning.proposal import RehearsedDemonstration, SkillDraft
from contracts.learning.test_policy import TestPolicy
from contracts.learning.validation import SafetyClass, StepResult
from skills.rehearsal.rehearsal import LessonStart, rehearse
from skills.rehearsal.report import (
    CheckStep,
    RehearsalProgress,
    RehearsalReport,
    RehearsalResult,
    RehearsalStep,
    not_applied,
    nothing_run,
    result_of,
)
from skills.rehearsal.sandbox import SandboxLimits

FURTHER_SECONDS = 20 * 60.0
"""When a rehearsal has taken so long, what is left of further demonstrations is let go."""

_OUT_OF_TIME = "not run: the time for the rehearsal was used up"


def rehearse_demonstrations(
    draft: SkillDraft,
    effects: Sequence[ObservedEffect],
    policy: TestPolicy,
    *,
    sandbox_root_parent: Path,
    heartbeat: Callable[[RehearsalProgress], None],
    cancelled: threading.Event | None = None,
    limits: SandboxLimits | None = None,
    seconds: float = FURTHER_SECONDS,
    starts: Mapping[int, LessonStart] = MappingProxyType({}),
) -> RehearsalReport:
    """The first demonstration as ``rehearse`` does it, then the further ones, each from its own start.

    ``starts`` has the folder of each demonstration by its number, as far as it is kept.
    With several, every step says which demonstration it belongs to. A further one does not apply where its
    commands would exceed the policy's ``max_actions`` together with those before, where a file it worked on is not
    there, and where ``seconds`` have gone by since the beginning. After a safety failure or a cancellation
    nothing more is run.

    Raises:
        SandboxUnavailable: this host cannot isolate commands, so nothing was run.
    """
    if not draft.further_demonstrations:
        return rehearse(
            draft,
            effects,
            policy,
            sandbox_root_parent=sandbox_root_parent,
            heartbeat=heartbeat,
            cancelled=cancelled,
            limits=limits,
            start=starts.get(1),
        )
    bounds = _Bounds(policy, limits, len(draft.taught_commands), time.monotonic() + seconds)
    rehearsals = _Rehearsals(bounds, sandbox_root_parent, heartbeat, cancelled or threading.Event(), starts)
    rehearsals.first(draft, effects)
    for one in draft.further_demonstrations:
        rehearsals.further(draft, one)
    return rehearsals.report()


@dataclass(frozen=True)
class _Bounds:
    policy: TestPolicy
    limits: SandboxLimits | None
    commands: int
    ends_at: float

    @property
    def out_of_time(self) -> bool:
        return time.monotonic() >= self.ends_at


class _Rehearsals:
    def __init__(
        self,
        bounds: _Bounds,
        parent: Path,
        heartbeat: Callable[[RehearsalProgress], None],
        cancelled: threading.Event,
        starts: Mapping[int, LessonStart],
    ) -> None:
        self._bounds = bounds
        self._starts = starts
        self._parent = parent
        self._heartbeat = heartbeat
        self._cancelled = cancelled
        self._reports: list[tuple[int, RehearsalReport]] = []
        self._commands = 0

    def first(self, draft: SkillDraft, effects: Sequence[ObservedEffect]) -> None:
        self._reports.append((1, self._rehearsed(1, draft, effects, self._cancelled)))
        self._commands += len(draft.rehearsal)

    def further(self, draft: SkillDraft, one: RehearsedDemonstration) -> None:
        again = draft.changed(rehearsal=one.commands, further_demonstrations=(), conditions=(), untested=())
        self._reports.append((one.number, self._attempted(again, one)))
        self._commands += len(one.commands)

    def report(self) -> RehearsalReport:
        steps = tuple(_of(number, step) for number, report in self._reports for step in report.steps)
        found = [report for _, report in self._reports]
        cancelled = any(report.result is RehearsalResult.CANCELLED for report in found)
        safety = next((report.safety_failure for report in found if report.safety_failure), None)
        return RehearsalReport(
            steps,
            RehearsalResult.FAILED if safety else result_of(steps, cancelled=cancelled),
            safety,
            next((report.isolation for report in found if report.isolation), None),
        )

    def _attempted(self, again: SkillDraft, one: RehearsedDemonstration) -> RehearsalReport:
        before = [report for _, report in self._reports]
        if any(report.safety_failure for report in before):
            return _left_out(again, one, "not run: the test policy forbids this rehearsal")
        if self._cancelled.is_set():
            return _left_out(again, one, "not run: the rehearsal was cancelled")
        if self._commands + len(one.commands) > self._bounds.policy.max_actions:
            limit = self._bounds.policy.max_actions
            reason = f"not run: with it the rehearsal has more than the {limit} commands the policy allows"
            return not_applied(again, one.effects, f"{reason}; raise max_actions to have it rehearsed")
        if self._bounds.out_of_time:
            return not_applied(again, one.effects, _OUT_OF_TIME)
        ended = threading.Event()
        found = self._rehearsed(one.number, again, one.effects, ended, one.inputs)
        if ended.is_set() and not self._cancelled.is_set():
            steps = tuple(_let_go(step) for step in found.steps)
            return replace(found, steps=steps, result=result_of(steps, cancelled=False))
        return found

    def _rehearsed(
        self,
        number: int,
        draft: SkillDraft,
        effects: Sequence[ObservedEffect],
        ended: threading.Event,
        inputs: Sequence[str] = (),
    ) -> RehearsalReport:
        def beat(progress: RehearsalProgress) -> None:
            done = self._commands + progress.completed_commands
            self._heartbeat(replace(progress, completed_commands=done, total_commands=self._bounds.commands))
            if self._cancelled.is_set() or (self._reports and self._bounds.out_of_time):
                ended.set()

        return rehearse(
            draft,
            effects,
            self._bounds.policy,
            sandbox_root_parent=self._parent,
            heartbeat=beat,
            cancelled=ended,
            limits=self._bounds.limits,
            inputs=inputs,
            start=self._starts.get(number),
        )


def _left_out(draft: SkillDraft, one: RehearsedDemonstration, reason: str) -> RehearsalReport:
    return nothing_run(
        draft,
        one.effects,
        reason=reason,
        objections={},
        safety_failure=None,
        result=RehearsalResult.SKIPPED,
    )


def _let_go(step: RehearsalStep) -> RehearsalStep:
    """A step that was skipped since the time was used up; what was seen before that counts."""
    if step.result is not StepResult.SKIPPED:
        return step
    return replace(step, details=_OUT_OF_TIME, applies=False)


def _of(number: int, step: RehearsalStep) -> RehearsalStep:
    case = step.test_case_id.removeprefix("rehearsal/")
    return replace(
        step,
        test_case_id=f"rehearsal/demonstration-{number}/{case}",
        label=clipped(f"demonstration {number}: {step.label}", 240),
    )


REASON = (
    "not applicable: this was shown in a browser, and a rehearsal repeats commands, not what was done on a live site;"
    " whoever uses the skill verifies its checkpoints there"
)


def rehearsed_effects(effects: Sequence[ObservedEffect]) -> tuple[ObservedEffect, ...]:
    """The effects that a rehearsal can bring about again."""
    return tuple(effect for effect in effects if effect.kind in REHEARSED_EFFECTS)


def unrehearsed_steps(effects: Sequence[ObservedEffect]) -> tuple[CheckStep, ...]:
    """A skipped case for each effect that was seen in a browser."""
    unseen = (effect for effect in effects if effect.kind not in REHEARSED_EFFECTS)
    return tuple(
        CheckStep(
            f"rehearsal/page-{number:02d}",
            clipped(f"seen when it was shown: {effect.path}", 240),
            StepResult.SKIPPED,
            REASON,
            applies=False,
        )
        for number, effect in enumerate(unseen, start=1)
    )


def safety_beside(
    commands: SafetyClass, effects: Sequence[ObservedEffect], others: Sequence[UnrehearsedCommand] = ()
) -> SafetyClass:
    """The safety class of commands, pages and executable skills together: the worst of them.

    What acts on a live site is never low; a skill that was run says its class itself (X-34).
    """
    pages = SafetyClass.MEDIUM if len(rehearsed_effects(effects)) < len(effects) else SafetyClass.LOW
    skills = (one.safety_class for one in others if one.safety_class is not None)
    return SafetyClass.worst((commands, pages, *skills))


def nothing_to_rehearse(draft: SkillDraft, effects: Sequence[ObservedEffect]) -> bool:
    """Whether nothing of what was shown can be repeated here: no command, and no file to look for."""
    if draft.taught_commands or rehearsed_effects(effects):
        return False
    return bool(effects or draft.unrehearsed)
