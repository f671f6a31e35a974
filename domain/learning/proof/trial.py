"""The method of an ability with other values: commands and conditions for a folder that it was not shown on.

A value stays data: it is quoted where it stands, and where quotation cannot help (the text of a program in sed, awk,
SQL or a script) only letters, digits and plain punctuation are taken.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contracts.abilities.parameters import AbilityFolder, AbilityParameter, ParameterType
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.evidence import ConditionKind, ProofCondition
from contracts.learning.interpretation import SkillParameter
from contracts.learning.observation import LessonFolder
from contracts.learning.proposal import RehearsalCommand, SkillDraft
from domain.learning.commands.command_line import SHELLS, Part, calls_in, name_set, named_paths, parts_of
from domain.learning.commands.command_safety import external_send_reason, holds_masked_secret
from domain.learning.commands.shell_grammar import UnreadableCommand, split_commands
from domain.learning.commands.shell_places import Quoting, ValuePlace, with_values
from domain.learning.commands.typing_programs import EDITORS
from domain.learning.comparison.months import ContradictingMonths, SameMonth
from domain.learning.comparison.parameter_places import ParameterPlaces
from domain.learning.comparison.parameters import fits, placeholder
from domain.learning.conditions.queries import values_of, with_filters
from domain.learning.lesson_folders import outermost
from domain.learning.redaction.redaction import redact

SCRIPTS = "scripts/"
"""The folder of a bundle with what a person wrote by hand and then ran."""

_PROGRAM_TEXT = SHELLS | name_set(
    """eval trap source . awk gawk mawk nawk sed perl ruby python python3 node php lua Rscript jq yq xq bc dc sqlite3
    psql mysql mariadb xargs find parallel make m4 ed ex watch ssh tclsh expect osascript env"""
)
"""Programs that read a text of instructions among their words or from standard input."""

_REPARSED = frozenset({"eval", "trap", "source", ".", "alias"})
_DOT_COMMAND = re.compile(r"\.[a-z]+ ")
"""A command of sqlite3's own, whose words are separated by blanks."""
_SAFE = re.compile(r"[\w .,:@%+=-]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]")
_WORD = re.compile(r"[\w./=:@,+%~*?\[\]{}^-]*")
_FOLDERS = re.compile(r"(?:--?[A-Za-z][\w-]*=)?(?:\./|[\w.-]+/)*")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{4}")
_TEXT_ARGUMENTS = frozenset({ConditionKind.HOLDS_TEXT, ConditionKind.LACKS_TEXT, ConditionKind.STATE})
_WHOLE_ARGUMENTS = frozenset({ConditionKind.LINE_COUNT, ConditionKind.MODE})


@dataclass(frozen=True)
class PlacedScript:
    """A script of the bundle that a command runs: where it is put, and its text."""

    path: str
    text: str


@dataclass(frozen=True)
class Trial:
    """What is run on a folder, and what must hold afterwards."""

    commands: tuple[RehearsalCommand, ...]
    conditions: tuple[ProofCondition, ...]
    scripts: tuple[PlacedScript, ...] = ()
    """Put into the folder where it has none of that name."""
    untested: tuple[str, ...] = ()
    """Statements about the result that only a person can judge."""

    @property
    def named(self) -> frozenset[str]:
        """The files that the commands name."""
        return frozenset(p for c in self.commands for p in named_paths(c.command, c.working_folder or "."))


def ability_parameters(parameters: Sequence[SkillParameter]) -> tuple[AbilityParameter, ...]:
    """What a trial can be given other values for."""
    return tuple(
        AbilityParameter(
            name=p.name,
            type=p.type,
            shown=redact(p.examples[0]).text,
            required=p.required,
            description=p.description,
        )
        for p in parameters
    )


def ability_folders(folders: Sequence[LessonFolder]) -> tuple[AbilityFolder, ...]:
    """The folders that a trial needs, the one that the lesson began in first: none that it makes, or inside another."""
    needed = [one for one in outermost(folders) if not one.made]
    ends = [
        posixpath.basename(one.places[0]) if one.name == "." else one.name.rpartition("/")[2]
        for one in needed
    ]
    return tuple(
        AbilityFolder(
            name=end if ends.count(end) == 1 else one.name,
            path=one.name,
            shown=next((place for place in one.places if place.startswith("~/")), end),
        )
        for one, end in zip(needed, ends, strict=True)
    )


def trial_of(draft: SkillDraft, parameters: Sequence[SkillParameter], values: Mapping[str, str]) -> Trial:
    """The draft's method with ``values`` in the place of those shown.

    Raises:
        Refusal: ``VALIDATION_FAILED`` where a value is missing, unknown, of another type, or cannot be put in its
            place, or two are of different months that are one; ``TRIAL_NOT_POSSIBLE`` where a step cannot be carried
            out in a sandbox, or there is none.
    """
    values = _with_one_month(parameters, values)
    _refuse_names(parameters, values)
    known = {p.name: p for p in parameters}
    changed = {name: value for name, value in values.items() if value != known[name].examples[0]}
    for name, value in changed.items():
        _refuse_value(known[name], value)
    scripts = scripts_of(draft)
    commands = tuple(c for c in draft.rehearsal if not _writes_script(c, scripts))
    _refuse_steps(commands)
    substitution = _Substitution(
        commands, {known[name].examples[0]: (known[name], v) for name, v in changed.items()}
    )
    trial = Trial(
        tuple(substitution.command(n, c) for n, c in enumerate(commands, start=1)),
        tuple(map(substitution.condition, draft.conditions)),
        tuple(
            PlacedScript(_placed(name, commands), substitution.script(name, text))
            for name, text in scripts.items()
            if not _is_written_anew(name, commands)
        ),
        tuple(_said_with(one, parameters, values) for one in draft.untested),
    )
    if unused := [name for name in changed if known[name].examples[0] not in substitution.used]:
        raise _invalid(
            unused,
            f"{_listed(unused)}: no command shows this value, so a trial cannot give it another one; leave it out.",
        )
    return trial


def _with_one_month(parameters: Sequence[SkillParameter], values: Mapping[str, str]) -> dict[str, str]:
    """The values, what is another spelling of a given month following it."""
    try:
        return SameMonth(parameters).completed(values)
    except ContradictingMonths as found:
        raise _invalid(
            found.names,
            f"{_listed(found.names)} are one month, and their values are of different ones; give one of them.",
        ) from found


def _said_with(statement: str, parameters: Sequence[SkillParameter], values: Mapping[str, str]) -> str:
    for parameter in parameters:
        value = values.get(parameter.name, parameter.examples[0])
        statement = statement.replace(placeholder(parameter), value)
    return clipped(statement, 240)


def _refuse_names(parameters: Sequence[SkillParameter], values: Mapping[str, str]) -> None:
    names = [p.name for p in parameters]
    if unknown := sorted(values.keys() - set(names)):
        there = f"there are: {_listed(names)}" if names else "this ability has none"
        raise _invalid(unknown, f"There is no parameter {_listed(unknown)}; {there}.")
    if missing := [p.name for p in parameters if p.required and not values.get(p.name)]:
        raise _invalid(missing, f"A value is missing for {_listed(missing)}; give each one.")


def _refuse_value(parameter: SkillParameter, value: str) -> None:
    name, shown = parameter.name, parameter.examples[0]
    problem = None
    if _CONTROL.search(value):
        problem = "must be one line without control characters"
    elif not value:
        problem = "cannot be left empty: the demonstration that is repeated has it"
    elif not shown:
        problem = "was left out of the demonstration that is repeated, so it has no place; leave it out"
    elif not fits(parameter.type, [value]):
        problem = f"must be a {parameter.type.value}, such as {shown}"
    elif parameter.type is ParameterType.CHOICE and value not in parameter.examples:
        problem = f"must be one of {_listed([e for e in dict.fromkeys(parameter.examples) if e])}"
    elif redact(value).masked_count:
        problem = "seems to hold a secret, which is not kept; put it into a file of the folder"
    if problem is not None:
        raise _invalid([name], f"{name} {problem}.")


def _refuse_steps(commands: Sequence[RehearsalCommand]) -> None:
    """Refuses what a sandbox cannot carry out.

    Raises:
        Refusal: ``TRIAL_NOT_POSSIBLE``.
    """
    if not commands:
        raise Refusal(
            ErrorCode.TRIAL_NOT_POSSIBLE,
            "This ability was not taught by commands, so there is nothing to run in a sandbox; have an agent use it.",
        )
    for number, command in enumerate(commands, start=1):
        if reason := _obstacle(command):
            raise Refusal(
                ErrorCode.TRIAL_NOT_POSSIBLE,
                clipped(
                    f"Step {number} cannot be tried in a sandbox: {reason}. Have an agent use the ability.",
                    240,
                ),
                step=number,
                command=clipped(command.command, 120),
            )


def _obstacle(command: RehearsalCommand) -> str | None:
    if holds_masked_secret(command.command):
        return "a secret was cut out of it when it was recorded"
    try:
        calls = calls_in(command.command)
    except UnreadableCommand as error:
        return f"it cannot be read, {error}"
    if waiting := next((c.program for c in calls if c.program in EDITORS), None):
        return f"{waiting} waits for a person"
    if privileged := next((c.program for c in calls if c.is_privileged), None):
        return f"{privileged} needs another user's rights"
    return external_send_reason(command.command)


class _Substitution:
    """Puts values in the place of those shown, all at once, so that none is taken for another."""

    def __init__(
        self, commands: Sequence[RehearsalCommand], values: Mapping[str, tuple[SkillParameter, str]]
    ) -> None:
        self.used: set[str] = set()
        """The values shown that were found somewhere."""
        self._values = values
        self._places = ParameterPlaces(
            [c.command for c in commands], [parameter for parameter, _ in values.values()]
        )
        self._instructed = any(_instructs(c.command) for c in commands)
        self._reparsed = any(_reparses(c.command) for c in commands)

    def command(self, number: int, command: RehearsalCommand) -> RehearsalCommand:
        """The command with its values and its working folder.

        Raises:
            Refusal: ``VALIDATION_FAILED``.
        """
        if not self._values:
            return command
        instructs = _instructs(command.command)
        places = self._places.in_command(command.command)
        for place in places:
            self._refuse_place(place, number, instructs=instructs)
        text = with_values(command.command, places, self._written)
        folder = self._text(command.working_folder)
        if folder != command.working_folder and (posixpath.isabs(folder) or ".." in folder.split("/")):
            raise self._refused(command.working_folder, "it leads out of the folder")
        if len(text) > 2000 or _shape(text) != _shape(command.command):
            names = [parameter.name for parameter, _ in self._values.values()]
            raise _invalid(names, f"Step {number} cannot take these values; give shorter or simpler ones.")
        return command.changed(command=text, working_folder=folder)

    def script(self, name: str, text: str) -> str:
        """A script's text with its values.

        Raises:
            Refusal: ``VALIDATION_FAILED``.
        """
        parts: list[str] = []
        end = 0
        for match in self._places.in_script(text, name):
            self._refuse_unsafe(match.group(), f"the script {name}")
            parts += [text[end : match.start()], self._value(match.group())]
            end = match.end()
        return "".join((*parts, text[end:]))

    def condition(self, condition: ProofCondition) -> ProofCondition:
        """The condition about this folder's files and values."""
        argument = condition.argument
        if condition.kind in _TEXT_ARGUMENTS:
            argument = self._text(argument)
        elif condition.kind in _WHOLE_ARGUMENTS and argument in self._values:
            argument = self._value(argument)
        elif condition.kind is ConditionKind.SELECTS:
            given = {one: self._value(one) for one in values_of(argument) if one in self._values}
            argument = with_filters(argument, given)
        return condition.changed(
            path=clipped(self._text(condition.path), 240),
            other=clipped(self._text(condition.other), 240) if condition.other else condition.other,
            argument=clipped(argument, 400),
            statement=clipped(self._text(condition.statement), 240),
        )

    def _text(self, text: str) -> str:
        return self._places.in_text(text, self._value)

    def _value(self, shown: str) -> str:
        self.used.add(shown)
        return self._values[shown][1]

    def _written(self, place: ValuePlace) -> str:
        """The value as the program behind the shell reads it: a word of a dot command of sqlite3 is quoted for it."""
        value = self._value(place.value)
        return f'"{value}"' if _is_split_by_sqlite(place, value) else value

    def _refuse_place(self, place: ValuePlace, number: int, *, instructs: bool) -> None:
        where = f"step {number}"
        value = self._values[place.value][1]
        if place.begins_word and value.startswith("-") and not place.value.startswith("-"):
            raise self._refused(place.value, f"in {where} it would be taken for an option")
        if _is_split_by_sqlite(place, value) and place.value not in place.word.split():
            raise self._refused(
                place.value, f"in {where} it is a piece of a word, which a dot command splits"
            )
        if self._reparsed and " " in value and place.value in place.word.split()[1:]:
            raise self._refused(
                place.value, f"in {where} a shell reads it once more and takes it for several words"
            )
        in_program = instructs and not _names_file(place)
        if self._reparsed or in_program or place.quoting is Quoting.SPECIAL or self._may_be_run(place):
            self._refuse_unsafe(place.value, where)

    def _may_be_run(self, place: ValuePlace) -> bool:
        """Whether the place is in a text, such as a script that is written first, where some command runs a program."""
        in_document = place.quoting in (Quoting.DOCUMENT, Quoting.LITERAL_DOCUMENT)
        is_argument = not in_document and (place.word == place.value or _WORD.fullmatch(place.word))
        return self._instructed and not is_argument

    def _refuse_unsafe(self, shown: str, where: str) -> None:
        value = self._values[shown][1]
        allowed = value.replace("/", "") if "/" in shown else value
        if not _SAFE.fullmatch(allowed):
            raise self._refused(
                shown,
                f"in {where} it stands in the text of a program, which takes letters, digits and .,:@%+=-_ only",
            )

    def _refused(self, shown: str, problem: str) -> Refusal:
        name = self._values[shown][0].name if shown in self._values else "a value"
        return _invalid([name], f"{name} cannot have this value: {problem}.")


def _instructs(command: str) -> bool:
    """Whether a program in the command reads instructions among its words."""
    try:
        return any(c.program in _PROGRAM_TEXT or "/" in c.path for c in calls_in(command))
    except UnreadableCommand:
        return True


def _reparses(command: str) -> bool:
    """Whether the shell reads the text of a value a second time."""
    try:
        calls = calls_in(command)
    except UnreadableCommand:
        return True
    return any(
        c.program in _REPARSED or (c.program in SHELLS and (c.has_flag("c") or not c.operands)) for c in calls
    )


def _is_split_by_sqlite(place: ValuePlace, value: str) -> bool:
    """Whether the value would become several words of a dot command."""
    is_quoted = any(f"{mark}{place.value}{mark}" in place.word for mark in "\"'")
    return " " in value and not is_quoted and _DOT_COMMAND.match(place.word) is not None


def _names_file(place: ValuePlace) -> bool:
    """Whether the place is a word that names the file shown, with folders before it."""
    head = place.word.removesuffix(place.value)
    is_file = bool(re.search(r"\.[A-Za-z][A-Za-z0-9]{0,8}$", place.value)) and _WORD.fullmatch(
        place.value.replace(" ", "")
    )
    return bool(is_file) and place.word.endswith(place.value) and _FOLDERS.fullmatch(head) is not None


def _shape(command: str) -> tuple[int, ...]:
    """How many words each simple command has: other values must not change that."""
    try:
        return tuple(len(one.words) * 100 + len(one.redirections) for one in split_commands(command))
    except UnreadableCommand:
        return ()


def scripts_of(draft: SkillDraft) -> dict[str, str]:
    """What a person wrote by hand and then ran: name within ``scripts/`` → text."""
    return {
        file.path.removeprefix(SCRIPTS): file.content for file in draft.files if file.path.startswith(SCRIPTS)
    }


def _writes_script(command: RehearsalCommand, scripts: Mapping[str, str]) -> bool:
    """Whether the command is an editor in which a script of the bundle was written."""
    try:
        calls = calls_in(command.command)
    except UnreadableCommand:
        return False
    return bool(calls) and all(
        c.program in EDITORS and c.operands and all(posixpath.basename(o) in scripts for o in c.operands)
        for c in calls
    )


def _is_written_anew(name: str, commands: Sequence[RehearsalCommand]) -> bool:
    """Whether a command writes the script itself: lines that are put in by ``ed`` would be in it twice."""
    parts = [part for c in commands for part in parts_of(c.command)]
    written = [
        path for part in parts for path in (*(() if part.appends else part.writes), *_edited_by_lines(part))
    ]
    return posixpath.basename(name) in map(posixpath.basename, written)


def _edited_by_lines(part: Part) -> Sequence[str]:
    return part.operands if part.program in ("ed", "red") else ()


def _placed(name: str, commands: Sequence[RehearsalCommand]) -> str:
    """Where a command expects the script; the folder itself where none names it."""
    paths = (p for c in commands for p in named_paths(c.command, c.working_folder or "."))
    return next((p for p in paths if posixpath.basename(p) == posixpath.basename(name)), name)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _invalid(names: Sequence[str], message: str) -> Refusal:
    fields = [{"path": f"values.{name}", "problem": clipped(message, 200)} for name in names]
    return Refusal(ErrorCode.VALIDATION_FAILED, clipped(message, 240), fields=fields)
