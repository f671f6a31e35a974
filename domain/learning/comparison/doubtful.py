"""Values of one demonstration of which nothing tells whether they are always the same (DOC3 §0A.14, questions §0C.10A).

Numbers and texts in an option with a meaning that the goal does not name and that were shown once. A person's answer
makes each fixed, or a parameter under the name that the answer gives.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contracts.base import clipped
from contracts.learning.interpretation import ParameterType, SkillParameter
from contracts.learning.proposal import PARAMETERS, parameter_entries
from contracts.learning.questions import LearningAnswer, LearningQuestion, QuestionField
from domain.learning.commands.command_line import name_set
from domain.learning.commands.shell_grammar import UnreadableCommand
from domain.learning.comparison.parameters import distinct
from domain.learning.comparison.purposes import piece_with, purpose_of
from domain.learning.comparison.single_demonstration import NUMBER_WORDS, is_split_at
from domain.learning.interpretation.naming import identifier
from domain.learning.method.arguments import Argument
from domain.learning.method.command_items import read_calls
from domain.learning.redaction.redaction import redact

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:x\d*|[A-Za-z%]{1,3})?")
_TEXT = re.compile(r"[\w*?.@ -]*[^\W\d_]{3}[\w*?.@ -]*")
_STRUCTURE = name_set("key fields delims columns grep sed awk")
"""Wordings of values that are the form of the work, such as a sort key: no value of the day."""

_AWK_PROGRAM = "awk program {}"
_LIMIT = re.compile(r"\$\w+\s*[<>]=?\s*(\d+(?:\.\d+)?)(?![\w.])")
"""A number that a field is compared with: which rows count hangs on it."""

_AFTER_THE = re.compile(r"\bthe ([a-z]+(?: [a-z]+)?) \{")
_BEFORE_A_NOUN = re.compile(r"\{0?\} ([a-z]+)")
_WORDING = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True)
class DoubtfulValue:
    """One value, what it is called, and the parameter that it was drafted as, if any."""

    value: str
    noun: str
    event_id: str
    parameter: str | None = None
    command: str = ""
    """The line that shows it."""
    field = QuestionField.PARAMETER

    @property
    def about(self) -> str:
        """The value."""
        return self.value

    @property
    def event_ids(self) -> tuple[str, ...]:
        """The command that shows it."""
        return (self.event_id,)

    @property
    def prompt(self) -> str:
        """What a person is asked."""
        counted = self.noun.endswith("s") and _NUMBER.fullmatch(self.value)
        noun = f"number of {self.noun}" if counted else self.noun
        where = f" in “{clipped(piece_with(self.value, self.command), 80)}”" if self.command else ""
        purpose = purpose_of(self.value, [self.command])
        meant = (
            f" ({purpose.replace('it', self.value, 1) if purpose.endswith(' it') else purpose})"
            if purpose
            else ""
        )
        return (
            f"Is {self.value} always the {noun}{where}{meant}? "
            "Say yes, or no and what to call it: it is a parameter then."
        )

    @property
    def suggestion(self) -> str:
        """What holds where nobody answers."""
        if self.parameter is not None:
            return f"No, it may change; call it {self.parameter}"
        return f"Yes, always {self.value}"

    @property
    def unsettled(self) -> str:
        """That it is not known whether it is always so, what holds therefore, and how to say otherwise."""
        value, asked = clipped(self.value, 40), f"{clipped(self.value, 40)} is always the {self.noun}"
        if self.parameter is None:
            return (
                f"{asked}: it stays {value}. If it may change, revise: make {value} a parameter called NAME."
            )
        name = self.parameter
        return f"{asked}: it stays the parameter {name}. If it is always {value}, revise: make {name} fixed."


def doubtful_values(
    goal: str, commands: Sequence[tuple[str, str]], parameters: Sequence[SkillParameter]
) -> tuple[DoubtfulValue, ...]:
    """The doubtful values of the retained ``commands`` (event id and line), numbers first.

    ``parameters`` are those drafted from the same demonstration: a number or a text among them is doubtful as well.
    """
    drafted = {p.examples[0]: p for p in parameters}
    text = "\n".join(line for _, line in commands)
    found: dict[str, DoubtfulValue] = {}
    for event_id, line in commands:
        for value, noun in _option_values(line):
            parameter = drafted.pop(value, None)
            if _is_doubtful(value, parameter, goal, text):
                name = parameter.name if parameter else None
                found.setdefault(value, DoubtfulValue(value, _spoken(name or noun), event_id, name, line))
        for value, parameter in list(drafted.items()):
            if value in line and _is_a_setting(parameter) and _is_doubtful(value, parameter, goal, text):
                spoken = _spoken(parameter.name)
                found.setdefault(value, DoubtfulValue(value, spoken, event_id, parameter.name, line))
    return tuple(sorted(found.values(), key=lambda one: not _NUMBER.fullmatch(one.value)))


def with_answers(
    edits: Mapping[str, object],
    answers: Iterable[tuple[LearningQuestion, LearningAnswer]],
    doubts: Sequence[DoubtfulValue],
    parameters: Sequence[SkillParameter],
) -> dict[str, object]:
    """``edits`` with what the answers about values make of parameters; what was edited later wins."""
    known = {one.value: one for one in doubts}
    entries: list[dict[str, Any]] = []
    taken = [p.name for p in parameters]
    for question, answer in answers:
        doubt = known.get(question.about or "")
        if question.field is not QuestionField.PARAMETER or doubt is None:
            continue
        entry = _entry(answer.answer, question, doubt, taken)
        if entry:
            entries.append(entry)
            taken.append(str(entry.get("new_name", entry["name"])))
    if not entries:
        return dict(edits)
    by_name = {str(entry["name"]): entry for entry in entries}
    by_name |= {str(entry["new_name"]): entry for entry in entries if "new_name" in entry}
    for edit in parameter_entries(edits):
        answered = by_name.get(str(edit["name"]))
        if answered is None:
            entries.append(dict(edit))
        else:
            answered.update({name: value for name, value in edit.items() if name != "name"})
    return {**edits, PARAMETERS: entries}


def value_note(
    answers: Iterable[tuple[LearningQuestion, LearningAnswer]],
    doubts: Sequence[DoubtfulValue],
    edits: Mapping[str, object],
) -> str:
    """Which answers about values were not understood, what holds, and how to say it; empty where all were.

    What ``edits`` have settled since is not told.
    """
    known = {one.value: one for one in doubts}
    settled = {str(entry.get("value") or entry["name"]) for entry in parameter_entries(edits)}
    told: list[str] = []
    for question, answer in answers:
        if question.field is not QuestionField.PARAMETER:
            continue
        said, about = clipped(" ".join(answer.answer.split()), 60), question.about or ""
        doubt = known.get(about)
        if doubt is None:
            told.append(f"“{said}” is about {clipped(about, 40)}, which no command shows any more.")
        elif _read(answer.answer, question) is None and settled.isdisjoint((about, doubt.parameter)):
            told.append(f"“{said}” does not say whether {doubt.unsettled}")
    return " ".join(told)


_YES = re.compile(
    r"(?i)(?:yes|y|yep|always|fixed|constant|true|correct|right|ok|okay|sure|keep|the same|"
    r"(?:it |this |that )?(?:stays?|remains?|is (?:always|fixed|constant|the same)|"
    r"(?:never|does not|doesn['’]t|do not|don['’]t|will not|won['’]t|cannot|can['’]t|must not) "
    r"(?:changes?|vary|varies|differs?))|(?:it is |it's )?(?:no|not an?) parameter)\b"
)
_NO = re.compile(
    r"(?i)(?:no|n|nope|never|sometimes|not always|it (?:may|can|could|should)|(?:it )?(?:varies|changes|depends)|"
    r"a parameter|parameter)\b"
)
_NAMED = re.compile(r"(?i)(?:\bcall(?:ed)?(?: it)?|\bnamed?(?: it)?|\bas)\s+[`“\"']?([a-zÀ-ɏ][\w -]{0,39})")
_BARE_NAME = re.compile(r"[`“\"']?([A-Za-zÀ-ɏ][\w-]{1,39})[`”\"']?\.?")
_NO_NAMES = name_set(
    "hm hmm huh maybe perhaps possibly probably unsure idk dunno what why when who how which skip pass later unknown "
    "none nothing something anything whatever help change changes different both either neither usually mostly normally"
)
"""Single words that answer nothing and name no parameter."""

_VARIES = re.compile(
    r"(?i)\b(?:may|might|can|could|sometimes|var(?:y|ies)|chang(?:e|es)|differ\w*|depend\w*|another|others?|call(?:ed)?|"
    r"a parameter)\b"
)
_STAYS = re.compile(r"(?i)\b(?:always|fixed|constant|same|keep|stays?|remains?|yes)\b")
_DENIED = re.compile(r"(?i)\b(?:not|no|never|cannot)\b|n['’]t\b")
_AS_SUGGESTED = re.compile(r"(?i)as suggested[.!]*")


@dataclass(frozen=True)
class _Said:
    """What an answer says of a value, and what it calls the parameter."""

    may_change: bool
    name: str = ""


def _read(text: str, question: LearningQuestion) -> _Said | None:
    """What the answer says; ``None`` where it says nothing of it, both, or another value."""
    answer = text.strip()
    if _AS_SUGGESTED.fullmatch(answer):
        answer = question.suggestion or ""
    if says_yes := _YES.match(answer):
        rest = answer[says_yes.end() :]
        return None if _VARIES.search(rest) and not _DENIED.search(rest) else _Said(may_change=False)
    says_no = _NO.match(answer)
    rest = answer[says_no.end() :].strip(" ,:;.–-") if says_no else answer
    bare = _BARE_NAME.fullmatch(rest)
    if bare and bare.group(1).lower() in _NO_NAMES:
        return None
    named = _NAMED.search(answer) or bare
    if named:
        return _Said(may_change=True, name=named.group(1))
    is_other = bool(re.search(r"\d", rest)) or (_STAYS.search(rest) and not _DENIED.search(rest))
    return _Said(may_change=True) if says_no and not is_other else None


def _entry(
    text: str, question: LearningQuestion, doubt: DoubtfulValue, taken: Sequence[str]
) -> dict[str, Any] | None:
    said = _read(text, question)
    if said is None:
        return None
    if not said.may_change:
        return {"name": doubt.parameter, "fixed": True} if doubt.parameter else None
    name = identifier(said.name or doubt.noun)
    if doubt.parameter is None:
        return {"name": distinct(name, taken), "value": doubt.value}
    if name == doubt.parameter or not said.name:
        return None
    return {"name": doubt.parameter, "new_name": distinct(name, taken)}


def _option_values(line: str) -> Iterator[tuple[str, str]]:
    """The values of options with a meaning, each with what it is called."""
    try:
        calls = read_calls(line)
    except UnreadableCommand:
        return
    for call, _ in calls:
        for argument in call.arguments:
            if argument.role == "value" and argument.name and argument.meaning not in ("", "-"):
                for value in argument.literals:
                    noun = _noun(argument, value)
                    if noun and (_NUMBER.fullmatch(value) or _TEXT.fullmatch(value)):
                        yield value, noun
            elif argument.role == "expression" and argument.meaning == _AWK_PROGRAM:
                for program in argument.values:
                    yield from ((value, "limit") for value in _LIMIT.findall(program))


def _noun(argument: Argument, value: str) -> str | None:
    if argument.meaning == "{tail_lines}" and value.startswith("+"):
        return "first line"
    if argument.meaning == "resized to {}":
        return "width" if re.fullmatch(r"\d+x?", value) else "size"
    if match := _AFTER_THE.search(argument.meaning) or _BEFORE_A_NOUN.search(argument.meaning):
        return match.group(1)
    if match := _WORDING.search(argument.meaning):
        return None if match.group(1) in _STRUCTURE else match.group(1).rpartition("_")[2]
    name = argument.name.strip("-")
    if argument.meaning == "leaves out {}":
        return "pattern left out"
    return name if len(name) > 2 else None


def _is_doubtful(value: str, parameter: SkillParameter | None, goal: str, text: str) -> bool:
    if parameter is not None and not _is_a_setting(parameter):
        return False
    if redact(value, personal=True).text != value:
        return False
    whole = rf"(?<![\w.]){re.escape(value)}(?![\w])"
    said = {NUMBER_WORDS.get(word.lower(), word) for word in re.findall(r"[\w.]+", goal)}
    figure = re.match(r"[-+]?(\d+)", value)
    in_goal = value in said or (figure is not None and figure.group(1) in said) or re.search(whole, goal)
    # A single one is the form of the work (the first, the last), and so is where lines are split.
    is_split = (value.isdigit() and is_split_at(text, int(value))) or (
        re.fullmatch(r"\+\d+", value) is not None and is_split_at(text, int(value) - 1)
    )
    return not in_goal and not is_split and value.lstrip("+-") != "1" and len(re.findall(whole, text)) < 2


def _is_a_setting(parameter: SkillParameter) -> bool:
    return parameter.type in (
        ParameterType.NUMBER,
        ParameterType.TEXT,
        ParameterType.CHOICE,
    ) and not re.search(r"date|month|year|version", parameter.name)


def _spoken(name: str) -> str:
    return name.replace("_", " ")
