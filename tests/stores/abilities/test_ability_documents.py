"""The files about all abilities hold what their rows hold, in the shape of their contracts."""

from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import insert

from bench.snapshot import entry_of
from contracts.abilities.availability import AbilityAvailabilitySnapshot, SkillCatalogCurrent
from stores.abilities.derived_files import AVAILABILITY, CATALOG, refresh_snapshot
from stores.platform.canonical import canonical_json, document_bytes
from stores.platform.database import Database
from stores.platform.projection.documents import read_document
from stores.platform.tables import abilities, metadata

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_the_snapshot_and_the_catalog_are_the_rows_by_id(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'a.db'}")
    metadata.create_all(database.engine)
    entries = [entry_of(number) for number in (7, 3, 5)]
    with database.write() as connection:
        for entry in entries:
            connection.execute(
                insert(abilities).values(
                    ability_id=entry.ability_id,
                    owner=entry.owner_user_id,
                    slug=entry.skill_slug,
                    lane=entry.install_lane.value,
                    version=1,
                    created_at="2026-01-01T00:00:00.000000Z",
                    updated_at="2026-01-02T00:00:00.000000Z",
                    body=canonical_json(entry),
                )
            )
        refresh_snapshot(connection, NOW)
        snapshot = read_document(connection, "memory", AVAILABILITY.path)
        catalog = read_document(connection, "memory", CATALOG.path)
    database.close()

    ordered = tuple(sorted(entries, key=lambda entry: entry.ability_id))
    expected = AbilityAvailabilitySnapshot(abilities=ordered, snapshot_as_of=NOW)
    assert snapshot == document_bytes(expected)
    assert catalog is not None
    listed = SkillCatalogCurrent.model_validate_json(catalog)
    assert catalog == document_bytes(listed)
    assert [(item.ability_id, item.title, item.updated_at.day) for item in listed.items] == [
        (entry.ability_id, entry.title, 2) for entry in ordered
    ]
