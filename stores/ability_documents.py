"""The files about all abilities, derived from their rows: bridge, health, stats, snapshot, catalog."""

from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Connection, select

from contracts.abilities.availability import (
    AbilityAvailabilityEntry,
    AbilityAvailabilitySnapshot,
    SkillCatalogCurrent,
    SkillCatalogEntry,
)
from stores.canonical import document_bytes
from stores.capability_bridge import BRIDGE_FILES, rebuild_bridge
from stores.documents import put_document
from stores.tables import abilities

__all__ = ["AVAILABILITY", "BRIDGE_FILES", "CATALOG", "SNAPSHOT_FILES", "rebuild_bridge", "refresh_snapshot"]

AVAILABILITY = "system/abilities/availability_current.json"
CATALOG = "system/abilities/catalog_current.json"

SNAPSHOT_FILES = (AVAILABILITY, CATALOG)

_ONLY_IN_SNAPSHOT = sorted(
    AbilityAvailabilityEntry.model_fields.keys() - SkillCatalogEntry.model_fields.keys()
)
_NONE: list[str] = []


def refresh_snapshot(connection: Connection, as_of: datetime) -> None:
    """Rewrites the availability snapshot and the catalog from the abilities there are, by id.

    The rows hold every ability as its contract is written, and so it goes into the files: reading thousands
    into models and writing them out again would take most of the time of each change.
    """
    columns = (abilities.c.body, abilities.c.created_at, abilities.c.updated_at)
    rows = connection.execute(select(*columns).order_by(abilities.c.ability_id)).all()
    entries: list[dict[str, Any]] = orjson.loads(f"[{','.join(row.body for row in rows)}]")
    snapshot = AbilityAvailabilitySnapshot(abilities=(), snapshot_as_of=as_of).model_dump(mode="json")
    put_document(connection, "memory", AVAILABILITY, document_bytes({**snapshot, "abilities": entries}))
    # An entry becomes its catalog item in place: thousands of new dictionaries would cost more than writing them.
    for entry, row in zip(entries, rows, strict=True):
        for name in _ONLY_IN_SNAPSHOT:
            entry.pop(name, None)
        entry["created_at"], entry["updated_at"] = row.created_at, row.updated_at
        entry["tags"] = entry["category_ids"] = _NONE
    catalog = SkillCatalogCurrent(items=(), refreshed_at=as_of).model_dump(mode="json")
    put_document(connection, "memory", CATALOG, document_bytes({**catalog, "items": entries}))
