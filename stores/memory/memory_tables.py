"""The tables of memory: memories and events, their labels, facts; and their documents.

The words that are searched have a table of each database's own kind, see `stores.memory.text_search`.
"""

from typing import Any

from sqlalchemy import Column, Connection, Index, Integer, Table, Text, UniqueConstraint, event

from contracts.errors import ErrorCode
from contracts.memory.memory import WorldFact
from domain.memory.facts import key_of
from stores.memory.text_search import create_words, drop_words
from stores.platform.document_table import DocumentTable
from stores.platform.tables import metadata

# Memories and events. What is kept under a key is kept once.
memory_items = Table(
    "memory_items",
    metadata,
    Column("item_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("request_digest", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("body", Text, nullable=False),
    UniqueConstraint("owner", "kind", "key", name="remembered_once"),
    Index("memory_items_by_owner", "owner", "kind", "at", "item_id"),
)

memory_labels = Table(
    "memory_labels",
    metadata,
    Column("item_id", Text, primary_key=True),
    Column("label", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Index("memory_labels_by_label", "owner", "label", "item_id"),
)

memory_facts = Table(
    "memory_facts",
    metadata,
    Column("fact_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("predicate", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("at", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("memory_facts_by_subject", "owner", "subject", "predicate"),
    Index("memory_facts_by_age", "owner", "at", "fact_id"),
)

FACTS = DocumentTable(
    memory_facts,
    WorldFact,
    lambda one: {"subject": key_of(one.subject), "predicate": key_of(one.predicate)},
    fields={"at": "updated_at"},
    code=ErrorCode.NOT_FOUND,
    message="There is no such fact of yours; list them: GET /api/memory/facts.",
    conflict="The fact has changed meanwhile; read it again.",
)


def _make_words(_table: Table, connection: Connection, **_options: Any) -> None:
    create_words(connection)


def _drop_words(_table: Table, connection: Connection, **_options: Any) -> None:
    drop_words(connection)


event.listen(memory_items, "after_create", _make_words)
event.listen(memory_items, "before_drop", _drop_words)
