"""Results of a rehearsal: the report, and each check case by case."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from contracts.base import clipped
from contracts.learning.evidence import UnrehearsedCommand
from contracts.learning.interpretation import ObservedEffect
from contracts.learning.proposal import RehearsalCommand, SkillDraft
from contracts.learning.validation import StepResult
from skills.rehearsal.launch_order import HostIsolation

_LABEL_LIMIT, _DETAILS_LIMIT = 240, 1000


class RehearsalResult(StrEnum):
    """How a rehearsal ended. ``skipped``: something could not be tried, and nothing failed."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class RehearsalStep:
    """One command's or one effect's result. ``label`` holds at most 240 characters, ``details`` 1000."""

    test_case_id: str
    label: str
    result: StepResult
    details: str | None = None
    applies: bool = True
    """False where it is skipped for a reason that says nothing of the skill."""


@dataclass(frozen=True)
class RehearsalProgress:
    """How far a rehearsal has come."""

    completed_commands: int
    total_commands: int
    label: str


@dataclass(frozen=True)
class RehearsalReport:
    """What became of the rehearsal: a step for each command and each effect, in order."""

    steps: tuple[RehearsalStep, ...]
    result: RehearsalResult
    safety_failure: str | None = None
    """Why the test policy forbade it (starts with ``TEST_POLICY_VIOLATION``); nothing was run then."""
    isolation: HostIsolation | None = None
    """What held the commands; None when none was started."""

    @property
    def passed(self) -> bool:
        """Whether every command worked and every effect was seen."""
        return self.result is RehearsalResult.PASSED

    @property
    def isolation_summary(self) -> str:
        """One line for people."""
        if self.isolation is None:
            return "nothing was run"
        held = [
            name
            for name, kept in (
                ("files", self.isolation.filesystem),
                ("network", self.isolation.network),
                ("processes", self.isolation.process_tree),
            )
            if kept
        ]
        return "; ".join([f"kept apart: {', '.join(held)}", *self.isolation.missing])


def command_step(
    number: int, command: RehearsalCommand, result: StepResult, details: str | None
) -> RehearsalStep:
    """The step of the ``number``-th command, counted from 1."""
    return _step(
        f"rehearsal/command-{number:02d}", f"run: {' '.join(command.command.split())}", result, details
    )


def effect_step(
    number: int, effect: ObservedEffect, result: StepResult, details: str | None
) -> RehearsalStep:
    """The step of the ``number``-th effect, counted from 1."""
    state = "exists" if effect.kind == "file_exists" else "is gone"
    return _step(f"rehearsal/effect-{number:02d}", f"{effect.path} {state}", result, details)


def condition_step(number: int, statement: str, result: StepResult, details: str | None) -> RehearsalStep:
    """The step of the ``number``-th condition, counted from 1."""
    return _step(f"rehearsal/condition-{number:02d}", statement, result, details)


def unrehearsed_step(number: int, command: UnrehearsedCommand) -> RehearsalStep:
    """The skipped step of a command that only a person can carry out; it proves nothing."""
    step = _step(
        f"rehearsal/unrehearsed-{number:02d}",
        f"not rehearsed: {command.command}",
        StepResult.SKIPPED,
        f"not applicable: {command.reason}",
    )
    return replace(step, applies=False)


def nothing_run(
    draft: SkillDraft,
    effects: Sequence[ObservedEffect],
    *,
    reason: str,
    objections: dict[int, str],
    safety_failure: str | None,
    result: RehearsalResult,
    isolation: HostIsolation | None = None,
) -> RehearsalReport:
    """The report of a rehearsal that ran nothing: commands with an objection (by index) failed."""
    commands = (
        command_step(
            index + 1,
            command,
            StepResult.FAILED if index in objections else StepResult.SKIPPED,
            objections.get(index, reason),
        )
        for index, command in enumerate(draft.rehearsal)
    )
    unseen = (
        effect_step(number, effect, StepResult.SKIPPED, reason)
        for number, effect in enumerate(effects, start=1)
    )
    return RehearsalReport((*commands, *unseen), result, safety_failure, isolation)


def not_applied(draft: SkillDraft, effects: Sequence[ObservedEffect], reason: str) -> RehearsalReport:
    """The report of a rehearsal that does not apply, for ``reason``."""
    report = nothing_run(
        draft,
        effects,
        reason=reason,
        objections={},
        safety_failure=None,
        result=RehearsalResult.SKIPPED,
    )
    return replace(report, steps=tuple(replace(step, applies=False) for step in report.steps))


def result_of(steps: Sequence[RehearsalStep], *, cancelled: bool) -> RehearsalResult:
    """What the steps come to; those that do not apply count for nothing."""
    if cancelled:
        return RehearsalResult.CANCELLED
    results = {step.result for step in steps if step.applies}
    if StepResult.FAILED in results:
        return RehearsalResult.FAILED
    return RehearsalResult.PASSED if results == {StepResult.PASSED} else RehearsalResult.SKIPPED


def _step(test_case_id: str, label: str, result: StepResult, details: str | None) -> RehearsalStep:
    shown = clipped(details, _DETAILS_LIMIT) if details else None
    return RehearsalStep(test_case_id, clipped(label, _LABEL_LIMIT), result, shown)


@dataclass(frozen=True)
class CheckStep:
    """One case: what was looked at and what was seen (details at most 1,000 characters).

    A case that does not ``apply`` is skipped for a reason that lies in what was taught; it proves nothing.
    """

    test_case_id: str
    label: str
    result: StepResult
    details: str | None = None
    applies: bool = True


@dataclass(frozen=True)
class CheckReport:
    """A check passes when it looked at something, nothing failed, and nothing unsafe was seen."""

    steps: tuple[CheckStep, ...]
    safety_failure: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the check proves anything and found nothing wrong. A skipped case proves nothing."""
        applied = [step for step in self.steps if step.applies]
        return (
            bool(applied)
            and self.safety_failure is None
            and all(step.result is StepResult.PASSED for step in applied)
        )

    @property
    def not_applicable(self) -> str | None:
        """Why the whole check cannot apply to what was taught; ``None`` where any of it does."""
        if not self.steps or self.safety_failure is not None or any(step.applies for step in self.steps):
            return None
        return self.steps[0].details or "not applicable"
