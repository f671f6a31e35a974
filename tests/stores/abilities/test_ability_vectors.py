"""Vectors of abilities are made once, kept with what they were made of, and go with their ability."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import delete, select, update

from stores.abilities import ability_vectors as kept_vectors
from stores.abilities.ability_vectors import AbilityVectors, Prepared
from stores.platform.database import Database
from stores.platform.tables import ability_vectors, metadata
from tests.fixtures.abilities import ability

pytestmark = pytest.mark.thorough

ENTRIES = [ability("a", title="Total the invoices"), ability("b", title="Rename the scans")]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    found = Database(f"sqlite:///{tmp_path / 'a.db'}")
    metadata.create_all(found.engine)
    yield found
    found.close()


def kept(database: Database) -> dict[str, bytes]:
    with database.read() as connection:
        rows = connection.execute(select(ability_vectors.c.ability_id, ability_vectors.c.vectors))
        return {name: vectors for name, vectors in rows}


def test_vectors_are_kept_by_ability_and_go_with_it(database: Database) -> None:
    vectors = AbilityVectors(database)
    assert vectors.of_installed(ENTRIES).complete
    assert set(kept(database)) == {"", "a", " total", " invoices", "b", " rename", " scans"}
    vectors.of_installed(ENTRIES[:1])
    assert set(kept(database)) == {"", "a", " total", " invoices"}


def test_kept_vectors_are_used_until_the_words_change(database: Database) -> None:
    vectors = AbilityVectors(database)
    vectors.of_installed(ENTRIES)
    first = kept(database)
    # Shows whether they are made again.
    with database.write() as connection:
        connection.execute(
            update(ability_vectors).where(ability_vectors.c.ability_id == "a").values(vectors=first["b"])
        )
    AbilityVectors(database).of_installed(ENTRIES)
    assert kept(database)["a"] == first["b"]
    AbilityVectors(database).of_installed([ENTRIES[0].changed(title="Add up the bills"), ENTRIES[1]])
    assert kept(database)["a"] not in first.values()


def test_a_lookup_makes_vectors_of_so_many_abilities_and_the_next_goes_on(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_vectors, "MAX_NEW", 1)
    vectors = AbilityVectors(database)
    assert [vectors.of_installed(ENTRIES).complete for _ in range(2)] == [False, True]


def test_of_a_draft_nothing_is_kept_but_what_belongs_to_no_ability(database: Database) -> None:
    """The plain works take seconds, and each check of a draft in a new process would make them again."""
    meanings = AbilityVectors(database).of_draft(Prepared(), ENTRIES)
    assert meanings is not None
    assert meanings.nearest("add up the bills", 1, lambda _: True) == ("a",)
    assert set(kept(database)) == {""}
    AbilityVectors(database).of_installed(ENTRIES[:1])
    AbilityVectors(database).of_draft(Prepared(), ENTRIES)
    assert set(kept(database)) == {"", "a", " total", " invoices"}


def test_a_database_that_takes_no_rows_now_stops_no_lookup(database: Database) -> None:
    vectors = AbilityVectors(database)
    with database.write() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER full BEFORE INSERT ON ability_vectors BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
    assert vectors.of_installed(ENTRIES).meanings is not None
    assert kept(database) == {}


def test_a_change_makes_only_the_vectors_of_what_changed_and_forgets_those_of_what_is_gone(
    database: Database,
) -> None:
    vectors = AbilityVectors(database)
    before = vectors.of_installed(ENTRIES)
    # What another process removes is not made anew as long as nothing of it has changed.
    with database.write() as connection:
        connection.execute(delete(ability_vectors).where(ability_vectors.c.ability_id == "b"))
    new = ability("c", title="Print the labels")
    after = vectors.changed(before, [ENTRIES[1].changed(enabled=False), new], ["a"])
    assert after.complete
    assert after.meanings is not None
    assert set(after.meanings.ids) == {"b", "c"}
    assert set(kept(database)) == {"", " rename", " scans", "c", " print", " labels"}
    again = vectors.changed(after, [new.changed(title="Print the scans")])
    assert again.complete
    assert set(kept(database)) == {"", " rename", " scans", "c", " print"}


def test_what_a_change_leaves_open_is_made_in_batches_and_taken_in_as_long_as_it_is_told(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_vectors, "MAX_NEW", 0)
    vectors = AbilityVectors(database)
    before = vectors.of_installed(ENTRIES)
    assert before.missing == {"a", "b"}
    made = vectors.more(before)
    now = vectors.changed(before, [ENTRIES[1].changed(title="Print the labels")])
    after = vectors.completed(before, now, made)
    assert after.missing == {"b"}
    assert after.meanings is not None
    assert set(after.meanings.ids) == {"a"}
    assert vectors.completed(after, after, vectors.more(after)).complete
