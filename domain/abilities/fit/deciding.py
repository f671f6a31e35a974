"""What a judge that reads request and ability together may change: a doubtful judgement, by one step at most.

Rules and sentence vectors take verbs for nearly alike, so that some judgements are no more than likely. A language
model (``clients.learning.fit_judge``) tells such pairs apart. As its answer may follow a text that it was shown, it
leads no further than from no to maybe, or from maybe to yes, and none to an ability that the rules refuse outright.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from contracts.abilities.lookup import Fit
from domain.abilities.fit.ruling import Judgement, refused

DOUBTED_FROM = 0.1
"""What is less likely is refused without asking: of the tables' requests one in thirty is."""

MAX_DOUBTS = 8
"""The most abilities that are asked about for one request, the likeliest of them."""

DOES_IT = "the language model finds that it does what is asked"
DOES_OTHER_WORK = "the language model finds that it does other work"


class Doubt(NamedTuple):
    """An ability of which it is not sure whether it does what is asked, and what it says of itself."""

    ability_id: str
    title: str
    goal: str


Decide = Callable[[str, Sequence[Doubt]], Mapping[str, bool]]
"""Which of the doubtful abilities, by their ids, do what is asked for and which do not; what is left out stays."""


def is_doubtful(found: Judgement) -> bool:
    """Whether another judge may change it."""
    return found.fit is Fit.MAYBE or (found.fit is Fit.NO and found.likely >= DOUBTED_FROM)


def decided(found: Judgement, does_it: bool) -> Judgement:
    """A doubtful judgement after another judge was asked."""
    if not does_it:
        return refused(DOES_OTHER_WORK) if found.fit is Fit.MAYBE else found
    if found.fit is Fit.MAYBE:
        return replace(found, fit=Fit.YES, reasons=(*found.reasons, DOES_IT))
    return Judgement(Fit.MAYBE, found.likely, (DOES_IT,), found.likely)
