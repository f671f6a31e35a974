"""The sweep that deletes handed-in documents when their week is over, with their content, and after them blobs."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete

from contracts.maintenance.runs import SweepName
from stores.acrobat_artifacts import ArtifactKey, drop_artifact, expired_artifacts
from stores.compaction_sweeps import RemoveBlobs, referred_digests
from stores.retention_sweeps import LEFT_ALONE, Settled
from stores.tables import blobs

_MARK = "!"
# Sorts before every digest, so that documents go first.


class RemoveContent:
    """Documents and outputs whose seven days are over go with their content; then what ``RemoveBlobs`` finds.

    Other content that no row refers to is kept 30 days; a person's document is not.
    """

    name = SweepName.REMOVE_BLOBS
    batch = 200

    def __init__(self, blobs_after: RemoveBlobs) -> None:
        self._blobs_after = blobs_after

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Artifacts, then blobs, each in the order of their digests."""
        found: list[str] = []
        if not after or after.startswith(_MARK):
            last = ArtifactKey(*after[1:].split("|", 2)) if after else None
            found = [f"{_MARK}{'|'.join(key)}" for key in expired_artifacts(connection, now, last, limit)]
            after = ""
        if len(found) < limit:
            found += self._blobs_after.due(connection, now, after, limit - len(found))
        return found

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Deletes one artifact, and its content when nothing else refers to that; or one blob."""
        if not item.startswith(_MARK):
            return self._blobs_after.settle(connection, item, now, run_id)
        key = ArtifactKey(*item[1:].split("|", 2))
        if not drop_artifact(connection, key, now):
            return LEFT_ALONE
        if referred_digests(connection, {key.digest}):
            return Settled(done=True, removed=1)
        content = connection.execute(delete(blobs).where(blobs.c.digest == key.digest)).rowcount
        return Settled(done=True, removed=1 + content)
