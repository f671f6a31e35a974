"""All sweeps of nightly maintenance, put together."""

from pathlib import Path

from stores.acrobat_sweep import RemoveContent
from stores.archive_sweeps import ArchiveProposals, ArchiveSessions, PurgeObservations
from stores.compaction_sweeps import ForgetKeys, RemoveBlobs
from stores.database import Database
from stores.maintenance_store import MaintenanceStore
from stores.mcp.gateway_sweeps import RemoveGrants, RemoveSignInFlows, RemoveToolCalls
from stores.mining_sweeps import RemoveMiningCandidates, RemoveMiningRuns
from stores.observations import ObservationLog
from stores.open_references import OpenReferences
from stores.practice_sweeps import RemovePracticeFiles
from stores.receipt_sweeps import CompactCheckpointReceipts, RotateReceipts
from stores.retention_sweeps import RetentionSweeps
from stores.secret_sweeps import RemoveExpiredSecrets


def nightly_sweeps(
    database: Database, runs: MaintenanceStore, observations: ObservationLog, practice_folder: Path
) -> RetentionSweeps:
    """The sweeps over ``database`` and the start files in ``practice_folder``; the workflow decides their order."""
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
            RemoveContent(RemoveBlobs()),
            RemoveExpiredSecrets(),
            RemoveMiningRuns(),
            RemoveMiningCandidates(),
            RemovePracticeFiles(practice_folder, references),
            RemoveToolCalls(),
            RemoveGrants(),
            RemoveSignInFlows(),
        ),
    )
