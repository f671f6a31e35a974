"""Rules of facts: when two say the same, when they contradict each other, what an assertion does (AI-35).

Nothing is overwritten silently: what contradicts a fact is kept beside it, and only an assertion that names the fact
it replaces, at the version it knows, ends that one.
"""

import unicodedata
from collections.abc import Iterable

from contracts.memory.memory import FactAssertion, Provenance, WorldFact


def key_of(text: str) -> str:
    """What two spellings of one name have in common: letters' case, Unicode form, spaces and underscores."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("_", " ")
    return " ".join(plain.split())


def same_fact(known: WorldFact, asserted: FactAssertion) -> bool:
    """Whether an assertion, with its beginning, says again what a fact says for a time that is the same in part."""
    return key_of(known.object) == key_of(asserted.object) and _overlap(known, asserted)


def contradicting(known: Iterable[WorldFact], asserted: FactAssertion) -> tuple[WorldFact, ...]:
    """The facts of the same subject and predicate that cannot hold beside an assertion."""
    return tuple(
        fact
        for fact in known
        if key_of(fact.object) != key_of(asserted.object)
        and not (fact.many or asserted.many)
        and fact.fact_id != asserted.replaces
        and _overlap(fact, asserted)
    )


def affirmed(known: WorldFact, asserted: FactAssertion, source: Provenance) -> WorldFact:
    """A fact that is asserted once more: the source is added, the higher confidence kept.

    The same source again changes nothing.
    """
    confidence = max(known.confidence, asserted.confidence)
    told = {(one.skill_id, one.agent_id, one.said) for one in known.sources}
    is_new = (source.skill_id, source.agent_id, source.said) not in told
    ends = asserted.valid_to if asserted.valid_to is not None else known.valid_to
    if not is_new and confidence == known.confidence and ends == known.valid_to:
        return known
    # The first source stays; of very many the oldest behind it goes.
    sources = (*known.sources, source) if is_new else known.sources
    if len(sources) > _MOST_SOURCES:
        sources = (sources[0], *sources[-(_MOST_SOURCES - 1) :])
    return known.changed(
        confidence=confidence, valid_to=ends, sources=sources, version=known.version + 1, updated_at=source.at
    )


def new_fact(asserted: FactAssertion, fact_id: str, owner: str, source: Provenance) -> WorldFact:
    """The fact that an assertion makes; it holds from now on where no other time is said."""
    return WorldFact(
        fact_id=fact_id,
        owner_user_id=owner,
        subject=asserted.subject,
        predicate=asserted.predicate,
        object=asserted.object,
        confidence=asserted.confidence,
        many=asserted.many,
        sources=(source,),
        valid_from=asserted.valid_from or source.at,
        valid_to=asserted.valid_to,
        version=1,
        updated_at=source.at,
    )


def ended(known: WorldFact, by: WorldFact, source: Provenance) -> WorldFact:
    """A fact that another one has replaced: it is kept, and held until the other began."""
    until = max(known.valid_from, by.valid_from)
    return known.changed(
        valid_to=until, replaced_by=by.fact_id, version=known.version + 1, updated_at=source.at
    )


_MOST_SOURCES = 20


def _overlap(known: WorldFact, asserted: FactAssertion) -> bool:
    """Whether there is a time at which both hold."""
    begins = asserted.valid_from or known.valid_from
    return (known.valid_to is None or begins < known.valid_to) and (
        asserted.valid_to is None or known.valid_from < asserted.valid_to
    )
