"""Imports as former versions stored them, read as imports of today (DOC3 §0C.20, lines 3494-3514; §0.2B; §1.1P)."""

from collections.abc import Mapping
from typing import Any, cast

from contracts.imports.import_record import SkillImportState as S
from contracts.imports.import_record import SourceRefKind

FORMER_PATH = "input_path"
"""The field in which a former record names a file of the machine; its value is never shown."""

NEEDS_ADAPTER = "needs_adapter"

FORMER_STATES: Mapping[str, S] = {
    "scanned": S.SCAN_COMPLETE,
    NEEDS_ADAPTER: S.SCAN_COMPLETE,
    "lint_failed": S.SCAN_FAILED,
    "failed": S.SCAN_FAILED,
    "staged": S.READY_FOR_REVIEW,
    "awaiting_review": S.READY_FOR_REVIEW,
    "approved_for_workspace": S.APPROVED,
    "promoted": S.APPROVED,
    "promoted_shared": S.APPROVED,
    "cancelled": S.DISCARDED,
}
"""What a state of a former version is today. A promotion is the ability's alone now, so of it the approval is left."""


def is_former(stored: Any) -> bool:
    """Whether a stored import, as it was parsed, was written by a former version."""
    record = cast("dict[str, Any]", stored).get("record") if isinstance(stored, dict) else None
    if not isinstance(record, dict):
        return False
    fields = cast("dict[str, Any]", record)
    return FORMER_PATH in fields or fields.get("stage_state") in FORMER_STATES


def brought_up(stored: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A stored import in today's shape, and what was filled in; the second is empty where nothing had to be.

    Nothing in what was filled in tells the former path.
    """
    if not is_former(stored):
        return dict(stored), ()
    record: dict[str, Any] = dict(stored["record"])
    said: list[str] = []
    if FORMER_PATH in record:
        path = record.pop(FORMER_PATH)
        if record.get("source_ref"):
            said.append(f"{FORMER_PATH} removed")
        else:
            record |= {"source_ref_kind": SourceRefKind.LEGACY_PATH.value, "source_ref": path}
            said.append(f"{FORMER_PATH} became source_ref")
    former = record["stage_state"]
    if former in FORMER_STATES:
        record["stage_state"] = FORMER_STATES[former].value
        said.append(f"stage_state {former} became {record['stage_state']}")
    if former == NEEDS_ADAPTER:
        record["requires_adapter"] = True
    absent = {
        "upload_ref": "",
        "upload_expires_at": record["updated_at"],
        "correlation_id": f"migration-backfill/{record['import_id']}",
    }
    filled = {name: value for name, value in absent.items() if name not in stored}
    if filled:
        said.append(f"{', '.join(filled)} filled in")
    return {**stored, **filled, "record": record}, tuple(said)
