"""Approvals of content: a token for publish_content, and its revocation (skills_interface.md "Routes", O-4)."""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID, uuid5

import anyio.to_thread
from fastapi import APIRouter, Depends, Path

from api.platform.commands import ApproverFrame
from contracts.errors import ErrorCode, Refusal
from contracts.skills.publishing import ApprovalToken, ApproveContentRequest, RevokedApproval
from stores.platform.answers import Answers

_APPROVALS = UUID("7c1b6a52-1f8e-4a57-9d3c-0f6f5a2b8c11")
"""The UUID namespace of approvals that were requested with an idempotency key."""


def _jti(jti: Annotated[str, Path(max_length=200)]) -> str:
    try:
        return str(UUID(jti))
    except ValueError:
        raise Refusal(ErrorCode.NOT_FOUND, "There is no such approval of yours.") from None


router = APIRouter(prefix="/api/skills/approval-tokens", tags=["skills"])


@router.post("", operation_id="skill_approval_create", status_code=201)
async def approve(body: ApproveContentRequest, frame: ApproverFrame) -> ApprovalToken:
    """Approves exactly this content for these platforms; the token is good for one publication.

    A token is never stored: the same idempotency key has it signed again, which gives the same.
    """
    key = frame.client_key(body)
    jti = str(uuid5(_APPROVALS, f"{frame.owner} {key.key}")) if key is not None else None
    approvals = frame.services.skills.approvals

    def act() -> ApprovalToken:
        if key is not None:
            Answers(frame.services.database).hold(key)
        return approvals.approve(body, frame.owner, jti, frame.correlation_id, datetime.now(UTC))

    return await anyio.to_thread.run_sync(act)


@router.delete("/{jti}", operation_id="skill_approval_revoke")
async def revoke(jti: Annotated[str, Depends(_jti)], frame: ApproverFrame) -> RevokedApproval:
    """Has an approval count no more. What was published with it stays published."""
    approvals = frame.services.skills.approvals

    def act() -> RevokedApproval:
        return approvals.revoke(jti, frame.owner, frame.correlation_id, datetime.now(UTC))

    return await frame.write_once(None, act, RevokedApproval)
