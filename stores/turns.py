"""Taking turns within a transaction, where counting or reading before a write must not race."""

from sqlalchemy import Connection, text

_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))")


def one_at_a_time(connection: Connection, name: str) -> None:
    """Waits until no other transaction has taken ``name``, and holds it to this one's end.

    ``connection`` must be of ``Database.write``. SQLite's writer is alone anyway.
    """
    if connection.dialect.name != "sqlite":
        connection.execute(_LOCK, {"name": name})
