"""The catalog of executable skills: entries, approval, versions (skills_interface.md "Routes"; AM-02…AM-10, CH-65)."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from contracts.base import (
    Contract,
    Sha256,
    Text80,
    Text120,
    Text200,
    Text240,
    Text500,
    Text1000,
    UtcTime,
    VersionedContract,
)
from contracts.platform.commands import Command, CommitKey
from contracts.platform.lists import Page
from contracts.skills.manifest import (
    ExpectedEffect,
    Precondition,
    SafetyLevel,
    SkillCategory,
    SkillManifest,
    SkillPermissions,
)


class SkillRoot(StrEnum):
    """Where a skill's folder lies, the first searched first (X-3)."""

    WORKSPACE = "workspace"
    MANAGED = "managed"
    BUNDLED = "bundled"


class SkillState(StrEnum):
    """How a folder stands."""

    READY = "ready"
    AWAITING_APPROVAL = "awaiting_approval"
    MALFORMED = "malformed"
    QUARANTINED = "quarantined"
    RETIRED = "retired"


class ApprovedSkill(Contract):
    """One line of the allowlist: a folder by its root, its name and the digest of what a person saw (X-3)."""

    root: SkillRoot
    name: Text80
    digest: Sha256
    approved_by: Text120
    approved_at: UtcTime


class SkillAllowlist(VersionedContract):
    """``SKILL_MANIFEST.json`` in the data directory; ``approvedSkills`` are the bare names of the document (AM-02).

    A bare name approves a folder that ships with the product. Left out, all of those are approved.
    """

    approvedSkills: tuple[Text80, ...] | None = None
    approvals: tuple[ApprovedSkill, ...] = ()


class SkillRecord(Contract):
    """A folder as it was found: its state, and its manifest where it may be read.

    Of a folder that nobody approved nothing is known but its name (AM-03).
    """

    root: SkillRoot
    name: Text80
    state: SkillState
    reason: Text1000 | None = None
    digest: Sha256 | None = None
    path: Text1000
    manifest: SkillManifest | None = None
    documentation: str = Field(default="", max_length=65_536, description="The text of its SKILL.md.")
    retires_at: UtcTime | None = Field(
        default=None, description="The last day of a version that goes (CH-66)."
    )
    seen_at: UtcTime

    @property
    def key(self) -> str:
        """What tells it from every other folder: root, name, version."""
        version = self.manifest.version if self.manifest is not None else "-"
        return f"{self.root.value}/{self.name}@{version}"


class SkillEntry(VersionedContract):
    """A skill as it is listed; fields of the manifest only where it may be read."""

    name: Text80
    root: SkillRoot
    state: SkillState
    reason: Text1000 | None = None
    digest: Sha256 | None = None
    function_name: Text80 | None = None
    version: Text80 | None = None
    versions: tuple[Text80, ...] = Field(
        default=(), description="The versions that are served, the newest first."
    )
    description: Text1000 = ""
    category: SkillCategory | None = None
    agent_roles: tuple[Text80, ...] = ()
    capabilities: tuple[Text80, ...] = ()
    confirmation_required: bool | None = None
    confirmation_prompt: Text500 | None = None
    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    input_schema_id: Text200 | None = None
    output_schema_id: Text200 | None = None
    side_effect_tags: tuple[Text80, ...] = ()
    safety_level: SafetyLevel | None = None
    life_areas: tuple[Text80, ...] = ()
    preconditions: tuple[Precondition, ...] = ()
    effects: tuple[ExpectedEffect, ...] = ()
    observables: tuple[Text120, ...] = ()
    timeout_ms: int | None = None
    max_attempts: int | None = None
    total_timeout_ms: int | None = Field(
        default=None,
        description="The longest that an invocation takes: attempts and the waits between (X-19).",
    )
    cache_ttl_ms: int | None = None
    permissions: SkillPermissions | None = None
    warnings: tuple[Text240, ...] = ()
    next_action: Text240 | None = None


class SkillListResponse(Page):
    """The catalog, page by page, in the order of names."""

    skills: tuple[SkillEntry, ...]


class SkillDetailResponse(SkillEntry):
    """One skill with its documentation."""

    documentation: str = Field(default="", max_length=65_536)


class ReloadSkillsRequest(Command):
    """Reads the roots again."""


class ReloadSkillsResponse(VersionedContract):
    """What was found."""

    ready: int
    awaiting_approval: int
    malformed: int
    different: tuple[Text120, ...] = Field(
        default=(), description="Names whose entry is another than before."
    )


class ApproveSkillRequest(Command):
    """Approves a folder as it is now. Without ``digest`` nothing is approved: the answer shows what would be."""

    root: SkillRoot | None = None
    digest: Sha256 | None = None


class ApproveSkillResponse(VersionedContract):
    """What was approved, or is asked to be: digest and permissions."""

    approved: bool
    skill: SkillEntry


class CatalogCommand(Contract):
    """A command to the workflow of the catalog."""

    commit_key: CommitKey
    correlation_id: Text200
    by: Text120


class ReloadCatalog(CatalogCommand):
    """Reads the roots again."""


class InspectFolder(CatalogCommand):
    """Reads a folder that nobody has approved, since an admin wants to try it out (O-3)."""

    name: Text80


class ApproveFolder(CatalogCommand):
    """Puts a folder on the allowlist, if it is still the one that was seen."""

    name: Text80
    root: SkillRoot | None = None
    digest: Sha256 | None = None
