"""Making one of variables that always stand together: a first and a last name, the parts of a date."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from domain.learning.compared_text import ComparedAction, Slot, Variable

_JOINING = frozenset(" -_.,:+@")


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


_Pair = tuple[Variable, str, Variable]


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
