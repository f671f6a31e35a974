"""What is decided and not yet in the files that others read."""

import time

from sqlalchemy import func, select

from domain.learning.deployment import Pending
from stores.ability_documents import AVAILABILITY, CATALOG
from stores.capability_bridge import BRIDGE
from stores.database import Database
from stores.session_entries import RECEIPTS
from stores.tables import documents, journal, projection_offsets

LOOK_AGAIN_SECONDS = 0.05


class PendingProjection:
    """How far the memory tree is behind the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def look(self) -> Pending:
        """Which of the files about abilities, and whether any receipts, are still to be written."""
        dirty = select(documents.c.path).where(documents.c.root == "memory", documents.c.dirty)
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

    def settled(self, within: float) -> Pending:
        """As ``look``, once nothing about abilities is pending, or when ``within`` seconds have gone by.

        Every change leaves the files behind for a moment, which is no reason to refuse anything.
        """
        give_up = time.monotonic() + within
        while (found := self.look()).availability or found.bridge:
            if time.monotonic() >= give_up:
                break
            time.sleep(LOOK_AGAIN_SECONDS)
        return found
