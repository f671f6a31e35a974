"""What the API shows of the memory: pages of memories and facts, and what was erased."""

from pydantic import Field

from contracts.base import Uuid, VersionedContract
from contracts.memory.memory import Memory, MemoryKind, WorldFact


class MemoryListResponse(VersionedContract):
    """Memories, events and facts: the best first where words are looked for, else memories and events, newest first."""

    memories: tuple[Memory, ...]
    page: int = Field(ge=1)
    page_size: int
    total: int


class FactListResponse(VersionedContract):
    """Facts, the latest changed first; also those that no longer hold."""

    facts: tuple[WorldFact, ...]
    page: int = Field(ge=1)
    page_size: int
    total: int


class ErasedMemory(VersionedContract):
    """What was erased; of its words nothing is kept."""

    memory_id: Uuid
    kind: MemoryKind
