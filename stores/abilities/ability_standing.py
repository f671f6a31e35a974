"""Freshness and outcomes of abilities: stale bridge or inventory, unprojected files, counts of uses and failures."""

import json
import threading
from collections import Counter
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from contracts.abilities.availability import AbilityFreshness
from contracts.abilities.capability_health import RuntimeInventory
from contracts.abilities.capability_manifest import BridgeState
from contracts.abilities.lifecycle import AbilityOutcomes
from contracts.learning.checkpoints import CheckpointStatus
from contracts.learning.lifecycle import LearningReceiptKind as Receipt
from domain.abilities.availability import Seen, freshness
from stores.abilities.ability_rows import BRIDGE
from stores.abilities.derived_files import (
    AVAILABILITY,
    CATALOG,
    INVENTORY,
    read_bridge_state,
    read_inventory,
)
from stores.platform.database import Database
from stores.platform.journal.journal import CHECKPOINT_RECEIPTS, RECEIPTS
from stores.platform.projection.documents import unwritten
from stores.platform.tables import ability_versions, documents, journal

_FILES = (AVAILABILITY.path, CATALOG.path, BRIDGE.path, INVENTORY)


class FreshnessReads:
    """How far abilities are shown as they are. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._known: tuple[tuple[str | None, str | None], BridgeState, RuntimeInventory | None] | None = None

    def look(self, now: datetime) -> AbilityFreshness:
        """What is behind as of ``now``. The bridge is read anew only when it has changed."""
        of_files = select(documents.c.path, documents.c.digest, documents.c.dirty).where(
            documents.c.root == "memory", documents.c.path.in_(_FILES)
        )
        with self._database.read() as connection:
            rows = {row.path: row for row in connection.execute(of_files)}
            skills_unwritten = bool(unwritten(connection, "workspace"))
            digests = tuple(rows[path].digest if path in rows else None for path in (BRIDGE.path, INVENTORY))
            bridge, inventory = self._read(connection, (digests[0], digests[1]))
        behind = {path for path, row in rows.items() if row.dirty}
        seen = Seen(
            bridge=bridge,
            inventory=inventory,
            snapshot_unwritten=not behind.isdisjoint({AVAILABILITY.path, CATALOG.path}),
            bridge_unwritten=BRIDGE.path in behind,
            skills_unwritten=skills_unwritten,
        )
        return freshness(seen, now)

    def _read(
        self, connection: Connection, digests: tuple[str | None, str | None]
    ) -> tuple[BridgeState, RuntimeInventory | None]:
        with self._lock:
            known = self._known
        if known is None or known[0] != digests:
            kept = read_bridge_state(connection)
            known = (digests, kept.bridge_state if kept else BridgeState.FRESH, read_inventory(connection))
            with self._lock:
                self._known = known
        return known[1], known[2]


def outcomes_of(connection: Connection, ability_id: str) -> AbilityOutcomes:
    """The counts of one ability. Installs are counted by version, so they outlive the receipts' retention."""
    rows = connection.execute(
        select(journal.c.stream, journal.c.document, journal.c.created_at)
        .where(
            journal.c.stream.in_((RECEIPTS, CHECKPOINT_RECEIPTS)),
            journal.c.ability_id == ability_id,
        )
        .order_by(journal.c.seq)
    )
    counts: Counter[str] = Counter()
    last: dict[str, str] = {}
    for row in rows:
        document: dict[str, Any] = json.loads(row.document)
        kind = str(document["event_kind"] if row.stream == RECEIPTS else document["status"])
        counts[kind] += 1
        last[kind] = row.created_at
    versions = [
        bool(json.loads(body).get("restored_from"))
        for body in connection.scalars(
            select(ability_versions.c.body).where(ability_versions.c.ability_id == ability_id)
        )
    ]
    reached = counts[CheckpointStatus.REACHED.value]
    failed = counts[CheckpointStatus.FAILED.value]
    return AbilityOutcomes(
        ability_id=ability_id,
        installs=versions.count(False),
        rollbacks=versions.count(True),
        quarantines=counts[Receipt.QUARANTINED.value],
        uses=counts[Receipt.USED_LATER.value],
        last_used_at=_time(last.get(Receipt.USED_LATER.value)),
        checkpoints_reached=reached,
        checkpoints_skipped=counts[CheckpointStatus.SKIPPED.value],
        checkpoints_failed=failed,
        checkpoint_success=reached / (reached + failed) if reached + failed else None,
        last_failed_at=_time(last.get(CheckpointStatus.FAILED.value)),
    )


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text is not None else None
