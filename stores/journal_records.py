"""What the journal holds: drafts, entries, and the hash that links an entry to the one before it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stores.canonical import canonical_json, digest_of

GENESIS = "0" * 64
"""The previous hash of an aggregate's first entry, and of the first anchor."""

LINKED_COLUMNS = (
    "prev_hash",
    "seq",
    "stream",
    "aggregate",
    "aggregate_seq",
    "owner",
    "session_id",
    "proposal_id",
    "ability_id",
    "correlation_id",
    "created_at",
    "document",
)
"""Every column of an entry but its own hash, in the order in which they are hashed."""


@dataclass(frozen=True)
class JournalDraft:
    """An entry before the journal gave it a number.

    ``stream`` is the path of the JSONL file it is a line of, without the suffix. ``aggregate`` names the one
    thing whose history it belongs to (``session/…``, ``ability/…``): entries are chained within it.
    """

    stream: str
    aggregate: str
    owner: str
    correlation_id: str
    created_at: str
    document: Mapping[str, Any]
    session_id: str | None = None
    proposal_id: str | None = None
    ability_id: str | None = None


@dataclass(frozen=True)
class JournalEntry:
    """An entry as it was kept; ``seq`` numbers the whole journal, ``aggregate_seq`` one aggregate from 1."""

    seq: int
    stream: str
    aggregate: str
    aggregate_seq: int
    owner: str
    session_id: str | None
    proposal_id: str | None
    ability_id: str | None
    correlation_id: str
    created_at: str
    document: dict[str, Any]


def link_hash(row: Mapping[str, Any]) -> str:
    """The hash of an entry: SHA-256 over the canonical JSON of all other columns, the previous hash first."""
    return digest_of(canonical_json([row[column] for column in LINKED_COLUMNS]))


def anchor_hash(prev_hash: str, upto_seq: int, heads_hash: str, created_at: str) -> str:
    """The hash of an anchor, chained to the anchor before it."""
    return digest_of(canonical_json([prev_hash, upto_seq, heads_hash, created_at]))


def heads_hash(heads: Mapping[str, tuple[int, str]]) -> str:
    """One hash over ``aggregate → (aggregate_seq, hash)``, whatever the order they were met in."""
    return digest_of(canonical_json([[name, *heads[name]] for name in sorted(heads)]))
