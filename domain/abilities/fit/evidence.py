"""What is known of a request and an ability in numbers, from the rules, the method and the meaning."""

from typing import TYPE_CHECKING

from contracts.abilities.lookup import Fit
from domain.abilities.fit import contrasts
from domain.abilities.fit.reading import Reading
from domain.abilities.fit.ruling import (
    Judgement,
    Profile,
    Weigh,
    Work,
    last_of,
    main_clause,
    object_words,
    share_of,
    title_share,
    wanted_by,
    whole_share,
    work_of,
)
from domain.abilities.fit.verbs import LIGHT, are_opposite
from domain.abilities.fit.weighing import Evidence
from domain.abilities.fit.words import is_content, tokens, word_of

if TYPE_CHECKING:
    from domain.abilities.fit.meaning import Nearness


def evidence(
    request: Reading, profile: Profile, weigh: Weigh, by_rules: Judgement, near: "Nearness"
) -> Evidence:
    """What speaks for and against the ability."""
    work, about_work = work_of(request, profile)
    wanted, main = wanted_by(request), main_clause(request)
    words, method = whole_share(request, profile, weigh), _method_share(request, profile, weigh)
    said = contrasts.plain_words(request.text)
    asks, does = contrasts.kinds_of(wanted), contrasts.kinds_of(profile.families)
    return Evidence(
        ruled=float(by_rules.fit is not Fit.NO),
        other=float(work is Work.OTHER),
        plainly=float(work is Work.OTHER and bool(wanted) and not wanted & LIGHT),
        opposite=float(any(are_opposite(one, other) for one in wanted for other in profile.families)),
        unclear=float(work is Work.UNCLEAR),
        unnamed=float(work is Work.UNCLEAR and not (main is not None and main.verb)),
        part=float("a part of what it does" in about_work),
        many=float(len(request.strong)),
        object=share_of(object_words(request), profile, weigh, last_of(request)),
        words=words,
        method=method,
        beyond=method - words,
        alike=words if work is not Work.SAME else 0.0,
        title=title_share(request, profile, weigh),
        said=near.said,
        middle=near.middle,
        goal=near.goal,
        fact=near.fact,
        work=near.work,
        asked=near.asked,
        verb=near.verb,
        any_verb=near.any_verb,
        head=near.head,
        nouns=near.nouns,
        has_object=float(main is not None and bool(main.object)),
        opposed=float(contrasts.contrary(said, profile.said)),
        back=float(contrasts.goes_back(said, profile.said)),
        denied=float(contrasts.denies(said)),
        chosen=_chosen_otherwise(request, profile, weigh),
        same_kind=contrasts.shared_kinds(asks, does),
        asks_look=asks[0], asks_change=asks[1], asks_remove=asks[2],
        asks_give=asks[3], asks_make=asks[4], asks_run=asks[5],
        does_look=does[0], does_change=does[1], does_remove=does[2],
        does_give=does[3], does_make=does[4], does_run=does[5],
    )  # fmt: skip


def _method_share(request: Reading, profile: Profile, weigh: Weigh) -> float:
    """The share of the request's words that the ability or its method speaks of."""
    whole = spoken = 0.0
    for word in request.words:
        weight = weigh(word)
        whole += weight
        in_method = word.meaning in profile.method or word.kind in profile.method
        spoken += weight * (1.0 if in_method else profile.share(word))
    return spoken / whole if whole else 0.0


def _chosen_otherwise(request: Reading, profile: Profile, weigh: Weigh) -> float:
    """The share of what says which ones are meant that the ability does not speak of."""
    words = [word_of(token) for token in tokens(contrasts.chosen_by(request.text)) if is_content(token)]
    whole = sum(map(weigh, words))
    return sum(weigh(word) * (1 - profile.share(word)) for word in words) / whole if whole else 0.0
