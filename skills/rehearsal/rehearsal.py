"""Rehearsal: replays the taught commands in a sandbox and checks that they have the demonstrated effects.

The folder of a rehearsal is new and removed at its end, or later where its worker was killed.
"""

import contextlib
import fcntl
import os
import posixpath
import shlex
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

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
from domain.learning.redaction.redaction import redact
from skills.rehearsal.effects import EffectWitness, UnsafeTarget, place_safe_targets
from skills.rehearsal.report import (
    RehearsalProgress,
    RehearsalReport,
    RehearsalResult,
    RehearsalStep,
    command_step,
    effect_step,
    not_applied,
    nothing_run,
    result_of,
)
from skills.rehearsal.sandbox import CommandOutcome, HostIsolation, Sandbox, SandboxLimits

_PREFIX = "rehearsal-"


@contextmanager
def fresh_folder(parent: Path) -> Generator[Path]:
    """A new folder under ``parent``, held by a lock of the kernel's for as long as it is used."""
    _remove_abandoned(parent)
    root, lock = _locked_folder(parent)
    try:
        yield root
    finally:
        try:
            _remove(root)
        finally:
            os.close(lock)


def _locked_folder(parent: Path) -> tuple[Path, int]:
    while True:
        root = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        # Gone already where another rehearsal took it for abandoned before it was locked.
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if root.exists():
                return root, lock
            os.close(lock)


def _remove_abandoned(parent: Path) -> None:
    """Removes the folders whose lock went with their worker."""
    for root in _folders(parent):
        # One that cannot be removed, or has gone, is no matter of the rehearsal that begins.
        with contextlib.suppress(OSError):
            lock = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(root)
            finally:
                os.close(lock)


def _folders(parent: Path) -> Iterator[Path]:
    yield from sorted(path for path in parent.glob(f"{_PREFIX}*") if path.is_dir() and not path.is_symlink())


def _remove(root: Path) -> None:
    # A command may have taken away its own rights to a folder, which would keep it from being removed.
    root.chmod(stat.S_IRWXU)
    for folder, children, _ in os.walk(root):
        for child in (Path(folder, name) for name in children):
            if not child.is_symlink():
                child.chmod(stat.S_IRWXU)
    shutil.rmtree(root)


_MODES_WITHOUT_RUN = frozenset({TestPolicyMode.READ_ONLY, TestPolicyMode.DRY_RUN_ONLY})
_NOT_FOUND = 127
_SHOWN_OUTPUT = 600


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
) -> RehearsalReport:
    """Runs ``draft.rehearsal`` in a fresh folder below ``sandbox_root_parent``, then checks each effect.

    What the policy forbids is found before anything runs, and then nothing runs: the report names the safety
    failure; the commands of further demonstrations (``draft.further_demonstrations``) are judged with the first
    one's, and not run here. Neither is anything run where one of ``inputs`` is no safe target: the rehearsal then
    does not apply. Commands run in order, each in its own shell and in its recorded folder, until one fails; a mode
    that forbids running gets a check of the syntax instead. ``heartbeat`` is called after each command and about
    once a second while one runs. The folder is always removed,
    after a killed worker when the next rehearsal begins. ``limits`` bound each single command.

    Raises:
        SandboxUnavailable: this host cannot isolate commands, so nothing was run.
    """
    sandbox_root_parent.mkdir(mode=0o711, parents=True, exist_ok=True)
    with fresh_folder(sandbox_root_parent) as root:
        try:
            copies = place_safe_targets(policy, root)
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
        if missing := [path for path in inputs if not (root / path).exists()]:
            return not_applied(
                draft,
                effects,
                f"not run: it works on {missing[0]}, which is not among the test policy's safe targets",
            )
        sandbox = Sandbox(root, limits)
        if policy.mode in _MODES_WITHOUT_RUN:
            return _check_syntax(draft, effects, policy, sandbox, heartbeat, cancelled)
        return _replay(draft, effects, sandbox, heartbeat, cancelled)


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
    return nothing_run(
        draft,
        effects,
        reason=f"not run: the test policy's mode is {policy.mode}, which allows a check of the syntax only",
        objections=objections,
        safety_failure=None,
        result=RehearsalResult.FAILED if objections else without_failure,
        isolation=isolation,
    )


def _replay(
    draft: SkillDraft,
    effects: Sequence[ObservedEffect],
    sandbox: Sandbox,
    heartbeat: Callable[[RehearsalProgress], None],
    cancelled: threading.Event | None,
) -> RehearsalReport:
    witness = EffectWitness(sandbox.root, effects)
    steps: list[RehearsalStep] = []
    stopped: str | None = None
    isolation: HostIsolation | None = None
    is_cancelled = False
    total = len(draft.rehearsal)
    for number, command in enumerate(draft.rehearsal, start=1):
        is_cancelled = is_cancelled or (cancelled is not None and cancelled.is_set())
        if is_cancelled:
            stopped = "not run: the rehearsal was cancelled"
        if stopped is not None:
            steps.append(command_step(number, command, StepResult.SKIPPED, stopped))
            continue
        if holds_masked_secret(command.command):
            failure: str | None = (
                "a secret was cut out of this command when it was recorded, so it cannot be run as shown;"
                " teach it with the secret in a file or a variable that the command reads"
            )
        else:
            running = RehearsalProgress(number - 1, total, f"running command {number}")
            outcome = sandbox.run(
                command.command,
                command.working_folder or ".",
                cancelled=cancelled,
                while_running=partial(heartbeat, running),
            )
            isolation, is_cancelled = outcome.isolation, outcome.cancelled
            failure = None if outcome.succeeded else ending_of(outcome)
            witness.note()
        result = StepResult.PASSED if failure is None else StepResult.FAILED
        steps.append(command_step(number, command, StepResult.SKIPPED if is_cancelled else result, failure))
        if failure is not None:
            stopped = f"not run: command {number} failed before it"
        heartbeat(RehearsalProgress(number, total, steps[-1].label))
    if is_cancelled:
        reason = "not checked: the rehearsal was cancelled"
        steps += [effect_step(n, e, StepResult.SKIPPED, reason) for n, e in enumerate(effects, start=1)]
    else:
        steps += _effect_steps(effects, witness)
    return RehearsalReport(tuple(steps), result_of(steps, cancelled=is_cancelled), isolation=isolation)


def _effect_steps(effects: Sequence[ObservedEffect], witness: EffectWitness) -> list[RehearsalStep]:
    steps: list[RehearsalStep] = []
    for number, effect in enumerate(effects, start=1):
        objection = witness.objection(effect)
        result = StepResult.PASSED if objection is None else StepResult.FAILED
        steps.append(effect_step(number, effect, result, objection))
    return steps


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
