"""What is known once a request and a goal were read together by one model (``host.pair_model``).

Trees over rules and vectors say which abilities may be meant; which of those does the work that is asked for is told
better by a model that sees both sentences at once. It is asked about the likeliest only, as it reads a pair in some ms.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean

from contracts.abilities.availability import AbilityAvailabilityEntry
from contracts.abilities.lookup import Fit
from contracts.base import clipped
from domain.abilities.fit.goals import goal_read, goal_said
from domain.abilities.fit.ruling import Judgement, refused
from domain.abilities.fit.weighing import FITS_READ_FROM, Together, likelihood_together

READ_FROM = 0.03
"""What is less likely by trees alone is not read."""

MAX_READ = 32
"""The most goals that are read with one request, the likeliest of them."""

SPEAKS_AGAINST = -4.0
"""From these log-odds down, what was read makes nothing fit that was refused.

Of tables that the trees were not fitted to, it made near misses fit and no request.
"""

SPEAKS_FOR = 3.0
"""From these log-odds up, with and without the method, the other way round is not read: it would say the same."""

ReadTogether = Callable[[str, str], float]
"""The log-odds that a request asks for what a goal does; the same pair is asked about again."""

LONGEST_SAID = 180
"""How much of a goal a reason repeats, of the 240 characters that it may have."""

OTHER_WORK = "read together with “{}”, it asks for other work"
SAME_WORK = "read together with “{}”, it asks for this work"

_Judged = tuple[AbilityAvailabilityEntry, Judgement]


def read_again(text: str, found: Sequence[_Judged], read: ReadTogether) -> list[_Judged]:
    """The judgements of goals, the likeliest of those that were weighed after ``read``."""
    weighed = [
        number for number, (_, one) in enumerate(found) if one.weighed is not None and one.likely >= READ_FROM
    ]
    likeliest = sorted(weighed, key=lambda number: (-found[number][1].likely, number))[:MAX_READ]
    judged = list(found)
    for number in likeliest:
        goal, before = found[number]
        judged[number] = goal, _after(before, goal_said(goal), reading_of(text, goal, read))
    return judged


def reading_of(text: str, goal: AbilityAvailabilityEntry, read: ReadTogether) -> Together:
    """The request read with the goal, with the goal and its method, and while that is in doubt the other way round."""
    told = goal_said(goal), goal_read(goal)
    by_goal, by_method = found = [read(text, one) for one in told]
    if max(found) > SPEAKS_AGAINST and min(found) < SPEAKS_FOR:
        found += [read(one, text) for one in told]
    return Together(by_goal, by_method, fmean(found))


def _after(before: Judgement, said: str, read: Together) -> Judgement:
    """The judgement once it was read; what was refused or in doubt may fit at most, so that somebody is asked."""
    assert before.weighed is not None
    if before.fit is Fit.NO and max(read) <= SPEAKS_AGAINST:
        return before
    likely = round(likelihood_together(before.weighed, read), 4)
    if likely >= FITS_READ_FROM and before.fit is Fit.NO:
        reason = SAME_WORK.format(clipped(said, LONGEST_SAID))
        return Judgement(Fit.MAYBE, likely, (reason,), likely, before.weighed)
    if likely < FITS_READ_FROM and before.fit is not Fit.NO:
        return replace(refused(OTHER_WORK.format(clipped(said, LONGEST_SAID))), likely=likely)
    return replace(before, likely=likely, closeness=likely if before.fit is not Fit.NO else 0.0)
