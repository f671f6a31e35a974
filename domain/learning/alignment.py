"""Which action of one demonstration answers which action of another."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from contracts.learning.observation import ObservedActionEvent
from domain.learning.command_line import programs_in
from domain.learning.text_tokens import tokens_of

CELLS_COMPARED = 250_000
"""Above this product of lengths the order of the programs alone decides, which is linear in practice."""

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
