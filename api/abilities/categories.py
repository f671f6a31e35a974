"""Categories: create, change, delete, assign items (DOC3 §0C.21, §0C.28)."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated
from uuid import UUID, uuid5

from fastapi import APIRouter, Depends
from uuid_utils import uuid7

from api.platform.commands import CommandFrame, LearnerFrame, masked
from api.platform.dependencies import CategoryId, PageDep, Reader, ServicesDep, parse_uuid
from api.platform.lists import ListOf, ListRequest
from api.services import Services
from contracts.abilities.categories import (
    AssignItemRequest,
    Category,
    CategoryAssignment,
    CategoryItem,
    CategoryItemKind,
    CategoryItemsResponse,
    CategoryListResponse,
    CategoryRequest,
)
from contracts.errors import ErrorCode, Refusal
from contracts.learning.responses import DeletedResponse

router = APIRouter(prefix="/api/categories", tags=["categories"])

_CATEGORIES = ListOf("categories", Category, "title color created_at updated_at", filters="color")

_CATEGORY_IDS = UUID("5b0c6a55-6a0b-4f0e-9b2c-3f6c1f9a7d10")
"""The namespace of the ids of categories that were asked for with a key."""


@router.get("", operation_id="category_list")
def list_categories(
    caller: Reader, services: ServicesDep, wanted: Annotated[ListRequest, Depends(_CATEGORIES.wanted)]
) -> CategoryListResponse:
    """The caller's categories, by title."""
    kept = services.categories
    found = CategoryListResponse(categories=kept.list_for(caller.user_id), limit=kept.limit)
    return _CATEGORIES.listed(found, wanted)


@router.post("", operation_id="category_create", status_code=201)
async def create(body: CategoryRequest, frame: LearnerFrame) -> Category:
    """A new category."""
    now = datetime.now(UTC)
    key = frame.client_key(body)
    category = Category(
        # The same request again makes the same category, should its answer have been lost.
        category_id=str(uuid5(_CATEGORY_IDS, f"{frame.owner} {key.key}") if key else uuid7()),
        owner_user_id=frame.owner,
        title=masked(body.title),
        color=body.color,
        created_at=now,
        updated_at=now,
    )

    made = partial(frame.services.categories.create, category, frame.correlation_id)
    return await frame.write_once(body, made, Category)


@router.put("/{category_id}", operation_id="category_change")
async def change(category_id: CategoryId, body: CategoryRequest, frame: LearnerFrame) -> Category:
    """Another title and colour."""

    changed = partial(
        frame.services.categories.change,
        category_id,
        frame.owner,
        title=masked(body.title),
        color=body.color,
        now=datetime.now(UTC),
        correlation_id=frame.correlation_id,
    )
    return await frame.write_once(body, changed, Category)


@router.delete("/{category_id}", operation_id="category_delete")
async def delete(category_id: CategoryId, frame: LearnerFrame) -> DeletedResponse:
    """Removes the category and every assignment to it; the items stay."""

    def act() -> DeletedResponse:
        now = datetime.now(UTC)
        frame.services.categories.delete(category_id, frame.owner, now, frame.correlation_id)
        return DeletedResponse()

    return await frame.write_once(None, act, DeletedResponse)


@router.post("/{category_id}/assign", operation_id="category_assign")
async def assign(category_id: CategoryId, body: AssignItemRequest, frame: LearnerFrame) -> CategoryAssignment:
    """Puts an item into the category; an ability, proposal, connector or bundle has to be one the caller may see."""
    assignment = CategoryAssignment(
        category_id=category_id,
        item_kind=body.item_kind,
        item_id=body.item_id,
        assigned_at=datetime.now(UTC),
    )
    return await frame.write_once(body, partial(_assign, assignment, frame), CategoryAssignment)


@router.delete("/{category_id}/items/{item_kind}/{item_id}", operation_id="category_item_remove")
async def remove(
    category_id: CategoryId, item_kind: CategoryItemKind, item_id: str, frame: LearnerFrame
) -> DeletedResponse:
    """Takes an item out of the category."""
    assignment = CategoryAssignment(
        category_id=category_id, item_kind=item_kind, item_id=item_id[:160], assigned_at=datetime.now(UTC)
    )

    def act() -> DeletedResponse:
        frame.services.categories.remove(assignment, frame.owner, frame.correlation_id)
        return DeletedResponse()

    return await frame.write_once(None, act, DeletedResponse)


@router.get("/{category_id}/items", operation_id="category_items")
def items(
    category_id: CategoryId, caller: Reader, services: ServicesDep, page: PageDep
) -> CategoryItemsResponse:
    """What is in the category and what it is called, newest first."""
    found = services.categories.items(category_id, caller.user_id, page)
    named = tuple(_as_called(item, services, caller.user_id) for item in found.items)
    return found.changed(items=named)


def _as_called(item: CategoryItem, services: Services, owner: str) -> CategoryItem:
    """The item with its title; as it is where it has gone meanwhile."""
    try:
        title, session_id = _existing(item, services, owner)
    except Refusal:
        return item
    return item.changed(title=title, learn_session_id=session_id)


def _assign(assignment: CategoryAssignment, frame: CommandFrame) -> CategoryAssignment:
    services = frame.services
    services.categories.owned(assignment.category_id, frame.owner)
    _existing(assignment, services, frame.owner)
    return services.categories.assign(assignment, frame.owner, frame.correlation_id)


def _existing(
    assignment: CategoryAssignment, services: Services, owner: str
) -> tuple[str | None, str | None]:
    """The title of an item, and of a proposal its session; both None of what has no title here.

    A bundle is that of a proposal, by the proposal's id, or that of an installed skill, by the skill's name. Task
    templates and automations belong to other systems: those are taken by their names.

    Raises:
        Refusal: for an item that is not there, or that the caller may not see.
    """
    item_id, what = assignment.item_id, "proposal"
    match assignment.item_kind:
        case CategoryItemKind.SKILL | CategoryItemKind.LEARNED_ABILITY:
            return services.abilities.visible_entry(item_id, owner).title, None
        case CategoryItemKind.CONNECTOR:
            return services.mcp.servers.owned(item_id, owner).display_name, None
        case CategoryItemKind.TASK_TEMPLATE | CategoryItemKind.AUTOMATION:
            if not item_id.isprintable():
                raise Refusal(
                    ErrorCode.VALIDATION_FAILED, "item_id has to be printable text.", fields=["item_id"]
                )
            return None, None
        case CategoryItemKind.BUNDLE:
            if services.abilities.is_skill(item_id, owner):
                return None, None
            what = "bundle"
        case CategoryItemKind.PROPOSAL:
            pass
    proposal = services.proposals.owned(parse_uuid(item_id, ErrorCode.PROPOSAL_NOT_FOUND, what), owner)
    return proposal.title, proposal.learn_session_id
