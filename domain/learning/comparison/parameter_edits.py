"""Apply a person's edits to parameters (name, type, description, need, fixed or added), also across improvements.

Edits are kept by the name that the comparison gave (``contracts.learning.proposal.with_edits``), so that every later
draft of the same capture applies them again.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.interpretation import (
    MAX_PARAMETERS,
    ParameterType,
    SemanticWorkflowInterpretation,
    SkillParameter,
)
from contracts.learning.observation import (
    ExitClass,
    ObservationAdapterKind,
    ObservedActionEvent,
    TerminalObservation,
)
from contracts.learning.proposal import PARAMETERS, RehearsalCommand, parameter_entries
from contracts.learning.questions import LearningAnswer, LearningQuestion
from domain.learning.comparison.comparison import COMPATIBLE_SHARE, Comparison, compare
from domain.learning.comparison.parameters import (
    distinct,
    drafted_description,
    fits,
    is_drafted,
    kind_called,
    meant,
    type_of,
)
from domain.learning.comparison.shown_again import values_in_place
from domain.learning.interpretation.naming import listed
from domain.learning.interpretation.steps import DemonstratedStep, all_events

_TEXTS = ("title", "goal_summary")

_LISTS = ("use_conditions", "non_use_conditions", "success_conditions")

_MOST_EXAMPLES = 20

_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]{0,39})\}")

_WIDE = {"title": 160, "goal_summary": 600}


def edited_parameters(
    parameters: Sequence[SkillParameter], edits: Mapping[str, object], commands: Sequence[str] = ()
) -> tuple[SkillParameter, ...]:
    """The parameters as edited, in their order; those made fixed are gone, values of ``commands`` added at the end.

    Raises:
        Refusal: ``REVISION_INVALID`` with ``fields`` (``parameters/quarter/type``) where an edit names no
            parameter, two would have one name, the demonstrated values are not of the new type, or a value to add
            is in no command.
    """
    found = {p.name: p for p in parameters}
    edited: dict[str, SkillParameter] = {}
    added: list[SkillParameter] = []
    fixed: set[str] = set()
    for entry in parameter_entries(edits):
        name = str(entry["name"])
        known = found.get(name)
        if known is None and "value" in entry:
            if not entry.get("fixed"):
                added.append(_edited(_added(name, str(entry["value"]), commands), entry))
            continue
        if known is None or name in edited:
            present = [edited.get(p.name, p).name for p in parameters]
            there = f"there are {listed(present)}" if present else "the demonstrations showed none"
            raise _refusal(f"{name}/name", f"names no parameter of its own; {there}")
        edited[name] = _edited(known, entry)
        if entry.get("fixed"):
            fixed.add(name)
    result = (*(edited.get(p.name, p) for p in parameters if p.name not in fixed), *added)
    _refuse_taken(result, len(added), parameter_entries(edits))
    return result


def _refuse_taken(
    parameters: Sequence[SkillParameter], added: int, entries: Sequence[Mapping[str, Any]]
) -> None:
    """Refuses what would make two parameters of one name or value, or too many. The last ``added`` are new."""
    known = parameters[: len(parameters) - added]
    shown = {value: p.name for p in known for value in p.examples}
    for new in parameters[len(known) :]:
        if new.examples[0] in shown:
            raise _refusal(
                f"{new.name}/value", f"“{new.examples[0]}” is the parameter {shown[new.examples[0]]} already"
            )
    if len(parameters) > MAX_PARAMETERS:
        raise _refusal(parameters[-1].name, f"is one too many: a skill has at most {MAX_PARAMETERS}")
    names = [p.name for p in parameters]
    for entry in entries:
        chosen = str(entry.get("new_name", entry["name"]))
        if names.count(chosen) > 1:
            raise _refusal(f"{entry['name']}/new_name", f"“{chosen}” is the name of another parameter")


def _added(name: str, value: str, commands: Sequence[str]) -> SkillParameter:
    """A parameter of a value that a command shows; the value is optional, since the demonstration gives one."""
    if not is_shown(value, commands):
        raise _refusal(
            f"{name}/value",
            f"“{clipped(value, 60)}” is in no command of the demonstration, nor a folder that it worked in",
        )
    return SkillParameter(
        name=name,
        type=kind_called(name, type_of((value,)), (value,)),
        description=clipped(f"The {name.replace('_', ' ')}: “{value}” in the demonstration", 240),
        examples=(value,),
        required=False,
    )


def is_shown(value: str, commands: Sequence[str]) -> bool:
    whole = rf"(?<!\d){re.escape(value)}(?!\d)" if value[:1].isdigit() else re.escape(value)
    return any(re.search(whole, command) for command in commands)


def renames(before: Sequence[SkillParameter], after: Sequence[SkillParameter]) -> dict[str, str]:
    """Old name → new name of those renamed, without names that stand for another parameter now."""
    present = {p.name for p in after}
    now = {p.examples: p.name for p in after}
    pairs = ((old.name, now.get(old.examples, old.name)) for old in before)
    return {old: new for old, new in pairs if old != new and old not in present}


def fixed_values(before: Sequence[SkillParameter], after: Sequence[SkillParameter]) -> dict[str, str]:
    """Name → demonstrated value of the parameters that are fixed now."""
    kept = {p.examples for p in after}
    present = {p.name for p in after}
    return {p.name: p.examples[0] for p in before if p.examples not in kept and p.name not in present}


_NONE: Mapping[str, str] = {}


def respoken(value: Any, renamed: Mapping[str, str], fixed: Mapping[str, str] = _NONE) -> Any:
    """``value``, a JSON value, with ``{old}`` written ``{new}``, and a fixed parameter's value, in all its texts."""
    if not renamed and not fixed:
        return value
    match value:
        case str():
            return _PLACEHOLDER.sub(
                lambda m: fixed.get(m.group(1)) or f"{{{renamed.get(m.group(1), m.group(1))}}}", value
            )
        case list() | tuple():
            return [respoken(part, renamed, fixed) for part in cast("Sequence[Any]", value)]
        case Mapping():
            return {k: respoken(part, renamed, fixed) for k, part in cast("Mapping[str, Any]", value).items()}
        case _:
            return value


def respoken_edits(
    edits: Mapping[str, object], renamed: Mapping[str, str], fixed: Mapping[str, str] = _NONE
) -> dict[str, object]:
    """A person's other edits, speaking of the parameters by their new names."""
    return {k: value if k == PARAMETERS else respoken(value, renamed, fixed) for k, value in edits.items()}


def respoken_answers(
    answers: Iterable[tuple[LearningQuestion, LearningAnswer]],
    renamed: Mapping[str, str],
    fixed: Mapping[str, str] = _NONE,
) -> list[tuple[LearningQuestion, LearningAnswer]]:
    """Answers and what was suggested, speaking of the parameters by their new names: another answer renamed them."""
    return [
        (
            question.changed(suggestion=respoken(question.suggestion, renamed, fixed)),
            answer.changed(answer=respoken(answer.answer, renamed, fixed)),
        )
        for question, answer in answers
    ]


def renamed_in(
    interpretation: SemanticWorkflowInterpretation,
    parameters: Sequence[SkillParameter],
    renamed: Mapping[str, str],
    fixed: Mapping[str, str] = _NONE,
) -> SemanticWorkflowInterpretation:
    """The interpretation with ``parameters``, its texts speaking of them by their new names and values."""
    changes: dict[str, object] = {PARAMETERS: tuple(parameters)}
    for name in _TEXTS:
        changes[name] = clipped(respoken(getattr(interpretation, name), renamed, fixed), _WIDE[name])
    for name in _LISTS:
        changes[name] = tuple(
            clipped(respoken(t, renamed, fixed), 240) for t in getattr(interpretation, name)
        )
    changes["checkpoints"] = tuple(
        c.changed(
            goal=clipped(respoken(c.goal, renamed, fixed), 240),
            success_condition=clipped(respoken(c.success_condition, renamed, fixed), 240),
        )
        for c in interpretation.checkpoints
    )
    changes["optional_steps"] = tuple(
        step.changed(label=clipped(respoken(step.label, renamed, fixed), 160))
        for step in interpretation.optional_steps
    )
    return interpretation.changed(**changes)


def _edited(parameter: SkillParameter, entry: Mapping[str, Any]) -> SkillParameter:
    called = str(entry.get("new_name", parameter.name))
    kind = ParameterType(entry.get("type", kind_called(called, parameter.type, parameter.examples)))
    if not fits(kind, parameter.examples):
        raise _refusal(
            f"{parameter.name}/type", f"cannot be {kind}: the demonstrations gave it values of another kind"
        )
    said = entry.get("description") or drafted_description(parameter.description, parameter.name, called)
    changes = {"name": called, "type": kind, "description": said}
    return parameter.changed(**changes, required=entry.get("required", parameter.required))


def _refusal(where: str, what: str) -> Refusal:
    field = f"{PARAMETERS}/{where}"
    return Refusal(ErrorCode.REVISION_INVALID, clipped(f"{field} {what}", 240), fields=[field])


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

    @property
    def lines(self) -> list[str]:
        """The commands of the new demonstration."""
        return [e.terminal.command for e in all_events(self.steps) if e.terminal]

    def shown_again(self, known: Sequence[SkillParameter]) -> dict[str, str]:
        """The first examples of known parameters → what the new demonstration shows in their place."""
        comparison = self.compared()
        variables = comparison.variables if comparison else ()
        compared = {one.values[1]: one.values[0] for one in variables if one.values[0]}
        left = [p for p in known if p.examples[0] not in compared]
        return compared | values_in_place(left, [one.command for one in self.rehearsal], self.lines)


def carried_parameters(known: Sequence[SkillParameter], taught: Taught) -> tuple[SkillParameter, ...]:
    """The known parameters with the new demonstration's values as their first examples.

    Of another task only those are left that it shows in their places, and a value that did not change stays the first
    example. A type that the new value is not of becomes text.
    """
    if not known or not taught.rehearsal or not taught.steps:
        return tuple(known)
    new = taught.shown_again(known)
    is_other = taught.compared() is None
    kept = [p for p in known if not is_other or p.examples[0] in new]
    return tuple(_with_example(p, new.get(p.examples[0], p.examples[0])) for p in kept)


def known_again(
    fresh: Sequence[SkillParameter], known: Sequence[SkillParameter], taught: Taught
) -> tuple[SkillParameter, ...]:
    """The parameters of several new demonstrations, called and described as the skill has them already.

    One is known again where the first new demonstration has its value in the place of the known one's first
    example. The examples are those of the new demonstrations.
    """
    if not known or not taught.rehearsal or not taught.steps:
        return tuple(fresh)
    new = taught.shown_again(known)
    is_other = taught.compared() is None
    same = [p for p in known if not is_other or p.examples[0] in new]
    left = {new.get(p.examples[0], p.examples[0]): p for p in reversed(same)}
    before = [left.pop(p.examples[0], None) for p in fresh]
    taken = [p.name for p in before if p]
    found: list[SkillParameter] = []
    for parameter, old in zip(fresh, before, strict=True):
        if old is None:
            name = distinct(parameter.name, taken)
            taken.append(name)
            found.append(parameter.changed(name=name))
        else:
            found.append(_known(parameter, old))
    return tuple(found)


def with_known(
    again: Sequence[SkillParameter], known: Sequence[SkillParameter], taught: Taught
) -> tuple[SkillParameter, ...]:
    """The parameters of new demonstrations, and the known ones of which their commands have a value all the same.

    ``again`` are those that ``known_again`` names. One that was shown once keeps the values known of it, and a new one
    goes that stands for a value with a known one in it: both would be the same choice.
    """
    carried = {p.name: p for p in carried_parameters(known, taught)}
    values = [(p.examples[0], p.type) for p in carried.values()]
    again = [p for p in again if p.name in carried or not any(_holds(p, *one) for one in values)]
    found = [
        old if len(p.examples) == 1 and old and old.examples[0] == p.examples[0] else p
        for p in again
        for old in [carried.pop(p.name, None)]
    ]
    lines = taught.lines
    left = (p for p in carried.values() if not lines or is_shown(p.examples[0], lines))
    return (*found, *left)[:MAX_PARAMETERS]


def _holds(parameter: SkillParameter, value: str, kind: ParameterType) -> bool:
    """Whether the parameter's value is longer than a known one and has it as a piece."""
    shown = parameter.examples[0]
    return shown != value and re.search(meant(value, kind), shown) is not None


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
    return parameter.changed(**changes)


def _with_example(parameter: SkillParameter, value: str) -> SkillParameter:
    if value == parameter.examples[0]:
        return parameter
    kind = parameter.type if fits(parameter.type, (value,)) else ParameterType.TEXT
    examples = (value, *parameter.examples)[:_MOST_EXAMPLES]
    return parameter.changed(examples=examples, type=kind)


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
