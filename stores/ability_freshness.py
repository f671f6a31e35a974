"""Whether what is shown of abilities is behind: the bridge, what is known of the runtime, and the files."""

import threading
from datetime import datetime

from sqlalchemy import Connection, select

from contracts.abilities.freshness import AbilityFreshness
from contracts.capabilities.bridge import BridgeState
from contracts.capabilities.runtime import RuntimeInventory
from domain.abilities.freshness import Seen, freshness
from stores.ability_documents import AVAILABILITY, CATALOG
from stores.capability_bridge import BRIDGE, read_bridge
from stores.capability_health_rows import INVENTORY, read_inventory
from stores.database import Database
from stores.tables import documents

_FILES = (AVAILABILITY, CATALOG, BRIDGE, INVENTORY)


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
        of_skills = (
            select(documents.c.path).where(documents.c.dirty, documents.c.root == "workspace").limit(1)
        )
        with self._database.read() as connection:
            rows = {row.path: row for row in connection.execute(of_files)}
            skills_unwritten = connection.scalar(of_skills) is not None
            digests = tuple(rows[path].digest if path in rows else None for path in (BRIDGE, INVENTORY))
            bridge, inventory = self._read(connection, (digests[0], digests[1]))
        unwritten = {path for path, row in rows.items() if row.dirty}
        seen = Seen(
            bridge=bridge,
            inventory=inventory,
            snapshot_unwritten=not unwritten.isdisjoint({AVAILABILITY, CATALOG}),
            bridge_unwritten=BRIDGE in unwritten,
            skills_unwritten=skills_unwritten,
        )
        return freshness(seen, now)

    def _read(
        self, connection: Connection, digests: tuple[str | None, str | None]
    ) -> tuple[BridgeState, RuntimeInventory | None]:
        with self._lock:
            known = self._known
        if known is None or known[0] != digests:
            kept = read_bridge(connection)
            known = (digests, kept.bridge_state if kept else BridgeState.FRESH, read_inventory(connection))
            with self._lock:
                self._known = known
        return known[1], known[2]
