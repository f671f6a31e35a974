"""Compare demonstrations of one task: align their actions, cut texts into tokens, and find the slots that differ.

Substituting a demonstration's values into the shared texts gives that demonstration again, letter for letter.
Variables that always stand together (a first and a last name, the parts of a date) are merged into one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum

from contracts.learning.observation import ObservedActionEvent
from domain.learning.commands.command_line import programs_in

COMPATIBLE_SHARE = 0.6
"""The least share of the longer demonstration that must have a counterpart in the other."""

LOOSE_DIFFERENCES = 3
"""From so many differences on, a quoted text differs as a whole."""

CELLS_COMPARED = 250_000
"""Above this product of lengths the order of the programs alone decides, which is linear in practice."""

_JOINING = frozenset(" -_.,:+@")

_TOKEN = re.compile(
    r"""
    \\[abfnrtv0\\]                        # an escape of printf or echo
    | \d{4}-\d{2}-\d{2} (?![^\W_])        # a day
    | \d{4}-(?:\d{2}|[qQ][1-4]) (?![^\W_]) # a month or a quarter
    | \d+\.\d+ (?![^\W_]|\.\d)            # a decimal number
    | [^\W_]+                             # a word, a whole number or a mixture such as "q3"
    | \s+
    | .
    """,
    re.VERBOSE | re.DOTALL,
)

_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)


class TextRole(StrEnum):
    """Where in an action a text stands."""

    COMMAND = "command"
    FOLDER = "folder"
    RESULT = "result"
    LABEL = "label"
    TARGET = "target"


@dataclass(frozen=True)
class Variable:
    """Something that differs: its value in each demonstration, in their order."""

    values: tuple[str, ...]


@dataclass(frozen=True)
class Slot:
    """A place that a variable fills; ``before`` and ``after`` stand only where it has a value."""

    variable: Variable
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class ComparedText:
    """A text of one action: literal pieces and slots."""

    role: TextRole
    parts: tuple[str | Slot, ...]

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The places where it varies."""
        return tuple(part for part in self.parts if isinstance(part, Slot))


@dataclass(frozen=True)
class ComparedAction:
    """One action that every demonstration has, with its number in each of them."""

    positions: tuple[int, ...]
    texts: tuple[ComparedText, ...]


@dataclass(frozen=True)
class Comparison:
    """What several demonstrations have in common; ``share`` is the part of them that answers each other."""

    actions: tuple[ComparedAction, ...]
    share: float

    @property
    def compatible(self) -> bool:
        """Whether they show the same task."""
        return self.share >= COMPATIBLE_SHARE

    @property
    def variables(self) -> tuple[Variable, ...]:
        """What differs, each once, in the order of first appearance."""
        found = (slot.variable for action in self.actions for text in action.texts for slot in text.slots)
        return tuple(dict.fromkeys(found))


_Block = tuple[int, int, int]
"""Where a run of equal tokens starts in the first text, in the other, and how long it is."""

_Pair = tuple[Variable, str, Variable]


def compare(demonstrations: Sequence[Sequence[ObservedActionEvent]]) -> Comparison:
    """Compares two or more demonstrations with the first of them.

    Raises:
        ValueError: there are fewer than two.
    """
    if len(demonstrations) < 2:
        raise ValueError("a comparison needs at least two demonstrations")
    first = demonstrations[0]
    counterparts = [dict(aligned_pairs(first, other)) for other in demonstrations[1:]]
    actions: list[ComparedAction] = []
    for position, event in enumerate(first):
        found = [pairs.get(position) for pairs in counterparts]
        places = [place for place in found if place is not None]
        if len(places) < len(found):
            continue
        others = [demonstrations[n][place] for n, place in enumerate(places, start=1)]
        actions.append(ComparedAction((position, *places), _compared_texts([event, *others])))
    longest = max(len(events) for events in demonstrations)
    share = len(actions) / longest if longest else 0.0
    return Comparison(joined(tuple(actions)), share)


def _compared_texts(events: Sequence[ObservedActionEvent]) -> tuple[ComparedText, ...]:
    texts = [dict(_texts(event)) for event in events]
    # A text that some demonstration lacks (another number of files, no target) tells nothing of a value.
    shared = [key for key in texts[0] if all(key in others for others in texts)]
    return tuple(compare_texts(key[0], [one[key] for one in texts]) for key in shared)


def _texts(event: ObservedActionEvent) -> Iterator[tuple[tuple[TextRole, int, int], str]]:
    if event.terminal is None:
        yield (TextRole.LABEL, 0, 1), event.action_label
        if event.target_ref is not None:
            yield (TextRole.TARGET, 0, 1), event.target_ref
        return
    yield (TextRole.COMMAND, 0, 1), event.terminal.command
    yield (TextRole.FOLDER, 0, 1), event.terminal.working_folder
    files = event.terminal.produced_files
    for number, file in enumerate(files):
        yield (TextRole.RESULT, number, len(files)), file.path


def compare_texts(role: TextRole, texts: Sequence[str]) -> ComparedText:
    """One text of all demonstrations, cut where they differ."""
    tokens = [tokens_of(text) for text in texts]
    reference = tokens[0]
    blocks = [_equal_blocks(reference, other) for other in tokens[1:]]
    spans = _differing(len(reference), blocks)
    spans = _whole_where_loose(texts[0], reference, spans)
    parts: list[str | Slot] = []
    at = 0
    for start, end in spans:
        if start > at:
            parts.append("".join(reference[at:start]))
        values = ["".join(reference[start:end])]
        values += [
            "".join(other[_low(pairs, start) : _high(pairs, end)])
            for other, pairs in zip(tokens[1:], blocks, strict=True)
        ]
        parts.append(_slot(values))
        at = end
    if at < len(reference):
        parts.append("".join(reference[at:]))
    return ComparedText(role, tuple(parts))


def _equal_blocks(first: Sequence[str], second: Sequence[str]) -> list[_Block]:
    found = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    # The last block is empty and stands at both ends.
    return [(block.a, block.b, block.size) for block in found if block.size] + [(len(first), len(second), 0)]


def _differing(length: int, blocks: Sequence[Sequence[_Block]]) -> list[tuple[int, int]]:
    """The spans of the first text that differ from any other one; touching spans are one."""
    raw: list[tuple[int, int]] = []
    for pairs in blocks:
        at = other_at = 0
        for start, other_start, size in pairs:
            if start > at or other_start > other_at:
                raw.append((at, start))
            at, other_at = start + size, other_start + size
    spans: list[tuple[int, int]] = []
    for start, end in sorted(raw):
        if spans and start <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, min(end, length)))
    return spans


def _low(blocks: Sequence[_Block], position: int) -> int:
    """Where the start of a differing span lies in the other text: behind the equal token before it."""
    if position == 0:
        return 0
    return next(
        other_start + position - start
        for start, other_start, size in blocks
        if start < position <= start + size
    )


def _high(blocks: Sequence[_Block], position: int) -> int:
    """Where the end of a differing span lies in the other text: before the equal token behind it."""
    return next(
        other_start + position - start
        for start, other_start, size in blocks
        if start <= position < start + size or (not size and position == start)
    )


def _whole_where_loose(
    text: str, tokens: Sequence[str], spans: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Makes one of several spans in a quoted text: it is content, not a form with gaps."""
    offsets = [0]
    for token in tokens:
        offsets.append(offsets[-1] + len(token))
    for low, high in quoted_spans(text):
        inside = [span for span in spans if low <= offsets[span[0]] and offsets[span[1]] <= high]
        if len(inside) >= LOOSE_DIFFERENCES:
            spans = sorted([*(s for s in spans if s not in inside), (inside[0][0], inside[-1][1])])
    return spans


def _slot(values: Sequence[str]) -> Slot:
    """A slot whose optional value leaves no space behind, where the space is the same in all of them."""
    if all(values):
        return Slot(Variable(tuple(values)))
    stripped = [value.strip() for value in values]
    leads = {value[: len(value) - len(value.lstrip())] for value in values if value}
    tails = {value[len(value.rstrip()) :] for value in values if value}
    if len(leads) == len(tails) == 1 and all(
        bool(a) == bool(b) for a, b in zip(values, stripped, strict=True)
    ):
        return Slot(Variable(tuple(stripped)), leads.pop(), tails.pop())
    return Slot(Variable(tuple(values)))


_SAME_KIND = 0.5
"""What two actions of one kind have in common before a word of them is compared."""


def aligned_pairs(
    first: Sequence[ObservedActionEvent], second: Sequence[ObservedActionEvent]
) -> tuple[tuple[int, int], ...]:
    """The positions of actions that answer each other, in order, so that their texts agree the most.

    Only actions of one kind answer each other: the same adapter and, at a terminal, the same programs.
    """
    kinds = [kind_of(event) for event in first], [kind_of(event) for event in second]
    if len(first) * len(second) > CELLS_COMPARED:
        blocks = SequenceMatcher(None, *kinds, autojunk=False).get_matching_blocks()
        return tuple((block.a + n, block.b + n) for block in blocks for n in range(block.size))
    words = [_words(event) for event in first], [_words(event) for event in second]
    best = [[0.0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i in range(len(first) - 1, -1, -1):
        for j in range(len(second) - 1, -1, -1):
            skip = max(best[i + 1][j], best[i][j + 1])
            same = kinds[0][i] == kinds[1][j]
            best[i][j] = max(skip, _likeness(words[0][i], words[1][j]) + best[i + 1][j + 1]) if same else skip
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(first) and j < len(second):
        same = kinds[0][i] == kinds[1][j]
        if same and best[i][j] == _likeness(words[0][i], words[1][j]) + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return tuple(pairs)


def kind_of(event: ObservedActionEvent) -> tuple[str, ...]:
    """What makes two actions comparable."""
    if event.terminal is None:
        return (event.adapter_kind.value, event.app_family or "")
    return (event.adapter_kind.value, *programs_in(event.terminal.command))


def _words(event: ObservedActionEvent) -> frozenset[str]:
    return frozenset(tokens_of(event.terminal.command if event.terminal else event.action_label))


def _likeness(first: frozenset[str], second: frozenset[str]) -> float:
    every = len(first | second)
    return _SAME_KIND + (1 - _SAME_KIND) * (len(first & second) / every if every else 1.0)


def tokens_of(text: str) -> tuple[str, ...]:
    """The pieces of ``text``, in order; together they are the text."""
    return tuple(_TOKEN.findall(text))


def quoted_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where quoted parts stand in ``text``, as character positions without the quotes."""
    return tuple((match.start() + 1, match.end() - 1) for match in _QUOTED.finditer(text))


def joined(actions: tuple[ComparedAction, ...]) -> tuple[ComparedAction, ...]:
    """Makes one of two variables that always stand together, parted in the same way."""
    while (pair := _inseparable(actions)) is not None:
        actions = tuple(
            replace(
                action, texts=tuple(replace(text, parts=_join(text.parts, *pair)) for text in action.texts)
            )
            for action in actions
        )
    return actions


def _inseparable(actions: Sequence[ComparedAction]) -> _Pair | None:
    texts = [text.parts for action in actions for text in action.texts]
    met: dict[Variable, int] = {}
    together: dict[_Pair, int] = {}
    for parts in texts:
        for part in parts:
            if isinstance(part, Slot):
                met[part.variable] = met.get(part.variable, 0) + 1
        for pair in _pairs(parts):
            together[pair] = together.get(pair, 0) + 1
    for pair, times in together.items():
        if times == met[pair[0]] == met[pair[2]]:
            return pair
    return None


def _pairs(parts: Sequence[str | Slot]) -> Iterator[_Pair]:
    for left, between, right in zip(parts, parts[1:], parts[2:], strict=False):
        if not isinstance(left, Slot) or not isinstance(right, Slot) or not isinstance(between, str):
            continue
        plain = not (left.before or left.after or right.before or right.after)
        given = all(left.variable.values) and all(right.variable.values)
        if plain and given and left.variable != right.variable and set(between) <= _JOINING:
            yield left.variable, between, right.variable


def _join(
    parts: tuple[str | Slot, ...], first: Variable, between: str, second: Variable
) -> tuple[str | Slot, ...]:
    both = Variable(tuple(f"{a}{between}{b}" for a, b in zip(first.values, second.values, strict=True)))
    found: list[str | Slot] = []
    at = 0
    while at < len(parts):
        if parts[at : at + 3] == (Slot(first), between, Slot(second)):
            found.append(Slot(both))
            at += 3
        else:
            found.append(parts[at])
            at += 1
    return tuple(found)
