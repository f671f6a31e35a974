"""What handlers of skills ask of the memory, as its service takes it (O-13, O-14)."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from contracts.base import Contract, Text240, UtcTime
from contracts.memory.memory import MAX_LIST, EntityRef, FactAssertion, MemoryText, Name80, Name120, Name200


class StoreMemory(Contract):
    """Stores a memory."""

    text: MemoryText
    tags: tuple[Name80, ...] = Field(default=(), max_length=MAX_LIST)
    entities: tuple[EntityRef, ...] = Field(default=(), max_length=MAX_LIST)
    life_areas: tuple[Name80, ...] = Field(default=(), max_length=MAX_LIST)
    source: Text240 | None = None
    happened_at: UtcTime | None = None
    idempotency_key: Name120 | None = None


class SocialFact(Contract):
    """What holds since a social event."""

    subject: Name200
    predicate: Name120
    object: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    confidence: float = Field(default=1.0, ge=0, le=1)
    many: bool = True

    def assertion(self, source: str | None, at: datetime) -> FactAssertion:
        """The assertion it makes, true from the event on."""
        return FactAssertion(**self.model_dump(), source=source, valid_from=at)


class LogSocial(Contract):
    """Writes what happened between people."""

    summary: MemoryText
    kind: Name80 = "social"
    people: tuple[EntityRef, ...] = Field(min_length=1, max_length=MAX_LIST)
    tags: tuple[Name80, ...] = Field(default=(), max_length=MAX_LIST)
    happened_at: UtcTime | None = None
    source: Text240 | None = None
    fact: SocialFact | None = None
    idempotency_key: Name120 | None = None


class EventsAsked(Contract):
    """Asks for what happened in a time."""

    since: UtcTime | None = None
    until: UtcTime | None = None
    limit: int = Field(default=50, ge=1, le=MAX_LIST)
