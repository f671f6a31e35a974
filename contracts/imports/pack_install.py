"""The install of a skill pack: its record, its requests, and the messages of its workflow.

A pack is installed as a saga of the install sagas of its members: all of them, or none (DOC3 §0C.20, §1.1P).
"""

from enum import StrEnum

from pydantic import Field

from contracts.base import (
    Contract,
    Sha256,
    Text80,
    Text120,
    Text200,
    Text240,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.imports.import_work import WorkDone
from contracts.imports.packs import PackId
from contracts.imports.requests import ImportTargetScope, OverrideReason
from contracts.imports.scanning import OverrideAsked
from contracts.learning.install import SagaState
from contracts.platform.commands import Command, CommitKey


class PackStepState(StrEnum):
    """Where one member of an install stands."""

    KEPT = "kept"
    """It was installed before, and is not touched."""
    PENDING = "pending"
    INSTALLING = "installing"
    INSTALLED = "installed"
    FAILED = "failed"
    """It is for this one that the pack is not installed."""
    ROLLED_BACK = "rolled_back"
    ROLLBACK_FAILED = "rollback_failed"


class PackStep(Contract):
    """One member of an install, and how far it has come."""

    skill: Text80
    state: PackStepState
    import_id: Uuid | None = None
    saga_id: Uuid | None = None
    error: Text240 | None = None


class PackInstall(VersionedContract):
    """One install of a pack, readable while it runs and afterwards. ``version`` counts its changes."""

    pack_install_id: Uuid
    pack_id: PackId
    pack_version: int
    owner_user_id: Text120
    target_scope: ImportTargetScope
    state: SagaState
    members: tuple[PackStep, ...]
    cancel_asked: bool = False
    error_code: Text120 | None = None
    error: Text240 | None = None
    workflow_id: Text240
    correlation_id: Text200
    version: int = 0
    started_at: UtcTime
    updated_at: UtcTime

    @property
    def is_over(self) -> bool:
        """Whether it has ended, one way or the other."""
        return self.state not in (SagaState.RUNNING, SagaState.COMPENSATING)

    def with_member(self, skill: str, state: PackStepState, error: str | None = None) -> "PackInstall":
        """The install with one member in another state."""
        return self.changed(
            members=tuple(
                one.changed(state=state, error=error or one.error) if one.skill == skill else one
                for one in self.members
            )
        )


class SkillPackInstallRequest(Command):
    """Install a pack."""

    target_scope: ImportTargetScope = ImportTargetScope.PRIVATE
    expected_version: int | None = Field(
        default=None, ge=1, le=2**31 - 1, description="Refused where the pack has another version by now."
    )
    override_reason: OverrideReason | None = Field(
        default=None, description="Why members are installed in spite of what their scan found."
    )
    accept_unproved: bool = Field(
        default=False, description="Install them although nothing has shown that they work."
    )
    unproved_digest: Sha256 | None = Field(
        default=None, description="Of the list that was read; refused where it is another by now."
    )


class SkillPackInstallCancelRequest(Command):
    """Give an install up; what it did is undone."""

    reason: Text240 | None = None


class SkillPackInstallResponse(VersionedContract):
    """One install, and the receipt of the command that this answers."""

    install: PackInstall
    receipt_id: Uuid | None = None


class PackOrder(Contract):
    """Opens an install of a pack. ``at`` is set by the workflow."""

    pack_install_id: Uuid
    pack_id: PackId
    commit_key: CommitKey
    correlation_id: Text200
    at: UtcTime | None = None
    target_scope: ImportTargetScope = ImportTargetScope.PRIVATE
    expected_version: int | None = None
    override: OverrideAsked | None = None
    accept_unproved: bool = False
    unproved_digest: Sha256 | None = None

    @property
    def owner_user_id(self) -> str:
        """Who asks, and owns the pack."""
        return self.commit_key.owner_user_id


class PackCancel(Contract):
    """Gives an install up. ``at`` is set by the workflow."""

    pack_install_id: Uuid
    commit_key: CommitKey
    correlation_id: Text200
    at: UtcTime | None = None
    reason: Text240 | None = None


class PackReceipt(Contract):
    """What one command came to; it is kept under the command's key."""

    pack_install_id: Uuid
    receipt_id: Uuid


class PackOutcome(Contract):
    """The answer to a command: its receipt, and the install as it stands."""

    receipt: PackReceipt
    present: PackInstall


class PackStart(Contract):
    """Starts the workflow of an install; everything else is in the store."""

    pack_install_id: Uuid
    owner_user_id: Text120


class PackSeen(Contract):
    """An install as the store has it; None before it was opened."""

    present: PackInstall | None = None


class PackProgress(Contract):
    """Notes how far one member has come, or that everything is undone from now on (``undoing``)."""

    pack_install_id: Uuid
    at: UtcTime
    skill: Text80 | None = None
    state: PackStepState | None = None
    undoing: bool = False
    done: WorkDone | None = Field(default=None, description="For what the member failed.")


class PackSettled(Contract):
    """Ends an install: every import of it is installed, or its install has failed."""

    pack_install_id: Uuid
    at: UtcTime
    state: SagaState


class PackEnd(Contract):
    """How an install ended; None where it was never opened."""

    pack_install_id: Uuid
    state: SagaState | None = None
