"""Memories of users: store, search, page, erase; events, facts, and social events that are all three (AI-33…37)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, select
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.memory.memory import (
    AssertedFact,
    FactAssertion,
    Memory,
    MemoryItem,
    MemoryKind,
    MemoryQuery,
    PerceptualEvent,
    Provenance,
    WorldFact,
)
from domain.memory.facts import affirmed, contradicting, ended, key_of, new_fact, same_fact
from domain.memory.ranking import rarity, relevance
from domain.memory.words import query_terms
from stores.memory.items import (
    MemoryRefused,
    add_fact,
    add_item,
    area_label,
    entity_label,
    erase,
    kept_of,
    memory_of_fact,
    memory_of_item,
    tag_label,
)
from stores.memory.memory_tables import FACTS, memory_facts, memory_items, memory_labels
from stores.memory.text_search import count_words, find_words
from stores.platform.database import Database, PageCounts, PageRequest, advisory_lock, fetch_page
from stores.platform.document_table import DocumentPage

NOT_THERE = Refusal(ErrorCode.NOT_FOUND, "Nothing of yours is remembered under this id.")


@dataclass(frozen=True)
class SocialEvent:
    """What is written of something that happened between people: the event, what to remember, what now holds."""

    event: PerceptualEvent
    memory: MemoryItem
    fact: FactAssertion | None


@dataclass(frozen=True)
class LoggedSocialEvent:
    """What was written, or was there under the key."""

    event: PerceptualEvent
    memory: MemoryItem
    fact: AssertedFact | None
    created: bool


class Memories:
    """What is remembered of all users, each apart. Safe to share between threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # ---- writing ----

    def store(self, item: MemoryItem, key: str) -> tuple[MemoryItem, bool]:
        """Stores a memory, once under its key; and whether it is new.

        Raises:
            MemoryRefused: ``IDEMPOTENCY_KEY_REUSED``, ``MEMORY_FULL``.
        """
        with self._database.write() as connection:
            kept = add_item(connection, item, key)
            return MemoryItem.model_validate_json(kept.body), kept.created

    def assert_fact(self, asserted: FactAssertion, owner: str, source: Provenance) -> AssertedFact:
        """Asserts a fact: what contradicts it stays beside it unless the assertion says that it replaces that.

        Raises:
            MemoryRefused: ``FACT_NOT_FOUND``, ``CONCURRENCY_ERROR`` (``current_version``), ``INVALID_INPUT``.
        """
        with self._database.write() as connection:
            return put_fact(connection, asserted, owner, source)

    def log_social(self, social: SocialEvent, key: str, source: Provenance) -> LoggedSocialEvent:
        """Writes event, memory and fact together, once under the key: all of them or none (AI-37).

        Raises:
            MemoryRefused: as ``store`` and ``assert_fact``.
        """
        owner = social.event.owner_user_id
        with self._database.write() as connection:
            event = add_item(connection, social.event, key)
            memory = add_item(connection, social.memory, key)
            fact = put_fact(connection, social.fact, owner, source) if social.fact is not None else None
            return LoggedSocialEvent(
                event=PerceptualEvent.model_validate_json(event.body),
                memory=MemoryItem.model_validate_json(memory.body),
                fact=fact,
                created=event.created,
            )

    def erase(self, memory_id: str, owner: str, correlation_id: str, now: datetime) -> MemoryKind:
        """Erases a memory, an event or a fact for good; what kind it was.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.write() as connection:
            kind = _kind_of(connection, memory_id, owner)
            if kind is None:
                raise NOT_THERE
            erase(connection, kind, memory_id, owner, correlation_id, now)
            return kind

    # ---- reading ----

    def query(self, owner: str, wanted: MemoryQuery, now: datetime) -> tuple[Memory, ...]:
        """What is relevant to the words and passes every filter, best first; the newest first where no words are given.

        Facts that no longer hold are left out.
        """
        terms = query_terms(wanted.query)
        if wanted.query.strip() and not terms:
            return ()
        with self._database.read() as connection:
            if not terms:
                return _newest(connection, owner, wanted)
            found = find_words(connection, owner, terms)
            weights = rarity(count_words(connection, owner, terms), kept_of(connection, owner))
            candidates = _loaded(connection, owner, wanted, found)
        said = ((one, relevance(_said(one), terms, weights, one.at, now)) for one in candidates)
        ranked = sorted(
            (one.changed(score=score) for one, score in said if score > 0),
            key=lambda one: (-(one.score or 0.0), -one.at.timestamp(), one.memory_id),
        )
        return tuple(ranked[: wanted.limit])

    def events(self, owner: str, since: datetime, until: datetime, limit: int) -> tuple[PerceptualEvent, ...]:
        """What happened from ``since`` to before ``until``, the newest ``limit`` of it, oldest first."""
        at = memory_items.c.at
        query = (
            select(memory_items.c.body)
            .where(
                memory_items.c.owner == owner,
                memory_items.c.kind == MemoryKind.EVENT.value,
                at >= rfc3339(since),
                at < rfc3339(until),
            )
            .order_by(at.desc(), memory_items.c.item_id.desc())
            .limit(limit)
        )
        with self._database.read() as connection:
            bodies = list(connection.scalars(query))
        return tuple(PerceptualEvent.model_validate_json(body) for body in reversed(bodies))

    def page(
        self, owner: str, kinds: Sequence[MemoryKind], wanted: PageRequest
    ) -> tuple[tuple[Memory, ...], PageCounts]:
        """Memories and events, newest first."""
        chosen = [kind.value for kind in kinds if kind is not MemoryKind.FACT]
        query = (
            select(memory_items.c.kind, memory_items.c.body)
            .where(memory_items.c.owner == owner, memory_items.c.kind.in_(chosen))
            .order_by(memory_items.c.at.desc(), memory_items.c.item_id.desc())
        )
        with self._database.read() as connection:
            page = fetch_page(connection, query, wanted)
        return tuple(memory_of_item(row.kind, row.body) for row in page.rows), page.counts

    def facts_page(self, owner: str, subject: str | None, wanted: PageRequest) -> DocumentPage[WorldFact]:
        """Facts, the latest changed first; also those that no longer hold."""
        where = [memory_facts.c.owner == owner]
        if subject is not None:
            where.append(memory_facts.c.subject == key_of(subject))
        order = (memory_facts.c.at.desc(), memory_facts.c.fact_id.desc())
        with self._database.read() as connection:
            return FACTS.page(connection, wanted, *where, order_by=order)

    def facts(self, owner: str, subject: str, predicate: str, now: datetime) -> tuple[WorldFact, ...]:
        """The facts of a subject and predicate that hold at ``now``, the surest first."""
        with self._database.read() as connection:
            found = _facts_about(connection, owner, subject, predicate)
        holding = [one for one in found if one.valid_from <= now and _holds(one, now)]
        return tuple(sorted(holding, key=lambda one: (-one.confidence, -one.updated_at.timestamp())))


def put_fact(connection: Connection, asserted: FactAssertion, owner: str, source: Provenance) -> AssertedFact:
    """Asserts a fact within the caller's transaction; see ``Memories.assert_fact``."""
    asserted = asserted.changed(valid_from=asserted.valid_from or source.at)
    if asserted.valid_to is not None and asserted.valid_from and asserted.valid_to <= asserted.valid_from:
        raise MemoryRefused(
            "INVALID_INPUT", "valid_to lies before valid_from, which is now where it is left out."
        )
    # One lock an owner, as for items: whoever counts or compares sees what the others wrote.
    advisory_lock(connection, f"memory {owner}")
    known = _facts_about(connection, owner, asserted.subject, asserted.predicate)
    conflicts = contradicting(known, asserted)
    same = next((one for one in known if same_fact(one, asserted)), None)
    if same is not None and any(
        one.fact_id == asserted.replaces and one.replaced_by == same.fact_id for one in known
    ):
        # It was said before, and its answer was not heard.
        return AssertedFact(fact=same, created=False, conflicts=conflicts)
    replaced = _replaced(connection, asserted, owner)
    if same is not None and (replaced is None or replaced.fact_id == same.fact_id):
        after = affirmed(same, asserted, source)
        if after.version != same.version:
            FACTS.put(connection, after)
        return AssertedFact(fact=after, created=False, conflicts=conflicts)
    fact = same or new_fact(asserted, str(uuid7()), owner, source)
    if same is None:
        add_fact(connection, fact)
    if replaced is not None:
        FACTS.put(connection, ended(replaced, fact, source))
    return AssertedFact(fact=fact, created=same is None, conflicts=conflicts)


def _replaced(connection: Connection, asserted: FactAssertion, owner: str) -> WorldFact | None:
    if asserted.replaces is None:
        return None
    found = FACTS.find(connection, asserted.replaces, owner=owner)
    same_thing = found is not None and (
        (key_of(found.subject), key_of(found.predicate))
        == (key_of(asserted.subject), key_of(asserted.predicate))
    )
    if found is None or not same_thing:
        raise MemoryRefused("FACT_NOT_FOUND", "There is no such fact about this subject and predicate.")
    if asserted.expected_version is None:
        raise MemoryRefused("INVALID_INPUT", "Say with expected_version which version of it is replaced.")
    if found.replaced_by is not None or found.version != asserted.expected_version:
        raise MemoryRefused(
            "CONCURRENCY_ERROR",
            f"The fact has changed: its version is {found.version}; read it again.",
            current_version=found.version,
        )
    return found


def _facts_about(connection: Connection, owner: str, subject: str, predicate: str) -> tuple[WorldFact, ...]:
    return FACTS.all(
        connection,
        memory_facts.c.owner == owner,
        memory_facts.c.subject == key_of(subject),
        memory_facts.c.predicate == key_of(predicate),
        order_by=(memory_facts.c.fact_id,),
    )


def _kind_of(connection: Connection, memory_id: str, owner: str) -> MemoryKind | None:
    kind = connection.scalar(
        select(memory_items.c.kind).where(memory_items.c.item_id == memory_id, memory_items.c.owner == owner)
    )
    if kind is not None:
        return MemoryKind(kind)
    return MemoryKind.FACT if FACTS.find(connection, memory_id, owner=owner) is not None else None


def _newest(connection: Connection, owner: str, wanted: MemoryQuery) -> tuple[Memory, ...]:
    found = _loaded(connection, owner, wanted, None)
    ranked = sorted(found, key=lambda one: (-one.at.timestamp(), one.memory_id))
    return tuple(ranked[: wanted.limit])


def _loaded(
    connection: Connection, owner: str, wanted: MemoryQuery, ids: Sequence[str] | None
) -> list[Memory]:
    """What passes the filters; of ``ids`` only, where there are some, else the newest of each kind."""
    kinds = set(wanted.kinds or MemoryKind)
    item = memory_items.c
    conditions = [item.owner == owner, item.kind.in_([kind.value for kind in kinds])]
    conditions += _filters(owner, wanted, item.item_id, item.at, ids)
    newest = select(item.kind, item.body).where(*conditions).order_by(item.at.desc(), item.item_id)
    found = [
        memory_of_item(row.kind, row.body)
        for row in connection.execute(newest if ids is not None else newest.limit(wanted.limit))
    ]
    if MemoryKind.FACT not in kinds or wanted.tags or wanted.life_areas:
        return found
    fact = memory_facts.c
    facts = FACTS.all(
        connection,
        fact.owner == owner,
        *_filters(owner, wanted, fact.fact_id, fact.at, ids),
        order_by=(fact.at.desc(), fact.fact_id),
        limit=None if ids is not None else wanted.limit,
    )
    return found + [memory_of_fact(one) for one in facts if one.valid_to is None]


def _filters(
    owner: str,
    wanted: MemoryQuery,
    item_id: ColumnElement[str],
    at: ColumnElement[str],
    ids: Sequence[str] | None,
) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if ids is not None:
        found.append(item_id.in_(ids))
    if wanted.since is not None:
        found.append(at >= rfc3339(wanted.since))
    if wanted.until is not None:
        found.append(at < rfc3339(wanted.until))
    labels = (
        *map(tag_label, wanted.tags),
        *map(entity_label, wanted.entities),
        *map(area_label, wanted.life_areas),
    )
    for label in dict.fromkeys(labels):
        mine = (memory_labels.c.owner == owner, memory_labels.c.label == label)
        labelled = select(memory_labels.c.item_id).where(*mine)
        found.append(item_id.in_(labelled))
    return found


def _said(one: Memory) -> str:
    return " ".join((one.text, *one.tags, *(entity.id for entity in one.entities)))


def _holds(fact: WorldFact, now: datetime) -> bool:
    return fact.valid_to is None or now < fact.valid_to
