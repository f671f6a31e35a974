"""Imports of skill bundles: scan, stage, decide, retry; the list and one import (DOC3 §0C.20)."""

from datetime import UTC, datetime
from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter, Depends, Path, Query

from api.platform.commands import ApproverFrame, CommandFrame, InstallerFrame, LearnerFrame, masked
from api.platform.dependencies import PageDep, Reader, ServicesDep, parse_uuid
from api.services import Services
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.imports.compatibility import SkillCompatibilityReport
from contracts.imports.import_record import ImportedSkillRecord, RetryKind, SkillImportState, SourceRefKind
from contracts.imports.import_work import ImportCommand, ImportOrder, ImportOutcome, SkillImport
from contracts.imports.requests import (
    ImportNextStep,
    ImportOverlap,
    ImportTargetScope,
    OfImport,
    SkillImportApproveRequest,
    SkillImportDetailResponse,
    SkillImportDiscardRequest,
    SkillImportInstallPrivateRequest,
    SkillImportListResponse,
    SkillImportRejectRequest,
    SkillImportRetryRequest,
    SkillImportScanRequest,
    SkillImportScanResponse,
    SkillImportStageRequest,
    SkillImportStageResponse,
    SkillImportTerminalActionResponse,
)
from contracts.imports.scanning import OverrideAsked
from contracts.learning.validation import unproved_digest
from contracts.platform.identity import Scope
from domain.imports.import_advice import next_steps, warnings_of
from domain.imports.import_draft import capability_id_of
from domain.imports.trigger_match import import_candidate, overlaps
from domain.learning.session import deployment
from gateways.imports.skill_imports import import_id_for

router = APIRouter(prefix="/api/skills/import", tags=["imports"])

LEGACY_REF = "legacy"
"""What is shown in the place of a former path (rule 5, line 3504)."""


def _import_id(import_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(import_id, ErrorCode.SKILL_IMPORT_NOT_FOUND, "import")


ImportId = Annotated[str, Depends(_import_id)]


@router.post("/scan", operation_id="skill_import_scan")
async def scan(body: SkillImportScanRequest, frame: LearnerFrame) -> SkillImportScanResponse:
    """Opens an import of an upload: unpacks, reads and scans it, and answers with what was found.

    An archive that is refused, or holds no skill, is an import whose scan has failed; the report says why. Of several
    skills the shallowest is imported, or the one of ``skill_folder``; the report names the others.
    """
    plain = _with_one_name(body)

    async def act() -> SkillImportScanResponse:
        key = frame.key_for(plain)
        # Refused here already where there is no such upload: a workflow is not opened for it.
        known = await anyio.to_thread.run_sync(frame.services.imports.store.recall, key)
        if known is None:
            uploads = frame.services.imports.uploads
            await anyio.to_thread.run_sync(uploads.owned, plain.artifact_ref, frame.owner)
        order = ImportOrder(
            import_id=import_id_for(key),
            command=ImportCommand.SCAN,
            commit_key=key,
            correlation_id=frame.correlation_id,
            source=body.source,
            upload_ref=plain.artifact_ref,
            skill_folder=plain.skill_folder,
        )
        outcome = await frame.services.imports.gateway.send(order)
        report = await anyio.to_thread.run_sync(frame.services.imports.store.report, outcome.present)
        return SkillImportScanResponse(
            import_record=shown(outcome.present),
            compatibility_report=report or _no_report(outcome.present),
            receipt_id=outcome.receipt.receipt_id,
            next=_next(outcome.present),
        )

    return await frame.answer_once(plain, act, SkillImportScanResponse)


@router.post("/stage", operation_id="skill_import_stage")
async def stage(body: SkillImportStageRequest, frame: LearnerFrame) -> SkillImportStageResponse:
    """Keeps the files of a scanned bundle, so that it can be reviewed. It then waits without a deadline."""

    async def act() -> SkillImportStageResponse:
        outcome = await _send(
            frame,
            ImportCommand.STAGE,
            body,
            note=masked(body.stage_notes),
            requested_pack_id=body.requested_pack_id,
            override=override_asked(frame, body.override_reason),
        )
        record = shown(outcome.present)
        staged = record.source_ref_kind is SourceRefKind.MATERIALIZED_BUNDLE
        return SkillImportStageResponse(
            import_record=record,
            materialized_bundle_ref=record.source_ref if staged else None,
            receipt_id=outcome.receipt.receipt_id,
            next=_next(outcome.present),
        )

    return await frame.answer_once(body, act, SkillImportStageResponse)


@router.post("/approve", operation_id="skill_import_approve")
async def approve(body: SkillImportApproveRequest, frame: ApproverFrame) -> SkillImportTerminalActionResponse:
    """Records that a reviewed bundle is approved, which ends the import and installs nothing.

    To install it, use ``install-private`` in place of this: once approved, an import takes no install, and its upload
    has to be scanned again as a new one.
    """
    override = override_asked(frame, body.override_reason)
    return await _decided(
        frame, ImportCommand.APPROVE, body, note=masked(body.approval_note), override=override
    )


@router.post("/reject", operation_id="skill_import_reject")
async def reject(body: SkillImportRejectRequest, frame: ApproverFrame) -> SkillImportTerminalActionResponse:
    """Turns a reviewed bundle down, with a reason."""
    return await _decided(frame, ImportCommand.REJECT, body, note=masked(body.reason))


@router.post("/install-private", operation_id="skill_import_install_private")
async def install_private(
    body: SkillImportInstallPrivateRequest, frame: InstallerFrame
) -> SkillImportTerminalActionResponse:
    """Installs a reviewed bundle as a learned skill is installed; answered when that has ended.

    For the one who imported it; for the whole workspace with the scope ``approve`` too. The scan and the trigger cases
    are no proof that it works: ``unproved`` of its detail lists what a person has to accept.
    """
    if body.target_scope is ImportTargetScope.WORKSPACE:
        frame.caller.require(Scope.APPROVE)
    await anyio.to_thread.run_sync(frame.services.pending.require_settled)
    return await _decided(
        frame,
        ImportCommand.INSTALL,
        body,
        target_scope=body.target_scope,
        override=override_asked(frame, body.override_reason),
        accept_unproved=body.accept_unproved,
        unproved_digest=body.unproved_digest,
    )


@router.post("/discard", operation_id="skill_import_discard")
async def discard(body: SkillImportDiscardRequest, frame: LearnerFrame) -> SkillImportTerminalActionResponse:
    """Drops an import that is scanned, being staged, or waits for review; one of which a step has failed is set aside.

    The graph of states lets nothing but a retry leave a failed step. What is set aside keeps its state, says
    `set_aside_at`, is in no pack and is not listed, unless `set_aside` asks for it; a retry takes it up again.
    """
    return await _decided(frame, ImportCommand.DISCARD, body, note=masked(body.reason))


@router.post("/retry", operation_id="skill_import_retry")
async def retry(body: SkillImportRetryRequest, frame: LearnerFrame) -> SkillImportTerminalActionResponse:
    """Does the step again that has failed: a scan, a staging, or, with the scopes of an install, an install."""
    if body.retry_kind is RetryKind.INSTALL:
        owned = frame.services.imports.store.owned
        present = await anyio.to_thread.run_sync(owned, body.import_id, frame.owner)
        frame.caller.require(Scope.INSTALL)
        if present.target_scope is ImportTargetScope.WORKSPACE:
            frame.caller.require(Scope.APPROVE)
        await anyio.to_thread.run_sync(frame.services.pending.require_settled)
    return await _decided(frame, ImportCommand.RETRY, body, retry_kind=body.retry_kind)


@router.get("/list", operation_id="skill_import_list")
def list_imports(
    caller: Reader,
    services: ServicesDep,
    page: PageDep,
    stage_state: Annotated[SkillImportState | None, Query(description="Only in this state.")] = None,
    set_aside: Annotated[
        bool, Query(description="Also those that were discarded after a step had failed.")
    ] = False,
) -> SkillImportListResponse:
    """The caller's imports, newest first."""
    found = services.imports.store.page(caller.user_id, page, stage_state, set_aside=set_aside)
    return SkillImportListResponse(items=tuple(map(shown, found.documents)), **found.counts)


@router.get("/{import_id}", operation_id="skill_import_detail")
def detail(import_id: ImportId, caller: Reader, services: ServicesDep) -> SkillImportDetailResponse:
    """One import: its record, what its scan found, and what a person should know before going on."""
    present = services.imports.store.owned(import_id, caller.user_id)
    now = datetime.now(UTC)
    installed = present.state is SkillImportState.INSTALLED_PRIVATE
    return SkillImportDetailResponse(
        import_record=shown(present),
        compatibility_report=services.imports.store.report(present),
        partial_deployment=deployment.partial_deployment(services.pending.look(), now),
        proposal_id=present.proposal_id,
        held_up_by=None if present.is_over else present.held,
        override=present.override,
        ability_id=capability_id_of(present.record.skill_name) if installed else None,
        unproved=present.unproved,
        unproved_digest=unproved_digest(present.unproved) if present.unproved else None,
        overlaps=_overlaps(present, services),
        warnings=warnings_of(present, now),
        next=next_steps(present, now),
    )


_UNDECIDED = frozenset({SkillImportState.SCAN_COMPLETE, SkillImportState.READY_FOR_REVIEW})
"""States in which a person who reviews an import wants to know what it would stand beside."""


def _overlaps(present: SkillImport, services: Services) -> tuple[ImportOverlap, ...]:
    front = services.imports.store.front(present) if present.state in _UNDECIDED else None
    if front is None:
        return ()
    found = overlaps(
        import_candidate(front, present.owner_user_id),
        services.abilities.indexed(),
        services.abilities.beside,
    )
    return tuple(
        ImportOverlap(ability_id=one.ability_id, title=clipped(one.title, 160), triggers=tuple(one.triggers))
        for one in found
    )


def _next(present: SkillImport) -> tuple[ImportNextStep, ...]:
    return next_steps(present, datetime.now(UTC))


def shown(present: SkillImport) -> ImportedSkillRecord:
    """The record as clients see it: a former path is never shown."""
    if present.record.source_ref_kind is SourceRefKind.LEGACY_PATH:
        return present.record.changed(source_ref=LEGACY_REF)
    return present.record


async def _decided(
    frame: CommandFrame, command: ImportCommand, body: OfImport, **fields: Any
) -> SkillImportTerminalActionResponse:
    async def act() -> SkillImportTerminalActionResponse:
        outcome = await _send(frame, command, body, **fields)
        return SkillImportTerminalActionResponse(
            import_record=shown(outcome.present),
            receipt_id=outcome.receipt.receipt_id,
            saga_id=outcome.present.saga_id,
            next=_next(outcome.present),
        )

    return await frame.answer_once(body, act, SkillImportTerminalActionResponse)


async def _send(frame: CommandFrame, command: ImportCommand, body: OfImport, **fields: Any) -> ImportOutcome:
    # Another's import is not found before its workflow hears of it.
    await anyio.to_thread.run_sync(frame.services.imports.store.owned, body.import_id, frame.owner)
    order = ImportOrder(
        import_id=body.import_id,
        command=command,
        commit_key=frame.key_for(body),
        correlation_id=frame.correlation_id,
        **fields,
    )
    return await frame.services.imports.gateway.send(order)


def override_asked(frame: CommandFrame, reason: str | None) -> OverrideAsked | None:
    """The caller's wish to go on in spite of findings; the import decides whether their scope is enough.

    Raises:
        Refusal: ``FORBIDDEN`` where the caller may override nothing.
    """
    if reason is None:
        return None
    frame.caller.require(Scope.APPROVE, "To go on in spite of what a scan found")
    scope = Scope.ADMIN if frame.caller.may(Scope.ADMIN) else Scope.APPROVE
    return OverrideAsked(reason=masked(reason), scope=scope, token_id=frame.caller.token_id)


def _with_one_name(body: SkillImportScanRequest) -> SkillImportScanRequest:
    """The request with the upload under its present name, so that a key stands for both spellings."""
    return body.changed(temp_artifact_ref=body.artifact_ref, staged_upload_ref=None)


def _no_report(present: SkillImport) -> SkillCompatibilityReport:
    """The refusal of a scan whose answer holds no report, since it did not come so far.

    Raises:
        Refusal: ``SKILL_IMPORT_UPLOAD_EXPIRED``, or ``CONFLICT`` while it still runs.
    """
    if present.state is SkillImportState.EXPIRED:
        raise Refusal(
            ErrorCode.SKILL_IMPORT_UPLOAD_EXPIRED,
            "The upload expired before its scan ended; upload the bundle again.",
            import_id=present.import_id,
        )
    raise Refusal(
        ErrorCode.CONFLICT,
        "The scan could not be carried out; POST /api/skills/import/retry with retry_kind scan.",
        import_id=present.import_id,
        current_state=present.state.value,
    )
