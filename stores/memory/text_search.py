"""Full-text search of memories: FTS5 on SQLite, tsvector on PostgreSQL, behind one interface (003 L195).

Both are given the words of `domain.memory.words`, so that they find the same. The table is this module's alone: it is
no table of the metadata, because neither kind can be said there.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, text

MOST_FOUND = 400
"""The most candidates of one search: those with the rarest words, as the database ranks them."""

_CREATE = {
    "sqlite": (
        "CREATE VIRTUAL TABLE IF NOT EXISTS memory_words "
        "USING fts5(item_id UNINDEXED, owner UNINDEXED, words, tokenize='unicode61 remove_diacritics 0')",
    ),
    "postgresql": (
        "CREATE TABLE IF NOT EXISTS memory_words ("
        "item_id text PRIMARY KEY, owner text NOT NULL, words tsvector NOT NULL)",
        "CREATE INDEX IF NOT EXISTS memory_words_found ON memory_words USING gin (words)",
    ),
}

_ADD = {
    "sqlite": "INSERT INTO memory_words (item_id, owner, words) VALUES (:item_id, :owner, :words)",
    "postgresql": (
        # No parser of the database takes the words apart again.
        "INSERT INTO memory_words (item_id, owner, words) "
        "VALUES (:item_id, :owner, array_to_tsvector(string_to_array(:words, ' ')))"
    ),
}

_FIND = {
    "sqlite": (
        "SELECT item_id FROM memory_words WHERE memory_words MATCH :wanted AND owner = :owner "
        "ORDER BY rank, item_id LIMIT :most"
    ),
    "postgresql": (
        "SELECT item_id FROM memory_words WHERE words @@ CAST(:wanted AS tsquery) AND owner = :owner "
        "ORDER BY ts_rank(words, CAST(:wanted AS tsquery)) DESC, item_id LIMIT :most"
    ),
}

_COUNT = {
    "sqlite": "SELECT count(*) FROM memory_words WHERE memory_words MATCH :wanted AND owner = :owner",
    "postgresql": (
        "SELECT count(*) FROM memory_words WHERE words @@ CAST(:wanted AS tsquery) AND owner = :owner"
    ),
}

_REMOVE = text("DELETE FROM memory_words WHERE item_id IN :ids").bindparams(bindparam("ids", expanding=True))


def is_words(table: str | None) -> bool:
    """Whether a table holds the words: the one made here, and those that FTS5 keeps beside it."""
    return table is not None and (table == "memory_words" or table.startswith("memory_words_"))


def create_words(connection: Connection) -> None:
    """Makes the table of words."""
    for statement in _CREATE[connection.dialect.name]:
        connection.execute(text(statement))


def drop_words(connection: Connection) -> None:
    """Removes it."""
    connection.execute(text("DROP TABLE IF EXISTS memory_words"))


def add_words(connection: Connection, item_id: str, owner: str, words: Sequence[str]) -> None:
    """Has an item found by its words."""
    row = {"item_id": item_id, "owner": owner, "words": " ".join(dict.fromkeys(map(_plain, words)))}
    connection.execute(text(_ADD[connection.dialect.name]), row)


def remove_words(connection: Connection, item_ids: Sequence[str]) -> None:
    """Has items no longer found."""
    if item_ids:
        connection.execute(_REMOVE, {"ids": list(item_ids)})


def find_words(connection: Connection, owner: str, terms: Sequence[str]) -> tuple[str, ...]:
    """The ids of an owner's items that have any of the words, at most ``MOST_FOUND``."""
    if not terms:
        return ()
    given = {"wanted": _any_of(connection, terms), "owner": owner, "most": MOST_FOUND}
    return tuple(connection.scalars(text(_FIND[connection.dialect.name]), given))


def count_words(connection: Connection, owner: str, terms: Sequence[str]) -> dict[str, int]:
    """In how many of an owner's items each word is."""
    statement = text(_COUNT[connection.dialect.name])
    return {
        term: connection.scalar(statement, {"wanted": _any_of(connection, (term,)), "owner": owner}) or 0
        for term in terms
    }


def _any_of(connection: Connection, terms: Sequence[str]) -> str:
    if connection.dialect.name == "sqlite":
        return "words:(" + " OR ".join(f'"{_plain(term)}"' for term in terms) + ")"
    return " | ".join(f"'{_plain(term)}'" for term in terms)


def _plain(term: str) -> str:
    """A word as neither database takes it apart: an apostrophe would end it."""
    return term.replace("'", "").replace('"', "") or "_"
