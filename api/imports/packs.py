"""Skill packs: list, make or replace, show, delete (DOC3 §0C.20, §1.1P)."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Path

from api.platform.commands import LearnerFrame, masked_fields
from api.platform.dependencies import Reader, ServicesDep
from contracts.imports.pack_members import SkillPackDetailResponse, SkillPackPutRequest
from contracts.imports.packs import SkillPacksListResponse
from contracts.learning.responses import DeletedResponse

router = APIRouter(prefix="/api/skills/packs", tags=["imports"])


def _pack_id(pack_id: Annotated[str, Path(max_length=200)]) -> str:
    return pack_id


PackId = Annotated[str, Depends(_pack_id)]


@router.get("", operation_id="skill_pack_list")
def list_packs(caller: Reader, services: ServicesDep) -> SkillPacksListResponse:
    """The caller's packs, by their ids."""
    return SkillPacksListResponse(packs=services.imports.packs.list_for(caller.user_id))


@router.post("", operation_id="skill_pack_put")
async def put(body: SkillPackPutRequest, frame: LearnerFrame) -> SkillPackDetailResponse:
    """Makes a pack of skills, or replaces the one of this id.

    A skill of it is one that is installed, or whose reviewed import waits. Naming it installs nothing.
    """
    texts = {
        "title",
        "description",
        "compatibility_target",
        "default_support_packs",
        "recommended_connectors",
    }
    asked = body.changed(**masked_fields(body.model_dump(include=texts)))

    def act() -> SkillPackDetailResponse:
        return frame.services.imports.packs.put(frame.owner, asked, datetime.now(UTC), frame.correlation_id)

    return await frame.write_once(body, act, SkillPackDetailResponse)


@router.get("/{pack_id}", operation_id="skill_pack_detail")
def detail(pack_id: PackId, caller: Reader, services: ServicesDep) -> SkillPackDetailResponse:
    """One pack: its members in the order of their install, what nothing proves of them, and what stands in the way."""
    return services.imports.packs.detail(pack_id, caller.user_id)


@router.delete("/{pack_id}", operation_id="skill_pack_delete")
async def delete(pack_id: PackId, frame: LearnerFrame) -> DeletedResponse:
    """Deletes a pack; what was installed stays, and so do imports."""

    def act() -> DeletedResponse:
        packs = frame.services.imports.packs
        packs.delete(pack_id, frame.owner, datetime.now(UTC), frame.correlation_id)
        return DeletedResponse()

    return await frame.write_once(None, act, DeletedResponse)
