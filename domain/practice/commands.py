"""Commands that practice may run, with the files each would read and make (DOC3 §0A.7 "allowed tool surfaces")."""

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from contracts.practice.practice import IdeaSource
from domain.learning.commands.command_line import calls_in, name_set, named_paths, parts_of
from domain.learning.commands.shell_grammar import UnreadableCommand

_PLACEHOLDER = re.compile(r"\{((?:input|output|text)\d?)\}")
_VALUE = r"(?:[\w./-]+|'[^']*')"
_PROGRAM = re.compile(r"[\w.+-]+|\[")
_MAKERS = name_set("cp mv tar tee touch zip gzip install ln split csplit mkdir")
_MOST_INSTANCES = 60
_EVIDENCE = {
    IdeaSource.ABILITY: 1.0,
    IdeaSource.TRACE: 0.9,
    IdeaSource.ALLOWED: 0.8,
    IdeaSource.MODEL: 0.7,
}
_IDIOM_EVIDENCE = 0.5


@dataclass(frozen=True)
class KnownCommand:
    """A command that was taught, with the files it made and what it was taught for."""

    command: str
    made: tuple[str, ...]
    about: str
    source: IdeaSource


@dataclass(frozen=True)
class Action:
    """A command ready to run. A folder it makes ends with a slash."""

    command: str
    reads: frozenset[str]
    makes: frozenset[str]
    source: IdeaSource
    about: str = ""
    evidence: float = 0.5
    """How well it is known to be used this way, 0 to 1."""


@dataclass(frozen=True)
class Vocabulary:
    """What placeholders may stand for."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    texts: tuple[str, ...]


class AllowedCommands:
    """A person's list: programs, and commands with placeholders."""

    def __init__(self, entries: Sequence[str]) -> None:
        self.programs = frozenset(entry for entry in entries if _PROGRAM.fullmatch(entry))
        self.templates = tuple(entry for entry in entries if not _PROGRAM.fullmatch(entry))
        self._shapes = tuple(re.compile(_shape(template)) for template in self.templates)

    def permits(self, command: str) -> bool:
        """Whether the list lets ``command`` run: it is one of the commands, or calls listed programs only."""
        if any(shape.fullmatch(command) for shape in self._shapes):
            return True
        try:
            calls = calls_in(command)
        except UnreadableCommand:
            return False
        return bool(calls) and all(
            call.path == call.program and call.program in self.programs for call in calls
        )


def actions_for(
    allowed: AllowedCommands, known: Iterable[KnownCommand], vocabulary: Vocabulary, start: frozenset[str]
) -> tuple[Action, ...]:
    """Every command that may run, its placeholders filled; each command once, the taught ones first."""
    found: dict[str, Action] = {}
    for action in _all_actions(allowed, known, vocabulary, start):
        if allowed.permits(action.command) and not action.reads & action.makes:
            found.setdefault(action.command, action)
    return tuple(found.values())


def suggested_action(command: str, vocabulary: Vocabulary, start: frozenset[str]) -> Action:
    """A model's command as it reads: less is known of it than of a taught one, more than of a bare program."""
    return _read(command, {}, vocabulary, start, IdeaSource.MODEL, "")


def _all_actions(
    allowed: AllowedCommands, known: Iterable[KnownCommand], vocabulary: Vocabulary, start: frozenset[str]
) -> Iterator[Action]:
    for taught in known:
        yield _as_taught(taught)
        template = _generalised(taught)
        if template is not None:
            yield from _instances(template, vocabulary, start, taught.source, taught.about)
    for template in allowed.templates:
        yield from _instances(template, vocabulary, start, IdeaSource.ALLOWED, "")
    for program in sorted(allowed.programs):
        idiom = "mkdir -p {output}" if program == "mkdir" else f"{program} {{input}} > {{output}}"
        for action in _instances(idiom, vocabulary, start, IdeaSource.ALLOWED, ""):
            yield replace(action, evidence=_IDIOM_EVIDENCE)


def _as_taught(taught: KnownCommand) -> Action:
    folders = _folders_made(taught.command)
    makes = frozenset(taught.made) | folders
    named = frozenset(named_paths(taught.command, ".")) - {folder.rstrip("/") for folder in folders}
    evidence = _EVIDENCE[taught.source]
    return Action(taught.command, named - makes, makes, taught.source, taught.about, evidence)


def _generalised(taught: KnownCommand) -> str | None:
    """The taught command with other files' places left open; ``None`` where it names too many to tell."""
    named = named_paths(taught.command, ".")
    outputs = [path for path in named if path in taught.made]
    inputs = [path for path in named if path not in taught.made]
    if not outputs or len(outputs) > 2 or len(inputs) > 2 or _PLACEHOLDER.search(taught.command):
        return None
    template = taught.command
    for role, paths in (("input", inputs), ("output", outputs)):
        for number, path in enumerate(paths):
            place = f"{{{role}{number or ''}}}"
            template = re.sub(rf"(?<![\w./-]){re.escape(path)}(?![\w./-])", place, template)
    return template


def _instances(
    template: str, vocabulary: Vocabulary, start: frozenset[str], source: IdeaSource, about: str
) -> Iterator[Action]:
    names = list(dict.fromkeys(_PLACEHOLDER.findall(template)))
    domains = [_domain(name, template, vocabulary) for name in names]
    for count, values in enumerate(product(*domains)):
        if count == _MOST_INSTANCES:
            return
        filled = dict(zip(names, values, strict=True))
        files = [value for name, value in filled.items() if not name.startswith("text")]
        if len(set(files)) < len(files):
            continue
        command = _filled(template, filled)
        yield _read(command, filled, vocabulary, start, source, about)


def _domain(name: str, template: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    if name.startswith("text"):
        return vocabulary.texts
    if name.startswith("input"):
        return vocabulary.inputs
    if "mkdir" in template:
        folders = (posixpath.dirname(path) for path in vocabulary.outputs)
        return tuple(dict.fromkeys(folder for folder in folders if folder))
    return vocabulary.outputs


def _filled(template: str, values: dict[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: shlex.quote(values[found.group(1)]), template)


def _read(
    command: str,
    filled: dict[str, str],
    vocabulary: Vocabulary,
    start: frozenset[str],
    source: IdeaSource,
    about: str,
) -> Action:
    folders = _folders_made(command)
    inputs = {value for name, value in filled.items() if name.startswith("input")}
    outputs = {value for name, value in filled.items() if name.startswith("output")}
    outputs -= {folder.rstrip("/") for folder in folders}
    bare = {folder.rstrip("/") for folder in folders}
    named = {path for path in named_paths(command, ".") if path not in bare}
    written = {path for part in parts_of(command) for path in part.writes}
    making = any(part.program in _MAKERS for part in parts_of(command))
    fresh = {path for path in named - start - inputs if making or path in vocabulary.outputs}
    makes = (outputs | folders | (written & named) | fresh) - inputs
    reads = frozenset((named | inputs) - makes)
    return Action(command, reads, frozenset(makes), source, about, _EVIDENCE[source])


def _folders_made(command: str) -> frozenset[str]:
    made = (o for part in parts_of(command) if part.program == "mkdir" for o in part.operands)
    return frozenset(f"{posixpath.normpath(folder)}/" for folder in made)


def _shape(template: str) -> str:
    """A pattern of every command that the template can become; what it fills in cannot leave its quotes."""
    parts = _PLACEHOLDER.split(template)
    return "".join(_VALUE if position % 2 else re.escape(part) for position, part in enumerate(parts))
