"""Weighs what speaks for and against an ability: the sum of small decision trees over what rules and meaning say.

A weighted sum cannot say "another verb matters little where the object is named exactly"; trees of three questions can.
They are in ``weighing_trees.txt``, with what a model adds that reads request and goal together in
``together_trees.txt``: fitted by ``python -m bench.fit`` over the tables of ``tests/domain/abilities/fit``, the lessons
of ``tests/lessons`` not among them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from math import exp
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALONE, TOGETHER = (Path(__file__).with_name(f"{name}_trees.txt") for name in ("weighing", "together"))

FITS_FROM = 0.6
"""From this likelihood on, an ability fits or may fit by rules and meaning alone.

More than a half, since a near miss that passes does other work than was asked for, and a lost request only asks again.
"""

FITS_READ_FROM = 0.4
"""The same once it was read together: from here on 95 % of the near misses of ``siblings`` and of ``general`` are
refused, tables that nothing was fitted to; more than nine of ten requests are found so."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for or against an ability: a share, a cosine, or 1 for what is so."""

    ruled: float
    """The rules find that it fits."""
    other: float
    """The verb is not the ability's."""
    plainly: float
    """Nor does that verb leave open what is done."""
    opposite: float
    """It undoes what the ability does."""
    unclear: float
    """It is not said in a known verb what is to be done."""
    unnamed: float
    """Nor in an unknown one."""
    part: float
    """The verb is one that the ability does on its way only."""
    many: float
    """How many verbs say what is wanted."""
    object: float
    """The share of the object's words that the ability speaks of."""
    words: float
    """The share of all words that it speaks of."""
    method: float
    """The same with the words of its method."""
    beyond: float
    """What the method adds to that share."""
    alike: float
    """``words`` where the verb is not the ability's, else 0: likeness of words alone."""
    title: float
    """The share of the title's words that the request has."""
    said: float
    """How near it is in meaning to what the ability says of itself."""
    middle: float
    """How near to all of that on average."""
    goal: float
    """How near to its whole goal."""
    fact: float
    """How near to a fact of its method."""
    work: float
    """How much more it means the ability's work than another."""
    asked: float
    """How much it means the work of its own verb, where that is not the ability's."""
    verb: float
    """How near its verb is in meaning to one that leads in what the ability says of itself."""
    any_verb: float
    """How near to any verb there."""
    head: float
    """How near the last word of its object is to a word of the ability's objects."""
    nouns: float
    """How near the words of its object are to those on average."""
    has_object: float
    """An object is said."""
    opposed: float
    """How many words choose the contrary of what the ability says: the newest for the oldest."""
    back: float
    """It asks to go back."""
    denied: float
    """It denies something: no, not, without."""
    chosen: float
    """The share of words behind "that", "which" or "who" that the ability does not speak of."""
    same_kind: float
    """The share of the kinds of its work that are the ability's."""
    asks_look: float
    asks_change: float
    asks_remove: float
    asks_give: float
    asks_make: float
    asks_run: float
    """Whether that kind of work is asked for, shared where there are several …"""
    does_look: float
    does_change: float
    does_remove: float
    does_give: float
    does_make: float
    does_run: float
    """… and whether it is the ability's."""


class Together(NamedTuple):
    """The log-odds by a model that reads a request and a goal at once."""

    by_goal: float
    by_method: float
    """With the goal and its method."""
    both_ways: float
    """The mean of both, and of both read the other way round where that was done."""


class _Trees(NamedTuple):
    """The trees: three questions each, whether a value is above a bound, and what each of the eight answers adds."""

    bias: float
    places: "NDArray[np.intp]"
    bounds: "NDArray[np.float64]"
    leaves: "NDArray[np.float64]"
    first: "NDArray[np.intp]"
    """Where the leaves of each begin."""

    def likelihood(self, values: Sequence[float]) -> float:
        """What all trees add up to for the values of an evidence, in the order of its fields, as a likelihood."""
        import numpy as np

        above = (np.array(values)[self.places] > self.bounds) @ _BITS
        return 1 / (1 + exp(-self.bias - float(self.leaves[self.first + above].sum())))


def likelihood(found: Evidence) -> float:
    """How likely it is that the ability fits, in [0, 1]."""
    return _trees(ALONE).likelihood(_VALUES(found))


def likelihood_together(found: Evidence, read: Together) -> float:
    """The same once request and goal were read together."""
    return _trees(TOGETHER).likelihood((*_VALUES(found), *read))


_VALUES = attrgetter(*(field.name for field in fields(Evidence)))
_BITS = (4, 2, 1)


@cache
def _trees(file: Path) -> _Trees:
    """The trees as ``bench.fit`` writes them: the bias, then one a line.

    A line has three times an evidence and its bound, then the leaves in ten-thousandths; one with # says where the file
    comes from.
    """
    # Imported here: it comes with the model, and nothing is weighed without.
    import numpy as np

    said = (one for one in file.read_text(encoding="utf-8").splitlines() if not one.startswith("#"))
    bias, lines = float(next(said)), [one.split() for one in said]
    asked = [[field.split(">") for field in line[:3]] for line in lines]
    leaves = [[int(leaf) / 10_000 for leaf in line[3:]] for line in lines]
    return _Trees(
        bias,
        places=np.array([[int(place) for place, _ in one] for one in asked], dtype=np.intp).reshape(-1, 3),
        bounds=np.array([[float(bound) for _, bound in one] for one in asked]).reshape(-1, 3),
        leaves=np.array(leaves).ravel(),
        first=np.arange(len(lines), dtype=np.intp) * 8,
    )
