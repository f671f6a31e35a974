"""Receipts of verified checkpoints (decisions "Checkpoints")."""

from enum import StrEnum

from contracts.base import Text80, Text160, Text500, Text1000, UtcTime, Uuid, VersionedContract


class CheckpointStatus(StrEnum):
    """What an agent says of a checkpoint."""

    REACHED = "reached"
    SKIPPED = "skipped"
    FAILED = "failed"


class CheckpointVerificationReceipt(VersionedContract):
    """An agent's word on one checkpoint, with its evidence."""

    receipt_id: Uuid
    checkpoint_id: Text80
    learn_session_id: Uuid | None = None
    dispatch_id: Uuid | None = None
    ability_id: Text160 | None = None
    status: CheckpointStatus
    evidence: Text1000
    reason: Text500 | None = None
    created_at: UtcTime
