"""What makes two steps the same step and two goals the same goal, whatever the files and figures in them.

A signature keeps what was done and with what kind of outcome; names, numbers and values are left out of it.
"""

import posixpath
import re
from collections.abc import Sequence

from contracts.learning.observation import ExitClass, ObservedActionEvent
from domain.learning.command_line import programs_in
from domain.learning.naming import plain, without_lead_in
from domain.learning.operations import TEST, VERIFY, is_preparation, operation_of
from domain.learning.steps import DemonstratedStep, all_events

HIDDEN_COMMAND = "sha256:"
"""Begins a command of which only the digest was kept."""

_VALUE = re.compile(
    r"""https?://\S+ | \S+@\S+\.\w+ | (?:[\w.-]*/)[\w./-]* | \b[\w-]+\.[a-z][a-z0-9]{0,7}\b | [\w.,:-]*\d[\w.,:-]*""",
    re.VERBOSE | re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LITTLE_WORDS = (
    "a an and as at by for from in into is it its of on onto or our that the their them then this these to "
    "up with my your"
)
_LITTLE = frozenset(_LITTLE_WORDS.split())


def step_signature(event: ObservedActionEvent) -> str:
    """One action without its particulars: surface, operation and programs, kinds of outcome."""
    terminal = event.terminal
    if terminal is None:
        return f"{event.adapter_kind.value}:{_generalised(event.action_label)}"
    if terminal.command.startswith(HIDDEN_COMMAND):
        return "terminal:hidden"
    programs = "+".join(programs_in(terminal.command))
    outcomes = sorted({f"{f.change}{posixpath.splitext(f.path)[1].lower()}" for f in terminal.produced_files})
    return f"terminal:{operation_of(terminal.command).key}:{programs}:{','.join(outcomes)}"


def actions_of(steps: Sequence[DemonstratedStep]) -> tuple[ObservedActionEvent, ...]:
    """The actions that make the workflow. What only readies the ground counts where there is nothing else."""
    events = all_events(steps)
    acting = tuple(e for e in events if e.terminal is None or not is_preparation(e.terminal.command))
    return acting or events


def can_be_verified(event: ObservedActionEvent) -> bool:
    """Whether somebody who was not there could see that the action came off: it left something, or checked."""
    terminal = event.terminal
    if terminal is None:
        return event.caused_state_change or event.after_state_ref is not None
    checks = operation_of(terminal.command) in (VERIFY, TEST) and terminal.exit_class is ExitClass.OK
    return bool(terminal.produced_files) or checks


def goal_words(goal: str) -> frozenset[str]:
    """The words that carry a goal, lower-case; figures, file names and little words are left out."""
    line = _VALUE.sub(" ", without_lead_in(plain(goal)).lower())
    return frozenset(_WORD.findall(line)) - _LITTLE


def normalised_goal(goal: str) -> str:
    """A goal without its particulars, in its own order: "Summarise the sales of 2026" → "summarise sales"."""
    line = _VALUE.sub(" ", without_lead_in(plain(goal)).lower())
    return " ".join(word for word in _WORD.findall(line) if word not in _LITTLE)


def _generalised(label: str) -> str:
    return " ".join(_VALUE.sub("#", plain(label).lower()).split())
