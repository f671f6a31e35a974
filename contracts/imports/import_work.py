"""What is stored of skill imports and their uploads, and the messages of their workflow."""

from enum import StrEnum
from typing import Any

from pydantic import Field, model_validator

from contracts.abilities.availability import (
    MAX_UNPROVED,
    ImportOrigin,
    InstallLane,
    UnprovedAcceptance,
    UnprovedStep,
)
from contracts.base import (
    Contract,
    Sha256,
    Text80,
    Text120,
    Text200,
    Text240,
    Text1000,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.imports.former_imports import brought_up, is_former
from contracts.imports.import_record import (
    TERMINAL,
    ImportedSkillRecord,
    RetryKind,
    SkillImportSource,
    SkillImportState,
)
from contracts.imports.packs import PackId
from contracts.imports.requests import ImportTargetScope
from contracts.imports.scanning import OverrideAsked, ScanHold, ScanOverride
from contracts.imports.uploads import SkillImportUploadMetadata, TempArtifactRef
from contracts.learning.install import InstallSagaInput
from contracts.learning.validation import ValidationRunInput, ValidationRunOutput
from contracts.platform.commands import Command, CommitKey


class UploadedBundle(Command):
    """What an idempotency key of an upload stands for: the metadata, and the file by its digest."""

    metadata: SkillImportUploadMetadata
    filename: Text240
    content_hash_sha256: Sha256


class StoredUpload(VersionedContract):
    """An upload as it is stored: its handle, its owner, and what was said with it."""

    artifact: TempArtifactRef
    owner_user_id: Text120
    metadata: SkillImportUploadMetadata

    @property
    def upload_ref(self) -> str:
        """The handle by which clients name the upload."""
        return self.artifact.temp_artifact_ref

    @property
    def expires_at(self) -> UtcTime:
        """When the upload can no longer be scanned or staged."""
        return self.artifact.expires_at


class SkillImport(VersionedContract):
    """One import as it is stored. ``version`` counts its changes."""

    record: ImportedSkillRecord
    owner_user_id: Text120
    version: int = 0
    upload_ref: Text240
    upload_expires_at: UtcTime
    skill_folder: Text240 | None = None
    """The folder of the archive whose skill is imported; the shallowest where none was named."""
    report_blob: Sha256 | None = None
    front_blob: Sha256 | None = None
    """What the skill says of itself, as the newest scan read it; it is asked of in trigger tests."""
    compatible: bool = False
    """Whether the newest scan found the bundle compatible."""
    retried: RetryKind | None = None
    """The step that is, or last was, tried again; None while the first try is under way."""
    failed_retries: dict[RetryKind, int] = Field(default_factory=dict[RetryKind, int])
    held: ScanHold | None = None
    """What the newest scan found that a person has to go on in spite of."""
    override: ScanOverride | None = None
    """Who went on in spite of it, and why; gone with a new scan."""
    target_scope: ImportTargetScope | None = None
    asked_pack_id: PackId | None = None
    """The pack that a person wants it in; what a bundle says of itself makes it a member of nothing."""
    pack_install_id: Uuid | None = None
    """The install of a pack that installs it, or did so last; its own workflow does no install then."""
    archive_sha256: Sha256 | None = None
    """Of the uploaded archive; absent in imports that were opened before it was kept."""
    unproved: tuple[UnprovedStep, ...] = Field(default=(), max_length=MAX_UNPROVED)
    """What nothing here can show to work; it is installed only where a person accepts the list."""
    missing_cases: Text240 | None = None
    """Which trigger cases the staged bundle is short of; it is not approved so (P-26)."""
    accepted: UnprovedAcceptance | None = None
    validation_run_id: Uuid | None = None
    saga_id: Uuid | None = None
    """The install under way, or the last one; each try has its own, and its own validation run."""
    proposal_id: Uuid | None = None
    correlation_id: Text200

    @model_validator(mode="before")
    @classmethod
    def _of_a_former_version(cls, stored: Any) -> Any:
        """What a former version has stored is read as it would be stored today."""
        return brought_up(stored)[0] if is_former(stored) else stored

    @property
    def origin(self) -> ImportOrigin | None:
        """What an installed skill says of where it came from; None where the archive's digest was not kept."""
        if self.archive_sha256 is None:
            return None
        said = self.override
        return ImportOrigin(
            import_id=self.record.import_id,
            source=self.record.source.value,
            archive_sha256=self.archive_sha256,
            original_filename=self.record.original_filename,
            overridden=said.codes if said is not None else (),
            overridden_by=said.by_user_id if said is not None else None,
            override_reason=said.reason if said is not None else None,
        )

    @property
    def lane(self) -> InstallLane:
        """Where an install puts it."""
        workspace = self.target_scope is ImportTargetScope.WORKSPACE
        return InstallLane.APPROVED_WORKSPACE if workspace else InstallLane.EXPERIMENTAL_PRIVATE

    @property
    def import_id(self) -> str:
        """The import's id."""
        return self.record.import_id

    @property
    def state(self) -> SkillImportState:
        """Where the import stands."""
        return self.record.stage_state

    @property
    def is_over(self) -> bool:
        """Whether the import has reached a state that it does not leave."""
        return self.state in TERMINAL


class ImportCommand(StrEnum):
    """What a person can have an import do."""

    SCAN = "scan"
    STAGE = "stage"
    APPROVE = "approve"
    REJECT = "reject"
    INSTALL = "install"
    DISCARD = "discard"
    RETRY = "retry"


class ImportOrder(Contract):
    """One command to an import. ``at`` is set by the workflow."""

    import_id: Uuid
    command: ImportCommand
    commit_key: CommitKey
    correlation_id: Text200
    at: UtcTime | None = None
    note: Text1000 | None = None
    source: SkillImportSource | None = None
    upload_ref: Text240 | None = None
    skill_folder: Text240 | None = None
    requested_pack_id: PackId | None = None
    retry_kind: RetryKind | None = None
    target_scope: ImportTargetScope | None = None
    override: OverrideAsked | None = None
    accept_unproved: bool = False
    unproved_digest: Sha256 | None = None
    pack_install_id: Uuid | None = None

    @property
    def owner_user_id(self) -> str:
        """Who asks, and owns the import."""
        return self.commit_key.owner_user_id


class ImportReceipt(Contract):
    """What one command came to; it is kept under the command's key."""

    import_id: Uuid
    receipt_id: Uuid
    saga_id: Uuid | None = None


class ImportOutcome(Contract):
    """The answer to a command: its receipt, and the import as it stands when the work that it began has ended."""

    receipt: ImportReceipt
    present: SkillImport


class ImportStart(Contract):
    """Starts the workflow of an import; everything else is in the store."""

    import_id: Uuid
    owner_user_id: Text120


class ImportSeen(Contract):
    """An import as the store has it; None before its scan was asked for."""

    present: SkillImport | None = None


class ImportWork(Contract):
    """One piece of work on an import: scan or stage its bundle."""

    import_id: Uuid
    at: UtcTime


class WorkDone(Contract):
    """What a scan or a staging came to.

    ``error_code`` says that it failed, and why; ``expired`` that the upload was gone.
    """

    skill_name: Text80 | None = None
    report_blob: Sha256 | None = None
    front_blob: Sha256 | None = None
    compatible: bool = False
    requires_adapter: bool = False
    held: ScanHold | None = None
    suggested_pack_id: PackId | None = None
    bundle_ref: Text240 | None = None
    unproved: tuple[UnprovedStep, ...] = Field(default=(), max_length=MAX_UNPROVED)
    missing_cases: Text240 | None = None
    error_code: Text120 | None = None
    error: Text240 | None = None
    expired: bool = False


class ImportInstall(Contract):
    """An install that is prepared: the draft is kept, and this is to be validated and installed."""

    validation: ValidationRunInput
    saga: InstallSagaInput


class ImportValidated(Contract):
    """What validating an import's draft came to."""

    run: ValidationRunInput
    output: ValidationRunOutput
    at: UtcTime
    again: bool = False
    """Whether a person asked for it once more, and not the import for its install: then a receipt says how it ended."""


class WorkSettled(Contract):
    """Has the store move an import on by what its work came to."""

    import_id: Uuid
    kind: RetryKind
    done: WorkDone
    at: UtcTime


class ImportEnd(Contract):
    """How an import ended."""

    import_id: Uuid
    state: SkillImportState | None = None
