"""Approvals of content, and its publication: tokens, stored records, answers (CH-33…CH-39, O-4, X-22…X-25)."""

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from contracts.base import Contract, Sha256, Text80, Text120, Text500, UtcTime, Uuid, VersionedContract
from contracts.platform.commands import Command
from contracts.skills.content import ContentPackage

MAX_TOKEN_SECONDS = 7_200
"""The longest life of an approval token (002 L432)."""

MAX_SCHEDULE_DAYS = 30
"""How many days ahead a publication may lie (X-25)."""

Platform = Literal["twitter", "tiktok", "instagram", "youtube"]


class ApproveContentRequest(Command):
    """Approves exactly this content, for these platforms."""

    content: ContentPackage
    platforms: tuple[Platform, ...] = Field(min_length=1, max_length=4)
    ttl: int = Field(default=3_600, ge=1, le=MAX_TOKEN_SECONDS, description="Seconds.")


class ApprovalToken(VersionedContract):
    """An approval, to be given to publish_content; it is good for one publication."""

    approval_token: str
    jti: Uuid
    content_id: Uuid
    digest: Sha256
    platforms: tuple[Platform, ...]
    reviewer_id: Text120
    expires_at: UtcTime


class RevokedApproval(VersionedContract):
    """An approval that counts no more; what was published with it stays."""

    jti: Uuid
    revoked_at: UtcTime


class ApprovalRecord(Contract):
    """An approval as it is stored."""

    jti: Uuid
    owner_user_id: Text120
    reviewer_id: Text120
    content_id: Uuid
    digest: Sha256
    platforms: tuple[Platform, ...]
    issued_at: UtcTime
    expires_at: UtcTime
    revoked_at: UtcTime | None = None


class PublicationState(StrEnum):
    """How a publication stands."""

    SCHEDULED = "scheduled"
    RESERVED = "reserved"
    PUBLISHED = "published"
    OUTBOX = "outbox"
    FAILED = "failed"


class PublicationRecord(Contract):
    """The one publication of an approval. ``text`` is what own posts are compared with."""

    jti: Uuid
    owner_user_id: Text120
    content_id: Uuid
    digest: Sha256
    platform: Text80
    asked_platform: Text80 = Field(description="As the call named it; another may have stood in.")
    reviewer_id: Text120
    state: PublicationState
    invocation_id: Text120
    leased_until: UtcTime
    due_at: UtcTime | None = Field(default=None, description="When it is published, where that is later.")
    post: dict[str, Any] | None = None
    path: Text500 | None = None
    text: str = ""
    created_at: UtcTime
    updated_at: UtcTime
