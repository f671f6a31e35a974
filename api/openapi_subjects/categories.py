"""Categories in the document."""

from typing import Any

from pydantic import BaseModel

from api.openapi_story import ABILITY_ID, BEGUN, example_id
from contracts.categories.category import (
    Category,
    CategoryAssignment,
    CategoryItemKind,
    CategoryItemsResponse,
    CategoryListResponse,
)
from contracts.errors import ErrorCode

_ID = example_id(31)
_CATEGORY = Category(
    category_id=_ID, owner_user_id="alice", title="Reports", created_at=BEGUN, updated_at=BEGUN
)
_ASSIGNMENT = CategoryAssignment(
    category_id=_ID, item_kind=CategoryItemKind.LEARNED_ABILITY, item_id=ABILITY_ID, assigned_at=BEGUN
)

REQUESTS: dict[str, dict[str, Any]] = {
    "category_create": {"title": "Reports", "color": "#2563EB"},
    "category_change": {"title": "Weekly reports", "color": "#2563EB"},
    "category_assign": {"item_kind": "learned_ability", "item_id": ABILITY_ID},
}
MODELS: tuple[BaseModel, ...] = (
    _CATEGORY,
    _ASSIGNMENT,
    CategoryListResponse(categories=(_CATEGORY,), limit=200),
    CategoryItemsResponse(items=(_ASSIGNMENT,), total=1, page=1, page_size=25),
)
ERRORS: dict[str, tuple[ErrorCode, ...]] = {
    "category_create": (
        ErrorCode.CATEGORY_LIMIT_REACHED,
        ErrorCode.CATEGORY_TITLE_TAKEN,
        ErrorCode.STORAGE_FULL,
    ),
    "category_change": (ErrorCode.CATEGORY_TITLE_TAKEN, ErrorCode.STORAGE_FULL),
    "category_delete": (ErrorCode.STORAGE_FULL,),
    "category_assign": (ErrorCode.ABILITY_NOT_FOUND, ErrorCode.PROPOSAL_NOT_FOUND, ErrorCode.STORAGE_FULL),
    "category_item_remove": (ErrorCode.STORAGE_FULL,),
}
PATH_IDS: dict[str, ErrorCode] = {
    "category_id": ErrorCode.NOT_FOUND,
    "item_kind": ErrorCode.NOT_FOUND,
    "item_id": ErrorCode.NOT_FOUND,
}
TAG: dict[str, str] | None = {
    "name": "categories",
    "description": "Groups of abilities, proposals and more, made by their owner.",
}
