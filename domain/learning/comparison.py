"""Comparing demonstrations of one task: what they share, and what differs from one to the next.

Substituting a demonstration's values into what they share gives that demonstration again, letter for letter.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from contracts.learning.observation import ObservedActionEvent
from domain.learning.alignment import aligned_pairs
from domain.learning.compared_text import ComparedAction, ComparedText, Slot, TextRole, Variable
from domain.learning.joined_variables import joined
from domain.learning.text_tokens import quoted_spans, tokens_of

COMPATIBLE_SHARE = 0.6
"""The least share of the longer demonstration that must have a counterpart in the other."""

LOOSE_DIFFERENCES = 3
"""From so many differences on, a quoted text differs as a whole."""


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


_Block = tuple[int, int, int]
"""Where a run of equal tokens starts in the first text, in the other, and how long it is."""


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
