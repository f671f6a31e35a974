"""Tables whose row is a JSON document beside indexed columns: get, owned, page, put, compare-and-set.

Every method runs one statement within the caller's transaction, but for ``page``, which also counts and finds keys.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from functools import cached_property
from operator import attrgetter
from typing import Any, Generic, TypeVar

from pydantic import BaseModel
from sqlalchemy import (
    ClauseElement,
    ColumnElement,
    Connection,
    Executable,
    Select,
    Table,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from stores.platform.canonical import canonical_json
from stores.platform.database import PageCounts, PageRequest, fetch_page, insert_or

M = TypeVar("M", bound=BaseModel)

Key = str | tuple[str | int, ...]
"""The value of a table's primary key; a tuple where that has several columns, in their order."""


_OF_KEY, _OF_OWNER, _OF_VERSION = "of_key_", "of_owner", "of_version"
"""The names of parameters that tell which row is meant; those of its new values are called like its columns."""


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
        at = self._key_values(key) if owner is None else {**self._key_values(key), _OF_OWNER: owner}
        statement = self._prepared(
            ("find", owner is None, lock), lambda: self.select(*self._where_of(at), lock=lock)
        )
        body = connection.scalar(statement, at)
        return None if body is None else self.parse(body)

    def find_with_version(
        self, connection: Connection, key: Key, *, lock: bool = False
    ) -> tuple[M, int] | None:
        """As ``find``, with the row's version for ``compare_and_set``."""
        at = self._key_values(key)
        statement = self._prepared(
            ("find with version", lock),
            lambda: self.select(*self._where_of(at), also=(self.table.c[self.version],), lock=lock),
        )
        row = connection.execute(statement, at).one_or_none()
        return None if row is None else (self.parse(row[0]), row[1])

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
        """One page of the documents that match.

        Keys are found first, by an index alone where it holds what is asked for, and then their documents: a page deep
        in a long list, or a list in an order that has to be sorted, reads no others.
        """
        keys = list(self.table.primary_key)
        if len(keys) > 1:
            return document_page(connection, self.select(*where).order_by(*order_by), wanted, self.model)
        found = fetch_page(connection, select(*keys).where(*where, *self.where).order_by(*order_by), wanted)
        names = [row[0] for row in found.rows]
        bodies = {
            key: body for body, key in connection.execute(self.select(keys[0].in_(names), also=(keys[0],)))
        }
        return DocumentPage(tuple(self.parse(bodies[name]) for name in names), found.counts)

    def count(self, connection: Connection, *where: ColumnElement[bool]) -> int:
        """How many documents match."""
        query = select(func.count()).select_from(self.table).where(*where, *self.where)
        return connection.scalar(query) or 0

    def add(self, connection: Connection, document: M, **columns: Any) -> None:
        """Inserts a new row; ``columns`` are those that do not follow from the document.

        Raises:
            sqlalchemy.exc.IntegrityError: the row exists.
        """
        self.add_all(connection, [document], **columns)

    def add_all(self, connection: Connection, documents: Iterable[M], **columns: Any) -> int:
        """Inserts new rows with one statement; their number."""
        rows = [self._values(document, columns) for document in documents]
        if rows:
            connection.execute(self._prepared(("add",), lambda: insert(self.table)), rows)
        return len(rows)

    def add_if_absent(self, connection: Connection, document: M, **columns: Any) -> bool:
        """Inserts a new row unless one conflicts with it; whether it was inserted."""
        first_key = next(iter(self.table.primary_key))
        statement = self._prepared(
            ("add if absent", connection.dialect.name),
            lambda: insert_or(connection, self.table).on_conflict_do_nothing().returning(first_key),
        )
        return connection.scalar(statement, self._values(document, columns)) is not None

    def put(self, connection: Connection, document: M, **columns: Any) -> None:
        """Inserts a row, or replaces the one under its key but for the ``fixed`` columns."""
        self.put_all(connection, [(document, columns)])

    def put_all(self, connection: Connection, rows: Iterable[tuple[M, Mapping[str, Any]]]) -> None:
        """``put`` for documents, each with its columns, by one statement."""
        written = [self._values(document, columns) for document, columns in rows]
        if written:
            names = tuple(self._changeable(written[0]))
            statement = self._prepared(
                ("put", connection.dialect.name, names), lambda: self._upsert(connection, names)
            )
            connection.execute(statement, written)

    def replace(
        self, connection: Connection, document: M, *where: ColumnElement[bool], **columns: Any
    ) -> bool:
        """Updates the row under the document's key where ``where`` holds; false where there is none."""
        values = self._values(document, columns)
        at = self._key_values(tuple(values[column.name] for column in self.table.primary_key))
        changed = self._changeable(values)
        if where or any(isinstance(value, ClauseElement) for value in changed.values()):
            statement: Executable = update(self.table).where(*self._where_of(at), *where).values(changed)
            return connection.execute(statement, at).rowcount == 1
        statement = self._prepared(("replace",), lambda: update(self.table).where(*self._where_of(at)))
        return connection.execute(statement, {**changed, **at}).rowcount == 1

    def compare_and_set(self, connection: Connection, document: M, expected: int, **columns: Any) -> int:
        """Updates a row whose version is still ``expected`` (optimistic locking); the new version.

        Raises:
            Refusal: ``CONFLICT``, and nothing is written.
        """
        columns[self.version] = expected + 1
        values = self._values(document, columns)
        at = self._key_values(tuple(values[column.name] for column in self.table.primary_key))
        at[_OF_VERSION] = expected
        statement = self._prepared(("set",), lambda: update(self.table).where(*self._where_of(at)))
        if connection.execute(statement, {**self._changeable(values), **at}).rowcount != 1:
            raise Refusal(ErrorCode.CONFLICT, self.conflict)
        return expected + 1

    def delete(self, connection: Connection, key: Key, *where: ColumnElement[bool]) -> bool:
        """Deletes the row under a key where ``where`` holds; whether there was one."""
        at = self._key_values(key)
        return connection.execute(delete(self.table).where(*self._where_of(at), *where), at).rowcount == 1

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

    def _key_values(self, key: Key) -> dict[str, Any]:
        """The values of a key's parameters in a prepared statement."""
        values = (key,) if isinstance(key, str) else key
        return {
            f"{_OF_KEY}{column.name}": value
            for column, value in zip(self.table.primary_key, values, strict=True)
        }

    def _where_of(self, parameters: Mapping[str, Any]) -> list[ColumnElement[bool]]:
        """That a row has the key, owner and version which the parameters of these names will hold."""
        columns = {f"{_OF_KEY}{column.name}": column for column in self.table.primary_key}
        if _OF_OWNER in parameters:
            columns[_OF_OWNER] = self.table.c[self.owner]
        if _OF_VERSION in parameters:
            columns[_OF_VERSION] = self.table.c[self.version]
        return [column == bindparam(name, type_=column.type) for name, column in columns.items()]

    def _prepared(self, name: tuple[Any, ...], build: Callable[[], Executable]) -> Executable:
        """The statement of that name, built once: building costs more than running it."""
        statement = self._statements.get(name)
        if statement is None:
            statement = self._statements[name] = build()
        return statement

    @cached_property
    def _statements(self) -> dict[tuple[Any, ...], Executable]:
        return {}

    def _upsert(self, connection: Connection, names: tuple[str, ...]) -> Executable:
        statement = insert_or(connection, self.table)
        keys = [column.name for column in self.table.primary_key]
        fresh = {name: statement.excluded[name] for name in names}
        return statement.on_conflict_do_update(index_elements=keys, set_=fresh)

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
