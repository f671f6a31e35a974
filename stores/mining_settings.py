"""What each person allows mining to do, and the file that tells of it (rows FC-02)."""

from datetime import datetime

from sqlalchemy import Connection, select

from contracts.base import rfc3339
from contracts.learning.mining import MiningSettings
from stores.canonical import canonical_json, document_bytes
from stores.database import Database
from stores.documents import put_document
from stores.tables import mining_settings as table
from stores.upsert import insert_or

CURRENT = "system/capabilities/mining_settings_current.json"


class MiningSettingsStore:
    """Settings by person; whoever has said nothing has the defaults."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, owner: str) -> MiningSettings:
        """The settings that hold for ``owner``."""
        with self._database.read() as connection:
            return settings_of(connection, owner)

    def save(self, owner: str, settings: MiningSettings, now: datetime) -> MiningSettings:
        """Replaces the settings of ``owner``; the file follows in the same transaction."""
        with self._database.write() as connection:
            statement = insert_or(connection, table).values(
                owner=owner, updated_at=rfc3339(now), body=canonical_json(settings)
            )
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["owner"],
                    set_={"updated_at": statement.excluded.updated_at, "body": statement.excluded.body},
                )
            )
            put_document(connection, "memory", CURRENT, document_bytes(_current(connection)))
        return settings


def settings_of(connection: Connection, owner: str) -> MiningSettings:
    """As ``MiningSettingsStore.of``, inside a transaction."""
    body = connection.scalar(select(table.c.body).where(table.c.owner == owner))
    return MiningSettings.model_validate_json(body) if body is not None else MiningSettings()


def _current(connection: Connection) -> dict[str, object]:
    rows = connection.execute(select(table.c.owner, table.c.body).order_by(table.c.owner))
    people = {row.owner: MiningSettings.model_validate_json(row.body).model_dump(mode="json") for row in rows}
    return {"schema_version": 1, "people": people}
