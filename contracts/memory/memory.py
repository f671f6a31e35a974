"""Memories, events and facts that skills keep for their user (003 L19-20, L98, L194-201; O-13, O-14).

Texts are at most 4,000 characters, lists at most 100 items.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from contracts.base import (
    Contract,
    Text80,
    Text120,
    Text240,
    Text1000,
    UtcTime,
    Uuid,
    VersionedContract,
)

MAX_TEXT = 4_000
MAX_LIST = 100

MAX_ITEMS = 100_000
"""The most memories, events and facts that are kept for one user."""

MemoryText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
Name80 = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Name120 = Annotated[str, StringConstraints(min_length=1, max_length=120)]
Name200 = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class MemoryKind(StrEnum):
    """What is remembered: what somebody had stored, what happened, what holds."""

    MEMORY = "memory"
    EVENT = "event"
    FACT = "fact"


class EntityRef(Contract):
    """A person, place, activity … by its id and type in the world model."""

    id: Name200
    type: Text80 = ""


class Provenance(Contract):
    """Where something that is remembered comes from."""

    skill_id: Text80
    invocation_id: Uuid
    agent_id: Text120 | None = None
    said: Text240 | None = Field(default=None, description="What the caller gives as its source.")
    at: UtcTime


class Labels(Contract):
    """What memories are filtered by."""

    tags: tuple[Name80, ...] = Field(default=(), max_length=MAX_LIST)
    entities: tuple[EntityRef, ...] = Field(default=(), max_length=MAX_LIST)
    life_areas: tuple[Name80, ...] = Field(default=(), max_length=MAX_LIST)


class MemoryItem(VersionedContract):
    """Something that was stored to be remembered."""

    memory_id: Uuid
    owner_user_id: Text120
    text: MemoryText
    labels: Labels = Field(default_factory=Labels)
    source: Provenance
    happened_at: UtcTime = Field(description="When it was so; when it was stored, if nobody says.")
    created_at: UtcTime


class PerceptualEvent(VersionedContract):
    """Something that happened: a skill's result, or what it observed."""

    event_id: Uuid
    owner_user_id: Text120
    kind: Name80
    skill_id: Text80
    invocation_id: Uuid
    summary: MemoryText
    at: UtcTime
    data: dict[str, Any] = Field(default_factory=dict)
    labels: Labels = Field(default_factory=Labels)


class WorldFact(VersionedContract):
    """A fact with where it comes from and since when it holds.

    ``valid_to`` none means that it still holds. ``sources`` are all that have asserted it, the first first. ``many``
    says that several objects may hold at once, as with somebody's friends.
    """

    fact_id: Uuid
    owner_user_id: Text120
    subject: Name200
    predicate: Name120
    object: Text1000
    confidence: float = Field(ge=0, le=1)
    many: bool = False
    sources: tuple[Provenance, ...] = Field(min_length=1, max_length=MAX_LIST)
    valid_from: UtcTime
    valid_to: UtcTime | None = None
    replaced_by: Uuid | None = None
    version: int = Field(ge=1)
    updated_at: UtcTime

    @property
    def created_at(self) -> datetime:
        """When it was first asserted."""
        return self.sources[0].at

    @property
    def text(self) -> str:
        """The fact as words."""
        return f"{self.subject} {self.predicate.replace('_', ' ')} {self.object}"


class FactAssertion(Contract):
    """Says that something holds.

    ``replaces`` names the fact that no longer does, at the version that the caller knows; without it nothing that is
    there is changed.
    """

    subject: Name200
    predicate: Name120
    object: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    confidence: float = Field(default=1.0, ge=0, le=1)
    many: bool = False
    source: Text240 | None = None
    valid_from: UtcTime | None = None
    valid_to: UtcTime | None = None
    replaces: Uuid | None = None
    expected_version: int | None = Field(default=None, ge=1)


class AssertedFact(Contract):
    """What became of an assertion: the fact, whether it is new, and the facts that contradict it."""

    fact: WorldFact
    created: bool
    conflicts: tuple[WorldFact, ...] = ()


class Memory(Contract):
    """What was found: a memory, an event or a fact, in one shape. ``score`` is from 0 to 1, the best first."""

    memory_id: Uuid
    kind: MemoryKind
    text: str
    tags: tuple[str, ...] = ()
    entities: tuple[EntityRef, ...] = ()
    life_areas: tuple[str, ...] = ()
    source: Provenance | None = None
    at: UtcTime
    score: float | None = Field(default=None, ge=0, le=1)


class MemoryQuery(Contract):
    """What to look for: words, and filters of which each has to hold; within a list of labels all have to."""

    query: Annotated[str, StringConstraints(max_length=MAX_TEXT)] = ""
    kinds: tuple[MemoryKind, ...] = Field(default=(), max_length=3)
    tags: tuple[Name80, ...] = Field(default=(), max_length=MAX_LIST)
    entities: tuple[Name200, ...] = Field(default=(), max_length=MAX_LIST)
    life_areas: tuple[Name80, ...] = Field(default=(), max_length=MAX_LIST)
    since: UtcTime | None = None
    until: UtcTime | None = None
    limit: int = Field(default=10, ge=1, le=MAX_LIST)
