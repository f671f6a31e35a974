"""Files derived from all abilities and capabilities, and whether they are projected yet.

The bridge (DOC3 §1.1C) with health and stats, the availability snapshot with the catalog, the runtime inventory.
"""

import time
from datetime import UTC, datetime
from typing import Any

import orjson
from sqlalchemy import Connection, func, select
from sqlalchemy.exc import SQLAlchemyError

from contracts.abilities.availability import (
    AbilityAvailabilityEntry,
    AbilityAvailabilitySnapshot,
    SkillCatalogCurrent,
    SkillCatalogEntry,
)
from contracts.abilities.capability_health import (
    CapabilityHealthCurrent,
    CapabilityHealthState,
    CapabilityStats,
    InstalledState,
    RuntimeInventory,
)
from contracts.abilities.capability_manifest import (
    BridgeState,
    CapabilityBridgeCurrent,
    CapabilityRegistryBridgeEntry,
)
from domain.abilities.availability import (
    bridge_document,
    bridge_entry,
    bridge_state,
    effective_health,
    health_current,
    session_availability,
    stats_current,
)
from domain.abilities.capability_health import CANARY_FAILED
from domain.learning.session.deployment import Pending, refuse_blocked
from stores.abilities.ability_rows import Standing, all_entries, capability_rows, standing_in
from stores.platform.canonical import document_bytes
from stores.platform.database import Database
from stores.platform.journal.journal import RECEIPTS
from stores.platform.projection.documents import put_document, read_document
from stores.platform.tables import (
    IS_DIRTY,
    abilities,
    documents,
    journal,
    projection_offsets,
)

AVAILABILITY = "system/abilities/availability_current.json"
CATALOG = "system/abilities/catalog_current.json"
BRIDGE = "system/capabilities/bridge_entries_current.json"
HEALTH = "system/capabilities/health_current.json"
STATS = "system/capabilities/stats_current.json"
INVENTORY = "system/capabilities/runtime_inventory_current.json"

BRIDGE_FILES = (BRIDGE, HEALTH, STATS)
SNAPSHOT_FILES = (AVAILABILITY, CATALOG)

SNAPSHOT_WAIT_SECONDS = 10.0
"""How long the files about abilities may be behind the store before nothing is installed; usually it is much less."""

LOOK_AGAIN_SECONDS = 0.05


def rebuild_bridge(connection: Connection, as_of: datetime) -> None:
    """Rewrites the bridge and the files beside it from the capabilities there are.

    A capability whose row cannot be read keeps its last good entry, and the bridge says ``partial``; when none
    can be read everything stays as it was and the bridge says ``stale`` (DOC3 L4672, §9.19-3). So does
    a bridge on a runtime inventory that is too old to be believed.
    """
    inventory = read_inventory(connection)
    standings: list[Standing] = []
    unreadable: list[str] = []
    for row in capability_rows(connection):
        try:
            standings.append(standing_in(row))
        except ValueError:
            unreadable.append(row["capability_id"])
    if unreadable and not standings:
        mark_stale(connection)
        return
    state = bridge_state(BridgeState.PARTIAL if unreadable else BridgeState.FRESH, inventory, as_of)
    abilities = {entry.ability_id: entry for entry in all_entries(connection)}
    entries = [_entry(standing, abilities.get(standing.ability_id)) for standing in standings]
    states = [
        health_state(standing, abilities.get(standing.ability_id), inventory, as_of) for standing in standings
    ]
    if unreadable:
        entries += [one for one in bridge_entries(connection) if one.capability_id in unreadable]
        states += [
            one.changed(installed_state=InstalledState.MISSING)
            for one in kept_health(connection)
            if one.capability_id in unreadable
        ]
    for path, document in (
        (BRIDGE, bridge_document(entries, state, as_of)),
        (HEALTH, health_current(states, as_of)),
        (STATS, stats_current(map(stats_of, standings), as_of)),
    ):
        put_document(connection, "memory", path, document_bytes(document))


def rebuild_or_keep(connection: Connection, as_of: datetime) -> None:
    """As ``rebuild_bridge``; a failure of the store itself leaves the last good files, marked ``stale``."""
    try:
        with connection.begin_nested():
            rebuild_bridge(connection, as_of)
    except SQLAlchemyError:
        mark_stale(connection)


def mark_stale(connection: Connection) -> None:
    """Marks the last good bridge as stale, if there is one."""
    kept = read_bridge(connection)
    if kept is not None and kept.bridge_state is not BridgeState.STALE:
        stale = kept.changed(bridge_state=BridgeState.STALE)
        put_document(connection, "memory", BRIDGE, document_bytes(stale))


def read_bridge(connection: Connection) -> CapabilityBridgeCurrent | None:
    """The bridge as it was last built."""
    content = read_document(connection, "memory", BRIDGE)
    return CapabilityBridgeCurrent.model_validate_json(content) if content is not None else None


def bridge_entries(connection: Connection) -> tuple[CapabilityRegistryBridgeEntry, ...]:
    """The entries of the bridge as it was last built."""
    kept = read_bridge(connection)
    return kept.entries if kept is not None else ()


def health_state(
    standing: Standing,
    ability: AbilityAvailabilityEntry | None,
    inventory: RuntimeInventory | None,
    now: datetime,
) -> CapabilityHealthState:
    """Installed, healthy, usable now: the three of one capability; never more than its ability's standing."""
    record = standing.record
    health, held_back_by = effective_health(standing.status, ability)
    return CapabilityHealthState(
        capability_id=standing.manifest.capability_id,
        health_status=health,
        session_availability=session_availability(standing.manifest, inventory, now),
        reason_codes=(*record.reason_codes, *((held_back_by,) if held_back_by else ())),
        last_verified_at=record.last_verified_at,
        cooldown_until=record.cooldown_until,
    )


def stats_of(standing: Standing) -> CapabilityStats:
    """What is known of a capability's use since its present version was installed."""
    record = standing.record
    return CapabilityStats(
        capability_id=standing.manifest.capability_id,
        uses=record.uses,
        checkpoints_reached=record.checkpoints_reached,
        checkpoints_skipped=record.checkpoints_skipped,
        checkpoints_failed=record.checkpoints_failed,
        last_used_at=record.last_used_at,
    )


def _entry(standing: Standing, ability: AbilityAvailabilityEntry | None) -> CapabilityRegistryBridgeEntry:
    codes = standing.record.reason_codes
    # The one word there is room for is the cause, rather than that a recheck has not ended it.
    reasons = [code for code in codes if code != CANARY_FAILED] or codes
    health, held_back_by = effective_health(standing.status, ability)
    return bridge_entry(
        standing.manifest,
        health,
        max(standing.installed_at, standing.record.last_verified_at or standing.installed_at),
        health_reason_code=held_back_by or (reasons[-1] if reasons else None),
    )


def kept_health(connection: Connection) -> tuple[CapabilityHealthState, ...]:
    """The health of capabilities as it was last written."""
    content = read_document(connection, "memory", HEALTH)
    return CapabilityHealthCurrent.model_validate_json(content).capabilities if content is not None else ()


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


def read_inventory(connection: Connection) -> RuntimeInventory | None:
    """What the runtime was last seen to have, or ``None`` before the first inventory."""
    content = read_document(connection, "memory", INVENTORY)
    return RuntimeInventory.model_validate_json(content) if content is not None else None


def put_inventory(connection: Connection, inventory: RuntimeInventory) -> None:
    """Keeps what the runtime was seen to have."""
    put_document(connection, "memory", INVENTORY, document_bytes(inventory))


class PendingProjection:
    """Which of the files that state abilities are not yet projected into the memory tree."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def look(self) -> Pending:
        """Whether snapshot, catalog, bridge and receipts have changes that are not projected yet."""
        dirty = select(documents.c.path).where(documents.c.root == "memory", IS_DIRTY)
        decided = select(func.max(journal.c.seq)).where(journal.c.stream == RECEIPTS)
        written = select(projection_offsets.c.seq).where(projection_offsets.c.stream == RECEIPTS)
        with self._database.read() as connection:
            paths = set(connection.scalars(dirty))
            newest = connection.scalar(decided) or 0
            reached = connection.scalar(written) or 0
        return Pending(
            availability=AVAILABILITY in paths,
            catalog=CATALOG in paths,
            bridge=BRIDGE in paths,
            receipts=newest > reached,
        )

    def require_settled(self) -> None:
        """Waits until snapshot and bridge are as the store says: their effect must be known before an install.

        Every change leaves them behind for a moment, which is no reason to refuse anything.

        Raises:
            Refusal: ``PARTIAL_DEPLOYMENT`` after ``SNAPSHOT_WAIT_SECONDS``.
        """
        give_up = time.monotonic() + SNAPSHOT_WAIT_SECONDS
        while (found := self.look()).availability or found.bridge:
            if time.monotonic() >= give_up:
                refuse_blocked(found, datetime.now(UTC))
            time.sleep(LOOK_AGAIN_SECONDS)
