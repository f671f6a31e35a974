import hashlib
from collections.abc import Iterable

import numpy as np

from contracts.abilities.availability import AbilityAvailabilityEntry
from contracts.abilities.lookup import AbilityLookupQuery, Fit
from domain.abilities.fit.fit_index import FitIndex
from domain.abilities.fit.meaning import Meanings, Rows, Told, Vector, plain_works, told_by
from tests.domain.abilities.fit.test_fit import taught
from tests.fixtures.abilities import ability

LIKE = {"bills": "invoices", "sum": "total", "faktury": "invoices"}


def vector(text: str) -> Vector:
    """Words of like meaning alike: what a model does, in miniature."""
    found = np.full(64, 1e-6, dtype=np.float32)
    for word in text.lower().replace(",", "").split():
        word = LIKE.get(word, word)
        found[int(hashlib.sha256(word.encode()).hexdigest(), 16) % 64] += 1
    return np.asarray(found / np.linalg.norm(found), dtype=np.float32)


def meanings(*entries: AbilityAvailabilityEntry) -> Meanings:
    return Meanings(vector, WORKS, known_of(entries))


def meanings_changed(
    before: Meanings, entries: Iterable[AbilityAvailabilityEntry], gone: Iterable[str]
) -> Meanings:
    return before.changed(known_of(entries), gone, {})


WORKS = plain_works(vector)


def known_of(entries: Iterable[AbilityAvailabilityEntry]) -> dict[str, tuple[Told, Rows]]:
    told = {entry.ability_id: told_by(entry) for entry in entries}
    return {one: (said, np.stack([vector(text) for text in said.texts])) for one, said in told.items()}


def test_a_request_without_a_word_in_common_is_found_by_its_meaning_and_says_so() -> None:
    entry = taught("Total the invoices")
    asked = AbilityLookupQuery(user_query="faktury sum")
    assert FitIndex([entry]).fitting(asked, caller_user_id="ada") == ()
    (found,) = FitIndex([entry], meanings(entry)).fitting(asked, caller_user_id="ada")
    assert found.reasons == ("means nearly the same as “Total the invoices”",)


def test_likeness_does_not_outweigh_another_verb_or_a_negative_trigger_or_the_direction() -> None:
    entry = taught("Total the invoices", negative_triggers=("payroll",))
    turned = ability("turned", title="Convert Markdown to HTML", trigger_phrases=())
    index = FitIndex([entry, turned], meanings(entry, turned))
    for said, ability_id in (
        ("delete the invoices", "it"),
        ("total the invoices of the payroll", "it"),
        ("convert HTML to Markdown", "turned"),
    ):
        judged = index.judged(said, ability_id, caller_user_id="ada")
        assert judged is not None
        assert judged.fit is Fit.NO


def test_what_is_near_is_listed_nearest_first_and_only_what_may_be_seen() -> None:
    entries = [
        ability(name, title=title) for name, title in (("a", "Book a flight"), ("b", "Total invoices"))
    ]
    known = meanings(*entries)
    assert known.nearest("total bills", 5, lambda _: True) == ("b", "a")
    assert known.nearest("total bills", 5, lambda one: one == "a") == ("a",)
    assert known.nearest("total bills", 1, lambda _: True) == ("b",)


def test_an_ability_whose_vectors_are_not_known_yet_is_judged_by_the_rules() -> None:
    known, new = taught("Total the invoices"), ability("new", title="Pack the reports")
    index = FitIndex([known, new], meanings(known))
    judged = index.judged("zip the reports", "new", caller_user_id="ada")
    assert judged == FitIndex([known, new]).judged("zip the reports", "new", caller_user_id="ada")


def test_what_an_ability_says_is_its_object_first_then_title_other_phrases_and_parts() -> None:
    title = "Check the parcels, weigh them and count the labels"
    entry = ability("it", title=title, trigger_phrases=(f"please {title}", "weigh parcels"))
    told = told_by(entry)
    assert told.texts == ("the parcels", title, *told.said)
    assert told.said == (title, "weigh parcels", "Check the parcels", "count the labels")


def test_an_ability_tells_its_goal_its_facts_its_verbs_and_the_words_of_its_objects() -> None:
    entry = ability(
        "it",
        title="Pack the reports",
        trigger_phrases=("zip up the reports",),
        method=("Pack the reports and sort the boxes.", "tar: members sorted", "gzip: as small as it gets"),
    )
    told = told_by(entry)
    assert told.goal == "Pack the reports and sort the boxes."
    assert told.facts == ("tar: members sorted", "gzip: as small as it gets")
    assert told.leading == ("pack", "zip up")
    assert told.verbs[:2] == told.leading
    assert "sort" in told.verbs
    assert told.nouns == ("reports",)
