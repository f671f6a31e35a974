"""Requests and answers of the import routes (DOC3 §0C.20, lines 3294-3404, 3437-3464)."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from contracts.abilities.availability import UnprovedStep
from contracts.base import Contract, Sha256, Text160, Text240, Text400, Text1000, Uuid, VersionedContract
from contracts.imports.compatibility import SkillCompatibilityReport
from contracts.imports.import_record import ImportedSkillRecord, RetryKind, SkillImportSource
from contracts.imports.packs import PackId
from contracts.imports.scanning import ScanHold, ScanOverride
from contracts.learning.views.account import LearnPartialDeploymentState
from contracts.platform.commands import Command
from contracts.platform.lists import Page


class SkillImportScanRequest(Command):
    """Scan an upload. ``staged_upload_ref`` is the former name of ``temp_artifact_ref`` (rule 3, line 3502)."""

    source: SkillImportSource
    temp_artifact_ref: Text240 | None = None
    staged_upload_ref: Text240 | None = None
    skill_folder: Text240 | None = Field(
        default=None,
        description="The folder in the archive of the skill that is imported, as a report names it; empty for the top. "
        "The shallowest skill, when left out.",
    )

    @model_validator(mode="after")
    def _names_one_artifact(self) -> Self:
        named = {self.temp_artifact_ref, self.staged_upload_ref} - {None}
        if len(named) != 1:
            raise ValueError("temp_artifact_ref names the upload that is scanned")
        return self

    @property
    def artifact_ref(self) -> str:
        """The upload, by whichever name it was given."""
        return self.temp_artifact_ref or self.staged_upload_ref or ""


class ImportNextStep(Contract):
    """A step that an import takes now: what it does, the command that a person types, and the route."""

    what: Text240
    command: Text400
    route: Text400


NextSteps = Annotated[
    tuple[ImportNextStep, ...],
    Field(description="What can be done with it next, the usual step first; empty where it is over."),
]


class SkillImportScanResponse(VersionedContract):
    """A scanned import with its findings."""

    import_record: ImportedSkillRecord
    compatibility_report: SkillCompatibilityReport
    receipt_id: Uuid | None = None
    next: NextSteps = ()


OverrideReason = Annotated[str, StringConstraints(min_length=1, max_length=1000, strip_whitespace=True)]
"""Why somebody goes on in spite of what a scan found; it is recorded with who and when."""


class OfImport(Command):
    """What every request on one import names."""

    import_id: Uuid


class SkillImportStageRequest(OfImport):
    """Materialise a scanned bundle for review."""

    requested_pack_id: PackId | None = None
    stage_notes: Text1000 | None = None
    override_reason: OverrideReason | None = Field(
        default=None, description="Why it is staged in spite of findings that block; needs the scope admin."
    )


class SkillImportStageResponse(VersionedContract):
    """A staged import."""

    import_record: ImportedSkillRecord
    materialized_bundle_ref: Text240 | None = None
    receipt_id: Uuid | None = None
    next: NextSteps = ()


class SkillImportApproveRequest(OfImport):
    """Approve a reviewed import; it ends there, and nothing is installed."""

    approval_note: Text1000 | None = None
    override_reason: OverrideReason | None = Field(
        default=None, description="Why it is approved in spite of what the scan found."
    )


class SkillImportRejectRequest(OfImport):
    """Turn an import down."""

    reason: Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class ImportTargetScope(StrEnum):
    """Where an import is installed."""

    PRIVATE = "private"
    WORKSPACE = "workspace"


class SkillImportInstallPrivateRequest(OfImport):
    """Install a reviewed import."""

    target_scope: ImportTargetScope = ImportTargetScope.PRIVATE
    override_reason: OverrideReason | None = Field(
        default=None,
        description="Why it is installed in spite of what the scan found; needs the scope approve.",
    )
    accept_unproved: bool = Field(
        default=False, description="Install it although nothing has shown that what `unproved` lists works."
    )
    unproved_digest: Sha256 | None = Field(
        default=None, description="Of the list that was read; refused where it is another by now."
    )


class SkillImportDiscardRequest(OfImport):
    """Drop an import."""

    reason: Text1000 | None = None


class SkillImportRetryRequest(OfImport):
    """Try a failed step again."""

    retry_kind: RetryKind


class SkillImportTerminalActionResponse(VersionedContract):
    """The answer to a decision on an import, and to a retry."""

    import_record: ImportedSkillRecord
    receipt_id: Uuid | None = None
    saga_id: Uuid | None = None
    next: NextSteps = ()


class ImportOverlap(Contract):
    """An installed ability to which agents would be routed by triggers of the import."""

    ability_id: Text160
    title: Text160
    triggers: tuple[Text240, ...]


class SkillImportDetailResponse(VersionedContract):
    """Everything that is shown of one import."""

    import_record: ImportedSkillRecord
    compatibility_report: SkillCompatibilityReport | None = None
    partial_deployment: LearnPartialDeploymentState | None = None
    proposal_id: Uuid | None = None
    held_up_by: ScanHold | None = None
    override: ScanOverride | None = None
    ability_id: Text160 | None = Field(default=None, description="The ability that it was installed as.")
    unproved: tuple[UnprovedStep, ...] = Field(
        default=(),
        description="What nothing here can show to work; it is installed only with `accept_unproved`.",
    )
    unproved_digest: Sha256 | None = None
    overlaps: tuple[ImportOverlap, ...] = Field(
        default=(),
        description="Installed abilities that answer its triggers; while it can still be decided about.",
    )
    warnings: tuple[Text240, ...] = ()
    next: NextSteps = ()


class SkillImportListResponse(Page):
    """One page of a user's imports."""

    items: tuple[ImportedSkillRecord, ...] = ()


class SkillTriggerTestRequest(VersionedContract):
    """Would this text find the import or the ability?"""

    import_id: Uuid | None = None
    ability_id: Text160 | None = None
    trigger_text: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    project_id: Text160 | None = None
    context_excerpt: Annotated[str, StringConstraints(max_length=4000)] | None = None

    @model_validator(mode="after")
    def _names_a_candidate(self) -> Self:
        if not (self.import_id or self.ability_id):
            raise ValueError("Either import_id or ability_id is required")
        return self


class SkillTriggerTestResponse(VersionedContract):
    """Whether the runtime's matcher would pick the candidate, and why."""

    matched: bool
    candidate_ability_id: Text160 | None = None
    candidate_import_id: Uuid | None = None
    score: float | None = Field(default=None, ge=0, le=1)
    reasons: tuple[Text240, ...] = ()
    rejection_reasons: tuple[Text240, ...] = ()
    receipt_id: Uuid | None = None
