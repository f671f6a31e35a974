"""Categories: create, change, delete, assign items (DOC3 §0C.21, §0C.28)."""

from datetime import UTC, datetime
from functools import partial
from uuid import UUID, uuid5

import anyio.to_thread
from fastapi import APIRouter
from uuid_utils import uuid7

from api.platform.commands import answer_once
from api.platform.dependencies import CommandFrame, FrameDep, Learner, PageDep, Reader, ServicesDep
from api.platform.paths import CategoryId, masked, parse_uuid
from api.services import Services
from contracts.abilities.categories import (
    ABILITY_KINDS,
    AssignItemRequest,
    Category,
    CategoryAssignment,
    CategoryItemKind,
    CategoryItemsResponse,
    CategoryListResponse,
    CategoryRequest,
)
from contracts.errors import ErrorCode, Refusal
from contracts.learning.responses import DeletedResponse
from contracts.platform.identity import Principal

router = APIRouter(prefix="/api/categories", tags=["categories"])

_NEWBORN = UUID("5b0c6a55-6a0b-4f0e-9b2c-3f6c1f9a7d10")
"""The namespace of the ids of categories that were asked for with a key."""


@router.get("", operation_id="category_list")
def list_categories(caller: Reader, services: ServicesDep) -> CategoryListResponse:
    """The caller's categories, by title."""
    return CategoryListResponse(
        categories=services.categories.list_for(caller.user_id), limit=services.categories.limit
    )


@router.post("", operation_id="category_create", status_code=201)
async def create(body: CategoryRequest, caller: Learner, services: ServicesDep, frame: FrameDep) -> Category:
    """A new category."""
    now = datetime.now(UTC)
    key = frame.client_key(caller.user_id, body)
    category = Category(
        # The same request again makes the same category, should its answer have been lost.
        category_id=str(uuid5(_NEWBORN, f"{caller.user_id} {key.key}") if key else uuid7()),
        owner_user_id=caller.user_id,
        title=masked(body.title),
        color=body.color,
        created_at=now,
        updated_at=now,
    )

    async def act() -> Category:
        made = partial(services.categories.create, category, frame.correlation_id)
        return await anyio.to_thread.run_sync(made)

    return await answer_once(services, key, act, Category)


@router.put("/{category_id}", operation_id="category_change")
async def change(
    category_id: CategoryId,
    body: CategoryRequest,
    caller: Learner,
    services: ServicesDep,
    frame: FrameDep,
) -> Category:
    """Another title and colour."""

    async def act() -> Category:
        changed = partial(
            services.categories.change,
            category_id,
            caller.user_id,
            title=masked(body.title),
            color=body.color,
            now=datetime.now(UTC),
            correlation_id=frame.correlation_id,
        )
        return await anyio.to_thread.run_sync(changed)

    return await answer_once(services, frame.client_key(caller.user_id, body), act, Category)


@router.delete("/{category_id}", operation_id="category_delete")
async def delete(
    category_id: CategoryId, caller: Learner, services: ServicesDep, frame: FrameDep
) -> DeletedResponse:
    """Removes the category and every assignment to it; the items stay."""

    async def act() -> DeletedResponse:
        now = datetime.now(UTC)
        gone = partial(services.categories.delete, category_id, caller.user_id, now, frame.correlation_id)
        await anyio.to_thread.run_sync(gone)
        return DeletedResponse()

    return await answer_once(services, frame.client_key(caller.user_id, None), act, DeletedResponse)


@router.post("/{category_id}/assign", operation_id="category_assign")
async def assign(
    category_id: CategoryId,
    body: AssignItemRequest,
    caller: Learner,
    services: ServicesDep,
    frame: FrameDep,
) -> CategoryAssignment:
    """Puts an item into the category; an ability or a proposal has to be one the caller may see."""
    assignment = CategoryAssignment(
        category_id=category_id,
        item_kind=body.item_kind,
        item_id=body.item_id,
        assigned_at=datetime.now(UTC),
    )

    async def act() -> CategoryAssignment:
        return await anyio.to_thread.run_sync(_assign, services, caller, assignment, frame)

    return await answer_once(services, frame.client_key(caller.user_id, body), act, CategoryAssignment)


@router.delete("/{category_id}/items/{item_kind}/{item_id}", operation_id="category_item_remove")
async def remove(
    category_id: CategoryId,
    item_kind: CategoryItemKind,
    item_id: str,
    caller: Learner,
    services: ServicesDep,
    frame: FrameDep,
) -> DeletedResponse:
    """Takes an item out of the category."""
    assignment = CategoryAssignment(
        category_id=category_id, item_kind=item_kind, item_id=item_id[:160], assigned_at=datetime.now(UTC)
    )

    async def act() -> DeletedResponse:
        gone = partial(services.categories.remove, assignment, caller.user_id, frame.correlation_id)
        await anyio.to_thread.run_sync(gone)
        return DeletedResponse()

    return await answer_once(services, frame.client_key(caller.user_id, None), act, DeletedResponse)


@router.get("/{category_id}/items", operation_id="category_items")
def items(
    category_id: CategoryId, caller: Reader, services: ServicesDep, page: PageDep
) -> CategoryItemsResponse:
    """What is in the category, newest first."""
    return services.categories.items(category_id, caller.user_id, page)


def _assign(
    services: Services, caller: Principal, assignment: CategoryAssignment, frame: CommandFrame
) -> CategoryAssignment:
    services.categories.owned(assignment.category_id, caller.user_id)
    # Tasks, automations, bundles and connectors belong to other parts: those are taken by their names.
    if assignment.item_kind in ABILITY_KINDS:
        services.abilities.visible_entry(assignment.item_id, caller.user_id)
    elif assignment.item_kind is CategoryItemKind.PROPOSAL:
        wanted = parse_uuid(assignment.item_id, ErrorCode.PROPOSAL_NOT_FOUND, "proposal")
        services.proposals.owned(wanted, caller.user_id)
    elif not assignment.item_id.isprintable():
        raise Refusal(ErrorCode.VALIDATION_FAILED, "item_id has to be printable text.", fields=["item_id"])
    return services.categories.assign(assignment, caller.user_id, frame.correlation_id)
