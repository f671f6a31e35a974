"""Test policy: the bounds of a rehearsal (DOC3 §0C.14)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text120, Text240, Uuid, VersionedContract


class TestPolicyMode(StrEnum):
    """How close to the real thing a rehearsal may come.

    DOC3 (seed 004, lines 1213–1214) names ``read_only`` and ``dry_run_only`` and says of neither what sets it apart:
    they are the same here, nothing runs.
    """

    __test__ = False

    READ_ONLY = "read_only"
    DRY_RUN_ONLY = "dry_run_only"
    BLANK_ARTIFACT = "blank_artifact"
    COPY_ARTIFACT = "copy_artifact"
    SAFE_TARGET_ONLY = "safe_target_only"
    REDIRECT_SEND = "redirect_send"
    LIVE_READ_SAFE_WRITE = "live_read_safe_write"
    CONTROLLED_LIVE_TEST = "controlled_live_test"


class SafeTargetKind(StrEnum):
    """What may stand in for the real target."""

    TEMP_FOLDER = "temp_folder"
    BLANK_DOCUMENT = "blank_document"
    COPIED_DOCUMENT = "copied_document"
    BLANK_PROJECT = "blank_project"
    SAFE_EMAIL_RECIPIENT = "safe_email_recipient"
    MANAGED_BROWSER_PROFILE = "managed_browser_profile"
    TEST_SHAREPOINT_SITE = "test_sharepoint_site"


class RehearsalSafeTarget(Contract):
    """One stand-in a rehearsal may write to."""

    target_kind: SafeTargetKind
    ref: Text240


class TestPolicy(VersionedContract):
    """The bounds of a rehearsal."""

    __test__ = False

    policy_id: Uuid
    mode: TestPolicyMode
    safe_targets: tuple[RehearsalSafeTarget, ...] = Field(default=(), max_length=50)
    forbid_destructive_writes: bool = True
    forbid_external_send: bool = True
    allowed_domains: tuple[Text120, ...] = Field(default=(), max_length=100)
    max_actions: int = Field(default=40, ge=1, le=200)
    cleanup_required: bool = False
