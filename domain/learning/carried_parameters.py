"""Keeping the parameters of an installed skill when new demonstrations improve it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts.learning.observation import (
    ExitClass,
    ObservationAdapterKind,
    ObservedActionEvent,
    TerminalObservation,
)
from contracts.learning.parameters import ParameterType, SkillParameter
from contracts.learning.proposal import RehearsalCommand
from domain.learning.comparison import COMPATIBLE_SHARE, Comparison, compare
from domain.learning.parameters import distinct, drafted_description, fits, is_drafted
from domain.learning.steps import DemonstratedStep, all_events

_MOST_EXAMPLES = 20


@dataclass(frozen=True)
class Taught:
    """The commands that the skill was taught with, and the steps of the (first) new demonstration."""

    rehearsal: Sequence[RehearsalCommand]
    steps: Sequence[DemonstratedStep]
    session_id: str
    now: datetime

    def compared(self) -> Comparison | None:
        """Values of the new demonstration first; None where it shows another task."""
        before = [_as_event(command, self.session_id, self.now) for command in self.rehearsal]
        comparison = compare([all_events(self.steps), before])
        # Steps may have been added: what counts is how much of the old way is still there.
        same = len(comparison.actions) / len(self.rehearsal) >= COMPATIBLE_SHARE
        return comparison if same else None


def carried_parameters(known: Sequence[SkillParameter], taught: Taught) -> tuple[SkillParameter, ...]:
    """The known parameters with the new demonstration's values as their first examples.

    None are left where it shows another task, and a value that did not change stays the first example. A type
    that the new value is not of becomes text.
    """
    if not known or not taught.rehearsal or not taught.steps:
        return tuple(known)
    comparison = taught.compared()
    if comparison is None:
        return ()
    new = {variable.values[1]: variable.values[0] for variable in comparison.variables}
    return tuple(_with_example(p, new[p.examples[0]]) if new.get(p.examples[0]) else p for p in known)


def known_again(
    fresh: Sequence[SkillParameter], known: Sequence[SkillParameter], taught: Taught
) -> tuple[SkillParameter, ...]:
    """The parameters of several new demonstrations, called and described as the skill has them already.

    One is known again where the first new demonstration has its value in the place of the known one's first
    example. The examples are those of the new demonstrations.
    """
    if not known or not taught.rehearsal or not taught.steps:
        return tuple(fresh)
    comparison = taught.compared()
    if comparison is None:
        return tuple(fresh)
    new = {variable.values[1]: variable.values[0] for variable in comparison.variables}
    left = {new.get(p.examples[0], p.examples[0]): p for p in reversed(known)}
    before = [left.pop(p.examples[0], None) for p in fresh]
    taken = [p.name for p in before if p]
    found: list[SkillParameter] = []
    for parameter, old in zip(fresh, before, strict=True):
        if old is None:
            name = distinct(parameter.name, taken)
            taken.append(name)
            found.append(parameter.model_copy(update={"name": name}))
        else:
            found.append(_known(parameter, old))
    return tuple(found)


def _known(parameter: SkillParameter, old: SkillParameter) -> SkillParameter:
    changes: dict[str, object] = {
        "name": old.name,
        "type": old.type if fits(old.type, parameter.examples) else parameter.type,
        "required": old.required and parameter.required,
    }
    if is_drafted(old):
        changes["description"] = drafted_description(parameter.description, parameter.name, old.name)
    else:
        changes["description"] = old.description
    return parameter.model_copy(update=changes)


def _with_example(parameter: SkillParameter, value: str) -> SkillParameter:
    kind = parameter.type if fits(parameter.type, (value,)) else ParameterType.TEXT
    examples = (value, *parameter.examples)[:_MOST_EXAMPLES]
    return parameter.model_copy(update={"examples": examples, "type": kind})


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
