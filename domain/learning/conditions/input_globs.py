"""Patterns by which a method takes its files (``*.jpg``, ``find -name``), and the files that are named after them.

A file that only a pattern reaches has a name of the day. What is stated of it, or of a result that is called like it,
is stated of the pattern, so that it holds for other names and for more files as well.
"""

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from domain.learning.commands.shell_grammar import UnreadableCommand
from domain.learning.conditions.path_patterns import Family, captured, is_named, is_pattern
from domain.learning.method.arguments import Argument, ReadCall
from domain.learning.method.command_items import read_calls, settings_in

_GLOB = re.compile(r"[^*?\[\]]*\*[^?\[\]]*")
"""A word with stars and no other sign of a pattern: those name fewer files than a star would."""

_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_EXPANDED = re.compile(r".*(?:\$\([^()]*\)|\$\{[^{}]*\}|\$\w+|`[^`]*`)", re.DOTALL)
_FROM_ELSEWHERE = re.compile(r"\A(?:\.{1,2}/|~/|/)+")
_NAME_OPTIONS = frozenset({"-name", "-iname"})
_ANY_FOLDERS = "**/"


@dataclass(frozen=True)
class InputGlobs:
    """The patterns that the commands take files by; ``folders`` are those that the commands were entered in."""

    commands: tuple[str, ...]
    folders: tuple[str, ...] = ()

    def pattern(self, path: str) -> str | None:
        """The pattern that reaches the file; ``None`` where a command names it, or none reaches it."""
        return None if self.is_named(path) else self._reached.pattern(path)

    def is_named(self, path: str) -> bool:
        """Whether a command names the file as it is, from the folder that it was entered in."""
        return any(
            is_named(path, command) or (folder != "." and is_named(posixpath.relpath(path, folder), command))
            for command, folder in self._entered
        )

    def result_pattern(self, path: str, inputs: Collection[str]) -> str | None:
        """The pattern of a result that is called like an input that a pattern reaches; ``None`` for any other."""
        for one in sorted(inputs, key=lambda one: (-len(posixpath.basename(one)), one)):
            pattern = self.pattern(one) if one != path else None
            if pattern is not None and (named := self._named_after(path, one, pattern)) != path:
                return named
        return None

    def _named_after(self, path: str, source: str, pattern: str) -> str:
        """The path with the pattern where it is called like the source; what a command says of it stays."""
        pairs = _alike(source, pattern)
        text = "\n".join(self.commands)
        return "/".join(one if is_named(one, text) else _replaced(one, pairs) for one in path.split("/"))

    def families(self, paths: Collection[str]) -> tuple[Family, ...]:
        """The files that patterns reach, by these; be it only one."""
        return families_by({path: pattern for path in paths if (pattern := self.pattern(path)) is not None})

    @property
    def _entered(self) -> Sequence[tuple[str, str]]:
        return [*zip(self.commands, self.folders or ["."] * len(self.commands), strict=True)]

    @cached_property
    def _reached(self) -> "_Globs":
        return _Globs(tuple(dict.fromkeys(g for c, folder in self._entered for g in _globs_in(c, folder))))


def families_by(patterns: dict[str, str]) -> tuple[Family, ...]:
    """Files by their patterns."""
    members: dict[str, list[str]] = {}
    for path, pattern in patterns.items():
        members.setdefault(pattern, []).append(path)
    return tuple(Family(pattern, tuple(sorted(paths))) for pattern, paths in sorted(members.items()))


@dataclass(frozen=True)
class _Glob:
    """A pattern as seen from the lesson's folder; its end alone where what stands before it is not known."""

    pattern: str
    end: str

    @property
    def says(self) -> int:
        """How much of a name it fixes."""
        return len(self.pattern.replace("*", ""))


@dataclass(frozen=True)
class _Globs:
    globs: tuple[_Glob, ...]

    def pattern(self, path: str) -> str | None:
        parts = path.split("/")
        files = [one for one in self.globs if not one.pattern.endswith("/")]
        whole = [one for one in files if captured(one.pattern, path) is not None]
        if whole:
            return max(whole, key=lambda one: one.says).pattern
        folders = [one.pattern.rstrip("/").split("/") for one in self.globs if one.pattern.endswith("/")]
        begin = next((f for f in folders if len(f) < len(parts) and _fits(f, parts[: len(f)])), list[str]())
        ends = [one.end.split("/") for one in files if _ANY_FOLDERS not in one.end]
        ends = [e for e in ends if len(e) <= len(parts) - len(begin) and _fits(e, parts[-len(e) :])]
        if not ends:
            return "/".join((*begin, "**", "*")) if begin else None
        end = max(ends, key=lambda e: len("".join(e).replace("*", "")))
        return "/".join((*begin, *parts[len(begin) : len(parts) - len(end)], *end))


def _fits(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    return captured("/".join(pattern), "/".join(parts)) is not None


def _globs_in(command: str, folder: str) -> Iterator[_Glob]:
    try:
        items = [one for one in settings_in(command) if one.kind == "item"]
        calls = read_calls(command)
    except UnreadableCommand:
        return
    words = [word for one in items for word in one.values]
    for call, _ in calls:
        words += [word for one in call.arguments if _is_files(one) for word in one.values]
        yield from (_Glob(one, one) for one in _searched(call, folder))
    for word in words:
        for one in _without_braces(word):
            end = _FROM_ELSEWHERE.sub("", _EXPANDED.sub("", one), count=1)
            if _GLOB.fullmatch(end):
                is_known = end == one.removeprefix("./") or one.startswith("../")
                yield _Glob(
                    _from(folder, one.rstrip("/")) + "/" * one.endswith("/") if is_known else end, end
                )


def _is_files(argument: Argument) -> bool:
    """Whether the words of an argument may be files that the shell finds by a pattern."""
    return not argument.name and argument.role in ("input", "output", "value", "archive")


def _searched(call: ReadCall, folder: str) -> Iterator[str]:
    """The patterns of ``find``: files of a name below its folders."""
    if call.program != "find":
        return
    below = [v for one in call.arguments if one.role == "input" and not one.name for v in one.values] or ["."]
    names = [v for one in call.arguments if one.name in _NAME_OPTIONS and not one.negated for v in one.values]
    for top in below:
        for name in names:
            if _GLOB.fullmatch(name) and "/" not in name and not _EXPANDED.match(top):
                yield _from(folder, f"{top}/{_ANY_FOLDERS}{name}")


def _from(folder: str, word: str) -> str:
    return posixpath.normpath(posixpath.join(folder, word))


def _without_braces(word: str) -> Iterator[str]:
    found = _BRACES.search(word)
    if found is None or word[: found.start()].endswith("$"):
        yield word
        return
    for one in found[1].split(","):
        yield from _without_braces(f"{word[: found.start()]}{one}{word[found.end() :]}")


def _alike(source: str, pattern: str) -> list[tuple[str, str]]:
    """How a result may be called like its source, each with what the pattern has in its place; the longest first."""
    name, name_pattern = posixpath.basename(source), posixpath.basename(pattern)
    pairs = [(name, name_pattern)]
    stem, extension = posixpath.splitext(name)
    if name_pattern.endswith(extension) and extension:
        pairs.append((stem, name_pattern.removesuffix(extension)))
    elif extension:
        pairs.append((stem, "*"))
    pairs += [(one.rstrip("/"), "*") for one in captured(pattern, source) or () if one.count("/") < 2]
    return [(text, instead) for text, instead in pairs if text and is_pattern(instead)]


def _replaced(name: str, pairs: Sequence[tuple[str, str]]) -> str:
    for text, instead in pairs:
        name = re.sub(rf"(?<![^\W_*]){re.escape(text)}(?![^\W_*])", lambda _, i=instead: i, name)
    return re.sub(r"\*+", "*", name)
