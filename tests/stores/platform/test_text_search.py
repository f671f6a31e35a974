"""Rows are found by the words of what is in their JSON, the same way on both databases."""

import pytest
from sqlalchemy import insert, select

from stores.platform.canonical import canonical_json
from stores.platform.database import MAX_WORDS, Database, containing
from stores.platform.tables import mining_settings as rows

FIELDS = ("proposal.title", "tags", "session.project_id")

BODIES = {
    "report": {"proposal": {"title": "Export the Quarterly report"}, "tags": ["money"], "state": "approved"},
    "letter": {"proposal": {"title": "Write 100% of a letter"}, "session": {"project_id": "case-7_b"}},
    "empty": {"proposal": None, "state": "quarterly"},
}


@pytest.fixture
def filled(store: Database) -> Database:
    with store.write() as connection:
        for owner, body in BODIES.items():
            connection.execute(
                insert(rows), {"owner": owner, "updated_at": "2026-11-01", "body": canonical_json(body)}
            )
    return store


def _found(store: Database, search: str) -> list[str]:
    with store.read() as connection:
        query = select(rows.c.owner).where(containing(connection, rows.c.body, FIELDS, search))
        return sorted(connection.scalars(query))


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("quarterly", ["report"]),
        ("QUARTERLY export", ["report"]),
        ("money report", ["report"]),
        ("case-7", ["letter"]),
        ("letter report", []),
        ("approved", []),
        ("", ["empty", "letter", "report"]),
    ],
)
def test_every_word_must_be_in_one_of_the_fields(filled: Database, search: str, found: list[str]) -> None:
    assert _found(filled, search) == found


@pytest.mark.parametrize(
    ("search", "found"),
    [("100%", ["letter"]), ("%", ["letter"]), ("7_b", ["letter"]), ("7xb", []), ("'", [])],
)
def test_signs_of_patterns_stand_for_themselves(filled: Database, search: str, found: list[str]) -> None:
    assert _found(filled, search) == found


def test_words_beyond_the_limit_are_not_looked_at(filled: Database) -> None:
    assert _found(filled, " ".join(["report"] * MAX_WORDS + ["nowhere"])) == ["report"]
