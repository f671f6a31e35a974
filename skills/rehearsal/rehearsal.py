"""Rehearsal: replays the taught commands in a sandbox and checks that they have the demonstrated effects.

The folder of a rehearsal is new and removed at its end, or later where its worker was killed.
"""

import posixpath
import shlex
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from contracts.base import clipped
from contracts.errors import ErrorCode
from contracts.learning.interpretation import ObservedEffect
from contracts.learning.proposal import RehearsalCommand, SkillDraft
from contracts.learning.test_policy import TestPolicy, TestPolicyMode
from contracts.learning.validation import StepResult
from domain.learning.commands.command_safety import (
    destructive_reason,
    external_send_reason,
    holds_masked_secret,
    removes_any,
)
from domain.learning.conditions.conditions import objection
from domain.learning.redaction.redaction import redact
from host.locked_folders import temporary_folder
from skills.rehearsal.effects import EffectWitness, TargetWatch, UnsafeTarget, place_safe_targets
from skills.rehearsal.folder_contents import ReadContents
from skills.rehearsal.report import (
    RehearsalProgress,
    RehearsalReport,
    RehearsalResult,
    RehearsalStep,
    cleanup_step,
    command_step,
    condition_step,
    effect_step,
    not_applied,
    nothing_run,
    result_of,
    safe_targets_step,
    unrehearsed_part,
    untested_part,
)
from skills.rehearsal.sandbox import CommandOutcome, HostIsolation, Sandbox, SandboxLimits
from skills.rehearsal.shell_session import (
    WORK_FOLDER,
    SessionOutcome,
    Surroundings,
    prepare_jail,
    run_session,
)

_PREFIX = "rehearsal-"


def fresh_folder(parent: Path) -> AbstractContextManager[Path]:
    """A new folder under ``parent``, held by a lock of the kernel's for as long as it is used."""
    return temporary_folder(parent, _PREFIX)


MODES_WITHOUT_RUN = frozenset({TestPolicyMode.READ_ONLY, TestPolicyMode.DRY_RUN_ONLY})
"""Modes of a test policy in which no command is run."""

_SAFE_TARGETS = TestPolicyMode.SAFE_TARGET_ONLY
_NOT_FOUND = 127
_SHOWN_OUTPUT = 600
_MASKED = (
    "a secret was cut out of this command when it was recorded, so it cannot be run as shown;"
    " teach it with the secret in a file or a variable that the command reads"
)


@dataclass(frozen=True)
class LessonStart:
    """The folder that a rehearsal begins with: how to fill it, and what the shell is given."""

    place: Callable[[Path], None]
    surroundings: Surroundings = field(default_factory=Surroundings)


def rehearse(
    draft: SkillDraft,
    effects: Sequence[ObservedEffect],
    policy: TestPolicy,
    *,
    sandbox_root_parent: Path,
    heartbeat: Callable[[RehearsalProgress], None],
    cancelled: threading.Event | None = None,
    limits: SandboxLimits | None = None,
    inputs: Sequence[str] = (),
    start: LessonStart | None = None,
) -> RehearsalReport:
    """Runs ``draft.rehearsal`` in a fresh folder below ``sandbox_root_parent``, then checks each effect.

    What the policy forbids is found before anything runs, and then nothing runs: the report names the safety
    failure; the commands of further demonstrations (``draft.further_demonstrations``) are judged with the first
    one's, and not run here. Neither is anything run where one of ``inputs`` is not there: the rehearsal then
    does not apply. The folder begins with ``start``, where the demonstration's is kept. Commands run in order in
    one shell, each in its recorded folder, until one fails; then each effect and each of the draft's conditions is
    looked at. A mode that forbids running gets a check of the syntax instead, ``blank_artifact`` begins without
    ``start``, and under ``safe_target_only`` a file outside the safe targets that is written is a failed case.
    ``heartbeat`` is called about once a second with the number of commands that have ended. The folder is always
    removed, after a killed worker when the next rehearsal begins. ``limits`` bound each single command; the time of
    one is lent to the others.

    Raises:
        SandboxUnavailable: this host cannot isolate commands, so nothing was run.
    """
    sandbox_root_parent.mkdir(mode=0o711, parents=True, exist_ok=True)
    with fresh_folder(sandbox_root_parent) as root:
        report = _rehearsed_in(root, draft, effects, policy, heartbeat, cancelled, limits, inputs, start)
    if not policy.cleanup_required:
        return report
    cleanup = cleanup_step(is_gone=not root.exists())
    steps = (*report.steps, cleanup)
    result = RehearsalResult.FAILED if cleanup.result is StepResult.FAILED else report.result
    return replace(report, steps=steps, result=result)


def _rehearsed_in(
    root: Path,
    draft: SkillDraft,
    effects: Sequence[ObservedEffect],
    policy: TestPolicy,
    heartbeat: Callable[[RehearsalProgress], None],
    cancelled: threading.Event | None,
    limits: SandboxLimits | None,
    inputs: Sequence[str],
    start: LessonStart | None,
) -> RehearsalReport:
    work = prepare_jail(root)
    try:
        if start is not None and policy.mode is not TestPolicyMode.BLANK_ARTIFACT:
            start.place(work)
        copies = place_safe_targets(policy, work)
    except UnsafeTarget as refusal:
        return _forbidden(draft, effects, {}, str(refusal))
    objections = _objections(draft.taught_commands, policy, copies)
    too_many = len(draft.rehearsal) > policy.max_actions
    if too_many or objections:
        first = next(iter(objections.values()), "")
        reason = (
            f"{len(draft.rehearsal)} commands are more than the {policy.max_actions} the policy allows;"
            " raise max_actions or teach in smaller parts"
            if too_many
            else first
        )
        return _forbidden(draft, effects, objections, reason)
    if missing := [path for path in inputs if not (work / path).exists()]:
        return not_applied(
            draft,
            effects,
            f"not run: it works on {missing[0]}, which is neither in the folder that it begins with nor among the"
            " test policy's safe targets",
        )
    sandbox = Sandbox(root, _for_all(limits or SandboxLimits(), len(draft.rehearsal)))
    if policy.mode in MODES_WITHOUT_RUN:
        return _check_syntax(draft, effects, policy, sandbox, heartbeat, cancelled)
    surroundings = start.surroundings if start is not None else Surroundings()
    watch = TargetWatch(work, policy.safe_targets) if policy.mode is _SAFE_TARGETS else None
    return _Replay(draft, effects, sandbox, surroundings, watch).report(heartbeat, cancelled)


def _for_all(limits: SandboxLimits, commands: int) -> SandboxLimits:
    """The limits of one command as those of a shell that runs several."""
    return replace(limits, wall_seconds=limits.wall_seconds * max(1, commands))


def _objections(
    commands: Sequence[RehearsalCommand], policy: TestPolicy, copies: Sequence[str]
) -> dict[int, str]:
    """Which commands, by index, the policy forbids, and why."""
    found: dict[int, str] = {}
    for index, command in enumerate(commands):
        reason = objection_to(command, policy, copies)
        if reason is not None:
            found[index] = reason
    return found


def objection_to(command: RehearsalCommand, policy: TestPolicy, copies: Sequence[str]) -> str | None:
    folder = command.working_folder or "."
    if posixpath.isabs(folder) or ".." in folder.split("/"):
        return f"the working folder {folder} leads out of the rehearsal folder"
    if holds_masked_secret(command.command):
        return None
    if policy.forbid_destructive_writes:
        if reason := destructive_reason(command.command, folder):
            return f"destructive writes are forbidden: {reason}"
        if removed := removes_any(command.command, copies, folder):
            return f"destructive writes are forbidden: it removes the copied document {removed}"
    if policy.forbid_external_send and (reason := external_send_reason(command.command)):
        return f"sending to the outside is forbidden: {reason}"
    return None


def _forbidden(
    draft: SkillDraft, effects: Sequence[ObservedEffect], objections: dict[int, str], reason: str
) -> RehearsalReport:
    return nothing_run(
        draft,
        effects,
        reason="not run: the test policy forbids this rehearsal",
        objections=objections,
        safety_failure=f"{ErrorCode.TEST_POLICY_VIOLATION}: {reason}",
        result=RehearsalResult.FAILED,
    )


def _check_syntax(
    draft: SkillDraft,
    effects: Sequence[ObservedEffect],
    policy: TestPolicy,
    sandbox: Sandbox,
    heartbeat: Callable[[RehearsalProgress], None],
    cancelled: threading.Event | None,
) -> RehearsalReport:
    objections: dict[int, str] = {}
    isolation: HostIsolation | None = None
    for index, command in enumerate(draft.rehearsal):
        outcome = sandbox.run(f"bash -n -c {shlex.quote(command.command)}", cancelled=cancelled)
        isolation = outcome.isolation
        if outcome.cancelled:
            break
        if not outcome.succeeded:
            objections[index] = f"not run, and its syntax is wrong: {ending_of(outcome)}"
        heartbeat(RehearsalProgress(index + 1, len(draft.rehearsal), "syntax checked"))
    is_cancelled = cancelled is not None and cancelled.is_set()
    without_failure = RehearsalResult.CANCELLED if is_cancelled else RehearsalResult.SKIPPED
    report = nothing_run(
        draft,
        effects,
        reason=f"not run: the test policy's mode is {policy.mode}, which allows a check of the syntax only;"
        " `apprentice learn test-policy --mode copy_artifact` has it rehearsed",
        objections=objections,
        safety_failure=None,
        result=RehearsalResult.FAILED if objections else without_failure,
        isolation=isolation,
    )
    if is_cancelled:
        return report
    # That nothing was run is what the person asked for: it proves nothing, and is no failure.
    return replace(
        report,
        steps=tuple(replace(one, applies=one.result is not StepResult.SKIPPED) for one in report.steps),
    )


@dataclass(frozen=True)
class _Replay:
    """One run of a draft's commands in a prepared jail, and what is looked at afterwards."""

    draft: SkillDraft
    effects: Sequence[ObservedEffect]
    sandbox: Sandbox
    surroundings: Surroundings
    watch: TargetWatch | None

    def report(
        self, heartbeat: Callable[[RehearsalProgress], None], cancelled: threading.Event | None
    ) -> RehearsalReport:
        """Runs the commands and reports each of them, each effect and each condition."""
        work = self.sandbox.root / WORK_FOLDER
        commands = self.draft.rehearsal
        masked = next(
            (n for n, one in enumerate(commands) if holds_masked_secret(one.command)), len(commands)
        )
        witness = EffectWitness(work, self.effects)
        before = ReadContents(work)
        total = len(commands)

        labels = [
            command_step(n, one, StepResult.PASSED, None).label for n, one in enumerate(commands, start=1)
        ]
        reported = 0

        def progress(done: int) -> None:
            nonlocal reported
            for number in range(reported + 1, done + 1):
                heartbeat(RehearsalProgress(number, total, labels[number - 1]))
            reported = done
            if done < total:
                heartbeat(RehearsalProgress(done, total, f"running command {done + 1}"))

        runnable = commands[:masked]
        session = run_session(
            self.sandbox, runnable, self.surroundings, cancelled=cancelled, progress=progress
        )
        for result in session.results:
            witness.note((*result.use.written, *result.use.removed))
        is_cancelled = session.outcome.cancelled or (cancelled is not None and cancelled.is_set())
        steps = self._command_steps(session, is_cancelled)
        if is_cancelled:
            reason = "not checked: the rehearsal was cancelled"
            steps += [
                effect_step(n, e, StepResult.SKIPPED, reason) for n, e in enumerate(self.effects, start=1)
            ]
        else:
            steps += self._effect_steps(witness)
            steps += self._condition_steps(before, ReadContents(work, written=session.written))
            steps += untested_part(self.draft)
            if self.watch is not None:
                steps.append(safe_targets_step(self.watch.outside()))
        steps += unrehearsed_part(self.draft)
        result = result_of(steps, cancelled=is_cancelled)
        return RehearsalReport(tuple(steps), result, isolation=session.isolation)

    def _command_steps(self, session: SessionOutcome, is_cancelled: bool) -> list[RehearsalStep]:
        steps: list[RehearsalStep] = []
        failed_at = session.failed_at(self.draft.rehearsal[: len(session.results)])
        for number, command in enumerate(self.draft.rehearsal, start=1):
            place = number - 1
            if failed_at is not None and place > failed_at:
                stopped = f"not run: command {failed_at + 1} failed before it"
                if is_cancelled:
                    stopped = "not run: the rehearsal was cancelled"
                step = command_step(number, command, StepResult.SKIPPED, stopped)
                steps.append(replace(step, applies=is_cancelled or not self.draft.unrehearsed))
            elif place >= len(session.results):
                failed_at = place
                steps.append(command_step(number, command, StepResult.FAILED, _MASKED))
            elif place == failed_at:
                failure = _ending(session, place)
                result = StepResult.SKIPPED if is_cancelled else StepResult.FAILED
                steps.append(self._unless_unproved(command_step(number, command, result, failure)))
            else:
                steps.append(command_step(number, command, StepResult.PASSED, None))
        return steps

    def _effect_steps(self, witness: EffectWitness) -> Iterator[RehearsalStep]:
        for number, effect in enumerate(self.effects, start=1):
            found = witness.objection(effect)
            result = StepResult.PASSED if found is None else StepResult.FAILED
            yield self._unless_unproved(effect_step(number, effect, result, found))

    def _unless_unproved(self, step: RehearsalStep) -> RehearsalStep:
        """A step that failed is not rehearsed where the lesson has commands that only a person can carry out."""
        if step.result is not StepResult.FAILED or not self.draft.unrehearsed:
            return step
        without = f"not rehearsed, as {self.draft.unrehearsed[0].command} was left out: {step.details or ''}"
        return replace(step, result=StepResult.SKIPPED, details=clipped(without, 1000), applies=False)

    def _condition_steps(self, before: ReadContents, after: ReadContents) -> Iterator[RehearsalStep]:
        for number, condition in enumerate(self.draft.conditions, start=1):
            found = objection(condition, before, after)
            result = StepResult.PASSED if found is None else StepResult.FAILED
            yield self._unless_unproved(condition_step(number, condition.statement, result, found))


def _ending(session: SessionOutcome, place: int) -> str:
    """How the command that ended the session failed."""
    result = session.results[place]
    outcome = replace(session.outcome, output=result.output)
    if result.status is not None:
        outcome = replace(outcome, exit_code=result.status, signal=None)
    elif outcome.exit_code == 0:
        return "it ended the shell before it was finished; leave `exit` and `exec` out of what is taught"
    return ending_of(outcome)


def ending_of(outcome: CommandOutcome) -> str:
    """How a command that did not succeed ended, with the end of its output."""
    if outcome.cancelled:
        return "it was cancelled"
    if outcome.timed_out:
        ending = f"it did not end within {outcome.duration_seconds:.0f} s and was stopped"
    elif outcome.violations:
        ending = "; ".join(outcome.violations)
    elif outcome.signal is not None:
        ending = f"it was ended by signal {outcome.signal}"
    elif outcome.exit_code == _NOT_FOUND:
        ending = "a program was not found among the system's programs (exit code 127)"
    else:
        ending = f"exit code {outcome.exit_code}"
    # More is masked than is shown, so that a secret's name is not cut off from its value.
    output = redact(" ".join(outcome.output.split())[-4 * _SHOWN_OUTPUT :]).text
    return f"{ending}; its output ends: {output[-_SHOWN_OUTPUT:]}" if output else ending
