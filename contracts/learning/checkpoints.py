"""Checkpoint verification by agents: the report, its receipt, and the state of each checkpoint.

Decisions "Checkpoints".
"""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from contracts.abilities.control_surface import ControlSurface
from contracts.base import (
    Contract,
    Text80,
    Text120,
    Text160,
    Text240,
    Text500,
    Text1000,
    UtcTime,
    Uuid,
    VersionedContract,
)


class CheckpointStatus(StrEnum):
    """What an agent says of a checkpoint."""

    REACHED = "reached"
    SKIPPED = "skipped"
    FAILED = "failed"


class VerifyCheckpointRequest(VersionedContract):
    """An agent's voluntary word on one checkpoint. It names a session, a dispatch, an ability, or several."""

    checkpoint_id: str = Field(pattern=r"^cp-\d{2,3}$")
    learn_session_id: Uuid | None = None
    dispatch_id: Uuid | None = None
    ability_id: Text160 | None = Field(
        default=None, description="Left out, it is the ability that the session has installed, if any."
    )
    status: CheckpointStatus
    evidence: Text1000 = Field(description="What was seen; secrets are masked before it is kept.")
    reason: Text500 | None = Field(default=None, description="Why it was skipped or failed.")
    control_surface: ControlSurface | None = Field(
        default=None,
        description="By what it was done, where that is not the surface that the skill prefers: a fallback.",
    )
    client_request_id: Text120 | None = None

    @model_validator(mode="after")
    def _belongs_somewhere(self) -> Self:
        if not (self.learn_session_id or self.dispatch_id or self.ability_id):
            raise ValueError("name the learn_session_id, the dispatch_id or the ability_id it belongs to")
        return self


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
    control_surface: ControlSurface | None = None
    created_at: UtcTime


class FrictionEvent(VersionedContract):
    """A checkpoint that was skipped, handed over in ``learning/friction_events.jsonl`` (DOC3 R11.2-19)."""

    friction_event_id: Uuid
    receipt_id: Uuid
    checkpoint_id: Text80
    learn_session_id: Uuid | None = None
    dispatch_id: Uuid | None = None
    ability_id: Text160 | None = None
    evidence: Text1000
    reason: Text500 | None = None
    created_at: UtcTime


class RepairCandidate(VersionedContract):
    """A checkpoint that failed, handed over in ``learning/repair_candidates.jsonl`` (DOC3 R11.2-20)."""

    repair_candidate_id: Uuid
    receipt_id: Uuid
    checkpoint_id: Text80
    learn_session_id: Uuid | None = None
    dispatch_id: Uuid | None = None
    ability_id: Text160 | None = None
    failure_fingerprint: Text160 = Field(description="The same for the same checkpoint failing again.")
    evidence: Text1000
    reason: Text500 | None = None
    created_at: UtcTime


class CheckpointProgressStatus(StrEnum):
    """Where one checkpoint stands (DOC3 §0C.9B): not yet reached, or what its newest receipt says."""

    NOT_REACHED = "not_reached"
    REACHED = "reached"
    SKIPPED = "skipped"
    FAILED = "failed"


class CheckpointProgressItem(Contract):
    """One checkpoint with its newest receipt laid over it."""

    checkpoint_id: Text80
    goal: Text240 | None = Field(default=None, description="Absent where only the receipt is known.")
    success_condition: Text240 | None = None
    order_hint: int | None = Field(default=None, ge=0)
    status: CheckpointProgressStatus
    evidence: Text1000 | None = None
    reason: Text500 | None = None
    verified_at: UtcTime | None = None


class CheckpointProgressResponse(VersionedContract):
    """A session's or a dispatch's checkpoints in their order (DOC3 §0C.9B)."""

    checkpoints: tuple[CheckpointProgressItem, ...]
    reached: int = Field(ge=0)
    total: int = Field(ge=0)
