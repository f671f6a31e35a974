from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event as sql_events
from sqlalchemy import func, select, text
from uuid_utils import uuid7

from contracts.errors import Refusal
from contracts.memory.memory import (
    AssertedFact,
    EntityRef,
    FactAssertion,
    Labels,
    MemoryItem,
    MemoryKind,
    MemoryQuery,
    PerceptualEvent,
    Provenance,
)
from stores.memory import items
from stores.memory.items import AUDIT, MemoryRefused
from stores.memory.memories import Memories, SocialEvent
from stores.memory.memory_tables import memory_facts, memory_items, memory_labels
from stores.platform.database import Database, PageRequest
from stores.platform.journal.journal import JournalFilter, count_entries

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
GOLDEN = Path(__file__).parents[2] / "domain" / "memory"


@pytest.fixture
def memories(store: Database) -> Memories:
    return Memories(store)


def _source(said: str | None = None) -> Provenance:
    return Provenance(skill_id="store_memory_item", invocation_id=str(uuid7()), said=said, at=NOW)


def _item(words: str, owner: str = "alice", at: datetime = NOW, **labels: Any) -> MemoryItem:
    return MemoryItem(
        memory_id=str(uuid7()),
        owner_user_id=owner,
        text=words,
        labels=Labels(**labels),
        source=_source(),
        happened_at=at,
        created_at=NOW,
    )


def _store(memories: Memories, words: str, **fields: Any) -> str:
    item = _item(words, **fields)
    return memories.store(item, item.memory_id)[0].memory_id


def _found(memories: Memories, query: str = "", owner: str = "alice", **filters: Any) -> list[str]:
    wanted = MemoryQuery(query=query, **filters)
    return [one.text for one in memories.query(owner, wanted, NOW)]


def _says(memories: Memories, object_: str, said: str | None = None, **fields: Any) -> AssertedFact:
    asserted = FactAssertion(subject="Anna", predicate="lives_in", object=object_, **fields)
    return memories.assert_fact(asserted, "alice", _source(said))


@pytest.mark.acceptance("AI-34")
def test_of_the_golden_queries_the_right_memory_comes_first(memories: Memories) -> None:
    told = dict(line.split("\t") for line in (GOLDEN / "golden_memories.tsv").read_text("utf-8").splitlines())
    for words in told.values():
        _store(memories, words)
    asked = [line.split("\t") for line in (GOLDEN / "golden_queries.tsv").read_text("utf-8").splitlines()]
    wrong = [
        (query, found[:2])
        for query, right in asked
        if (found := _found(memories, query))[:1] != [told[right]]
    ]
    assert wrong == []


@pytest.mark.acceptance("AI-33")
def test_what_was_stored_under_a_key_is_stored_once(memories: Memories) -> None:
    with ThreadPoolExecutor(8) as pool:
        running = [pool.submit(memories.store, _item("The key is under the mat"), "k") for _ in range(16)]
        kept = [one.result() for one in running]
    assert len({item.memory_id for item, _ in kept}) == 1
    assert [created for _, created in kept].count(True) == 1
    assert len(_found(memories, "key mat")) == 1
    with pytest.raises(MemoryRefused) as refused:
        memories.store(_item("Another text"), "k")
    assert refused.value.code == "IDEMPOTENCY_KEY_REUSED"


@pytest.mark.acceptance("AI-33", "AI-34")
def test_nobody_finds_what_is_anothers(memories: Memories) -> None:
    kept = _store(memories, "The key is under the mat", tags=("home",))
    assert _found(memories, "key mat", owner="bob") == []
    assert _found(memories, tags=("home",), owner="bob") == []
    with pytest.raises(Refusal):
        memories.erase(kept, "bob", "test", NOW)
    assert _found(memories, "key mat") == ["The key is under the mat"]


@pytest.mark.acceptance("AI-34")
def test_each_filter_has_to_hold(memories: Memories) -> None:
    anna = EntityRef(id="person:anna", type="Person")
    _store(memories, "tea with Anna", tags=("Social", "tea"), entities=(anna,), life_areas=("friends",))
    _store(memories, "tea alone", tags=("tea",), at=NOW - timedelta(days=30))
    assert len(_found(memories, "tea")) == 2
    assert _found(memories, "tea", tags=("social",)) == ["tea with Anna"]
    assert _found(memories, "tea", tags=("social", "other")) == []
    assert _found(memories, entities=("Person:Anna",)) == ["tea with Anna"]
    assert _found(memories, life_areas=("friends",)) == ["tea with Anna"]
    assert _found(memories, "tea", until=NOW - timedelta(days=1)) == ["tea alone"]
    assert _found(memories, "tea", since=NOW - timedelta(days=1)) == ["tea with Anna"]
    assert _found(memories, "tea", limit=1) == ["tea with Anna"]
    assert _found(memories, "coffee") == []


@pytest.mark.parametrize(
    "words", ['it\'s "quoted" (a OR b) NEAR c*', "'; DROP TABLE memory_words; --", "a:b ^c -d"]
)
def test_signs_of_the_databases_search_language_are_words_like_others(memories: Memories, words: str) -> None:
    _store(memories, words)
    assert _found(memories, words) == [words]


@pytest.mark.acceptance("AI-35")
def test_the_same_fact_twice_is_one_fact_with_both_sources(memories: Memories) -> None:
    first, second = _says(memories, "Paris", "a letter"), _says(memories, "paris", "a call")
    assert (first.created, second.created) == (True, False)
    assert second.fact.fact_id == first.fact.fact_id
    assert [one.said for one in second.fact.sources] == ["a letter", "a call"]
    assert memories.facts_page("alice", "anna", PageRequest()).counts["total"] == 1


@pytest.mark.acceptance("AI-35")
@pytest.mark.acceptance("O-13")
def test_what_contradicts_a_fact_is_kept_beside_it(memories: Memories) -> None:
    paris = _says(memories, "Paris", "a letter").fact
    lisbon = _says(memories, "Lisbon", "a call")
    assert lisbon.created
    assert lisbon.conflicts == (paris,)
    assert {one.object for one in memories.facts("alice", "Anna", "lives in", NOW)} == {"Paris", "Lisbon"}


@pytest.mark.acceptance("AI-35")
def test_a_fact_is_replaced_only_by_name_and_version_and_stays_on_record(memories: Memories) -> None:
    paris = _says(memories, "Paris").fact
    with pytest.raises(MemoryRefused) as refused:
        _says(memories, "Lisbon", replaces=paris.fact_id, expected_version=7)
    assert (refused.value.code, refused.value.details) == ("CONCURRENCY_ERROR", {"current_version": 1})
    moved = _says(memories, "Lisbon", replaces=paris.fact_id, expected_version=1)
    again = _says(memories, "Lisbon", replaces=paris.fact_id, expected_version=1)
    assert (moved.conflicts, again.fact.fact_id) == ((), moved.fact.fact_id)
    kept = {one.object: one for one in memories.facts_page("alice", None, PageRequest()).documents}
    assert kept["Paris"].replaced_by == moved.fact.fact_id
    assert [one.object for one in memories.facts("alice", "Anna", "lives_in", NOW)] == ["Lisbon"]
    assert _found(memories, "Anna lives") == ["Anna lives in Lisbon"]


def _social(who: str = "Ben") -> SocialEvent:
    at: dict[str, Any] = {"owner_user_id": "alice", "at": NOW}
    event = PerceptualEvent(
        event_id=str(uuid7()),
        kind="social",
        skill_id="log_social_event",
        invocation_id=str(uuid7()),
        summary="Dinner with Ben",
        **at,
    )
    fact = FactAssertion(subject=who, predicate="works_at", object="the harbour", many=True)
    return SocialEvent(event=event, memory=_item("Dinner with Ben"), fact=fact)


def _rows(store: Database) -> list[int]:
    with store.read() as connection:
        counted = [
            connection.scalar(select(func.count()).select_from(table)) or 0
            for table in (memory_items, memory_labels, memory_facts)
        ]
        return [*counted, connection.scalar(text("SELECT count(*) FROM memory_words")) or 0]


@pytest.mark.acceptance("AI-37")
def test_of_a_social_event_all_is_written_or_nothing_wherever_it_breaks(
    store: Database, memories: Memories
) -> None:
    steps = _statements(store, lambda: memories.log_social(_social("Cara"), "counted", _source()))
    assert steps > 8
    before = _rows(store)
    for step in range(1, steps + 1):
        with pytest.raises(RuntimeError, match="broke"):
            _statements(store, lambda: memories.log_social(_social(), "k", _source()), breaks_at=step)
        assert _rows(store) == before, f"after statement {step}"
    logged = memories.log_social(_social(), "k", _source())
    again = memories.log_social(_social(), "k", _source())
    assert (logged.created, again.created) == (True, False)
    assert again.event == logged.event
    kinds = [one.kind for one in memories.query("alice", MemoryQuery(query="Ben", limit=9), NOW)]
    assert {MemoryKind.EVENT, MemoryKind.MEMORY, MemoryKind.FACT} == set(kinds)


def _statements(store: Database, write: Callable[[], object], breaks_at: int | None = None) -> int:
    """How many statements a write runs; it breaks before one of them, if it shall."""
    seen = 0

    def count(*_: object) -> None:
        nonlocal seen
        seen += 1
        if seen == breaks_at:
            raise RuntimeError("broke")

    sql_events.listen(store.engine, "before_cursor_execute", count)
    try:
        write()
    finally:
        sql_events.remove(store.engine, "before_cursor_execute", count)
    return seen


@pytest.mark.acceptance("O-13")
def test_what_is_erased_is_found_nowhere_and_leaves_its_id_in_the_audit_log(
    store: Database, memories: Memories
) -> None:
    kept = _store(memories, "A secret of the heart", tags=("diary",))
    fact = _says(memories, "Paris").fact.fact_id
    memories.erase(kept, "alice", "test", NOW)
    memories.erase(fact, "alice", "test", NOW)
    assert _rows(store) == [0, 0, 0, 0]
    with store.read() as connection:
        assert count_entries(connection, JournalFilter(streams=(AUDIT,), aggregate=f"memory/{kept}")) == 1
        assert "heart" not in str(connection.execute(text("SELECT document FROM journal")).all())


def test_more_than_may_be_is_refused(memories: Memories, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items, "MAX_ITEMS", 2)
    _store(memories, "one")
    _says(memories, "Paris")
    with pytest.raises(MemoryRefused) as refused:
        _store(memories, "three")
    assert refused.value.code == "MEMORY_FULL"


def test_events_are_given_oldest_first_within_their_time(memories: Memories) -> None:
    for hours in range(3):
        social = _social()
        event = social.event.changed(at=NOW + timedelta(hours=hours), summary=f"hour {hours}")
        memories.log_social(SocialEvent(event, _item(f"m {hours}"), None), f"k{hours}", _source())
    found = memories.events("alice", NOW, NOW + timedelta(hours=2), 10)
    assert [one.summary for one in found] == ["hour 0", "hour 1"]
