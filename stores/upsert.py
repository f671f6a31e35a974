"""``INSERT … ON CONFLICT`` for whichever of the two databases a connection belongs to."""

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert_or(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An insert into ``table`` that has ``on_conflict_do_nothing`` and ``on_conflict_do_update``."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table)
    return postgresql.insert(table)
