"""What a person is told of an import as it stands: what to know before going on, and what can be done next.

DOC3 §0C.20, lines 3486-3524. The graph of the document lets an import be approved or installed: ``approved`` is an end
that no install leaves.
"""

from datetime import datetime, timedelta

from contracts.base import clipped
from contracts.errors import ErrorCode
from contracts.imports.import_record import RetryKind
from contracts.imports.import_record import SkillImportState as S
from contracts.imports.import_rules import WORKING
from contracts.imports.import_work import SkillImport
from contracts.imports.requests import ImportNextStep
from contracts.imports.uploads import EXPIRES_SOON
from domain.imports.import_draft import capability_id_of

_NEEDS_UPLOAD = frozenset({S.UPLOADED, S.SCANNING, S.SCAN_FAILED, S.SCAN_COMPLETE, S.STAGE_FAILED})
"""States whose next step reads the upload: from staging on the bundle has its own copy."""

RETRY_LIMIT = 3
"""Failed retries of one kind after which the detail warns ``retry_limit_reached`` (line 3522)."""

REVIEW_STALE_AFTER = timedelta(days=7)
"""How long a review may be parked before the detail says so; it never ends by itself (rule 8, line 3507)."""

_ROUTE = "/api/skills/import"
_FAILED = {
    S.SCAN_FAILED: RetryKind.SCAN,
    S.STAGE_FAILED: RetryKind.STAGE,
    S.INSTALL_FAILED: RetryKind.INSTALL,
}


def warnings_of(present: SkillImport, now: datetime) -> tuple[str, ...]:
    """What a person should know about an import as it stands; each begins with a stable code."""
    found: list[str] = []
    if present.state in _NEEDS_UPLOAD:
        left = present.upload_expires_at - now
        if left <= timedelta():
            found.append("upload_expired: the upload is gone after 24 hours; upload the bundle again.")
        elif left < EXPIRES_SOON:
            minutes = int(left.total_seconds() // 60)
            found.append(f"upload_expiring_soon: the upload expires in {minutes} minutes; stage it before.")
    for kind, failed in sorted(present.failed_retries.items()):
        if failed >= RETRY_LIMIT:
            found.append(
                f"retry_limit_reached: {kind.value} was retried {failed} times and failed; mend the bundle and"
                " upload it again."
            )
    if present.state is S.READY_FOR_REVIEW and present.missing_cases is not None:
        found.append(clipped(f"trigger_cases_missing: {present.missing_cases}", 240))
    if present.state is S.READY_FOR_REVIEW and now - present.record.updated_at > REVIEW_STALE_AFTER:
        days = (now - present.record.updated_at).days
        found.append(f"review_stale: it has waited for a decision for {days} days.")
    return tuple(found)


def next_steps(present: SkillImport, now: datetime) -> tuple[ImportNextStep, ...]:
    """The steps that the import takes now, the usual one first; none where nothing is left to do."""
    if present.state in WORKING:
        route = f"GET {_ROUTE}/{present.import_id}"
        return (_step("Look again: its work is under way", f"import show {present.import_id}", route),)
    if present.state is S.SCAN_COMPLETE:
        return _of_scanned(present)
    if present.state is S.READY_FOR_REVIEW:
        return _of_reviewed(present)
    if present.state in _FAILED:
        return _of_failed(present, _FAILED[present.state])
    if present.state is S.INSTALLED_PRIVATE:
        ability = capability_id_of(present.record.skill_name)
        return (_step("Ask for it", f"abilities show {ability}", f"GET /api/abilities/{ability}"),)
    if present.state is S.APPROVED:
        return _of_approved(present, now)
    return (_added("The upload is gone; add the bundle again"),) if present.state is S.EXPIRED else ()


def _of_failed(present: SkillImport, kind: RetryKind) -> tuple[ImportNextStep, ...]:
    again = _step("Try it again", f"import retry {present.import_id} {kind.value}", f"POST {_ROUTE}/retry")
    mend = _added("Mend the bundle and add it again")
    dropped = () if present.record.set_aside_at is not None else (_command(present, "Or drop it", "discard"),)
    if kind is RetryKind.SCAN and present.report_blob is not None:
        # The archive was read and refused: it stays as it is, and so would the answer.
        return (mend, *dropped)
    if present.record.last_error_code == ErrorCode.VALIDATION_REQUIRED:
        later = again.changed(
            what="Or, where an installed ability was in its way and is not any more, try it again"
        )
        return (mend, *dropped, later)
    return (again, mend, *dropped)


def _of_scanned(present: SkillImport) -> tuple[ImportNextStep, ...]:
    dropped = _command(present, "Drop it", "discard")
    if present.compatible and not present.record.requires_adapter:
        return (_command(present, "Stage it for review", "stage"), dropped)
    return (_added("Mend what its report names and add the bundle again"), dropped)


def _of_reviewed(present: SkillImport) -> tuple[ImportNextStep, ...]:
    why = " --override REASON" if present.held is not None and present.override is None else ""
    return (
        _command(present, "Install it as an ability", "install", why, action="install-private"),
        _command(present, "Or approve it, which installs nothing and ends the import", "approve", why),
        _command(present, "Or turn it down", "reject", " --reason REASON"),
        _command(present, "Or drop it", "discard"),
    )


def _of_approved(present: SkillImport, now: datetime) -> tuple[ImportNextStep, ...]:
    added = _added("To install it, add its archive again, stage it, and install instead of approving")
    if present.upload_expires_at <= now:
        return (added,)
    scan = _step(
        "To install it, scan its upload again, stage it, and install instead of approving",
        f"import scan {present.upload_ref}",
        f"POST {_ROUTE}/scan",
    )
    return (scan, added.changed(what="Or, where the upload was deleted, add its archive again"))


def _command(
    present: SkillImport, what: str, command: str, options: str = "", *, action: str | None = None
) -> ImportNextStep:
    return _step(what, f"import {command} {present.import_id}{options}", f"POST {_ROUTE}/{action or command}")


def _added(what: str) -> ImportNextStep:
    return _step(what, "import add FILE.zip", f"POST {_ROUTE}/uploads")


def _step(what: str, command: str, route: str) -> ImportNextStep:
    return ImportNextStep(what=what, command=f"apprentice {command}", route=route)
