"""One attempt of autonomous practice: runs an idea in the rehearsal sandbox and checks its effects."""

import os
import stat
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from contracts.base import clipped
from contracts.learning.interpretation import ObservedEffect
from contracts.learning.proposal import RehearsalCommand
from contracts.learning.test_policy import TestPolicy
from contracts.practice.practice import (
    ConditionSeen,
    PracticeCondition,
    PracticeConditionKind,
    PracticeStartFile,
    PractisedAction,
)
from domain.learning.redaction.redaction import redact
from domain.practice.commands import AllowedCommands
from host.folder_snapshot import FolderSnapshot, produced_between, take_snapshot
from skills.rehearsal.effects import EffectWitness
from skills.rehearsal.rehearsal import ending_of, fresh_folder, objection_to
from skills.rehearsal.sandbox import TEMPORARY_FOLDER, Sandbox, SandboxLimits

_LOOKED_AT_BYTES = 1_048_576
_NOT_LISTED = "the list of allowed commands does not let it run"


@dataclass(frozen=True)
class Bounds:
    """What holds an attempt: the person's list, the test policy, and the time left in seconds."""

    allowed: AllowedCommands
    policy: TestPolicy
    seconds: float
    limits: SandboxLimits | None = None


@dataclass(frozen=True)
class AttemptSeen:
    """What an attempt came to."""

    actions: tuple[PractisedAction, ...]
    conditions: tuple[ConditionSeen, ...]
    interrupted: bool
    out_of_time: bool

    @property
    def reached(self) -> bool:
        """Whether every condition was seen to hold."""
        return not self.interrupted and bool(self.conditions) and all(c.met for c in self.conditions)


class PracticeGround:
    """A fresh folder a try, removed afterwards; no network, nothing outside the folder is written."""

    def __init__(
        self, parent: Path, bounds: Bounds, alive: Callable[[], None], cancelled: threading.Event
    ) -> None:
        """``alive`` is called about once a second; ``cancelled`` ends the attempt within about a second."""
        self._parent = parent
        self._bounds = bounds
        self._alive = alive
        self._cancelled = cancelled
        self._out_of_time = False

    def attempt(
        self,
        commands: Sequence[RehearsalCommand],
        start: Sequence[PracticeStartFile],
        conditions: Sequence[PracticeCondition],
    ) -> AttemptSeen:
        """Runs ``commands`` until one fails, then looks whether the conditions hold.

        A command that the list or the policy forbids is not run: it counts as one that failed.

        Raises:
            SandboxUnavailable: this host cannot isolate commands, so nothing was run.
        """
        ends_at = time.monotonic() + self._bounds.seconds
        self._parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        with fresh_folder(self._parent) as root:
            for file in start:
                (root / file.name).write_text(file.content, encoding="utf-8")
            witness = EffectWitness(root, [_effect(c, commands[0].event_id) for c in conditions if c.path])
            sandbox = Sandbox(root, self._bounds.limits)
            actions: list[PractisedAction] = []
            for command in commands:
                before = _snapshot(root)
                done = self._run(sandbox, command, [file.name for file in start], ends_at)
                made = produced_between(before, _snapshot(root))
                witness.note()
                actions.append(done.changed(produced=made))
                if not done.succeeded:
                    break
            seen: list[ConditionSeen] = []
            if all(action.succeeded for action in actions):
                for condition in conditions:
                    seen.append(self._look(condition, sandbox, witness, actions, ends_at))
        interrupted = self._cancelled.is_set() or self._out_of_time
        return AttemptSeen(tuple(actions), tuple(seen), interrupted, self._out_of_time)

    def _run(
        self, sandbox: Sandbox, command: RehearsalCommand, copies: Sequence[str], ends_at: float
    ) -> PractisedAction:
        objection = objection_to(command, self._bounds.policy, copies)
        if not self._bounds.allowed.permits(command.command):
            objection = _NOT_LISTED
        if objection is not None:
            return PractisedAction(
                command=command.command, succeeded=False, details=clipped(f"not run: {objection}", 400)
            )
        return self._carried_out(sandbox, command.command, ends_at)

    def _carried_out(self, sandbox: Sandbox, command: str, ends_at: float) -> PractisedAction:
        ended = threading.Event()

        def watch() -> None:
            self._alive()
            if self._cancelled.is_set() or time.monotonic() >= ends_at:
                self._out_of_time = self._out_of_time or time.monotonic() >= ends_at
                ended.set()

        watch()
        if ended.is_set():
            return PractisedAction(command=command, succeeded=False, details="not run: practice was ended")
        outcome = sandbox.run(command, cancelled=ended, while_running=watch)
        details = None if outcome.succeeded else clipped(ending_of(outcome), 400)
        return PractisedAction(command=command, succeeded=outcome.succeeded, details=details)

    def _look(
        self,
        condition: PracticeCondition,
        sandbox: Sandbox,
        witness: EffectWitness,
        actions: list[PractisedAction],
        ends_at: float,
    ) -> ConditionSeen:
        if condition.kind is PracticeConditionKind.COMMAND_EXITS:
            return self._checked(condition, sandbox, actions, ends_at)
        objection = witness.objection(_effect(condition, _NIL))
        if objection is None and condition.kind is PracticeConditionKind.FILE_CONTAINS:
            text = _text_of(sandbox.root, condition.path or "")
            if text is None or (condition.text or "") not in text:
                objection = f"{condition.path} does not hold the text asked for"
        return ConditionSeen(
            condition=worded(condition),
            met=objection is None,
            details=clipped(objection, 400) if objection else None,
        )

    def _checked(
        self, condition: PracticeCondition, sandbox: Sandbox, actions: list[PractisedAction], ends_at: float
    ) -> ConditionSeen:
        """Runs the person's own check command: every one counts as an action."""
        command = RehearsalCommand(event_id=_NIL, command=condition.command or "", working_folder=".")
        objection = objection_to(command, self._bounds.policy, ())
        if objection is not None:
            return ConditionSeen(condition=worded(condition), met=False, details=clipped(objection, 400))
        exits = f"{command.command}\ntest $? -eq {condition.exit_code}"
        done = self._carried_out(sandbox, exits, ends_at)
        actions.append(done.changed(command=command.command, is_check=True))
        return ConditionSeen(condition=worded(condition), met=done.succeeded, details=done.details)


_NIL = "00000000-0000-7000-8000-000000000000"


def worded(condition: PracticeCondition) -> str:
    """The condition for people; texts in it are redacted."""
    match condition.kind:
        case PracticeConditionKind.FILE_EXISTS:
            said = f"{condition.path} is made"
        case PracticeConditionKind.FILE_CONTAINS:
            said = f"{condition.path} holds {condition.text}"
        case PracticeConditionKind.COMMAND_EXITS:
            said = f"{condition.command} exits with {condition.exit_code}"
    return clipped(redact(said).text, 400)


def _effect(condition: PracticeCondition, event_id: str) -> ObservedEffect:
    return ObservedEffect(kind="file_exists", path=condition.path or "", source_event_id=event_id)


def _snapshot(root: Path) -> FolderSnapshot:
    """The files of the practice folder, without those in the sandbox's own temporary folder."""
    taken = take_snapshot(root)
    kept = {p: mark for p, mark in taken.files.items() if not p.startswith(f"{TEMPORARY_FOLDER}/")}
    return replace(taken, files=kept)


def _text_of(root: Path, path: str) -> str | None:
    """The first MiB of a plain file inside ``root``; ``None`` for everything else. Links lead nowhere."""
    try:
        place = (root / path).resolve()
        if not place.is_relative_to(root.resolve()):
            return None
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, RuntimeError):
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return None
        return file.read(_LOOKED_AT_BYTES).decode("utf-8", errors="replace")
