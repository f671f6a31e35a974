"""What the API shows of the memory: pages of memories and facts, and what was erased."""

from contracts.base import Uuid, VersionedContract
from contracts.memory.memory import Memory, MemoryKind, WorldFact
from contracts.platform.lists import Page


class MemoryListResponse(Page):
    """Memories, events and facts: the best first where words are looked for, else memories and events, newest first."""

    memories: tuple[Memory, ...]


class FactListResponse(Page):
    """Facts, the latest changed first; also those that no longer hold."""

    facts: tuple[WorldFact, ...]


class ErasedMemory(VersionedContract):
    """What was erased; of its words nothing is kept."""

    memory_id: Uuid
    kind: MemoryKind
