"""The metrics of skills: what their calls add up to, since the first one (CH-64)."""

from collections.abc import Mapping
from functools import cache

from sqlalchemy import Connection, Executable, select

from stores.platform.database import Database, insert_for
from stores.skills.skill_tables import skill_counts


def add_counts(connection: Connection, function_name: str, counts: Mapping[str, int]) -> None:
    """Adds what one call counts."""
    # Sorted: two calls that end at once lock the rows in one order.
    rows = [
        {"function_name": function_name, "name": name, "value": value}
        for name, value in sorted(counts.items())
    ]
    connection.execute(_adds(connection.dialect.name), rows)


@cache
def _adds(dialect: str) -> Executable:
    # Built once for each dialect: its compilation takes longer than its execution.
    statement = insert_for(dialect, skill_counts)
    summed = {"value": skill_counts.c.value + statement.excluded.value}
    return statement.on_conflict_do_update(index_elements=["function_name", "name"], set_=summed)


class SkillCounts:
    """Read-only. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> Mapping[str, Mapping[str, int]]:
        """The counts of every skill that was ever called, by function name."""
        found: dict[str, dict[str, int]] = {}
        query = select(skill_counts).order_by(skill_counts.c.function_name, skill_counts.c.name)
        with self._database.read() as connection:
            for row in connection.execute(query):
                found.setdefault(row.function_name, {})[row.name] = row.value
        return found
