"""A document table returns what was put, hides what belongs to another owner, and refuses stale writes."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Column, Integer, MetaData, Table, Text, select

from contracts.base import UtcTime, VersionedContract, rfc3339
from contracts.errors import ErrorCode, Refusal
from stores.platform.database import Database, PageRequest
from stores.platform.document_table import DocumentTable

NOW = datetime(2026, 11, 1, tzinfo=UTC)
LATER = datetime(2026, 12, 1, tzinfo=UTC)

_metadata = MetaData()
notes = Table(
    "notes",
    _metadata,
    Column("note_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("deleted_at", Text),
    Column("created_at", Text, nullable=False),
    Column("body", Text, nullable=False),
)
pairs = Table(
    "pairs",
    _metadata,
    Column("note_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("content", Text, nullable=False),
)


class Note(VersionedContract):
    note_id: str
    text: str = ""
    number: int = 0
    created_at: UtcTime = NOW


NOTES = DocumentTable(
    notes,
    Note,
    code=ErrorCode.PROPOSAL_NOT_FOUND,
    message="There is no note {key} of yours.",
)
PAIRS = DocumentTable(pairs, Note, body="content")
BY_ID = (notes.c.note_id,)


@pytest.fixture(autouse=True)
def tables(store: Database) -> None:
    with store.write() as connection:
        _metadata.create_all(connection)


def added(store: Database, *names: str, owner: str = "alice") -> None:
    with store.write() as connection:
        for name in names:
            NOTES.add(connection, Note(note_id=name), owner=owner, version=1)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
def test_what_was_put_last_is_got(store: Database, texts: list[str]) -> None:
    with store.write() as connection:
        assert NOTES.find(connection, "n") is None
        for text in texts:
            NOTES.put(connection, Note(note_id="n", text=text), owner="alice", version=1)
            assert NOTES.get(connection, "n") == Note(note_id="n", text=text)
        assert len(NOTES.all(connection, order_by=BY_ID)) == bool(texts)
        assert NOTES.delete(connection, "n") == bool(texts)


def test_another_owners_document_is_not_found(store: Database) -> None:
    added(store, "n")
    with store.read() as connection:
        assert NOTES.owned(connection, "n", "alice") == Note(note_id="n")
        assert NOTES.find(connection, "n", owner="bob") is None
        for owner, key in (("bob", "n"), ("alice", "another")):
            with pytest.raises(Refusal) as refused:
                NOTES.owned(connection, key, owner)
            assert refused.value.code is ErrorCode.PROPOSAL_NOT_FOUND
            assert refused.value.message == f"There is no note {key} of yours."
        with pytest.raises(Refusal):
            NOTES.get(connection, "another")


def test_a_stale_compare_and_set_writes_nothing(store: Database) -> None:
    added(store, "n")
    with store.write() as connection:
        assert NOTES.compare_and_set(connection, Note(note_id="n", number=1), 1) == 2
        for name, expected in (("n", 1), ("n", 3), ("another", 2)):
            with pytest.raises(Refusal) as refused:
                NOTES.compare_and_set(connection, Note(note_id=name, number=9), expected)
            assert refused.value.code is ErrorCode.CONFLICT
        assert [note.number for note in NOTES.all(connection, order_by=BY_ID)] == [1]


def test_of_many_writers_of_one_version_one_is_first(store: Database) -> None:
    added(store, "n")

    def write(number: int) -> bool:
        try:
            with store.write() as connection:
                NOTES.compare_and_set(connection, Note(note_id="n", number=number), 1)
        except Refusal:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        won = list(pool.map(write, range(1, 9)))
    with store.read() as connection:
        assert NOTES.get(connection, "n").number == won.index(True) + 1
    assert won.count(True) == 1


def test_a_locked_document_is_changed_by_one_transaction_at_a_time(store: Database) -> None:
    added(store, "n")

    def count(_: int) -> None:
        with store.write() as connection:
            note = NOTES.owned(connection, "n", "alice", lock=True)
            assert NOTES.replace(connection, note.changed(number=note.number + 1))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(12)))
    with store.read() as connection:
        assert NOTES.get(connection, "n").number == 12


def test_owner_and_creation_stay_as_they_were_first_written(store: Database) -> None:
    added(store, "n")
    with store.write() as connection:
        NOTES.put(connection, Note(note_id="n", created_at=LATER), owner="bob", version=2)
        assert NOTES.replace(connection, Note(note_id="n", created_at=LATER), owner="bob", version=3)
        row = connection.execute(select(notes)).one()
    assert (row.owner, row.created_at, row.version) == ("alice", rfc3339(NOW), 3)


def test_what_is_there_stays_where_only_an_absent_one_is_added(store: Database) -> None:
    with store.write() as connection:
        assert NOTES.add_if_absent(connection, Note(note_id="n"), owner="alice", version=1)
        assert not NOTES.add_if_absent(connection, Note(note_id="n", number=1), owner="bob", version=1)
        assert NOTES.owned(connection, "n", "alice").number == 0


def test_a_standing_condition_holds_for_every_read(store: Database) -> None:
    added(store, "a", "b")
    live = replace(NOTES, where=(notes.c.deleted_at.is_(None),))
    with store.write() as connection:
        assert live.replace(connection, Note(note_id="a"), deleted_at=rfc3339(NOW))
        assert live.find(connection, "a") is None
        assert live.first(connection, notes.c.owner == "alice", order_by=BY_ID) == Note(note_id="b")
        assert live.page(connection, PageRequest(), order_by=BY_ID).counts["total"] == 1
        assert NOTES.find(connection, "a") is not None


def test_pages_cover_all_that_match_in_order(store: Database) -> None:
    added(store, *"abcde")
    added(store, "f", owner="bob")
    found: list[str] = []
    with store.read() as connection:
        for number in (1, 2, 3):
            page = NOTES.page(
                connection,
                PageRequest(number, 2),
                notes.c.owner == "alice",
                order_by=(notes.c.note_id.desc(),),
            )
            assert page.counts == {"total": 5, "page": number, "page_size": 2}
            found += [note.note_id for note in page.documents]
        first = NOTES.all(connection, notes.c.owner == "alice", order_by=BY_ID, limit=2)
    assert found == [*"edcba"]
    assert [note.note_id for note in first] == ["a", "b"]


def test_a_key_of_several_columns_and_a_body_of_another_name(store: Database) -> None:
    with store.write() as connection:
        for number in (1, 2, 2):
            PAIRS.put(connection, Note(note_id="n", number=number))
        assert PAIRS.get(connection, ("n", 2)).number == 2
        assert PAIRS.delete(connection, ("n", 1))
        assert not PAIRS.delete(connection, ("n", 2), pairs.c.content == "another")
        assert PAIRS.all(connection, order_by=(pairs.c.number,)) == (Note(note_id="n", number=2),)


class Colour(StrEnum):
    RED = "red"


class Brush(VersionedContract):
    brush_id: str
    owner_user_id: str
    colour: Colour = Colour.RED
    note: Note
    cleaned_at: UtcTime | None = None

    @property
    def length(self) -> str:
        return self.brush_id


def test_columns_have_the_values_of_the_fields_they_are_called_like(store: Database) -> None:
    names = ("brush_id", "owner", "colour", "length", "note_id", "created_at", "cleaned_at", "soft", "body")
    brushes = Table(
        "brushes", MetaData(), *(Column(name, Text, primary_key=name == "brush_id") for name in names)
    )
    table = DocumentTable(
        brushes,
        Brush,
        lambda _: {"soft": "very"},
        fields={"note_id": "note.note_id", "created_at": "note.created_at"},
    )
    brush = Brush(brush_id="b1", owner_user_id="alice", note=Note(note_id="n"))
    with store.write() as connection:
        brushes.create(connection)
        table.add(connection, brush)
        found = dict(connection.execute(select(brushes)).mappings().one())
    assert table.parse(found.pop("body")) == brush
    assert found == {
        "brush_id": "b1",
        "owner": "alice",
        "colour": "red",
        "length": "b1",
        "note_id": "n",
        "created_at": rfc3339(NOW),
        "cleaned_at": None,
        "soft": "very",
    }
