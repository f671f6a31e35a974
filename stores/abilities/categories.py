"""Store of each user's categories and their items: rows, the current list as a file, assignments as a stream."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select
from sqlalchemy.exc import IntegrityError

from contracts.abilities.categories import (
    Category,
    CategoryAssignment,
    CategoryItem,
    CategoryItemKind,
    CategoryItemsResponse,
)
from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from stores.platform.canonical import document_bytes
from stores.platform.database import Database, PageRequest, advisory_lock, fetch_page, insert_or
from stores.platform.document_table import DocumentTable
from stores.platform.journal.journal import JournalEntries, append
from stores.platform.projection.documents import put_document
from stores.platform.tables import categories, category_items

CURRENT = "system/categories/categories_current.json"
STREAM = "system/categories/assignments"

CATEGORIES = DocumentTable(
    categories,
    Category,
    lambda one: {"title_key": one.title.casefold()},
    message="There is no category of yours with that id; list them: GET /api/categories.",
)


class Categories:
    """The categories of all users. Safe to share between threads."""

    def __init__(self, database: Database, *, limit: int) -> None:
        """``limit`` is the most categories one user may have."""
        self._database = database
        self.limit = limit

    def list_for(self, owner: str) -> tuple[Category, ...]:
        """The owner's categories, by title."""
        with self._database.read() as connection:
            return CATEGORIES.all(connection, categories.c.owner == owner, order_by=(categories.c.title_key,))

    def owned(self, category_id: str, owner: str) -> Category:
        """One of the owner's categories.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.read() as connection:
            return CATEGORIES.owned(connection, category_id, owner)

    def create(self, category: Category, correlation_id: str) -> Category:
        """Keeps a new category; the same one again (by its id) changes nothing.

        Raises:
            Refusal: ``CATEGORY_LIMIT_REACHED``; ``CATEGORY_TITLE_TAKEN`` when the owner has one of this title.
        """
        with self._database.write() as connection:
            advisory_lock(connection, f"categories {category.owner_user_id}")
            known = CATEGORIES.find(connection, category.category_id, owner=category.owner_user_id)
            if known is not None:
                return known
            if CATEGORIES.count(connection, categories.c.owner == category.owner_user_id) >= self.limit:
                raise Refusal(
                    ErrorCode.CATEGORY_LIMIT_REACHED,
                    f"You have {self.limit} categories, the most there may be; delete one first.",
                    limit=self.limit,
                )
            with _unless_taken(connection, category.title):
                CATEGORIES.add(connection, category)
            _record(connection, category, "created", category.created_at, correlation_id)
        return category

    def change(
        self, category_id: str, owner: str, *, title: str, color: str, now: datetime, correlation_id: str
    ) -> Category:
        """Gives a category another title and colour.

        Raises:
            Refusal: ``NOT_FOUND``; ``CATEGORY_TITLE_TAKEN`` when another one of the owner's has this title.
        """
        with self._database.write() as connection:
            known = CATEGORIES.owned(connection, category_id, owner)
            changed = known.changed(title=title, color=color, updated_at=now)
            with _unless_taken(connection, title):
                CATEGORIES.replace(connection, changed)
            _record(connection, changed, "changed", now, correlation_id)
        return changed

    def delete(self, category_id: str, owner: str, now: datetime, correlation_id: str) -> None:
        """Removes a category, and every item from it; the items themselves stay.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.write() as connection:
            known = CATEGORIES.owned(connection, category_id, owner)
            connection.execute(delete(category_items).where(category_items.c.category_id == category_id))
            CATEGORIES.delete(connection, category_id)
            _record(connection, known, "deleted", now, correlation_id)

    def assign(self, assignment: CategoryAssignment, owner: str, correlation_id: str) -> CategoryAssignment:
        """Puts an item into a category; one that is in it already stays as it was.

        Raises:
            Refusal: ``NOT_FOUND`` when the category is not the owner's.
        """
        with self._database.write() as connection:
            category = CATEGORIES.owned(connection, assignment.category_id, owner)
            known = connection.execute(select(category_items).where(*_at(assignment))).one_or_none()
            if known is not None:
                return _assignment(known)
            row = {**assignment.model_dump(mode="json"), "assigned_at": rfc3339(assignment.assigned_at)}
            connection.execute(insert_or(connection, category_items).on_conflict_do_nothing(), row)
            _record(connection, category, "assigned", assignment.assigned_at, correlation_id, assignment)
        return assignment

    def remove(self, assignment: CategoryAssignment, owner: str, correlation_id: str) -> None:
        """Takes an item out of a category; nothing happens when it is not in it.

        Raises:
            Refusal: ``NOT_FOUND`` when the category is not the owner's.
        """
        with self._database.write() as connection:
            category = CATEGORIES.owned(connection, assignment.category_id, owner)
            if connection.execute(delete(category_items).where(*_at(assignment))).rowcount:
                _record(connection, category, "removed", assignment.assigned_at, correlation_id, assignment)

    def items(self, category_id: str, owner: str, wanted: PageRequest) -> CategoryItemsResponse:
        """What is in a category, newest first.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        query = (
            select(category_items)
            .where(category_items.c.category_id == category_id)
            .order_by(
                category_items.c.assigned_at.desc(), category_items.c.item_kind, category_items.c.item_id
            )
        )
        with self._database.read() as connection:
            CATEGORIES.owned(connection, category_id, owner)
            found = fetch_page(connection, query, wanted)
        items = tuple(CategoryItem(**_assignment(row).model_dump()) for row in found.rows)
        return CategoryItemsResponse(items=items, **found.counts)

    def of_items(self, owner: str, kinds: Sequence[CategoryItemKind]) -> dict[str, tuple[str, ...]]:
        """The ids of the owner's categories by the id of each item of these kinds that is in any."""
        query = (
            select(category_items.c.item_id, category_items.c.category_id)
            .distinct()
            .join(categories, categories.c.category_id == category_items.c.category_id)
            .where(categories.c.owner == owner, category_items.c.item_kind.in_(kinds))
            .order_by(category_items.c.category_id)
        )
        found: dict[str, tuple[str, ...]] = {}
        with self._database.read() as connection:
            for item_id, category_id in connection.execute(query):
                found[item_id] = (*found.get(item_id, ()), category_id)
        return found


@contextmanager
def _unless_taken(connection: Connection, title: str) -> Generator[None]:
    try:
        with connection.begin_nested():
            yield
    except IntegrityError:
        raise Refusal(
            ErrorCode.CATEGORY_TITLE_TAKEN,
            f"You have a category called {title} already; choose another title.",
        ) from None


def _at(assignment: CategoryAssignment) -> tuple[Any, Any, Any]:
    return (
        category_items.c.category_id == assignment.category_id,
        category_items.c.item_kind == assignment.item_kind.value,
        category_items.c.item_id == assignment.item_id,
    )


def _assignment(row: Any) -> CategoryAssignment:
    return CategoryAssignment(
        category_id=row.category_id,
        item_kind=CategoryItemKind(row.item_kind),
        item_id=row.item_id,
        assigned_at=datetime.fromisoformat(row.assigned_at),
    )


def _record(
    connection: Connection,
    category: Category,
    what: str,
    now: datetime,
    correlation_id: str,
    assignment: CategoryAssignment | None = None,
) -> None:
    item = assignment.model_dump(mode="json", exclude={"assigned_at", "category_id"}) if assignment else {}
    entries = JournalEntries(f"category/{category.category_id}", category.owner_user_id, correlation_id, now)
    names = {"change": what, "category_id": category.category_id, "title": category.title}
    append(connection, [entries.draft(STREAM, {**names, **item, "at": rfc3339(now)})])
    if assignment is None:
        every = CATEGORIES.all(connection, order_by=(categories.c.category_id,))
        current = [one.model_dump(mode="json") for one in every]
        put_document(connection, "memory", CURRENT, document_bytes(current))
