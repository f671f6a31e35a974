"""Ability lifecycle: command bodies, responses, receipts, and what the store keeps beside the availability entry.

DOC3 §0C.16A, lines 1583-1587; routes.md.
"""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from contracts.abilities.availability import (
    AbilityAvailabilityEntry,
    AbilityLifecycleAction,
    AbilityState,
    CheckpointHealth,
    InstallLane,
    LifecycleRequester,
)
from contracts.base import Contract, Sha256, Text120, Text160, Text200, Text240, UtcTime, VersionedContract
from contracts.errors import ErrorCode
from contracts.platform.commands import Command, CommitKey


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


class AbilityActionRequest(Command):
    """A command that needs no arguments; the body may be left out altogether."""

    reason: Text240 | None = None


class QuarantineAbilityRequest(Command):
    """Takes an ability out of use because something is wrong with it."""

    reason: Annotated[str, StringConstraints(min_length=1, max_length=240)]


class RollbackAbilityRequest(Command):
    """Makes an older version's content current; without a version, that of the previous one."""

    to_version: int | None = Field(default=None, ge=1, le=1_000_000)
    reason: Text240 | None = None


class AbilityEnabledResponse(Contract):
    """The answer of ``activate`` and ``deactivate``."""

    ability_id: Text160
    enabled: bool


class AbilityQuarantineResponse(Contract):
    """The answer of ``quarantine`` and ``unquarantine``."""

    ability_id: Text160
    quarantined: bool
    reason: Text240 | None = None


class AbilityLaneResponse(Contract):
    """The answer of ``promote-shared`` and ``demote-private``."""

    ability_id: Text160
    install_lane: InstallLane


class AbilityArchivedResponse(Contract):
    """The answer of ``archive``. Nothing is deleted: ``activate`` brings the ability back."""

    ability_id: Text160
    archived: Literal[True] = True


class AbilityRollbackResponse(Contract):
    """The answer of ``rollback``: a new version that holds an older one's content."""

    ability_id: Text160
    version: int = Field(ge=1)
    restored_from: int = Field(ge=1)
    content_hash: Sha256
