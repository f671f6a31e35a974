"""Files derived from all abilities and capabilities, and whether they are projected yet.

The bridge (DOC3 §1.1C) with health and stats, the availability snapshot with the catalog, the runtime inventory. A
change updates the entries of the ability that changed; deriving everything anew gives the same, and mends it.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from sqlalchemy import Connection, Row, func, select
from sqlalchemy.exc import SQLAlchemyError

from contracts.abilities.availability import (
    AbilityAvailabilityEntry,
    AbilityAvailabilitySnapshot,
    SkillCatalogCurrent,
    SkillCatalogEntry,
)
from contracts.abilities.capability_health import (
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
from stores.abilities.ability_rows import (
    BRIDGE,
    Standing,
    all_entries,
    capability_row,
    capability_rows,
    entry_of,
    standing_in,
)
from stores.platform.canonical import document_bytes
from stores.platform.database import Database
from stores.platform.journal.journal import RECEIPTS
from stores.platform.projection.documents import put_document, read_document, unwritten
from stores.platform.projection.parted_documents import (
    Part,
    PartedDocument,
    PartsPut,
    parts_behind,
    put_all_parts,
    put_parts,
    read_frame,
    read_frames,
    read_parts,
)
from stores.platform.tables import (
    abilities,
    capabilities,
    journal,
    projection_offsets,
)

AVAILABILITY = PartedDocument("system/abilities/availability_current.json", "abilities")
CATALOG = PartedDocument("system/abilities/catalog_current.json", "items")
HEALTH = PartedDocument("system/capabilities/health_current.json", "capabilities")
STATS = PartedDocument("system/capabilities/stats_current.json", "capabilities")
INVENTORY = "system/capabilities/runtime_inventory_current.json"

BRIDGE_FILES = (BRIDGE, HEALTH, STATS)
SNAPSHOT_FILES = (AVAILABILITY, CATALOG)

SNAPSHOT_WAIT_SECONDS = 10.0
"""How long the files about abilities may be behind the store before nothing is installed; usually it is much less."""

LOOK_AGAIN_SECONDS = 0.05


def rebuild_bridge(connection: Connection, as_of: datetime) -> None:
    """Derives the bridge and the files beside it from all the capabilities there are.

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
    derived = _BridgeParts()
    for standing in standings:
        derived.take(standing, abilities.get(standing.ability_id), inventory, as_of)
    derived.entries.update(kept_entries(connection, unreadable))
    for one in kept_health(connection, unreadable):
        derived.states[one.capability_id] = one.changed(installed_state=InstalledState.MISSING)
    # Of use, nothing is said of what cannot be read.
    derived.put(connection, state, as_of, whole=True)


def update_bridge(connection: Connection, as_of: datetime, ability_id: str, *renamed: str | None) -> None:
    """As ``rebuild_bridge`` where only one ability, its capability or its use has changed: reads only those.

    ``renamed`` are names that its capability had, and may not have any more. Whatever else has changed, such as an
    inventory that grew too old or a row that cannot be read, has everything derived anew.
    """
    inventory = read_inventory(connection)
    if not _others_stand(connection, inventory, as_of):
        rebuild_bridge(connection, as_of)
        return
    own = select(capabilities.c.capability_id).where(capabilities.c.ability_id == ability_id)
    named = {*connection.scalars(own), *parts_behind(connection, BRIDGE), *filter(None, renamed)}
    derived = _BridgeParts()
    for name in sorted(named):
        row = capability_row(connection, name)
        if row is None:
            derived.drop(name)
            continue
        try:
            standing = standing_in(row)
        except ValueError:
            rebuild_bridge(connection, as_of)
            return
        derived.take(standing, entry_of(connection, standing.ability_id), inventory, as_of)
    derived.put(connection, BridgeState.FRESH, as_of, whole=False)


def update_or_keep(connection: Connection, as_of: datetime, ability_id: str) -> None:
    """As ``update_bridge``; a failure of the store itself leaves the last good files, marked ``stale``."""
    _or_keep(connection, lambda: update_bridge(connection, as_of, ability_id))


def rebuild_or_keep(connection: Connection, as_of: datetime) -> None:
    """As ``rebuild_bridge``; a failure of the store itself leaves the last good files, marked ``stale``."""
    _or_keep(connection, lambda: rebuild_bridge(connection, as_of))


def mark_stale(connection: Connection) -> None:
    """Marks the last good bridge as stale, if there is one."""
    kept = read_bridge_state(connection)
    if kept is not None and kept.bridge_state is not BridgeState.STALE:
        put_parts(connection, BRIDGE, kept.changed(bridge_state=BridgeState.STALE), {})


def read_bridge_state(connection: Connection) -> CapabilityBridgeCurrent | None:
    """The bridge as it was last built, without its entries."""
    frame = read_frame(connection, BRIDGE)
    return CapabilityBridgeCurrent.model_validate_json(frame) if frame is not None else None


def kept_entries(
    connection: Connection, capability_ids: Iterable[str]
) -> dict[str, CapabilityRegistryBridgeEntry]:
    """Those entries of the bridge as it was last built, by capability id."""
    found = read_parts(connection, BRIDGE, capability_ids)
    return {
        name: CapabilityRegistryBridgeEntry.model_validate_json(part) for name, part in sorted(found.items())
    }


def kept_health(connection: Connection, capability_ids: Iterable[str]) -> tuple[CapabilityHealthState, ...]:
    """The health of those capabilities as it was last written."""
    found = read_parts(connection, HEALTH, capability_ids)
    return tuple(CapabilityHealthState.model_validate_json(part) for _, part in sorted(found.items()))


def _or_keep(connection: Connection, derive: Callable[[], None]) -> None:
    try:
        with connection.begin_nested():
            derive()
    except SQLAlchemyError:
        mark_stale(connection)


def _others_stand(connection: Connection, inventory: RuntimeInventory | None, as_of: datetime) -> bool:
    """Whether what the bridge says of every other capability is what deriving it now would say."""
    kept = read_bridge_state(connection)
    return (
        kept is not None
        and kept.bridge_state is BridgeState.FRESH
        and bridge_state(BridgeState.FRESH, inventory, as_of) is BridgeState.FRESH
    )


class _BridgeParts:
    """Entries of bridge, health and stats that were derived, by capability id."""

    def __init__(self) -> None:
        self.entries: dict[str, CapabilityRegistryBridgeEntry | None] = {}
        self.states: dict[str, CapabilityHealthState | None] = {}
        self._stats: dict[str, CapabilityStats | None] = {}

    def take(
        self,
        standing: Standing,
        ability: AbilityAvailabilityEntry | None,
        inventory: RuntimeInventory | None,
        as_of: datetime,
    ) -> None:
        """Derives the entries of one capability."""
        name = standing.manifest.capability_id
        self.entries[name] = _entry(standing, ability)
        self.states[name] = health_state(standing, ability, inventory, as_of)
        self._stats[name] = stats_of(standing)

    def drop(self, name: str) -> None:
        """There is no such capability."""
        self.entries[name] = self.states[name] = self._stats[name] = None

    def put(self, connection: Connection, state: BridgeState, as_of: datetime, *, whole: bool) -> None:
        """Writes the three documents."""
        put_all_parts(
            connection,
            (
                PartsPut(BRIDGE, bridge_document((), state, as_of), self.entries, whole),
                PartsPut(HEALTH, health_current((), as_of), self.states, whole),
                PartsPut(STATS, stats_current((), as_of), self._stats, whole),
            ),
        )


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
        # A standing is read of a manifest that is there; whoever meets one that is not says so.
        installed_state=InstalledState.PRESENT,
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


_ONLY_IN_SNAPSHOT = AbilityAvailabilityEntry.model_fields.keys() - SkillCatalogEntry.model_fields.keys()
_NONE: list[str] = []


def refresh_snapshot(connection: Connection, as_of: datetime) -> None:
    """Derives the availability snapshot and the catalog from all the abilities there are.

    The rows hold every ability as its contract is written, and so it goes into the files: reading thousands
    into models and writing them out again would take most of the time.
    """
    rows = connection.execute(_ABILITY_ROWS).all()
    _put_snapshot(connection, as_of, rows, whole=True)


def update_snapshot(connection: Connection, as_of: datetime, ability_id: str) -> None:
    """As ``refresh_snapshot`` where only one ability has changed: reads only that."""
    if None in read_frames(connection, SNAPSHOT_FILES).values():
        refresh_snapshot(connection, as_of)
        return
    rows = connection.execute(_ABILITY_ROWS.where(abilities.c.ability_id == ability_id)).all()
    gone = () if rows else (ability_id,)
    _put_snapshot(connection, as_of, rows, gone, whole=False)


_ABILITY_ROWS = select(
    abilities.c.ability_id, abilities.c.body, abilities.c.created_at, abilities.c.updated_at
)


def _put_snapshot(
    connection: Connection,
    as_of: datetime,
    rows: Iterable[Row[*tuple[Any, ...]]],
    gone: Iterable[str] = (),
    *,
    whole: bool,
) -> None:
    entries: dict[str, Part | None] = dict.fromkeys(gone)
    items: dict[str, Part | None] = dict.fromkeys(gone)
    for row in rows:
        entries[row.ability_id] = entry = orjson.loads(row.body)
        items[row.ability_id] = _catalog_item(entry, row)
    snapshot = AbilityAvailabilitySnapshot(abilities=(), snapshot_as_of=as_of)
    catalog = SkillCatalogCurrent(items=(), refreshed_at=as_of)
    put_all_parts(
        connection,
        (PartsPut(AVAILABILITY, snapshot, entries, whole), PartsPut(CATALOG, catalog, items, whole)),
    )


def _catalog_item(entry: Mapping[str, Any], row: Row[*tuple[Any, ...]]) -> dict[str, Any]:
    shown = {name: value for name, value in entry.items() if name not in _ONLY_IN_SNAPSHOT}
    times = {"created_at": row.created_at, "updated_at": row.updated_at}
    return {**shown, **times, "tags": _NONE, "category_ids": _NONE}


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
        decided = select(func.max(journal.c.seq)).where(journal.c.stream == RECEIPTS)
        written = select(projection_offsets.c.seq).where(projection_offsets.c.stream == RECEIPTS)
        with self._database.read() as connection:
            paths = unwritten(connection, "memory")
            newest = connection.scalar(decided) or 0
            reached = connection.scalar(written) or 0
        return Pending(
            availability=AVAILABILITY.path in paths,
            catalog=CATALOG.path in paths,
            bridge=BRIDGE.path in paths,
            receipts=newest > reached,
        )

    def require_settled(self) -> None:
        """Waits until snapshot and bridge are as the store says: their effect must be known before an install.

        Every change leaves them behind for a moment, which is no reason to refuse anything.

        Raises:
            Refusal: ``PARTIAL_DEPLOYMENT`` after ``SNAPSHOT_WAIT_SECONDS``.
        """
        give_up = time.monotonic() + SNAPSHOT_WAIT_SECONDS
        while self._holds_installs_back():
            if time.monotonic() >= give_up:
                refuse_blocked(self.look(), datetime.now(UTC))
            time.sleep(LOOK_AGAIN_SECONDS)

    def _holds_installs_back(self) -> bool:
        with self._database.read() as connection:
            return not unwritten(connection, "memory").isdisjoint((AVAILABILITY.path, BRIDGE.path))
