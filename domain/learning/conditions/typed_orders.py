"""The order of lines that typed ``sort`` commands give each file that a lesson writes.

The commands are followed from program to program and from file to file. An order that is passed on line by line stays;
what only moves or cuts the fields of lines leaves its direction and its kind.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from domain.learning.commands.command_line import Part, name_set, parts_of, scripts_run
from domain.learning.conditions.orders import SEPARATORS
from domain.learning.conditions.sort_orders import TO_THE_END, SortKey, SortOrder
from domain.learning.method.arguments import ReadCall, read_call

_AS_THEY_ARE = name_set("cat head tail tee uniq grep egrep fgrep")
"""Programs that hand on lines as they are, in their order, unless an option changes what they give."""

_CHANGING_OPTIONS = frozenset({"-o", "-n", "-H", "-c"})
"""Options of these programs that make something else of the lines."""

_LINE_BY_LINE = name_set(
    "awk gawk mawk sed cut tr nl column fold rev expand unexpand iconv dos2unix unix2dos"
)
"""Programs that give something for each line, in the order of the lines."""

_WITHOUT_ORDER = name_set(
    """wc ls find du df stat file date seq basename dirname realpath readlink tac shuf paste diff cmp
    md5sum sha1sum sha256sum sha512sum b2sum cksum true false : test [ [["""
)
"""Programs that nobody runs for an order: what they give is in one only by what it is made of."""

_PRINTING = name_set("echo printf")
"""Programs that give their own words, and what the shell puts into these: nobody knows of what order."""

_ORDERS_IN_TEXT = re.compile(r"sort|order\s+by|\brank|group_?by|\bkeys\b|\bunique\b", re.IGNORECASE)
_KEY = re.compile(r"(\d+)(?:\.1)?([a-zA-Z]*)(?:,(\d+)(?:\.0)?([a-zA-Z]*))?")
_KINDS = {"n": "numbers", "g": "floats", "h": "sizes", "V": "versions", "f": "folded"}
_LETTERS = {
    "general-numeric": "g",
    "human-numeric": "h",
    "month": "M",
    "numeric": "n",
    "random": "R",
    "version": "V",
}
"""What ``--sort`` names, as the letter of the option that says the same."""

_SHEBANG = re.compile(r"#!.*\b(?:ba|da|z|k)?sh\b")
_MOST_KEYS = 6
_UNSTATED = frozenset("MRdi")
"""Ways to compare that no condition states."""

_EXPANDED = re.compile(r"\$\([^()]*\)|`[^`]*`|\$\{[^{}]*\}|\$\w+|\*")
_NAMES = {mark or " ": name for name, mark in SEPARATORS.items()}


@dataclass(frozen=True)
class TypedOrder:
    """The order of a file's lines as it was typed; ``order`` is ``None`` where none was, or none that can be stated."""

    order: SortOrder | None = None
    is_exact: bool = True
    """Whether the lines are as they were sorted; otherwise their fields may stand elsewhere."""


_NONE = TypedOrder()


def typed_order(
    path: str, commands: Sequence[str], scripts: Mapping[str, str] | None = None
) -> TypedOrder | None:
    """What the commands say of the order of a file's lines; ``None`` where a program that they run may have its own.

    ``scripts`` are the texts of the programs that they run, by path: those of a shell are followed as well.
    """
    flow = _Flow({name: text for name, text in (scripts or {}).items() if _is_of_shell(name, text)})
    for command in commands:
        flow.run(command)
    return flow.order_of(path)


def may_order(text: str) -> bool:
    """Whether the text of commands or of a program speaks of putting something in order."""
    return _ORDERS_IN_TEXT.search(text) is not None


class _Flow:
    """What is known of the order of each file while one program after the other runs."""

    def __init__(self, scripts: Mapping[str, str]) -> None:
        self._scripts = dict(scripts)
        self._files: dict[str, TypedOrder | None] = {}
        """By the words that the files are named with, the newest last."""

    def run(self, command: str) -> None:
        for path in scripts_run(command, "."):
            if text := self._scripts.pop(path, ""):
                self.run(text)
                self._scripts[path] = text
        passed: TypedOrder | None = _NONE
        held: list[Part] = []
        for part in parts_of(command):
            if part.is_wrapper:
                held.append(part)
                continue
            if part.program in ("mv", "cp"):
                self._move(part.operands)
            elif part.program:
                passed = _after(part, passed if part.is_fed else self._read(part, *held))
            elif part.ends_loop:
                passed = None
            self._write_all((*held, part), passed)
            held.clear()
        self._write_all(held, None)

    def order_of(self, path: str) -> TypedOrder | None:
        """By the word that is the path, else by the last one whose expansions it fits."""
        for fits in (_is_named, _fits):
            for word, order in reversed(self._files.items()):
                if fits(word, path):
                    return order
        return None

    def _read(self, part: Part, *wrappers: Part) -> TypedOrder | None:
        if any(word.startswith("<(") for word in part.operands):
            return None
        words = [word for one in (*wrappers, part) for word in (*one.operands, *one.reads)]
        known = [self._files[word] for word in words if word in self._files]
        return known[-1] if known else _NONE

    def _move(self, operands: Sequence[str]) -> None:
        *sources, target = operands or ("",)
        for source in sources:
            if source in self._files:
                self._write(target, self._files[source])
                self._write(posixpath.join(target, posixpath.basename(source)), self._files[source])

    def _write_all(self, parts: Iterable[Part], order: TypedOrder | None) -> None:
        for part in parts:
            for name in _written(part):
                if not (part.appends and _is_none(order) and name in self._files):
                    self._write(name, order)

    def _write(self, name: str, order: TypedOrder | None) -> None:
        self._files.pop(name, None)
        self._files[name] = order


def _is_of_shell(path: str, text: str) -> bool:
    return _SHEBANG.match(text) is not None or (not text.startswith("#!") and path.endswith((".sh", ".bash")))


def _after(part: Part, given: TypedOrder | None) -> TypedOrder | None:
    """The order of what a program gives, by that of what it is given."""
    call = read_call(part.program, part.arguments)
    if part.program == "sort":
        return _sorted(call)
    if part.program in _WITHOUT_ORDER or (part.program in _PRINTING and not part.is_expanded):
        return _NONE
    if part.program in _AS_THEY_ARE and _is_plain(part.program, call):
        return given
    if part.program in _AS_THEY_ARE | _LINE_BY_LINE and not any(map(may_order, part.arguments)):
        return replace(given, is_exact=False) if given else None
    return None


def _is_none(order: TypedOrder | None) -> bool:
    return order is not None and order.order is None


def _is_plain(program: str, call: ReadCall) -> bool:
    # To head and tail, -n is a number of lines.
    return program in ("head", "tail", "cat") or not call.flags & _CHANGING_OPTIONS


def _written(part: Part) -> Sequence[str]:
    """The words for the files that a program writes."""
    if part.program == "tee":
        return (*part.writes, *part.operands)
    if part.program == "sort":
        output = [
            value for a in read_call("sort", part.arguments).arguments if a.name == "-o" for value in a.values
        ]
        return (*part.writes, *output)
    in_place = part.program in ("sed", "perl") and any(
        re.match(r"-\w*i|--in-place", a) for a in part.arguments
    )
    return (*part.writes, *part.operands) if in_place else part.writes


def _sorted(call: ReadCall) -> TypedOrder:
    given = {a.name: a.values[0] if a.values else "" for a in reversed(call.arguments)}
    if given.keys() & {"-c", "-z"}:
        return _NONE
    letters = {name[1:] for name in given if len(name) == 2} | {_LETTERS.get(given.get("--sort", ""), "")}
    places = [value for a in call.arguments if a.name == "-k" for value in a.values] or ["1"]
    keys = [_key(place, letters) for place in places]
    separator = _NAMES.get(given.get("-t", " "))
    if separator is None or len(keys) > _MOST_KEYS or None in keys:
        return _NONE
    if all(key is not None and key.is_whole_line for key in keys):
        separator = "space"
    return TypedOrder(SortOrder(separator, tuple(filter(None, keys))))


def _key(place: str, letters: set[str]) -> SortKey | None:
    """The key that ``-k`` names, with the letters of the whole command where it has none; None if it is not stated."""
    found = _KEY.fullmatch(place)
    if found is None:
        return None
    # Blanks count by the letters of a key's beginning; those of its end matter to a character's place alone.
    without_blanks = "b" in (found[2] if found[2] or found[4] else letters)
    letters = {*found[2], *(found[4] or "")} or letters
    if letters & _UNSTATED:
        return None
    kind = next((_KINDS[letter] for letter in _KINDS if letter in letters), "text")
    return SortKey(int(found[1]), int(found[3] or TO_THE_END), kind, "r" in letters, without_blanks)


def _is_named(word: str, path: str) -> bool:
    name = posixpath.normpath(word)
    return path == name or path.endswith(f"/{name}")


def _fits(word: str, path: str) -> bool:
    pieces = [re.escape(piece) for piece in _EXPANDED.split(posixpath.normpath(word))]
    return len(pieces) > 1 and re.search(rf"(?:^|/){'.*'.join(pieces)}$", path) is not None
