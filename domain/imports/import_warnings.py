"""What a person should know about a skill import before going on (DOC3 §0C.20, lines 3506-3524)."""

from datetime import datetime, timedelta

from contracts.imports.import_record import SkillImportState as S
from contracts.imports.import_work import SkillImport
from contracts.imports.uploads import EXPIRES_SOON

_NEEDS_UPLOAD = frozenset({S.UPLOADED, S.SCANNING, S.SCAN_FAILED, S.SCAN_COMPLETE, S.STAGE_FAILED})
"""States whose next step reads the upload: from staging on the bundle has its own copy."""

RETRY_LIMIT = 3
"""Failed retries of one kind after which the detail warns ``retry_limit_reached`` (line 3522)."""

REVIEW_STALE_AFTER = timedelta(days=7)
"""How long a review may be parked before the detail says so; it never ends by itself (rule 8, line 3507)."""


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
    if present.state is S.READY_FOR_REVIEW and now - present.record.updated_at > REVIEW_STALE_AFTER:
        days = (now - present.record.updated_at).days
        found.append(f"review_stale: it has waited for a decision for {days} days.")
    return tuple(found)
