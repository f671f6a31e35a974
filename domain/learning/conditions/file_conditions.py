"""Guesses of conditions about one file: its order, its size against its sources, its columns, its texts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from contracts.learning.evidence import ConditionKind, ProofCondition
from domain.learning.commands.command_line import parts_of, scripts_run
from domain.learning.conditions.condition_wording import condition
from domain.learning.conditions.conditions import (
    FolderContents,
    columns_of,
    has_word,
    lines_of,
    members_wanted,
)
from domain.learning.conditions.filters import may_be_empty
from domain.learning.conditions.input_globs import InputGlobs
from domain.learning.conditions.orders import SEPARATORS, Order, are_numbers, fields_of
from domain.learning.conditions.path_patterns import pattern_of
from domain.learning.conditions.permissions import asked_of, is_relative
from domain.learning.conditions.rows import has_rows, looks_like_header
from domain.learning.conditions.sort_orders import SortOrder, collates_by_code_points, in_locale
from domain.learning.conditions.typed_orders import TypedOrder, may_order, typed_order

_ENOUGH_LINES = 3
_DIFFERENT = 2
_DIFFERENCES = (0, -1, 1)
_FIELDS = 6
_MOST_ORDERS = 4
_MOST_TEXTS = 2
_MOSTLY = 0.75
"""The share of lines from which on a file is one that a command wrote out: a script, corrected afterwards."""
_ARCHIVES = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".zip")
_LEAVING_OUT = re.compile(r"--exclude\b|\bzip\b[^|;&\n]*\s-x\b")
_WORD = re.compile(r"[^\s,;\"'()<>|/\\=]{3,60}")
_SHORTEST_LINE = 4
_EXECUTABLE = 0o111
_SORT = re.compile(r"(?<![.\w-])sort(?![\w(-])")
"""The program, and no function or method of that name."""
_SETTING = re.compile(r"(?m)^(?:export )?([A-Za-z_]\w*)=[\"']?([\w.,:+-]+)[\"']?$")
_USED = re.compile(r"\$\{(\w+)\}|\$(\w+)")


@dataclass(frozen=True)
class Work:
    """What was done: the folder before and after it, the command lines that did it, and the locale they ran in."""

    before: FolderContents
    after: FolderContents
    commands: tuple[str, ...]
    locale: str = "C"
    folders: tuple[str, ...] = ()
    """The folders that the commands were entered in, where that is not the lesson's own."""

    @cached_property
    def globs(self) -> InputGlobs:
        """The patterns that the commands take their files by."""
        return InputGlobs(self.commands, self.folders)

    @cached_property
    def given(self) -> str:
        """The text of all commands."""
        return "\n".join(self.commands)

    @cached_property
    def meant(self) -> str:
        """The text of all commands, and once more with the values of settings in the place of their names."""
        settings = dict(_SETTING.findall(self.given))
        said = _USED.sub(lambda m: settings.get(m[1] or m[2], m[0]), self.given)
        return f"{self.given}\n{said}" if settings else self.given

    @cached_property
    def scripts(self) -> Mapping[str, str]:
        """The texts of the programs that the commands run, by path."""
        scripts = {path for command in self.commands for path in scripts_run(command, ".")}
        return {path: self.after.text(path) or self.before.text(path) or "" for path in sorted(scripts)}

    @cached_property
    def spoken(self) -> str:
        """The text of all commands, and of the programs that these run."""
        return "\n".join((self.given, *self.scripts.values()))

    @cached_property
    def given_lines(self) -> frozenset[str]:
        """The lines of all commands, as those of a here-document."""
        return frozenset(self.given.splitlines())


def conditions_of_file(path: str, work: Work, sources: Sequence[str]) -> Iterator[ProofCondition]:
    """Conditions about a changed file; ``sources`` are the files that the commands which wrote it read."""
    new = path not in work.before.paths()
    text = work.after.text(path)
    is_filled = text is None or text.strip()
    if is_filled and may_be_empty(path, work.commands, work.spoken):
        is_filled = False
    kind = ConditionKind.NOT_EMPTY if is_filled else ConditionKind.EXISTS
    yield condition(kind, path, is_new=new)
    if path.endswith(_ARCHIVES):
        yield from _archived(path, work)
        return
    copied = _copied(path, work)
    if copied is not None:
        stays = work.after.digest(copied) == work.before.digest(copied)
        yield condition(ConditionKind.SAME_CONTENT, path, other=copied, other_stays=stays)
        return
    yield from _permissions(path, work)
    if text == "" and work.before.text(path):
        yield condition(ConditionKind.LINE_COUNT, path, argument="0")
    if text is None or not text.strip():
        return
    if path.endswith(".json"):
        yield condition(ConditionKind.VALID_JSON, path)
    if _stands_in_commands(text, work):
        return
    yield from _ordered(path, text, work)
    yield from _compared(path, text, work, [one for one in sources if one != path])
    yield from _tabular(path, text)
    yield from _texts(path, text, work, sources)


def _copied(path: str, work: Work) -> str | None:
    digest = work.after.digest(path)
    equal = (one for one in sorted(work.before.paths()) if work.before.digest(one) == digest and one != path)
    return next(equal, None)


def _permissions(path: str, work: Work) -> Iterator[ProofCondition]:
    mode, was = work.after.mode(path), work.before.mode(path)
    if mode and mode != was and (was is not None or mode & _EXECUTABLE or asked_of(path, work.commands)):
        yield condition(ConditionKind.MODE, path, argument=mode_asked(path, work))


def mode_asked(path: str, work: Work) -> str:
    """The permissions that a file has now; where only some were changed, the change."""
    asked = asked_of(path, work.commands)
    return asked if asked is not None and is_relative(asked) else f"{work.after.mode(path) or 0:o}"


def _stands_in_commands(text: str, work: Work) -> bool:
    lines = [line for line in lines_of(text) if line.strip()]
    return sum(1 for line in lines if line in work.given_lines) >= len(lines) * _MOSTLY


def _archived(path: str, work: Work) -> Iterator[ProofCondition]:
    """The folders, or the files of one extension in a folder, that the archive holds all of."""
    members = {member.removeprefix("./") for member in work.after.members(path) or ()}
    leaves_out = _LEAVING_OUT.search(work.given) is not None
    inside = [one for one in sorted(work.before.paths()) if any({one} & members or _tail(one) & members)]
    for folder in dict.fromkeys(one.split("/")[0] for one in inside if "/" in one):
        wanted = members_wanted(folder, work.before)
        if not leaves_out and all(names & members for names in wanted):
            yield condition(ConditionKind.MEMBERS_OF, path, other=folder)
            continue
        held = [one for one in inside if one.startswith(f"{folder}/")]
        for depth in sorted({one.count("/") for one in held}):
            for extension in sorted({one.rpartition(".")[2] for one in held}):
                alike = [one for one in held if one.count("/") == depth and one.endswith(f".{extension}")]
                if len(alike) > 1:
                    yield condition(ConditionKind.MEMBERS_OF, path, other=pattern_of(alike))


def _tail(path: str) -> set[str]:
    parts = path.split("/")
    return {"/".join(parts[n:]) for n in range(1, len(parts))}


def _ordered(path: str, text: str, work: Work) -> Iterator[ProofCondition]:
    """The order that was typed, where it holds; where a program may have one of its own, those that the lines are in.

    Orders by a field come before those of whole lines, numbers before text.
    """
    typed = typed_order(path, work.commands, work.scripts)
    if typed is None and not may_order(work.spoken):
        return
    lines = lines_of(text)
    # Fewer lines are in some order by chance; one that was typed is no chance.
    enough = _ENOUGH_LINES if typed is None else _DIFFERENT
    found = 0
    for header in (0, 1):
        rest = lines[header:]
        if len(set(rest)) < enough:
            return
        for order in _guessed(header, rest, work) if typed is None else _as_typed(typed, header, rest, work):
            if order.different_keys(lines) >= enough and order.holds(lines):
                yield condition(ConditionKind.SORTED, path, argument=order.argument)
                found += 1
                if found == _MOST_ORDERS:
                    return
        if found:
            return


def _as_typed(
    typed: TypedOrder, header: int, lines: Sequence[str], work: Work
) -> Iterator[Order | SortOrder]:
    """The order that was typed; where fields may stand elsewhere, then those of its kind and direction."""
    order = in_locale(typed.order, work.locale) if typed.order is not None else None
    if order is None:
        return
    yield replace(order, header=header)
    if not typed.is_exact:
        kind = "numbers" if order.kind == "floats" else order.kind
        alike = (kind, order.descending)
        yield from (one for one in _guessed(header, lines, work) if (one.kind, one.descending) == alike)


def _guessed(header: int, lines: Sequence[str], work: Work) -> Iterator[Order]:
    """Orders that the lines may be in; those as text only where no ``sort`` orders them by the rules of a locale."""
    is_local = not collates_by_code_points(work.locale) and _SORT.search(work.spoken) is not None
    return (one for one in _orders(header, lines) if not (is_local and one.kind == "text"))


def _orders(header: int, lines: Sequence[str]) -> Iterator[Order]:
    for kind in ("numbers", "text"):
        for separator, width in [*_separators(lines), ("space", 0)]:
            for field in range(min(width, 1), min(width, _FIELDS) + 1):
                for descending in (True, False):
                    order = Order(separator, field, kind, descending, header)
                    if kind == "text" or are_numbers(order.texts([*lines[:header], *lines]) or ("",)):
                        yield order


def _separators(lines: Sequence[str]) -> list[tuple[str, int]]:
    """The separators that divide every line, with the fewest fields of one; those that make a table first."""
    found: list[tuple[bool, bool, int, str]] = []
    for separator in SEPARATORS:
        widths = {len(fields_of(line, separator)) for line in lines}
        if widths and min(widths) > 1:
            found.append((len(widths) > 1, separator == "space", -min(widths), separator))
    return [(separator, -width) for *_, width, separator in sorted(found)]


def _compared(path: str, text: str, work: Work, sources: Sequence[str]) -> Iterator[ProofCondition]:
    lines = lines_of(text)
    stem = _stem(path)
    # Of several sources the one with the same name says most.
    near = [one for one in sources if _stem(one) == stem] or (list(sources) if len(sources) == 1 else [])
    for one in near:
        source = work.before.text(one) or ""
        if looks_like_header(source) and lines[0] == lines_of(source)[0] and len(lines) > 1:
            yield condition(ConditionKind.HEADER_OF, path, other=one)
    for one in sources:
        if not has_rows(one, work.before):
            continue
        source = lines_of(work.before.text(one) or "")
        if set(lines) <= set(source) and len(lines) >= _ENOUGH_LINES:
            yield condition(ConditionKind.LINES_OF, path, other=one)
        if len(source) > len(set(source)):
            yield condition(ConditionKind.DISTINCT_LINES, path)
        if len(lines) - len(source) in _DIFFERENCES and len(lines) > _ENOUGH_LINES:
            difference = len(lines) - len(source)
            yield condition(ConditionKind.LINE_COUNT, path, other=one, argument=str(difference))
    if len(lines) in {n for command in work.commands for n in _counts_named(command)}:
        yield condition(ConditionKind.LINE_COUNT, path, argument=str(len(lines)))


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _tabular(path: str, text: str) -> Iterator[ProofCondition]:
    for separator in ("comma", "semicolon", "tab"):
        if (columns := columns_of(text, separator)) and len(lines_of(text)) >= _ENOUGH_LINES:
            yield condition(ConditionKind.COLUMNS, path, argument=f"{separator}:{columns}")


def _counts_named(command: str) -> Iterator[int]:
    """The numbers that ``head`` and ``tail`` are given."""
    for part in parts_of(command):
        if part.program in ("head", "tail"):
            for argument in part.arguments:
                if number := re.fullmatch(r"-?n?(\d{1,6})", argument):
                    yield int(number.group(1))


def _texts(path: str, text: str, work: Work, sources: Sequence[str]) -> Iterator[ProofCondition]:
    """Texts of the commands that the file holds now, and those of its source that it no longer holds."""
    was = work.before.text(path)
    origins = (
        [was]
        if was is not None
        else [o for one in sources if _is_template(o := work.before.text(one) or "", text)]
    )
    words = {word for origin in origins for word in _WORD.findall(origin) if word in work.given}
    gone = [word for word in sorted(words) if word not in text]
    for word in gone[:_MOST_TEXTS]:
        yield condition(ConditionKind.LACKS_TEXT, path, argument=word)
    replaced = (word for word in sorted(words) if word in text and not has_word(word, text))
    for word in list(replaced)[:1]:
        yield condition(ConditionKind.LACKS_WORD, path, argument=word)
    yield from _given_texts(path, text, work)


def _is_template(source: str, text: str) -> bool:
    """Whether most words of the source stand in the text as well."""
    words = set(_WORD.findall(source))
    return bool(words) and len(words & set(_WORD.findall(text))) * 2 >= len(words)


def _given_texts(path: str, text: str, work: Work) -> Iterator[ProofCondition]:
    """Whole lines, then words, that the commands brought into the file."""
    known = "\n".join(one for p in work.before.paths() if (one := work.before.text(p)))
    # What is also in a name may come from there: another folder is called otherwise.
    known = "\n".join((known, *work.before.paths(), *work.after.paths()))
    lines = [line for line in lines_of(text) if len(line) >= _SHORTEST_LINE and line in work.meant]
    found = [word for word in _WORD.findall(text) if word in work.given and not word.isdigit()]
    told = [one for one in dict.fromkeys((*lines, *found)) if one not in known]
    shown: list[str] = []
    for one in told:
        if not any(one in other for other in shown):
            shown.append(one)
    for one in shown[:_MOST_TEXTS]:
        yield condition(ConditionKind.HOLDS_TEXT, path, argument=one[:400])
