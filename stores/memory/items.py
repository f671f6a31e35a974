"""Rows of memories, events and facts: written with the words and labels that they are found by, and erased."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select

from contracts.base import rfc3339
from contracts.memory.memory import (
    MAX_ITEMS,
    Labels,
    Memory,
    MemoryItem,
    MemoryKind,
    PerceptualEvent,
    WorldFact,
)
from domain.memory.facts import key_of
from domain.memory.words import index_words
from stores.memory.memory_tables import FACTS, memory_facts, memory_items, memory_labels
from stores.memory.text_search import add_words, remove_words
from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import advisory_lock
from stores.platform.journal.journal import JournalEntries, append

AUDIT = "system/skills/audit_log"
"""The audit log: a line for each thing that was erased, without its words."""


class MemoryRefused(Exception):
    """What was asked of the memory is refused; nothing was written."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details


@dataclass(frozen=True)
class Kept:
    """An item under its key: the one that was there, or the new one."""

    body: str
    created: bool


def add_item(connection: Connection, item: MemoryItem | PerceptualEvent, key: str) -> Kept:
    """Keeps a memory or an event, once under its key.

    Raises:
        MemoryRefused: ``IDEMPOTENCY_KEY_REUSED``, ``MEMORY_FULL``.
    """
    kind, item_id, at, said = _parts(item)
    advisory_lock(connection, f"memory {item.owner_user_id}")
    digest = digest_of(canonical_json([said, item.labels.model_dump(mode="json")]))
    known = connection.execute(
        select(memory_items.c.body, memory_items.c.request_digest).where(
            memory_items.c.owner == item.owner_user_id,
            memory_items.c.kind == kind.value,
            memory_items.c.key == key,
        )
    ).one_or_none()
    if known is not None:
        if known.request_digest != digest:
            raise MemoryRefused(
                "IDEMPOTENCY_KEY_REUSED", "Something else is remembered under this key; use a new key."
            )
        return Kept(known.body, created=False)
    refuse_when_full(connection, item.owner_user_id)
    body = canonical_json(item)
    row = {
        "item_id": item_id,
        "owner": item.owner_user_id,
        "kind": kind.value,
        "key": key,
        "request_digest": digest,
        "at": rfc3339(at),
        "body": body,
    }
    connection.execute(insert(memory_items).values(row))
    add_labels(connection, item_id, item.owner_user_id, labels_of(item.labels))
    words = index_words(" ".join((said, *item.labels.tags, *(one.id for one in item.labels.entities))))
    add_words(connection, item_id, item.owner_user_id, words)
    return Kept(body, created=True)


def add_fact(connection: Connection, fact: WorldFact) -> None:
    """Inserts a new fact, found by its words, its subject and its object."""
    refuse_when_full(connection, fact.owner_user_id)
    FACTS.add(connection, fact)
    add_labels(
        connection, fact.fact_id, fact.owner_user_id, [entity_label(fact.subject), entity_label(fact.object)]
    )
    add_words(connection, fact.fact_id, fact.owner_user_id, index_words(fact.text))


def refuse_when_full(connection: Connection, owner: str) -> None:
    """Refuses another item of an owner who has as many as there may be.

    Raises:
        MemoryRefused: ``MEMORY_FULL``.
    """
    if kept_of(connection, owner) >= MAX_ITEMS:
        raise MemoryRefused(
            "MEMORY_FULL", f"{MAX_ITEMS} things are remembered, as many as there may be; delete some."
        )


def kept_of(connection: Connection, owner: str) -> int:
    """How many memories, events and facts an owner has."""
    return sum(
        connection.scalar(select(func.count()).select_from(table).where(table.c.owner == owner)) or 0
        for table in (memory_items, memory_facts)
    )


def erase(
    connection: Connection, kind: MemoryKind, item_id: str, owner: str, correlation_id: str, now: datetime
) -> None:
    """Removes an item with all that it was found by; the audit log keeps that it was, and not what it said."""
    table, key = (
        (memory_facts, memory_facts.c.fact_id)
        if kind is MemoryKind.FACT
        else (memory_items, memory_items.c.item_id)
    )
    connection.execute(delete(table).where(key == item_id, table.c.owner == owner))
    connection.execute(delete(memory_labels).where(memory_labels.c.item_id == item_id))
    remove_words(connection, (item_id,))
    entries = JournalEntries(f"memory/{item_id}", owner, correlation_id, now)
    told = {"when": "memory_erased", "kind": kind.value, "memory_id": item_id, "timestamp": rfc3339(now)}
    append(connection, entries.add(AUDIT, told).drafts)


def add_labels(connection: Connection, item_id: str, owner: str, labels: Iterable[str]) -> None:
    """Has an item found by labels."""
    rows = [{"item_id": item_id, "owner": owner, "label": one} for one in dict.fromkeys(labels)]
    if rows:
        connection.execute(insert(memory_labels), rows)


def labels_of(labels: Labels) -> Sequence[str]:
    """The labels of a memory as they are filtered by, whatever their letters' case."""
    return (
        *(tag_label(one) for one in labels.tags),
        *(entity_label(one.id) for one in labels.entities),
        *(area_label(one) for one in labels.life_areas),
    )


def tag_label(tag: str) -> str:
    """The label of a tag."""
    return f"tag:{key_of(tag)}"


def entity_label(entity: str) -> str:
    """The label of an entity, by its id."""
    return f"entity:{key_of(entity)}"


def area_label(area: str) -> str:
    """The label of a life area."""
    return f"area:{key_of(area)}"


def memory_of_item(kind: str, body: str) -> Memory:
    """A stored memory or event as it is found."""
    if kind == MemoryKind.EVENT.value:
        event = PerceptualEvent.model_validate_json(body)
        return Memory(
            memory_id=event.event_id,
            kind=MemoryKind.EVENT,
            text=event.summary,
            **_labels(event.labels),
            at=event.at,
        )
    item = MemoryItem.model_validate_json(body)
    return Memory(
        memory_id=item.memory_id,
        kind=MemoryKind.MEMORY,
        text=item.text,
        **_labels(item.labels),
        source=item.source,
        at=item.happened_at,
    )


def memory_of_fact(fact: WorldFact) -> Memory:
    """A stored fact as it is found."""
    return Memory(
        memory_id=fact.fact_id,
        kind=MemoryKind.FACT,
        text=fact.text,
        source=fact.sources[0],
        at=fact.updated_at,
    )


def _labels(labels: Labels) -> dict[str, Any]:
    return {"tags": labels.tags, "entities": labels.entities, "life_areas": labels.life_areas}


def _parts(item: MemoryItem | PerceptualEvent) -> tuple[MemoryKind, str, datetime, str]:
    if isinstance(item, PerceptualEvent):
        return MemoryKind.EVENT, item.event_id, item.at, f"{item.summary} {item.kind} {item.skill_id}"
    return MemoryKind.MEMORY, item.memory_id, item.happened_at, item.text
