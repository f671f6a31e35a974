"""Skill packs: list, make or replace, show, delete; install as a whole, follow, give up (DOC3 §0C.20, §1.1P)."""

from datetime import UTC, datetime
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Depends, Path

from api.imports.imports import override_asked
from api.platform.commands import InstallerFrame, LearnerFrame, masked, masked_fields
from api.platform.dependencies import Reader, ServicesDep, parse_uuid
from api.platform.lists import ListOf, ListRequest
from contracts.errors import ErrorCode
from contracts.imports.pack_install import (
    PackCancel,
    PackOrder,
    SkillPackInstallCancelRequest,
    SkillPackInstallRequest,
    SkillPackInstallResponse,
)
from contracts.imports.pack_members import SkillPackDetailResponse, SkillPackPutRequest
from contracts.imports.packs import SkillPackMetadata, SkillPacksListResponse
from contracts.imports.requests import ImportTargetScope
from contracts.learning.responses import DeletedResponse
from contracts.platform.identity import Scope
from gateways.imports.pack_installs import pack_install_id_for

router = APIRouter(prefix="/api/skills/packs", tags=["imports"])


def _pack_id(pack_id: Annotated[str, Path(max_length=200)]) -> str:
    return pack_id


PackId = Annotated[str, Depends(_pack_id)]


def _install_id(pack_install_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(pack_install_id, ErrorCode.SKILL_PACK_INSTALL_NOT_FOUND, "install of a pack")


PackInstallId = Annotated[str, Depends(_install_id)]


_PACKS = ListOf("packs", SkillPackMetadata, "pack_id title description")


@router.get("", operation_id="skill_pack_list")
def list_packs(
    caller: Reader, services: ServicesDep, wanted: Annotated[ListRequest, Depends(_PACKS.wanted)]
) -> SkillPacksListResponse:
    """The caller's packs, by their ids."""
    return _PACKS.listed(
        SkillPacksListResponse(packs=services.imports.packs.list_for(caller.user_id)), wanted
    )


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


@router.post("/{pack_id}/install", operation_id="skill_pack_install", status_code=202)
async def install(
    pack_id: PackId, body: SkillPackInstallRequest, frame: InstallerFrame
) -> SkillPackInstallResponse:
    """Installs every member of a pack that is not here yet, or a newer archive of it: all of them, or none.

    Answered when the install is open; it goes on by itself, and is read under its id. Members that are installed stay
    as they are. For the whole workspace it needs the scope ``approve`` too.
    """
    if body.target_scope is ImportTargetScope.WORKSPACE:
        frame.caller.require(Scope.APPROVE)
    override = override_asked(frame, body.override_reason)

    async def act() -> SkillPackInstallResponse:
        await anyio.to_thread.run_sync(frame.services.imports.packs.owned, pack_id, frame.owner)
        await anyio.to_thread.run_sync(frame.services.pending.require_settled)
        key = frame.key_for(body)
        order = PackOrder(
            pack_install_id=pack_install_id_for(key),
            pack_id=pack_id,
            commit_key=key,
            correlation_id=frame.correlation_id,
            target_scope=body.target_scope,
            expected_version=body.expected_version,
            override=override,
            accept_unproved=body.accept_unproved,
            unproved_digest=body.unproved_digest,
        )
        outcome = await frame.services.imports.pack_gateway.open(order)
        return SkillPackInstallResponse(install=outcome.present, receipt_id=outcome.receipt.receipt_id)

    return await frame.answer_once(body, act, SkillPackInstallResponse)


@router.get("/installs/{pack_install_id}", operation_id="skill_pack_install_detail")
def install_detail(
    pack_install_id: PackInstallId, caller: Reader, services: ServicesDep
) -> SkillPackInstallResponse:
    """One install of a pack: how far each member has come, and why it is not installed."""
    found = services.imports.pack_installs.owned(pack_install_id, caller.user_id)
    return SkillPackInstallResponse(install=found)


@router.post("/installs/{pack_install_id}/cancel", operation_id="skill_pack_install_cancel")
async def cancel(
    pack_install_id: PackInstallId, body: SkillPackInstallCancelRequest, frame: InstallerFrame
) -> SkillPackInstallResponse:
    """Gives an install up: what it has installed so far is undone. Refused once it has ended."""

    async def act() -> SkillPackInstallResponse:
        installs = frame.services.imports.pack_installs
        await anyio.to_thread.run_sync(installs.owned, pack_install_id, frame.owner)
        order = PackCancel(
            pack_install_id=pack_install_id,
            commit_key=frame.key_for(body),
            correlation_id=frame.correlation_id,
            reason=masked(body.reason),
        )
        outcome = await frame.services.imports.pack_gateway.cancel(order)
        return SkillPackInstallResponse(install=outcome.present, receipt_id=outcome.receipt.receipt_id)

    return await frame.answer_once(body, act, SkillPackInstallResponse)
