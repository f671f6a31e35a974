"""The catalog of skills: list, read, reload, approve, export (skills_interface.md "Routes")."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query

from api.platform.commands import AdminFrame, ApproverFrame
from api.platform.dependencies import AnyOf, PageDep, Reader, ServicesDep
from contracts.abilities.lookup import AbilityLookupQuery
from contracts.errors import ErrorCode, Refusal
from contracts.skills.catalog import (
    ApproveFolder,
    ApproveSkillRequest,
    ApproveSkillResponse,
    ReloadCatalog,
    ReloadSkillsRequest,
    ReloadSkillsResponse,
    SkillDetailResponse,
    SkillListResponse,
    SkillRecord,
    SkillState,
)
from contracts.skills.manifest import SkillCategory
from contracts.skills.registration import (
    RegisterSkill,
    RegisterSkillRequest,
    RegisterSkillResponse,
    RegisterTool,
    RegisterToolRequest,
    RegisterToolResponse,
)
from contracts.skills.selection import FindSkillsRequest, FindSkillsResponse
from domain.skills.arguments import openai_tool
from domain.skills.entries import NO_SUCH_SKILL, catalog_entry
from domain.skills.selection import find_skills
from host.sentence_model import nearest_by_meaning


async def _skill_name(name: Annotated[str, Path(max_length=80)]) -> str:
    if not name.isprintable():
        raise Refusal(ErrorCode.SKILL_NOT_FOUND, NO_SUCH_SKILL)
    return name


SkillName = Annotated[str, Depends(_skill_name)]

router = APIRouter(prefix="/api/skills", tags=["skills"])


@router.get("", operation_id="skill_list")
def list_skills(
    caller: Reader,
    services: ServicesDep,
    page: PageDep,
    state: AnyOf[SkillState] = None,
    category: SkillCategory | None = None,
    tag: Annotated[str | None, Query(max_length=80, pattern=r"^[A-Za-z0-9_.-]+$")] = None,
) -> SkillListResponse:
    """The catalog by name: what may be run, what awaits approval, what is malformed and why."""
    del caller  # The catalog is the same for everybody who may read.
    found = services.skills.catalog.all(state or ())
    wanted = [one for one in found if _fits(one, category, tag)]
    shown = wanted[page.offset : page.offset + page.page_size]
    counts = page.counts(len(wanted))
    return SkillListResponse(skills=tuple(catalog_entry(one, found) for one in shown), **counts)


@router.get("/openai-tools", operation_id="skill_openai_tools")
def openai_tools(caller: Reader, services: ServicesDep) -> list[dict[str, Any]]:
    """Every skill that may be run, as a tool definition of the OpenAI form; ``confirmed`` is added where it can ask."""
    del caller
    ready = services.skills.catalog.all([SkillState.READY])
    return [openai_tool(one.manifest) for one in ready if one.manifest is not None]


@router.post("/find", operation_id="skill_find")
def find(body: FindSkillsRequest, caller: Reader, services: ServicesDep) -> FindSkillsResponse:
    """The skills and learned abilities that fit a step of a plan, best first, and what was left out and why."""
    asked = AbilityLookupQuery(user_query=body.description)
    index, decide = services.abilities.indexes().by_fit, services.decide_fit
    learned = index.fitting(asked, caller_user_id=caller.user_id, decide=decide)
    ready = services.skills.catalog.all([SkillState.READY])
    likeness = nearest_by_meaning() if services.settings.find_by_meaning else None
    return find_skills(ready, body, services.skills.world, abilities=learned, likeness=likeness)


@router.post("/reload", operation_id="skill_reload")
async def reload(body: ReloadSkillsRequest, frame: AdminFrame) -> ReloadSkillsResponse:
    """Reads the roots again: new folders, changed ones, the allowlist."""
    order = frame.message(ReloadCatalog, body, by=frame.owner)
    act = partial(frame.services.skills.catalog_gateway.reload, order)
    return await frame.answer_once(body, act, ReloadSkillsResponse)


@router.post("", operation_id="skill_register")
async def register(body: RegisterSkillRequest, frame: AdminFrame) -> RegisterSkillResponse:
    """Adds or updates a skill whose tools are registered; it is not run before a person has approved it."""
    said = {name: getattr(body, name) for name in ("name", "manifest", "tools", "documentation")}
    order = frame.message(RegisterSkill, body, by=frame.owner, **said)
    act = partial(frame.services.skills.catalog_gateway.register_skill, order)
    return await frame.answer_once(body, act, RegisterSkillResponse)


@router.post("/tools", operation_id="skill_tool_register")
async def register_tool(body: RegisterToolRequest, frame: AdminFrame) -> RegisterToolResponse:
    """Adds or updates a tool that registered skills may name: a program of this machine, or an address."""
    order = frame.message(RegisterTool, body, by=frame.owner, tool=body.tool)
    act = partial(frame.services.skills.catalog_gateway.register_tool, order)
    return await frame.answer_once(body, act, RegisterToolResponse)


@router.get("/{name}", operation_id="skill_get")
def get(name: SkillName, caller: Reader, services: ServicesDep) -> SkillDetailResponse:
    """One skill, by the name of its folder or of its function."""
    del caller
    found = services.skills.catalog.named(name)
    if not found:
        raise Refusal(ErrorCode.SKILL_NOT_FOUND, NO_SUCH_SKILL)
    newest = max(found, key=_rank)
    entry = catalog_entry(newest, found)
    return SkillDetailResponse(**entry.model_dump(), documentation=newest.documentation)


@router.post("/{name}/approve", operation_id="skill_approve")
async def approve(name: SkillName, body: ApproveSkillRequest, frame: ApproverFrame) -> ApproveSkillResponse:
    """Puts a folder on the allowlist, as it was seen; without its digest it shows what would be approved."""
    order = frame.message(ApproveFolder, body, by=frame.owner, name=name, root=body.root, digest=body.digest)
    act = partial(frame.services.skills.catalog_gateway.approve, order)
    return await frame.answer_once(body, act, ApproveSkillResponse)


def _fits(record: SkillRecord, category: SkillCategory | None, tag: str | None) -> bool:
    manifest = record.manifest
    if category is not None and (manifest is None or manifest.category is not category):
        return False
    return tag is None or (manifest is not None and tag in manifest.side_effect_tags)


_STATES = (
    SkillState.RETIRED,
    SkillState.MALFORMED,
    SkillState.AWAITING_APPROVAL,
    SkillState.QUARANTINED,
    SkillState.READY,
)


def _rank(record: SkillRecord) -> tuple[int, tuple[int, ...]]:
    """What is shown for a name: what may be run first, then the newest version."""
    version = record.manifest.version.split(".") if record.manifest is not None else ["0"]
    return _STATES.index(record.state), tuple(int(part) for part in version)
