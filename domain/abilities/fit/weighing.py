"""Weighs what speaks for and against an ability: a logistic sum of what the rules and the meaning say.

The weights were fitted by ``python -m bench.fit`` over the requests of ``tests/domain/abilities/fit``, signs held to
what each evidence means; the lessons of ``tests/lessons`` were not among them.
"""

from dataclasses import astuple, dataclass, fields
from math import exp
from operator import attrgetter, mul

ENOUGH_SAID = 0.65
"""More likeness than this is no more."""

TOO_FAR = 0.3
"""Less likeness than this is another matter."""

FITS_FROM = 0.5
"""From this likelihood on, an ability fits or may fit."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for or against an ability: a share, a cosine, or 1 for what is so."""

    ruled: float
    """The rules find that it fits."""
    said: float
    """How near it is in meaning to what the ability says of itself, at most ``ENOUGH_SAID``."""
    far: float
    """It is less near than ``TOO_FAR``."""
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
    asks: float
    """It is a question."""
    work: float
    """How much more it means the ability's work than another; 0 where the verb is the ability's."""
    verb: float
    """How much it means the work of its own verb; 0 where that is the ability's."""
    words: float
    """The share of its words that the ability has: likeness of words alone; 0 where the verb is the ability's."""
    title: float
    """The share of the title's words that it has."""


BIAS = -4.65
WEIGHTS = Evidence(
    ruled=1.75, said=9.28, far=-2.32, other=-0.29, plainly=-1.99, opposite=-3.30, unclear=-1.57, unnamed=1.21,
    part=-2.51, asks=1.29, work=7.51, verb=-3.14, words=-1.65, title=0.11,
)  # fmt: skip


_WEIGHTS = astuple(WEIGHTS)
_VALUES = attrgetter(*(field.name for field in fields(Evidence)))


def likelihood(found: Evidence) -> float:
    """How likely it is that the ability fits, in [0, 1]."""
    total = BIAS + sum(map(mul, _VALUES(found), _WEIGHTS))
    return 1 / (1 + exp(-total))
