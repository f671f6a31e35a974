"""Keeping the parameters of an installed skill when one new demonstration improves it."""

from collections.abc import Sequence
from datetime import datetime

from contracts.learning.observation import (
    ExitClass,
    ObservationAdapterKind,
    ObservedActionEvent,
    TerminalObservation,
)
from contracts.learning.parameters import SkillParameter
from contracts.learning.proposal import RehearsalCommand
from domain.learning.comparison import COMPATIBLE_SHARE, compare
from domain.learning.steps import DemonstratedStep, all_events

_MOST_EXAMPLES = 20


def carried_parameters(
    known: Sequence[SkillParameter],
    rehearsal: Sequence[RehearsalCommand],
    steps: Sequence[DemonstratedStep],
    session_id: str,
    now: datetime,
) -> tuple[SkillParameter, ...]:
    """The known parameters with the new demonstration's values as their first examples.

    The new demonstration is compared with the commands the skill was taught with. None are left where it
    shows another task, and a value that did not change stays the first example.
    """
    if not known or not rehearsal or not steps:
        return tuple(known)
    comparison = compare([all_events(steps), [_as_event(command, session_id, now) for command in rehearsal]])
    # Steps may have been added: what counts is how much of the old way is still there.
    if len(comparison.actions) / len(rehearsal) < COMPATIBLE_SHARE:
        return ()
    new = {variable.values[1]: variable.values[0] for variable in comparison.variables}
    return tuple(
        p.model_copy(update={"examples": (new[p.examples[0]], *p.examples)[:_MOST_EXAMPLES]})
        if new.get(p.examples[0])
        else p
        for p in known
    )


def _as_event(command: RehearsalCommand, session_id: str, now: datetime) -> ObservedActionEvent:
    return ObservedActionEvent(
        event_id=command.event_id,
        learn_session_id=session_id,
        adapter_kind=ObservationAdapterKind.TERMINAL_COMMAND,
        action_label="taught before",
        terminal=TerminalObservation(
            command=command.command,
            exit_class=ExitClass.OK,
            working_folder=command.working_folder,
        ),
        created_at=now,
    )
