"""Verified checkpoints in the document."""

from typing import Any

from pydantic import BaseModel

from api.openapi_story import SESSION_ID, THEN, example_id
from contracts.errors import ErrorCode
from contracts.learning.checkpoint import (
    CheckpointProgressItem,
    CheckpointProgressResponse,
    CheckpointProgressStatus,
    CheckpointStatus,
    CheckpointVerificationReceipt,
)

_EVIDENCE = "top.txt lists the regions, the largest first"

REQUESTS: dict[str, dict[str, Any]] = {
    "bridge_verify_checkpoint": {
        "checkpoint_id": "cp-01",
        "learn_session_id": SESSION_ID,
        "status": "reached",
        "evidence": _EVIDENCE,
    },
}
MODELS: tuple[BaseModel, ...] = (
    CheckpointVerificationReceipt(
        receipt_id=example_id(8),
        checkpoint_id="cp-01",
        learn_session_id=SESSION_ID,
        status=CheckpointStatus.REACHED,
        evidence=_EVIDENCE,
        created_at=THEN,
    ),
    CheckpointProgressResponse(
        checkpoints=(
            CheckpointProgressItem(
                checkpoint_id="cp-01",
                goal="The regions are ranked",
                success_condition="top.txt lists the regions, the largest first",
                order_hint=1,
                status=CheckpointProgressStatus.REACHED,
                evidence=_EVIDENCE,
                verified_at=THEN,
            ),
            CheckpointProgressItem(
                checkpoint_id="cp-02",
                goal="The report is packed",
                success_condition="reports.tgz exists",
                order_hint=2,
                status=CheckpointProgressStatus.NOT_REACHED,
            ),
        ),
        reached=1,
        total=2,
    ),
)
ERRORS: dict[str, tuple[ErrorCode, ...]] = {
    "bridge_verify_checkpoint": (
        ErrorCode.LEARN_SESSION_NOT_FOUND,
        ErrorCode.ABILITY_NOT_FOUND,
        ErrorCode.STORAGE_FULL,
    ),
}
PATH_IDS: dict[str, ErrorCode] = {"dispatch_id": ErrorCode.NOT_FOUND}
TAG: dict[str, str] | None = {
    "name": "checkpoints",
    "description": "Milestones that agents verify of their own accord.",
}
