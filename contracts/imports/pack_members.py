"""What is stored and shown of a skill pack, its members and the plan of its install (DOC3 §0C.20, §1.1P)."""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from contracts.abilities.availability import MAX_UNPROVED, UnprovedStep
from contracts.base import (
    Contract,
    Sha256,
    Text80,
    Text120,
    Text160,
    Text240,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.imports.packs import MOST_MEMBERS, SkillPackManifest, SkillPackMetadata
from contracts.imports.scanning import ScanHold
from contracts.platform.commands import Command


class StoredPack(VersionedContract):
    """A pack as it is stored. ``version`` counts its changes."""

    manifest: SkillPackManifest
    compatibility_target: Text120 | None = None
    active_build_surface: bool = True
    owner_user_id: Text120
    version: int = Field(default=1, ge=1)
    created_at: UtcTime
    updated_at: UtcTime

    @property
    def pack_id(self) -> str:
        """The pack's id, unique for its owner."""
        return self.manifest.pack_id

    @property
    def metadata(self) -> SkillPackMetadata:
        """What a list shows of it."""
        return SkillPackMetadata(
            pack_id=self.pack_id,
            title=self.manifest.title,
            description=self.manifest.description or None,
            compatibility_target=self.compatibility_target,
            active_build_surface=self.active_build_surface,
        )


class SkillPackPutRequest(SkillPackManifest, Command):
    """Makes a pack, or replaces the one of this id: its manifest, what it is made for, and which version is meant."""

    skills: tuple[Text80, ...] = Field(default=(), max_length=MOST_MEMBERS)
    compatibility_target: Text120 | None = None
    active_build_surface: bool = True
    expected_version: int | None = Field(
        default=None,
        ge=0,
        le=2**31 - 1,
        description="Refused where the pack has another version by now; 0: where there is one.",
    )

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        if len(set(self.skills)) != len(self.skills):
            raise ValueError("skills names a skill twice")
        return self

    @property
    def manifest(self) -> SkillPackManifest:
        """The manifest alone."""
        return SkillPackManifest(**{name: getattr(self, name) for name in SkillPackManifest.model_fields})


class PackMemberState(StrEnum):
    """What an install of the pack would do with a member."""

    INSTALLED = "installed"
    """It is here already, and stays as it is."""
    READY = "ready"
    """A reviewed import waits, and would be installed."""
    UNAVAILABLE = "unavailable"
    """Neither: nothing is installed before it is imported."""


class PackMember(Contract):
    """One member of a pack as it stands now."""

    skill: Text80
    state: PackMemberState
    import_id: Uuid | None = Field(default=None, description="The import that would be installed.")
    depends_on: tuple[Text80, ...] = ()
    held_up_by: ScanHold | None = None
    unproved: tuple[UnprovedStep, ...] = Field(default=(), max_length=MAX_UNPROVED)


class PackProblem(Contract):
    """Why the pack cannot be installed now."""

    code: Text80
    message: Text240
    skills: tuple[Text80, ...] = ()


class SkillPackDetailResponse(VersionedContract):
    """One pack: its manifest, its members in the order of their install, and what stands in the way."""

    pack: SkillPackManifest
    compatibility_target: Text120 | None = None
    active_build_surface: bool = True
    version: int
    created_at: UtcTime
    updated_at: UtcTime
    members: tuple[PackMember, ...] = ()
    problems: tuple[PackProblem, ...] = ()
    missing_connectors: tuple[Text120, ...] = Field(
        default=(),
        description="Recommended connectors that are not connected; the pack installs without them.",
    )
    unproved_digest: Sha256 | None = Field(
        default=None, description="Of what nothing here can show to work, over all members; see install."
    )
    last_install_id: Text160 | None = None
