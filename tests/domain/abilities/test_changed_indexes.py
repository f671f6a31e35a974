"""An index that took in changes one by one answers as one made of the abilities as they are now."""

import random
from datetime import UTC, datetime

from bench.lookup import abilities, queries
from contracts.abilities.availability import IMPORTED_FAMILY, AbilityAvailabilityEntry, InstallLane
from contracts.abilities.lookup import AbilityLookupQuery
from domain.abilities.fit.fit_index import FitIndex
from domain.abilities.lookup_index import AbilityIndex
from tests.domain.abilities.fit.test_meaning import meanings, meanings_changed

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LANES = tuple(InstallLane)


def changed(
    rng: random.Random, entry: AbilityAvailabilityEntry, words: AbilityAvailabilityEntry
) -> AbilityAvailabilityEntry:
    """The ability after a command, or after a new version that says something else."""
    match rng.randrange(4):
        case 0:
            return entry.changed(install_lane=rng.choice(LANES))
        case 1:
            return entry.changed(enabled=not entry.enabled, usable_now=False)
        case 2:
            return entry.changed(title=words.title, trigger_phrases=words.trigger_phrases)
        case _:
            return entry.changed(family=IMPORTED_FAMILY)


def test_an_index_after_many_changes_answers_as_a_new_one() -> None:
    rng = random.Random(5)
    pool = abilities(160, seed=3)
    present = {entry.ability_id: entry for entry in pool[:60]}
    by_score, by_fit = AbilityIndex(present.values()), FitIndex(present.values())
    for _ in range(40):
        gone = rng.sample(sorted(present), rng.randint(0, 2))
        for one in gone:
            del present[one]
        new = {entry.ability_id: entry for entry in rng.sample(pool, 2)}
        again = rng.sample(sorted(present), 3)
        new |= {one: changed(rng, present[one], rng.choice(pool)) for one in again}
        present |= new
        by_score, by_fit = by_score.changed(new.values(), gone), by_fit.changed(new.values(), gone)
    fresh_score, fresh_fit = AbilityIndex(present.values()), FitIndex(present.values())
    assert len(by_score) == len(fresh_score)
    for query in queries(pool, 60):
        for user in ("user-0", "user-1"):
            found = by_score.lookup(query, caller_user_id=user, now=NOW)
            assert found == fresh_score.lookup(query, caller_user_id=user, now=NOW)
            said = by_fit.with_fits(found, query, caller_user_id=user)
            assert said == fresh_fit.with_fits(found, query, caller_user_id=user)


def test_a_changed_index_leaves_the_one_before_as_it_was() -> None:
    known = abilities(50)
    index = FitIndex(known)
    asked = [(query, index.fitting(query, caller_user_id="user-0")) for query in queries(known, 12)]
    index.changed(abilities(50, seed=8), [known[0].ability_id])
    assert [index.fitting(query, caller_user_id="user-0") for query, _ in asked] == [
        found for _, found in asked
    ]


def test_meanings_after_many_changes_are_those_of_new_ones() -> None:
    rng = random.Random(2)
    pool = abilities(40)
    present = {entry.ability_id: entry for entry in pool[:10]}
    known = meanings(*present.values())
    for _ in range(30):
        gone = rng.sample(sorted(present), 1)
        del present[gone[0]]
        new = [entry.changed(title=rng.choice(pool).title) for entry in rng.sample(pool, 2)]
        present |= {entry.ability_id: entry for entry in new}
        known = meanings_changed(known, new, gone)
    fresh = meanings(*present.values())
    for query in queries(pool, 20):
        near = known.nearest(query.user_query, 99, lambda _: True)
        assert set(near) == set(present)
        one, other = (FitIndex(present.values(), made) for made in (known, fresh))
        asked = AbilityLookupQuery(user_query=query.user_query)
        assert one.fitting(asked, caller_user_id="user-0") == other.fitting(asked, caller_user_id="user-0")
