"""Judges whether an ability fits a request: yes, maybe or no, with reasons.

A negative trigger that means the request refuses; a phrase said literally, or in the same words, fits; else the rules
(``ruling``) decide, and where meaning is known, what speaks for and against it is weighed (``evidence``, ``weighing``).
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from contracts.abilities.lookup import Fit
from domain.abilities.fit.evidence import evidence
from domain.abilities.fit.reading import Reading
from domain.abilities.fit.ruling import (
    Judgement,
    Profile,
    Weigh,
    main_clause,
    meanings_of,
    refused,
    ruled,
    turned,
    wanted_by,
)
from domain.abilities.fit.same_words import said_in_its_words
from domain.abilities.fit.spelling import without_lead
from domain.abilities.fit.weighing import FITS_FROM, Evidence, likelihood
from domain.abilities.fit.words import is_content, tokens

if TYPE_CHECKING:
    from domain.abilities.fit.meaning import Nearness


Compare = Callable[[frozenset[str], frozenset[str], float], "Nearness | None"]
"""How near the request is to the ability, given the families of what it does and of what is asked, if near enough."""


def judge(request: Reading, profile: Profile, weigh: Weigh, compare: Compare | None = None) -> Judgement:
    """Whether the ability fits ``request``: by the rules alone, or with what ``compare`` finds of its meaning."""
    negative = next((one for one in profile.negatives if means(request, one)), None)
    if negative is not None:
        return refused(f"its negative trigger “{negative.text}” means this")
    if _said_like_that(request, profile):
        return Judgement(Fit.YES, 1.0, ("said like one of its trigger phrases",))
    if said_in_its_words(request, profile):
        return Judgement(Fit.YES, 1.0, ("said in the words of its title or a trigger phrase",))
    by_rules = ruled(request, profile, weigh)
    if compare is None or turned(request, profile) is not None:
        return by_rules
    least = TOO_FAR if by_rules.fit is Fit.NO else -1.0
    near = compare(profile.families | profile.parts, wanted_by(request), least)
    if near is None:
        return by_rules
    return _weighed(by_rules, evidence(request, profile, weigh, by_rules, near), near)


def _weighed(by_rules: Judgement, found: Evidence, near: "Nearness") -> Judgement:
    """The judgement by all that is known."""
    likely = round(likelihood(found), 4)
    if likely < FITS_FROM:
        if by_rules.fit is Fit.NO:
            return replace(by_rules, likely=likely, weighed=found)
        no = refused(f"its words are there, but it means other work: “{near.other}”")
        return replace(no, likely=likely, weighed=found)
    said = by_rules.reasons if by_rules.fit is not Fit.NO else (f"means nearly the same as “{near.like}”",)
    sure = by_rules.fit is Fit.YES or likely >= SURE_OF_MEANING
    return Judgement(Fit.YES if sure else Fit.MAYBE, likely, said, likely, found)


TOO_FAR = 0.2
"""What is less near in meaning and refused by the rules is refused: of the tables' requests none is that far."""

SURE_OF_MEANING = 0.9
"""From this likelihood on, an ability fits without a doubt."""


def means(request: Reading, negative: Reading) -> bool:
    """Whether the negative trigger is said, or its verb and all of its content words are.

    A verb alone must be said literally: whether another verb fits is judged by the work.
    """
    if negative.text in request.text:
        return True
    if not negative.words:
        return False
    said = meanings_of(request.words)
    if any(word.meaning not in said for word in negative.words):
        return False
    verbs = [clause for clause in negative.clauses if clause.verb]
    main = main_clause(request)
    wanted = main.families if main is not None else frozenset[str]()
    return not verbs or any(clause.families & wanted or clause.verb == main.verb for clause in verbs if main)


def _said_like_that(request: Reading, profile: Profile) -> bool:
    """Whether the request is the title or a trigger phrase, with nothing but courtesy around it."""
    text = without_lead(request.text)
    for said in (profile.title, *profile.phrases):
        if request.text == said.text:
            return True
        if said.text not in text:
            continue
        found = re.search(rf"(?<!\w){re.escape(said.text)}(?!\w)", text)
        if found and not any(map(is_content, tokens(f"{text[: found.start()]} {text[found.end() :]}"))):
            return True
    return False
