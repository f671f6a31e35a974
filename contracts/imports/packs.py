"""Skill packs: groups of skills that are installed together (DOC3 §0C.20, lines 3407-3419; §1.1P, lines 5840-5853)."""

from typing import Annotated

from pydantic import StringConstraints

from contracts.base import Text80, Text120, Text400, Text500, VersionedContract
from contracts.platform.lists import ListCounts

PackId = Annotated[str, StringConstraints(max_length=64)]

MOST_MEMBERS = 50
"""The most skills of one pack: each is validated and installed on its own, in one workflow run."""


class SkillPackMetadata(VersionedContract):
    """What a list of packs shows of one."""

    pack_id: PackId
    title: Text120
    description: Text500 | None = None
    compatibility_target: Text120 | None = None
    active_build_surface: bool = True


class SkillPacksListResponse(ListCounts):
    """The packs that are known here."""

    packs: tuple[SkillPackMetadata, ...] = ()


class SkillPackManifest(VersionedContract):
    """What a pack holds, as it is stored."""

    pack_id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{2,64}$")]
    title: Text120
    description: Text400
    skills: tuple[Text80, ...] = ()
    default_support_packs: tuple[Text120, ...] = ()
    recommended_connectors: tuple[Text120, ...] = ()
