"""Tables whose row is a JSON document beside indexed columns: get, owned, page, put, compare-and-set.

Every method runs one statement within the caller's transaction, but for ``page``, which also counts.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from functools import cached_property
from operator import attrgetter
from typing import Any, Generic, TypeVar

from pydantic import BaseModel
from sqlalchemy import ColumnElement, Connection, Select, Table, delete, func, insert, select, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from stores.platform.canonical import canonical_json
from stores.platform.database import PageCounts, PageRequest, fetch_page, insert_or

M = TypeVar("M", bound=BaseModel)

Key = str | tuple[str | int, ...]
"""The value of a table's primary key; a tuple where that has several columns, in their order."""


@dataclass(frozen=True)
class DocumentPage(Generic[M]):
    """The documents of one page."""

    documents: tuple[M, ...]
    counts: PageCounts


def document_page(
    connection: Connection, query: Select[*tuple[Any, ...]], wanted: PageRequest, model: type[M]
) -> DocumentPage[M]:
    """Runs an ordered query, whose first column holds documents, for one page."""
    found = fetch_page(connection, query, wanted)
    return DocumentPage(tuple(model.model_validate_json(row[0]) for row in found.rows), found.counts)


@dataclass(frozen=True)
class DocumentTable(Generic[M]):
    """Reads and writes the documents of one table, each row found by its primary key.

    A column that is called like a field of the document has its value: a time as RFC 3339, an enum as its value.
    """

    table: Table
    model: type[M]
    columns: Callable[[M], Mapping[str, Any]] = lambda _: {}
    """Columns that are computed from a document."""

    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    """The field, with dots for a field within one, of columns that are called otherwise."""

    code: ErrorCode = ErrorCode.NOT_FOUND
    message: str = "There is no such document of yours."
    """The refusal of ``get`` and ``owned``; ``{key}`` in the message becomes the key that was asked for."""

    conflict: str = "It has changed meanwhile; read it again."
    """The message of the refusal (``CONFLICT``) of ``compare_and_set``."""

    where: tuple[ColumnElement[bool], ...] = ()
    """Conditions of every read, such as that a row is not soft-deleted."""

    body: str = "body"
    owner: str = "owner"
    version: str = "version"
    """The names of the columns that hold the document, its owner, and its version."""

    fixed: tuple[str, ...] = ("owner", "created_at")
    """Columns that are written with a new row and never changed."""

    def find(
        self, connection: Connection, key: Key, *, owner: str | None = None, lock: bool = False
    ) -> M | None:
        """The document under a key, if there is one; with ``owner``, only that owner's.

        ``lock`` keeps the row locked until the transaction ends.
        """
        return self.first(connection, *self._at(key, owner), lock=lock)

    def get(self, connection: Connection, key: Key, *, lock: bool = False) -> M:
        """The document under a key, of any owner.

        Raises:
            Refusal: with the table's code and message.
        """
        return self._there(key, self.find(connection, key, lock=lock))

    def owned(self, connection: Connection, key: Key, owner: str, *, lock: bool = False) -> M:
        """The owner's document under a key; another owner's is not found.

        Raises:
            Refusal: with the table's code and message.
        """
        return self._there(key, self.find(connection, key, owner=owner, lock=lock))

    def first(
        self,
        connection: Connection,
        *where: ColumnElement[bool],
        order_by: tuple[ColumnElement[Any], ...] = (),
        lock: bool = False,
    ) -> M | None:
        """The first document that matches; ``order_by`` where several may."""
        body = connection.scalar(self.select(*where, lock=lock).order_by(*order_by).limit(1))
        return None if body is None else self.parse(body)

    def all(
        self,
        connection: Connection,
        *where: ColumnElement[bool],
        order_by: tuple[ColumnElement[Any], ...],
        limit: int | None = None,
        lock: bool = False,
    ) -> tuple[M, ...]:
        """The documents that match, at most ``limit``."""
        query = self.select(*where, lock=lock).order_by(*order_by).limit(limit)
        return tuple(self.parse(body) for body in connection.scalars(query))

    def all_with_owner(
        self, connection: Connection, *where: ColumnElement[bool], order_by: tuple[ColumnElement[Any], ...]
    ) -> tuple[tuple[str, M], ...]:
        """The documents that match, each after its owner."""
        query = self.select(*where, also=(self.table.c[self.owner],)).order_by(*order_by)
        return tuple((row[1], self.parse(row[0])) for row in connection.execute(query))

    def page(
        self,
        connection: Connection,
        wanted: PageRequest,
        *where: ColumnElement[bool],
        order_by: tuple[ColumnElement[Any], ...],
    ) -> DocumentPage[M]:
        """One page of the documents that match."""
        return document_page(connection, self.select(*where).order_by(*order_by), wanted, self.model)

    def count(self, connection: Connection, *where: ColumnElement[bool]) -> int:
        """How many documents match."""
        query = select(func.count()).select_from(self.table).where(*where, *self.where)
        return connection.scalar(query) or 0

    def add(self, connection: Connection, document: M, **columns: Any) -> None:
        """Inserts a new row; ``columns`` are those that do not follow from the document.

        Raises:
            sqlalchemy.exc.IntegrityError: the row exists.
        """
        connection.execute(insert(self.table).values(self._values(document, columns)))

    def add_all(self, connection: Connection, documents: Iterable[M], **columns: Any) -> int:
        """Inserts new rows with one statement; their number."""
        rows = [self._values(document, columns) for document in documents]
        if rows:
            connection.execute(insert(self.table), rows)
        return len(rows)

    def add_if_absent(self, connection: Connection, document: M, **columns: Any) -> bool:
        """Inserts a new row unless one conflicts with it; whether it was inserted."""
        statement = insert_or(connection, self.table).values(self._values(document, columns))
        first_key = next(iter(self.table.primary_key))
        written = connection.scalar(statement.on_conflict_do_nothing().returning(first_key))
        return written is not None

    def put(self, connection: Connection, document: M, **columns: Any) -> None:
        """Inserts a row, or replaces the one under its key but for the ``fixed`` columns."""
        self.put_all(connection, [(document, columns)])

    def put_all(self, connection: Connection, rows: Iterable[tuple[M, Mapping[str, Any]]]) -> None:
        """``put`` for documents, each with its columns, by one statement."""
        written = [self._values(document, columns) for document, columns in rows]
        if written:
            statement = insert_or(connection, self.table)
            fresh = {name: statement.excluded[name] for name in self._changeable(written[0])}
            keys = [column.name for column in self.table.primary_key]
            connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=fresh), written)

    def replace(
        self, connection: Connection, document: M, *where: ColumnElement[bool], **columns: Any
    ) -> bool:
        """Updates the row under the document's key where ``where`` holds; false where there is none."""
        values = self._values(document, columns)
        at = [column == values[column.name] for column in self.table.primary_key]
        statement = update(self.table).where(*at, *where).values(self._changeable(values))
        return connection.execute(statement).rowcount == 1

    def compare_and_set(self, connection: Connection, document: M, expected: int, **columns: Any) -> int:
        """Updates a row whose version is still ``expected`` (optimistic locking); the new version.

        Raises:
            Refusal: ``CONFLICT``, and nothing is written.
        """
        columns[self.version] = expected + 1
        if not self.replace(connection, document, self.table.c[self.version] == expected, **columns):
            raise Refusal(ErrorCode.CONFLICT, self.conflict)
        return expected + 1

    def delete(self, connection: Connection, key: Key, *where: ColumnElement[bool]) -> bool:
        """Deletes the row under a key where ``where`` holds; whether there was one."""
        statement = delete(self.table).where(*self._at(key, None), *where)
        return connection.execute(statement).rowcount == 1

    def select(
        self, *where: ColumnElement[bool], also: tuple[ColumnElement[Any], ...] = (), lock: bool = False
    ) -> Select[*tuple[Any, ...]]:
        """The query of the documents that match, with ``also`` columns after them; ``parse`` reads a body."""
        query = select(self.table.c[self.body], *also).where(*where, *self.where)
        return query.with_for_update() if lock else query

    def parse(self, body: str) -> M:
        """The document in a row's body."""
        return self.model.model_validate_json(body)

    def not_found(self, key: str = "") -> Refusal:
        """The refusal for a document that does not exist, or is another owner's."""
        return Refusal(self.code, self.message.format(key=key))

    def _there(self, key: Key, found: M | None) -> M:
        if found is None:
            raise self.not_found(key if isinstance(key, str) else " ".join(map(str, key)))
        return found

    def _at(self, key: Key, owner: str | None) -> list[ColumnElement[bool]]:
        values = (key,) if isinstance(key, str) else key
        at = [column == value for column, value in zip(self.table.primary_key, values, strict=True)]
        return at if owner is None else [*at, self.table.c[self.owner] == owner]

    @cached_property
    def _of_fields(self) -> dict[str, Callable[[M], Any]]:
        known = {
            *self.model.model_fields,
            *(n for n, v in vars(self.model).items() if isinstance(v, property)),
        }
        paths = {column.name: column.name for column in self.table.columns if column.name in known}
        if "owner_user_id" in known and self.owner in self.table.columns:
            paths[self.owner] = "owner_user_id"
        return {column: attrgetter(path) for column, path in {**paths, **self.fields}.items()}

    def _values(self, document: M, columns: Mapping[str, Any]) -> dict[str, Any]:
        values = {column: _plain(of(document)) for column, of in self._of_fields.items()}
        return {**values, **self.columns(document), **columns, self.body: canonical_json(document)}

    def _changeable(self, values: Mapping[str, Any]) -> dict[str, Any]:
        kept = {*self.fixed, *(column.name for column in self.table.primary_key)}
        return {name: value for name, value in values.items() if name not in kept}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return rfc3339(value)
    return value.value if isinstance(value, Enum) else value
