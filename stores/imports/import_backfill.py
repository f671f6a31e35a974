"""Brings imports that a former version stored up to date, each once, with a receipt (DOC3 §0C.20, lines 3505-3514)."""

import json
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy import Connection, or_, select

from contracts.imports.compatibility import (
    FindingSeverity,
    SkillCompatibilityFinding,
    SkillCompatibilityReport,
)
from contracts.imports.former_imports import FORMER_PATH, FORMER_STATES, NEEDS_ADAPTER, brought_up
from contracts.imports.import_record import SkillImportState
from contracts.imports.import_work import SkillImport
from contracts.learning.lifecycle import LearningReceiptKind
from contracts.workflow_ids import skill_import_workflow_id
from stores.imports.import_tables import IMPORTS, skill_imports
from stores.imports.imports import REPORT_PREFIX
from stores.platform.blobs import put_blob, read_blob
from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.journal.journal import JournalEntries, append

log = structlog.get_logger(__name__)

RULE_VERSION = "former"
"""The rules of a report that a former version did not keep."""

_STATES = (*FORMER_STATES, *(one.value for one in SkillImportState))


def backfill_imports(database: Database, now: datetime) -> int:
    """Rewrites every import of a former version as it would be stored today; how many there were.

    The row and its receipt (``migration_backfill``) are one transaction. Safe to repeat, by any number of workers.
    """
    table = skill_imports.c
    former = or_(table.state.in_(list(FORMER_STATES)), table.body.contains(f'"{FORMER_PATH}"'))
    with database.read() as connection:
        found = connection.scalars(select(table.import_id).where(table.state.in_(_STATES), former)).all()
    changed = sum(_backfilled(database, import_id, now) for import_id in found)
    if changed:
        log.info("imports of a former version were brought up to date", imports=changed)
    return changed


def _backfilled(database: Database, import_id: str, now: datetime) -> bool:
    table = skill_imports.c
    with database.write() as connection:
        body = connection.scalar(select(table.body).where(table.import_id == import_id).with_for_update())
        stored: dict[str, Any] = json.loads(body) if body is not None else {}
        raw, said = brought_up(stored)
        if not said:
            return False
        present = SkillImport.model_validate(raw)
        if stored["record"]["stage_state"] == NEEDS_ADAPTER:
            present = _with_adapter_report(connection, present, now)
        IMPORTS.replace(connection, present.changed(version=present.version + 1), version=present.version + 1)
        entries = JournalEntries(
            skill_import_workflow_id(import_id),
            present.owner_user_id,
            present.correlation_id,
            now,
            import_id=import_id,
        )
        append(connection, entries.receipt(LearningReceiptKind.MIGRATION_BACKFILL, "; ".join(said)).drafts)
        return True


def _with_adapter_report(connection: Connection, present: SkillImport, now: datetime) -> SkillImport:
    """The import with a report that says that an adapter is needed, and why."""
    found = SkillCompatibilityFinding(
        code="REQUIRES_ADAPTER",
        severity=FindingSeverity.WARNING,
        message="An earlier version found that the skill needs an adapter before it can be used here. "
        "Upload the bundle again to see for what.",
    )
    report = SkillCompatibilityReport(compatible=False, rule_version=RULE_VERSION)
    if present.report_blob is not None:
        report = read_blob(connection, present.report_blob, SkillCompatibilityReport)
    report = report.changed(requires_adapter=True, findings=(*report.findings, found))
    blob = put_blob(connection, canonical_json(report).encode(), now)
    return present.changed(
        report_blob=blob,
        record=present.record.changed(compatibility_report_ref=f"{REPORT_PREFIX}{blob}"),
    )
