"""Results of a rehearsal: the report, and each check case by case."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from contracts.abilities.availability import MAX_UNPROVED, UnprovedStep
from contracts.base import clipped
from contracts.learning.evidence import UnrehearsedCommand
from contracts.learning.interpretation import ObservedEffect
from contracts.learning.proposal import RehearsalCommand, SkillDraft
from contracts.learning.starting_state import StartingEntry
from contracts.learning.validation import StepResult
from domain.learning.conditions.stated_conditions import NOT_TESTED
from host.sandbox.launch_order import HostIsolation

_LABEL_LIMIT, _DETAILS_LIMIT = 240, 1000
_UNTESTED = "rehearsal/untested-"
"""How the cases begin of conditions that only a person can judge."""

NO_PROOF = "rehearsal/no-proof-"
"""How the cases begin of conditions that hold and prove nothing, as replays have shown."""


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


def safe_targets_step(outside: Sequence[str]) -> RehearsalStep:
    """The step of the mode that lets only safe targets be written; ``outside`` are the other files that were.

    Like ``cleanup_step`` it applies only where it failed: that a bound was kept proves nothing of the skill.
    """
    result = StepResult.FAILED if outside else StepResult.PASSED
    details = None
    if outside:
        details = (
            f"{', '.join(outside[:10])} is no safe target and was made, changed or removed; add it with"
            f" `apprentice learn test-policy --safe-target blank_document={outside[0]}`, or choose copy_artifact"
        )
    step = _step("rehearsal/safe-targets", "Only safe targets were written", result, details)
    return replace(step, applies=bool(outside))


def cleanup_step(*, is_gone: bool) -> RehearsalStep:
    """The step of a policy that requires cleaning up: the rehearsal's folder is removed with all it held."""
    result = StepResult.PASSED if is_gone else StepResult.FAILED
    details = None if is_gone else "The rehearsal's folder is still there; remove it from the data directory."
    return replace(
        _step("rehearsal/cleanup", "Nothing of the rehearsal is left", result, details), applies=not is_gone
    )


def beginning_step(number: int, file: StartingEntry) -> RehearsalStep:
    """The step of a large file whose first lines alone are there; it fails nothing, and proves nothing."""
    step = _step(
        f"rehearsal/input-{number:02d}",
        f"tried with the first lines of {file.path}",
        StepResult.PASSED,
        f"{file.size_bytes} of its {file.whole_size_bytes} bytes are kept in the starting state",
    )
    return replace(step, applies=False)


def unrehearsed_step(number: int, command: UnrehearsedCommand) -> RehearsalStep:
    """The skipped step of a command that only a person can carry out; it proves nothing."""
    step = _step(
        f"rehearsal/unrehearsed-{number:02d}",
        f"not rehearsed: {command.command}",
        StepResult.SKIPPED,
        f"not applicable: {command.reason}",
    )
    return replace(step, applies=False)


def unrehearsed_part(draft: SkillDraft) -> tuple[RehearsalStep, ...]:
    """The skipped steps of what no rehearsal of the draft can carry out."""
    return tuple(unrehearsed_step(number, one) for number, one in enumerate(draft.unrehearsed, start=1))


def untested_part(draft: SkillDraft) -> tuple[RehearsalStep, ...]:
    """The skipped steps of the conditions that only a person can judge; they prove nothing."""
    return tuple(
        replace(_step(f"{_UNTESTED}{number:02d}", statement, StepResult.SKIPPED, NOT_TESTED), applies=False)
        for number, statement in enumerate(draft.untested, start=1)
    )


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

    @property
    def unproved(self) -> tuple[UnprovedStep, ...]:
        """What could not be tried here. A further demonstration repeats a task that the first one proves or not.

        Conditions that only a person can judge, or that prove nothing beside others, are no part of it.
        """
        skipped = [
            step
            for step in self.steps
            if step.result is StepResult.SKIPPED
            and not step.applies
            and not step.test_case_id.startswith((_UNTESTED, NO_PROOF))
        ]
        found = [_unproved(step) for step in skipped if not _FURTHER.match(step.test_case_id)]
        if len(found) <= MAX_UNPROVED:
            return tuple(found)
        kept = found[: MAX_UNPROVED - 1]
        rest = f"{len(found) - len(kept)} more"
        return (*kept, UnprovedStep(case="rehearsal", step=rest, reason="The validation run lists them."))


_FURTHER = re.compile(r"rehearsal/demonstration-(?!1/)")


def check_step(step: RehearsalStep) -> CheckStep:
    """The case of a rehearsal's step."""
    return CheckStep(step.test_case_id, step.label, step.result, step.details, step.applies)


def _unproved(step: CheckStep) -> UnprovedStep:
    reason = (step.details or "it was not tried").removeprefix("not applicable: ")
    return UnprovedStep(
        case=step.test_case_id,
        step=clipped(step.label.removeprefix("not rehearsed: "), 240),
        reason=clipped(reason, 400),
    )
