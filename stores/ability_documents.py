"""The files about all abilities, derived from their rows: bridge, health, stats, snapshot, catalog."""

from datetime import datetime

from sqlalchemy import Connection, select

from contracts.abilities.availability import AbilityAvailabilityEntry
from contracts.capabilities.bridge import BridgeState, HealthStatus
from contracts.capabilities.health import CapabilityHealthState, CapabilityStats
from contracts.capabilities.manifest import CapabilityManifest
from domain.abilities.availability import CatalogSource, availability_snapshot, catalog
from domain.abilities.bridge import bridge_document, bridge_entry, health_current, stats_current
from stores.canonical import document_bytes
from stores.documents import put_document
from stores.tables import abilities, capabilities

BRIDGE = "system/capabilities/bridge_entries_current.json"
HEALTH = "system/capabilities/health_current.json"
STATS = "system/capabilities/stats_current.json"
AVAILABILITY = "system/abilities/availability_current.json"
CATALOG = "system/abilities/catalog_current.json"

BRIDGE_FILES = (BRIDGE, HEALTH, STATS)
SNAPSHOT_FILES = (AVAILABILITY, CATALOG)


def rebuild_bridge(connection: Connection, as_of: datetime) -> None:
    """Rewrites the bridge and the files beside it from the capabilities there are."""
    rows = connection.execute(select(capabilities).order_by(capabilities.c.capability_id)).all()
    entries = [
        bridge_entry(
            CapabilityManifest.model_validate_json(row.manifest),
            HealthStatus(row.health),
            datetime.fromisoformat(row.updated_at),
        )
        for row in rows
    ]
    states = [
        CapabilityHealthState(
            capability_id=row.capability_id,
            health_status=HealthStatus(row.health),
            last_verified_at=datetime.fromisoformat(row.updated_at),
        )
        for row in rows
    ]
    stats = [CapabilityStats(capability_id=row.capability_id) for row in rows]
    for path, document in (
        (BRIDGE, bridge_document(entries, BridgeState.FRESH, as_of)),
        (HEALTH, health_current(states, as_of)),
        (STATS, stats_current(stats, as_of)),
    ):
        put_document(connection, "memory", path, document_bytes(document))


def refresh_snapshot(connection: Connection, as_of: datetime) -> None:
    """Rewrites the availability snapshot and the catalog from the abilities there are."""
    rows = connection.execute(select(abilities).order_by(abilities.c.ability_id)).all()
    sources = [
        CatalogSource(
            ability=AbilityAvailabilityEntry.model_validate_json(row.body),
            created_at=datetime.fromisoformat(row.created_at),
            updated_at=datetime.fromisoformat(row.updated_at),
        )
        for row in rows
    ]
    snapshot = availability_snapshot([source.ability for source in sources], as_of)
    put_document(connection, "memory", AVAILABILITY, document_bytes(snapshot))
    put_document(connection, "memory", CATALOG, document_bytes(catalog(sources, as_of)))
