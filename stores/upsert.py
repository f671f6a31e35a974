"""``INSERT … ON CONFLICT`` for whichever of the two databases a connection belongs to."""

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert_or(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An insert into ``table`` that has ``on_conflict_do_nothing`` and ``on_conflict_do_update``."""
    return insert_for(connection.dialect.name, table)


def insert_for(dialect: str, table: Table) -> postgresql.Insert | sqlite.Insert:
    """The same by the dialect's name, for statements that are built once and kept."""
    if dialect == "sqlite":
        return sqlite.insert(table)
    return postgresql.insert(table)
