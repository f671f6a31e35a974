"""Runs the method of an ability on a copy of a folder in the sandbox, and checks its conditions on the result."""

import os
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from contracts.base import clipped
from contracts.learning.evidence import ConditionKind, ProofCondition
from contracts.learning.proposal import RehearsalCommand
from contracts.learning.trials import (
    TrialCommand,
    TrialCommandResult,
    TrialCondition,
    TrialConditionResult,
)
from domain.learning.conditions.conditions import objection
from domain.learning.conditions.path_patterns import is_pattern, matching
from domain.learning.conditions.stated_conditions import NOT_TESTED
from domain.learning.proof.trial import Trial
from domain.learning.redaction.redaction import redact
from skills.rehearsal.folder_contents import ReadContents
from skills.rehearsal.rehearsal import fresh_folder
from skills.rehearsal.sandbox import Sandbox, SandboxLimits
from skills.rehearsal.shell_session import (
    CommandResult,
    SessionOutcome,
    Surroundings,
    prepare_jail,
    run_session,
)

TRIAL_LIMITS = SandboxLimits(wall_seconds=300.0, cpu_seconds=300)
"""What all commands of a trial may take together."""

_SHOWN_OUTPUT = 600
_NOT_FOUND = 127
_BY_SIGNAL = 128


@dataclass(frozen=True)
class TrialReport:
    """How the commands ended, which conditions hold, and the folder that came of it."""

    commands: tuple[TrialCommand, ...]
    conditions: tuple[TrialCondition, ...]
    cancelled: bool
    result: bytes | None
    """The resulting folder, as ``collect`` made it; ``None`` where the trial was cancelled."""

    session: SessionOutcome | None = None
    """How the shell ended that ran the commands; ``None`` where the trial was cancelled."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """What each command printed."""
        return tuple(one.output for one in self.session.results) if self.session is not None else ()

    @property
    def passed(self) -> bool:
        """Whether all commands worked and no condition failed."""
        worked = all(one.result is TrialCommandResult.WORKED for one in self.commands)
        return worked and not any(one.result is TrialConditionResult.FAILED for one in self.conditions)


def run_trial(
    trial: Trial,
    parent: Path,
    *,
    place: Callable[[Path], object],
    collect: Callable[[Path], bytes],
    cancelled: threading.Event,
    progress: Callable[[int], None],
    surroundings: Surroundings | None = None,
    limits: SandboxLimits = TRIAL_LIMITS,
) -> TrialReport:
    """Runs the commands in a fresh folder below ``parent``, which is removed at the end.

    ``place`` fills the folder, ``surroundings`` are the demonstration's, ``collect`` packs what came of it.
    ``progress`` is called about once a second with the number of commands that have ended.

    Raises:
        SandboxUnavailable: this host cannot isolate commands, so nothing was run.
    """
    parent.mkdir(mode=0o711, parents=True, exist_ok=True)
    with fresh_folder(parent) as root:
        work = prepare_jail(root)
        place(work)
        for script in trial.scripts:
            _put_script(work, script.path, script.text)
        before = ReadContents(work)
        session = run_session(
            Sandbox(root, limits), trial.commands, surroundings, cancelled=cancelled, progress=progress
        )
        if session.outcome.cancelled:
            return TrialReport(_commands(trial, session), (), cancelled=True, result=None)
        _make_readable(work)
        after = ReadContents(work, written=session.written)
        return TrialReport(
            _commands(trial, session),
            _conditions(trial, session, before, after),
            cancelled=False,
            result=collect(work),
            session=session,
        )


def _put_script(work: Path, path: str, text: str) -> None:
    place = work / path
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            place.chmod(0o755)


def _make_readable(work: Path) -> None:
    """Gives the worker back what a command took away: a folder without rights could not be packed."""
    for place, folders, files in os.walk(work):
        for name in (*folders, *files):
            path = Path(place, name)
            mode = path.lstat().st_mode
            needed = stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR
            if not stat.S_ISLNK(mode) and mode & needed != needed:
                path.chmod(stat.S_IMODE(mode) | needed)


def _commands(trial: Trial, session: SessionOutcome) -> tuple[TrialCommand, ...]:
    stopped_at = session.failed_at(trial.commands)
    return tuple(
        _command(number, command, result, session, is_last=stopped_at == number - 1, stopped_at=stopped_at)
        for number, (command, result) in enumerate(zip(trial.commands, session.results, strict=True), start=1)
    )


def _command(
    number: int,
    command: RehearsalCommand,
    result: CommandResult,
    session: SessionOutcome,
    *,
    is_last: bool,
    stopped_at: int | None,
) -> TrialCommand:
    if stopped_at is not None and number - 1 > stopped_at:
        found, details = TrialCommandResult.NOT_RUN, None
    elif is_last:
        found, details = TrialCommandResult.FAILED, _ending(result, session)
    else:
        found, details = TrialCommandResult.WORKED, None
    return TrialCommand(
        number=number,
        command=clipped(redact(command.command).text, 2000),
        working_folder=command.working_folder or ".",
        result=found,
        details=clipped(details, 1000) if details else None,
    )


def _ending(result: CommandResult, session: SessionOutcome) -> str:
    outcome = session.outcome
    if result.status == _NOT_FOUND:
        ending = "a program was not found on the worker's host (exit code 127)"
    elif result.status is not None and result.status > _BY_SIGNAL:
        ending = f"it was ended by signal {result.status - _BY_SIGNAL}"
    elif result.status is not None:
        ending = f"exit code {result.status}"
    elif outcome.cancelled:
        ending = "the trial was cancelled"
    elif outcome.timed_out:
        ending = f"the method did not end within {outcome.duration_seconds:.0f} s and was stopped"
    else:
        ending = "; ".join(outcome.violations) or "its working folder cannot be entered, or the shell ended"
    printed = redact(" ".join(result.output.split())[-4 * _SHOWN_OUTPUT :]).text
    return f"{ending}; its output ends: {printed[-_SHOWN_OUTPUT:]}" if printed else ending


def _conditions(
    trial: Trial, session: SessionOutcome, before: ReadContents, after: ReadContents
) -> tuple[TrialCondition, ...]:
    if session.failed_at(trial.commands) is not None:
        return tuple(
            _condition(one, TrialConditionResult.NOT_CHECKED, "a command failed before")
            for one in trial.conditions
        )
    named = trial.named
    found: list[TrialCondition] = []
    for one in trial.conditions:
        if not _applies(one, named, before, after):
            reason = f"no command names {one.path} and this folder has none"
            found.append(_condition(one, TrialConditionResult.NOT_APPLICABLE, reason))
            continue
        problem = objection(one, before, after)
        result = TrialConditionResult.HOLDS if problem is None else TrialConditionResult.FAILED
        found.append(_condition(one, result, problem))
    found += [
        TrialCondition(statement=one, path="", result=TrialConditionResult.NOT_CHECKED, details=NOT_TESTED)
        for one in trial.untested
    ]
    return tuple(found)


def _applies(
    condition: ProofCondition, named: frozenset[str], before: ReadContents, after: ReadContents
) -> bool:
    """Whether the condition's file belongs to this folder; one about the state behind files always does."""
    if condition.kind in (ConditionKind.STATE, ConditionKind.CHECK_PASSES):
        return True
    if is_pattern(condition.path):
        # Where there is what the files were to be made from, their absence counts.
        there = (*before.paths(), *after.paths())
        return any(matching(one, there) for one in (condition.path, condition.other or ""))
    return any(condition.path in known for known in (named, before.paths(), after.paths()))


def _condition(one: ProofCondition, result: TrialConditionResult, details: str | None) -> TrialCondition:
    return TrialCondition(
        statement=one.statement,
        path=one.path,
        result=result,
        details=clipped(redact(details).text, 400) if details else None,
    )
