"""Skill categories and their members (DOC3 §0C.21; the remove path by §0C.28 "Category-route normalization")."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from contracts.base import Contract, Text120, Text160, Text200, UtcTime, Uuid, VersionedContract
from contracts.platform.lists import ListCounts, Page

DEFAULT_COLOR = "#6366F1"

Color = Annotated[str, StringConstraints(pattern=r"^#[0-9a-fA-F]{6}$")]
"""A colour as six hexadecimal digits."""

Title = Annotated[str, StringConstraints(min_length=1, max_length=80, strip_whitespace=True)]


class CategoryItemKind(StrEnum):
    """What can be put into a category."""

    TASK_TEMPLATE = "task_template"
    AUTOMATION = "automation"
    SKILL = "skill"
    BUNDLE = "bundle"
    CONNECTOR = "connector"
    PROPOSAL = "proposal"
    LEARNED_ABILITY = "learned_ability"


ABILITY_KINDS = (CategoryItemKind.SKILL, CategoryItemKind.LEARNED_ABILITY)
"""Kinds whose items are abilities, named by their ids."""


class Category(VersionedContract):
    """A named, coloured group; an item may be in several."""

    category_id: Uuid
    owner_user_id: Text120
    title: Title
    color: Color = DEFAULT_COLOR
    created_at: UtcTime
    updated_at: UtcTime


class CategoryAssignment(Contract):
    """One item in one category."""

    category_id: Uuid
    item_kind: CategoryItemKind
    item_id: Text160
    assigned_at: UtcTime


class CategoryItem(CategoryAssignment):
    """One item in one category, as it is called now."""

    title: Text200 | None = Field(
        default=None, description="Absent where the item has gone, or has no title."
    )
    learn_session_id: Uuid | None = Field(default=None, description="Where a proposal is shown.")


class CategoryRequest(VersionedContract):
    """A new category, or what an existing one is to be."""

    title: Title
    color: Color = DEFAULT_COLOR
    client_request_id: Text120 | None = None


class AssignItemRequest(VersionedContract):
    """Puts an item into a category."""

    item_kind: CategoryItemKind
    item_id: Annotated[str, StringConstraints(min_length=1, max_length=160)]
    client_request_id: Text120 | None = None


class CategoryListResponse(ListCounts):
    """The caller's categories by title, and how many there may be."""

    categories: tuple[Category, ...]
    limit: int = Field(ge=1, description="The most categories one user may have.")


class CategoryItemsResponse(Page):
    """What is in a category, newest first."""

    items: tuple[CategoryItem, ...]
