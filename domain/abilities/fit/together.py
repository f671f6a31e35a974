"""What is known once a request and a goal were read together by one model (``host.pair_model``).

Trees over rules and vectors say which abilities may be meant; which of those does the work that is asked for is told
better by a model that sees both sentences at once. It is asked about the likeliest only, as it reads a pair in some ms.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from contracts.abilities.availability import AbilityAvailabilityEntry
from contracts.abilities.lookup import Fit
from contracts.base import clipped
from domain.abilities.fit.fit import SURE_OF_MEANING
from domain.abilities.fit.goals import goal_said
from domain.abilities.fit.ruling import Judgement, refused
from domain.abilities.fit.weighing import FITS_FROM, likelihood_together

READ_FROM = 0.03
"""What is less likely by trees alone is not read."""

MAX_READ = 32
"""The most goals that are read with one request, the likeliest of them."""

ReadTogether = Callable[[str, str], float]
"""The log-odds that a request asks for what a goal does."""

SAME_VERB = 0.99
"""From this likeness on it is the same word."""

LONGEST_SAID = 180
"""How much of a goal a reason repeats, of the 240 characters that it may have."""

OTHER_THINGS = "its verb is asked of something else"
OTHER_WORK = "read together with “{}”, it asks for other work"
SAME_WORK = "read together with “{}”, it asks for this work"

_Judged = tuple[AbilityAvailabilityEntry, Judgement]


def read_again(text: str, found: Sequence[_Judged], read: ReadTogether) -> list[_Judged]:
    """The judgements of goals, the likeliest of those that were weighed after ``read``."""
    weighed = [
        number
        for number, (_, one) in enumerate(found)
        if one.likely >= READ_FROM and not _of_other_things(one)
    ]
    likeliest = sorted(weighed, key=lambda number: (-found[number][1].likely, number))[:MAX_READ]
    judged = [(goal, refused(OTHER_THINGS) if _of_other_things(one) else one) for goal, one in found]
    for number in likeliest:
        goal, before = found[number]
        if _of_other_things(before):
            continue
        said = goal_said(goal)
        judged[number] = goal, _after(before, said, read(text, said))
    return judged


def _of_other_things(found: Judgement) -> bool:
    """Whether its very verb is asked of things of which it does not speak at all.

    Who takes the ability's verb takes its object as well; the model takes objects of one kind for nearly the same.
    """
    known = found.weighed
    return known is not None and known.verb > SAME_VERB and known.object == 0.0 and known.words == 0.0


def _after(before: Judgement, said: str, read: float) -> Judgement:
    assert before.weighed is not None
    likely = round(likelihood_together(before.weighed, read), 4)
    if likely < FITS_FROM:
        if before.fit is Fit.NO:
            return replace(before, likely=likely)
        return replace(refused(OTHER_WORK.format(clipped(said, LONGEST_SAID))), likely=likely)
    reasons = before.reasons if before.fit is not Fit.NO else (SAME_WORK.format(clipped(said, LONGEST_SAID)),)
    sure = before.fit is Fit.YES or likely >= SURE_OF_MEANING
    return Judgement(Fit.YES if sure else Fit.MAYBE, likely, reasons, likely, before.weighed)
