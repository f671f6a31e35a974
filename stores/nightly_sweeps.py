"""All sweeps of nightly maintenance, put together."""

from stores.archive_sweeps import ArchiveProposals, ArchiveSessions, PurgeObservations
from stores.compaction_sweeps import ForgetKeys, RemoveBlobs
from stores.database import Database
from stores.maintenance_store import MaintenanceStore
from stores.observations import ObservationLog
from stores.open_references import OpenReferences
from stores.receipt_sweeps import CompactCheckpointReceipts, RotateReceipts
from stores.retention_sweeps import RetentionSweeps


def nightly_sweeps(
    database: Database, runs: MaintenanceStore, observations: ObservationLog
) -> RetentionSweeps:
    """The sweeps over ``database``; the workflow decides their order."""
    references = OpenReferences()
    return RetentionSweeps(
        database,
        runs,
        (
            ArchiveSessions(references),
            PurgeObservations(references, observations),
            ArchiveProposals(references),
            ForgetKeys(),
            RotateReceipts(),
            CompactCheckpointReceipts(),
            RemoveBlobs(),
        ),
    )
