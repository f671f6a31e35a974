"""The life of an installed ability: orders, their receipts, what the store keeps beside the entry."""

from typing import Literal

from pydantic import Field

from contracts.abilities.availability import AbilityAvailabilityEntry, CheckpointHealth
from contracts.abilities.lifecycle_command import AbilityLifecycleAction, AbilityState, LifecycleRequester
from contracts.base import Contract, Sha256, Text120, Text160, Text200, Text240, UtcTime, VersionedContract
from contracts.errors import ErrorCode
from contracts.learning.aggregate import CommitKey
from contracts.learning.proposal import InstallLane


class AbilityOrder(Contract):
    """One command on its way to the store: who wants what of which ability, under which key."""

    commit_key: CommitKey
    correlation_id: Text200
    ability_id: Text160
    action: AbilityLifecycleAction
    reason: Text240 | None = None
    to_version: int | None = Field(default=None, ge=1, description="Rollback alone: absent is the previous.")
    requested_by: LifecycleRequester = LifecycleRequester.USER
    caller_user_id: Text120
    as_admin: bool = Field(default=False, description="An admin commands abilities of others too.")


class AbilityReceipt(Contract):
    """What became of an order: enough to compose every route's answer."""

    ability_id: Text160
    action: AbilityLifecycleAction
    state: AbilityState
    enabled: bool
    install_lane: InstallLane
    version: int = Field(ge=1)
    restored_from: int | None = Field(default=None, ge=1)
    content_hash: Sha256
    reason: Text240 | None = None


class AbilityRefusal(Contract):
    """Why a command is not taken now, and what is."""

    code: ErrorCode
    message: str
    current_state: AbilityState
    allowed: tuple[AbilityLifecycleAction, ...] = ()


class AbilityQuarantine(Contract):
    """Why an ability is quarantined, since when, and what it comes back to."""

    reason: Text240
    since: UtcTime
    from_lane: InstallLane
    checkpoint_health: CheckpointHealth | None = None


class AbilityLife(Contract):
    """What the store keeps of an ability beside its entry. ``change`` counts the commands carried out."""

    ability_id: Text160
    change: int = Field(ge=0)
    quarantine: AbilityQuarantine | None = None


class ContentFile(Contract):
    """One file of a version, its content a blob."""

    root: Literal["memory", "workspace"]
    path: str
    digest: Sha256


class AbilityContent(Contract):
    """A version as it was installed: what a rollback puts back."""

    ability_id: Text160
    version: int = Field(ge=1)
    entry: AbilityAvailabilityEntry
    manifest: str = Field(description="The capability manifest, canonical JSON.")
    files: tuple[ContentFile, ...]


class AbilityOutcomes(VersionedContract):
    """How an ability has done, counted from the journal's receipts.

    ``checkpoint_success`` is reached over reached and failed; absent before any of them.
    """

    ability_id: Text160
    installs: int = Field(ge=0)
    rollbacks: int = Field(ge=0)
    quarantines: int = Field(ge=0)
    uses: int = Field(ge=0)
    last_used_at: UtcTime | None = None
    checkpoints_reached: int = Field(ge=0)
    checkpoints_skipped: int = Field(ge=0)
    checkpoints_failed: int = Field(ge=0)
    checkpoint_success: float | None = Field(default=None, ge=0, le=1)
    last_failed_at: UtcTime | None = None
