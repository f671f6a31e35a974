"""Parameters from one demonstration (DOC3 §0A.14): what its form or the goal shows to be a choice of the day.

Input files and folders, dates, settings given in the environment, numbers of options, and words that the goal and the
commands share. With several demonstrations the comparison decides instead (``parameters_of``).
"""

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from contracts.base import clipped
from contracts.learning.evidence import LessonEvidence
from contracts.learning.interpretation import MAX_PARAMETERS, ParameterType, SkillParameter
from contracts.learning.observation import LessonFolder
from domain.learning.commands.command_line import named_paths, parts_of, scripts_run
from domain.learning.commands.shell_places import value_places
from domain.learning.comparison.months import as_one_date, as_one_month, months_in
from domain.learning.comparison.parameter_places import is_name_at
from domain.learning.comparison.parameters import bounded, distinct, is_telling, kind_called, type_of
from domain.learning.comparison.purposes import differing_purposes, purpose_of
from domain.learning.comparison.value_names import GOAL_WORD, LITTLE, named_beside, noun_before
from domain.learning.interpretation.naming import identifier, in_ascii
from domain.learning.interpretation.slicing import parent_folders
from domain.learning.lesson_folders import is_within, outermost
from domain.learning.method.literals import literals_of
from domain.learning.method.program_names import may_be_name
from domain.learning.redaction.redaction import redact

_MONTH_NAMES = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?"
)
_BEHIND_V = r"(?<=(?<![\w.])[vV])"
_DATES = (
    ("date", ParameterType.DATE, re.compile(r"(?<![\d.-])(?:19|20)\d\d-\d\d-\d\d(?!\d)")),
    ("date", ParameterType.TEXT, re.compile(rf"\b\d{{1,2}}\.? {_MONTH_NAMES} (?:19|20)\d\d\b")),
    ("date", ParameterType.TEXT, re.compile(r"(?<![\d.])\d{1,2}[./]\d{1,2}[./](?:19|20)\d\d(?!\d)")),
    ("version", ParameterType.TEXT, re.compile(rf"(?:(?<![\w.])|{_BEHIND_V})\d+\.\d+\.\d+(?![\w.]*\d)")),
    ("version", ParameterType.TEXT, re.compile(rf"{_BEHIND_V}\d+\.\d+(?![\w.]*\d)")),
    ("year", ParameterType.NUMBER, re.compile(r"(?<![\w.-])(?:19|20)\d\d(?![\w.-]*\d)")),
)
_ASSIGNMENTS = r"((?:[A-Za-z_]\w*=[\w.,:/+-]+(?=[\s;&|]|\Z)[ \t]*)+)"
_EXPORTED = re.compile(rf"(?:^|[;&|])[ \t]*export[ \t]+{_ASSIGNMENTS}(?=$|[;&|])", re.MULTILINE)
_GIVEN = re.compile(rf"(?:^|[;&|])[ \t]*{_ASSIGNMENTS}(?=[^\s=;&|])", re.MULTILINE)
_TYPED_ALONE = re.compile(rf"\s*{_ASSIGNMENTS}\s*")
"""Variables that a whole command line sets, for the lines after it."""
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=([\w.,:/+-]+)")
_NOT_SETTINGS = frozenset({"PATH", "LC_ALL", "LANG", "LC_COLLATE", "LC_NUMERIC", "TZ", "IFS", "HOME", "TERM"})
_LONG_NUMBER = re.compile(r"(?<!\S)--([a-z][\w-]*)[= ](\d+(?:\.\d+)?)(?!\S)")
_COUNT = re.compile(r"\b(?:head|tail)\b[^|;&]*?(?<!\S)-(?:n\s*|-lines=)?(\d+)(?!\S)")
_SPAN = re.compile(r"[+-]\s?(\d+) ?(day|week|month|year)s?\b")
_NUMBER_NAMES = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBER_WORDS = {name: str(number) for number, name in enumerate(_NUMBER_NAMES, start=2)}
"""Figures of the numbers that a goal may spell out."""

_QUOTED = re.compile(r"(?!(?<=\[)[\"'][^\"'\s]+[\"']\])[\"']([^\"'\s]{3,60})[\"']")
"""A quoted word; one alone in brackets is the name of a field."""
_PATH_IN_TEXT = re.compile(r"(?<![\w./-])(?:[\w.-]+/)*([A-Za-z][\w-]{2,40})\.[A-Za-z]\w{0,8}(?![\w/-])")
_AFTER_FOLDER = r"(?=/|[\s;|&)\"']|$)"
_AFTER_PATH = r"(?![\w-]|\.\w)"
_NUMBERED = re.compile(r"\b([A-Za-z]{3,40})[-_ ]?%0?\d*d")
"""What stands in front of a running number in a name: lease-%03d.tif."""

_A_NAME = re.compile(r"[A-Za-z][\w-]{2,59}")

CODE_FILES = re.compile(
    r"\.(?:py|sh|bash|js|ts|rb|pl|r|lua|awk|sed|jq|sql|c|h|cc|cpp|java|go|rs|mk)$|^Makefile$"
)
"""Names of programs and of what is compiled."""
_PRESCRIBED = re.compile(
    r"(?:^|/)(?:\.\w+ignore|\.git\w+|\.editorconfig|\.npmrc|package(?:-lock)?\.json|pyproject\.toml|Cargo\.toml"
    r"|go\.(?:mod|sum)|Dockerfile|CMakeLists\.txt|Makefile)$"
)
"""Names that a tool prescribes: there is no other file to choose."""


@dataclass(frozen=True)
class _Found:
    name: str
    kind: ParameterType
    value: str
    required: bool = False


def shown_parameters(
    goal: str,
    commands: Sequence[tuple[str, str]],
    inputs: Collection[str],
    folders: Collection[str],
    made: Collection[str] = (),
) -> tuple[SkillParameter, ...]:
    """The parameters of one demonstration, the surest first, at most ``MAX_PARAMETERS``.

    ``commands`` are the retained lines with their working folders; ``inputs`` and ``folders`` are paths of the
    starting state that these read; ``made`` are the files that the demonstration made. A value is shown once: what
    lies inside a longer one that is always written whole is left to that one.
    """
    lines = [command for command, _ in commands]
    text = "\n".join(lines)
    everywhere = "\n".join((text, *(working for _, working in commands)))
    found: dict[str, _Found] = {}
    for one in (
        *_settings(lines),
        *_files(commands, inputs, made),
        *_files_in_texts(commands, inputs, made),
        *_folders(commands, folders),
        *_entered(commands, inputs, folders),
        *_dates(text),
        *_numbers(text),
        *_of_goal(goal, text),
        *_literals_of_goal(goal, lines),
        *_shared_stems(goal, lines),
    ):
        if is_telling(one.value) and redact(one.value).text == one.value:
            found.setdefault(one.value, one)
    kept = [one for one in found.values() if not _only_inside_others(one.value, found, everywhere)]
    kept = [one for one in kept if not _only_a_name(one.value, lines)]
    parameters: list[SkillParameter] = []
    kept = _named(kept[:MAX_PARAMETERS], goal, lines)
    purposes = _purposes(kept, lines)
    for one in kept:
        name = distinct(one.name, [p.name for p in parameters])
        purpose = purposes[one.value]
        shown = f"The {name.replace('_', ' ')}: “{one.value}” in the demonstration"
        parameters.append(
            SkillParameter(
                name=name,
                type=one.kind,
                description=clipped(f"{shown}; {purpose}" if purpose else shown, 240),
                examples=(one.value,),
                required=one.required,
            )
        )
    return as_one_date(as_one_month(parameters))


def _named(found: Sequence[_Found], goal: str, lines: Sequence[str]) -> list[_Found]:
    """The values with names that tell what differs between them."""
    numbers = {one.value for one in found if one.kind is ParameterType.NUMBER}
    names = named_beside({one.value: one.name for one in found}, numbers, goal, lines)
    return [replace(one, name=names[one.value]) for one in found]


def _purposes(found: Sequence[_Found], lines: Sequence[str]) -> dict[str, str]:
    """What each value is for; of those of one name that a program is given alike, also what differs."""
    purposes = {one.value: purpose_of(one.value, lines) for one in found}
    alike: dict[tuple[str, str], list[str]] = {}
    for one in found:
        alike.setdefault((one.name, purposes[one.value]), []).append(one.value)
    for values in alike.values():
        for value, more in zip(
            values, differing_purposes(values, lines) if len(values) > 1 else ("",), strict=True
        ):
            purposes[value] = ", ".join(filter(None, (purposes[value], more)))
    return purposes


def folders_used(evidence: LessonEvidence, lesson: Sequence[LessonFolder] = ()) -> tuple[str, ...]:
    """The folders that were there before the first command and that a retained command used.

    Not those of a ``lesson`` in several folders: a trial asks for each of them by itself.
    """
    uses = [use for use in evidence.uses if use.event_id in evidence.kept]
    made = {path for use in evidence.uses for path in use.written}
    used = {path for use in uses for path in (*use.read, *use.written, *use.removed)}
    parents = {parent for path in used for parent in parent_folders(path)}
    asked = {name for one in outermost(lesson) for name in (one.name, *parent_folders(one.name))}
    return tuple(sorted((parents | {*evidence.folders}) - made - asked))


def _only_inside_others(value: str, found: Collection[str], text: str) -> bool:
    """Whether every place of the value lies inside a longer value that is a parameter too."""
    longer = [other for other in found if value in other and other != value]
    if not longer:
        return False
    rest = text
    for other in sorted(longer, key=len, reverse=True):
        rest = rest.replace(other, "\0")
    return value not in rest


def _only_a_name(value: str, lines: Sequence[str]) -> bool:
    """Whether programs in the commands call something so, and nothing else in them is this value."""
    if not may_be_name(value):
        return False
    pattern = re.compile(bounded(value))
    at = [(line, place) for line in lines for place in value_places(line, pattern)]
    return bool(at) and all(is_name_at(line, place) for line, place in at)


def _settings(lines: Sequence[str]) -> Iterator[_Found]:
    text = "\n".join(lines)
    written = {path for line in lines for part in parts_of(line) for path in part.writes}
    for line in lines:
        alone = _TYPED_ALONE.fullmatch(line)
        given = [alone] if alone else [*_EXPORTED.finditer(line), *_GIVEN.finditer(line)]
        for name, value in (pair for one in given for pair in _ASSIGNED.findall(one.group(1))):
            counts = re.search(rf"\b{name}=\$\(\(|\(\(\s*{name}\s*(?:\+\+|[-+]=)|\blet {name}\b", text)
            if name not in _NOT_SETTINGS and value not in written and not counts:
                yield _Found(identifier(name), _kind_of_setting(name, value, text), value)


def _kind_of_setting(name: str, value: str, text: str) -> ParameterType:
    """A number, unless it names a release: ``versions/$NEW/app`` is about no quantity."""
    if not re.fullmatch(r"\d+(?:\.\d+)?", value):
        return ParameterType.TEXT
    held = rf"(?:\$\{{?{name}\b\}}?|{re.escape(value)})"
    in_path = "." in value and re.search(rf"[/v]{held}(?![\w.])|{held}/", text)
    return ParameterType.TEXT if in_path else kind_called(name, ParameterType.NUMBER, (value,))


def _has_its_name(path: str) -> bool:
    """Whether the file is a program, or one that a tool looks for under this name."""
    return bool(CODE_FILES.search(path) or _PRESCRIBED.search(path))


def _files(
    commands: Sequence[tuple[str, str]], inputs: Collection[str], made: Collection[str]
) -> Iterator[_Found]:
    """The input files that a command names as they are."""
    programs = {path for command, folder in commands for path in scripts_run(command, folder)}
    for command, folder in commands:
        for word, path in _operands(command, folder):
            if path in inputs and path not in {*programs, *made} and not _has_its_name(path):
                yield _Found(_file_name(path), ParameterType.PATH, word)


def _files_in_texts(
    commands: Sequence[tuple[str, str]], inputs: Collection[str], made: Collection[str]
) -> Iterator[_Found]:
    """The input files that a text given to a command names: a here-document, what was typed at a prompt."""
    for command, working in commands:
        if "\n" not in command:
            continue
        for path in inputs:
            name = posixpath.relpath(path, working or ".")
            is_data = path not in made and not _has_its_name(path) and posixpath.splitext(path)[1]
            if is_data and re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)", command):
                yield _Found(_file_name(path), ParameterType.PATH, name)


def _folders(commands: Sequence[tuple[str, str]], folders: Collection[str]) -> Iterator[_Found]:
    """The folders that a command names, as a word of its own or in front of a pattern."""
    for command, working in commands:
        for folder in sorted(folders, key=len, reverse=True):
            name = posixpath.relpath(folder, working or ".")
            if not name.startswith("..") and re.search(
                rf"(?<![\w./-]){re.escape(name)}{_AFTER_PATH if '/' in name else _AFTER_FOLDER}", command
            ):
                yield _Found("folder", ParameterType.PATH, name)


def _entered(
    commands: Sequence[tuple[str, str]], inputs: Collection[str], folders: Collection[str]
) -> Iterator[_Found]:
    """The folders that commands were entered in and that held inputs."""
    held = [one for one in folders if any(is_within(path, one) for path in inputs)]
    entered = {working for _, working in commands if working in held}
    for working in sorted(entered):
        # One within another is called otherwise where that one is.
        if not any(other != working and is_within(working, other) for other in entered):
            yield _Found("folder", ParameterType.PATH, working)


def _operands(command: str, folder: str) -> Iterator[tuple[str, str]]:
    """The words that a command names files by, with their path in the demonstration's folder."""
    named = set(named_paths(command, folder))
    for part in parts_of(command):
        for word in (*part.operands, *part.reads):
            path = posixpath.normpath(posixpath.join(folder or ".", word))
            if path in named or (word and not word.startswith(("/", "$", "~"))):
                yield word, path


def _file_name(path: str) -> str:
    words = re.findall(r"[a-z]{2,}", in_ascii(posixpath.splitext(posixpath.basename(path))[0]))
    return f"{'_'.join(words)[:35]}_file" if words else "input_file"


def _dates(text: str) -> Iterator[_Found]:
    for month in months_in(text):
        yield _Found("month", type_of((month,)), month)
    for name, kind, pattern in _DATES:
        for match in pattern.finditer(text):
            yield _Found(name, kind, match.group(0))


def _numbers(text: str) -> Iterator[_Found]:
    for option, value in _LONG_NUMBER.findall(text):
        yield _Found(identifier(option), ParameterType.NUMBER, value)
    for value in _COUNT.findall(text):
        if value == "1" or is_split_at(text, int(value)):
            continue
        yield _Found("count", ParameterType.NUMBER, value)
    for value, unit in _SPAN.findall(text):
        yield _Found(f"{unit}s", ParameterType.NUMBER, value)


def is_split_at(text: str, count: int) -> bool:
    """Whether the first lines are taken by ``head`` and those after them by ``tail``: the form of the work."""
    return all(
        re.search(rf"\b{program}\b[^|;&]*?(?<!\S)-(?:n\s*|-lines=)?{lines}(?!\S)", text)
        for program, lines in (("head", count), ("tail", rf"\+{count + 1}"))
    )


def _of_goal(goal: str, text: str) -> Iterator[_Found]:
    """Words of the goal that stand out (a capital, a digit) and that the commands hold as a word of their own."""
    words: list[str] = GOAL_WORD.findall(goal)
    values = {
        position: value
        for position, word in enumerate(words)
        if _stands_out(value := NUMBER_WORDS.get(word.lower(), word), position)
        and re.search(bounded(value), text)
    }
    standing_out = {words[position] for position in values}
    for position, value in values.items():
        noun = noun_before(words, position, standing_out)
        kind = ParameterType.NUMBER if value.isdigit() else ParameterType.TEXT
        yield _Found(noun or "value", kind, value)


def _stands_out(value: str, position: int) -> bool:
    return any(c.isdigit() for c in value) or (position > 0 and value[:1].isupper())


def _literals_of_goal(goal: str, lines: Sequence[str]) -> Iterator[_Found]:
    """Literals of the commands that the goal speaks of: a status, a branch, a name; hyphens count as blanks."""
    said = f" {_spoken(goal)} "
    for line in lines:
        for literal in literals_of(line):
            for value in (literal, *_QUOTED.findall(literal), *_NUMBERED.findall(literal)):
                spoken = _spoken(value)
                if _A_NAME.fullmatch(value) and spoken not in LITTLE and f" {spoken} " in said:
                    yield _Found(identifier(spoken.split()[-1]), ParameterType.TEXT, value)


def _shared_stems(goal: str, lines: Sequence[str]) -> Iterator[_Found]:
    """What several files of a text have as their name (table.c, table.h, table.o), where the goal speaks of it.

    A script that is run is what the lesson made for the work, and no file of the day.
    """
    said = f" {_spoken(goal)} "
    moved = {
        part.operands[0]
        for line in lines
        for part in parts_of(line)
        if part.program == "mv" and part.operands
    }
    run = {posixpath.basename(path) for line in lines for path in scripts_run(line, ".")}
    for line in lines:
        files: dict[str, set[str]] = {}
        for found in _PATH_IN_TEXT.finditer(line):
            if found[0] not in moved and posixpath.basename(found[0]) not in run:
                files.setdefault(found[1], set()).add(found[0])
        for stem, names in files.items():
            if len(names) > 1 and f" {_spoken(stem)} " in said:
                yield _Found(identifier(stem), ParameterType.TEXT, stem)


def _spoken(text: str) -> str:
    return " ".join(re.sub(r"[^\w]+|_", " ", text.lower()).split())
