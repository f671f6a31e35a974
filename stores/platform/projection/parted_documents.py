"""Documents that list everything of a kind, kept as rows for each entry: a change writes only what it changed.

The file is put together from the rows when it is projected or read (``documents.assembled``).
"""

import hashlib
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, Self

from pydantic import BaseModel
from sqlalchemy import (
    ColumnElement,
    Connection,
    Executable,
    Row,
    and_,
    delete,
    literal_column,
    or_,
    select,
    true,
    update,
)

from stores.platform.canonical import digest_of, document_bytes
from stores.platform.database import batches, insert_for, mark_followed
from stores.platform.projection.documents import (
    checked_path,
    refuse_conflicts,
    remove_document,
)
from stores.platform.tables import document_parts, documents

_PARTS = document_parts.c

Part = BaseModel | Mapping[str, Any]


class PartedDocument(NamedTuple):
    """A document of the memory tree, with the name of the list whose entries are its parts, by their names."""

    path: str
    field: str


class PartsPut(NamedTuple):
    """Parts of one document to write, and the frame around them.

    ``frame`` is the document with an empty list, or the bytes of it as ``read_frame`` gave them. ``None`` for a part
    removes it. With ``whole`` the parts that are not among ``changed`` are removed.
    """

    document: PartedDocument
    frame: BaseModel | bytes
    changed: Mapping[str, Part | None]
    whole: bool = False


def put_parts(
    connection: Connection,
    document: PartedDocument,
    frame: BaseModel | bytes,
    changed: Mapping[str, Part | None],
    *,
    whole: bool = False,
) -> None:
    """``put_all_parts`` of one document."""
    put_all_parts(connection, [PartsPut(document, frame, changed, whole)])


def put_all_parts(connection: Connection, puts: Sequence[PartsPut]) -> None:
    """Writes some parts of some documents, read and written together; what stays as it is costs nothing.

    Raises:
        DocumentConflictError: as ``put_document``.
    """
    # Held until the end: others that change the same documents wait.
    rows = connection.execute(
        select(
            documents.c.path,
            documents.c.digest,
            documents.c.content,
            documents.c.parts,
            documents.c.change,
            documents.c.dropped,
        )
        .where(
            documents.c.root == "memory",
            documents.c.path.in_([checked_path(one.document.path) for one in puts]),
        )
        .order_by(documents.c.path)
        .with_for_update()
    )
    before = {row.path: _Kept(row.digest, row.content, row.parts, row.change, row.dropped) for row in rows}
    changes = [_Change.of(one, before.get(one.document.path, _Kept())) for one in puts]
    refuse_conflicts(connection, "memory", [one.path for one in changes if one.before.digest is None])
    _compare(connection, changes)
    changes = [one for one in changes if one.changes_something]
    for one in changes:
        for some in batches(sorted(one.gone)):
            connection.execute(delete(document_parts).where(_PARTS.path == one.path, _PARTS.part.in_(some)))
    written = [row for one in changes for row in one.part_rows()]
    if written:
        connection.execute(_puts_part(connection.dialect.name), written)
    if changes:
        connection.execute(_puts_frame(connection.dialect.name), [one.frame_row() for one in changes])
        mark_followed(connection)


class _Kept(NamedTuple):
    """A document as it was before a change; without a digest there is none."""

    digest: str | None = None
    frame: bytes | None = None
    field: str | None = None
    change: int | None = None
    dropped: int | None = None


@dataclass
class _Change:
    """What becomes of one document."""

    put: PartsPut
    path: str
    framed: bytes
    before: _Kept
    whole: bool
    number: int
    written: dict[str, bytes] = field(default_factory=dict[str, bytes])
    gone: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, put: PartsPut, before: _Kept) -> Self:
        framed = put.frame if isinstance(put.frame, bytes) else document_bytes(put.frame)
        # Of a document that was removed, or kept whole, no parts count.
        whole = put.whole or before.digest is None or before.field is None
        number = _first_change() if before.change is None else before.change + 1
        return cls(put, put.document.path, framed, before, whole, number)

    @property
    def changes_something(self) -> bool:
        same = (self.before.frame, self.before.field) == (self.framed, self.put.document.field)
        return bool(self.written or self.gone) or not same

    def compared(self, known: Mapping[str, Row[*tuple[Any, ...]]]) -> None:
        """Finds out what has to be written and what removed."""
        for name, part in self.put.changed.items():
            if part is None:
                continue
            content = b"    " + document_bytes(part)[:-1].replace(b"\n", b"\n    ")
            row = known.get(name)
            if row is None or row.behind or row.content != content:
                self.written[name] = content
        self.gone = {name for name in known if self.put.changed.get(name) is None}

    def part_rows(self) -> list[dict[str, Any]]:
        row = {"path": self.path, "behind": False, "change": self.number}
        return [{**row, "part": name, "content": content} for name, content in self.written.items()]

    def frame_row(self) -> dict[str, Any]:
        return {
            "root": "memory",
            "path": self.path,
            "content": self.framed,
            "digest": _next_digest(self.before.digest, self.framed, self.written, self.gone),
            "parts": self.put.document.field,
            "dirty": True,
            "claimed": False,
            "change": self.number,
            "dropped": self.number if self.gone or self.before.digest is None else self.before.dropped,
        }


_LISTS_A_STATEMENT = 8


def _compare(connection: Connection, changes: Sequence[_Change]) -> None:
    """Reads the parts that are kept, of some or of all names, and compares them with those that are put."""
    wanted: list[ColumnElement[bool]] = []
    for one in changes:
        here = _PARTS.path == one.path
        wanted += (
            [here]
            if one.whole
            else [and_(here, _PARTS.part.in_(some)) for some in batches(sorted(one.put.changed))]
        )
    known: dict[str, dict[str, Row[*tuple[Any, ...]]]] = defaultdict(dict)
    query = select(_PARTS.path, _PARTS.part, _PARTS.content, _PARTS.behind)
    for start in range(0, len(wanted), _LISTS_A_STATEMENT):
        for row in connection.execute(query.where(or_(*wanted[start : start + _LISTS_A_STATEMENT]))):
            known[row.path][row.part] = row
    for one in changes:
        one.compared(known[one.path])


def _first_change() -> int:
    """Numbers the first change of a document by the clock, so that one made anew is ahead of what was removed."""
    return time.time_ns() // 1_000


@cache
def _puts_part(dialect: str) -> Executable:
    statement = insert_for(dialect, document_parts)
    fresh = {name: statement.excluded[name] for name in ("content", "behind", "change")}
    return statement.on_conflict_do_update(index_elements=["path", "part"], set_=fresh)


@cache
def _puts_frame(dialect: str) -> Executable:
    statement = insert_for(dialect, documents)
    fresh = {
        name: statement.excluded[name]
        for name in ("content", "digest", "parts", "dirty", "change", "dropped")
    }
    return statement.on_conflict_do_update(index_elements=["root", "path"], set_=fresh)


def remove_parted(connection: Connection, document: PartedDocument) -> None:
    """Removes a document with all of its parts; nothing happens when there is none."""
    remove_document(connection, "memory", document.path)
    connection.execute(delete(document_parts).where(_PARTS.path == document.path))


def read_frame(connection: Connection, document: PartedDocument) -> bytes | None:
    """The document without its parts; ``None`` when there is no such document, or none that is kept in parts."""
    return read_frames(connection, [document])[document.path]


def read_frames(connection: Connection, wanted: Sequence[PartedDocument]) -> dict[str, bytes | None]:
    """As ``read_frame`` for several documents, by their paths, read together."""
    rows = connection.execute(
        select(documents.c.path, documents.c.content).where(
            documents.c.root == "memory",
            documents.c.path.in_([one.path for one in wanted]),
            documents.c.parts.is_not(None),
        )
    )
    kept = {row.path: row.content for row in rows}
    return {one.path: bytes(kept[one.path]) if kept.get(one.path) is not None else None for one in wanted}


def read_parts(connection: Connection, document: PartedDocument, names: Iterable[str]) -> dict[str, bytes]:
    """The JSON of those of the parts that are there, by name."""
    return {
        row.part: bytes(row.content)
        for some in batches(sorted(names))
        for row in connection.execute(
            select(_PARTS.part, _PARTS.content).where(_PARTS.path == document.path, _PARTS.part.in_(some))
        )
    }


class Changes(NamedTuple):
    """What has changed in a document since a change of it that is known."""

    names: tuple[str, ...]
    """The parts that were written."""
    dropped: bool
    """Whether some were removed."""


def latest_change(connection: Connection, document: PartedDocument) -> tuple[str | None, int]:
    """The digest of the document's present state, None where there is none, and the number of its newest change."""
    found = connection.execute(
        select(documents.c.digest, documents.c.change).where(
            documents.c.root == "memory", documents.c.path == document.path
        )
    ).one_or_none()
    return (found.digest, found.change or 0) if found is not None else (None, 0)


def changes_since(connection: Connection, document: PartedDocument, number: int) -> Changes:
    """What was changed after the change ``number``."""
    written = select(_PARTS.part).where(_PARTS.path == document.path, _PARTS.change > number)
    dropped = connection.scalar(
        select(documents.c.dropped).where(documents.c.root == "memory", documents.c.path == document.path)
    )
    return Changes(tuple(connection.scalars(written)), dropped is not None and dropped > number)


def part_names(connection: Connection, document: PartedDocument) -> frozenset[str]:
    """The names of all parts of the document."""
    return frozenset(connection.scalars(select(_PARTS.part).where(_PARTS.path == document.path)))


def mark_behind(connection: Connection, document: PartedDocument, name: str) -> None:
    """Notes that a part's facts have changed in a way that can wait for the next change of the document."""
    connection.execute(
        update(document_parts).where(_PARTS.path == document.path, _PARTS.part == name).values(behind=true())
    )


def parts_behind(connection: Connection, document: PartedDocument) -> tuple[str, ...]:
    """The parts that were marked as behind and not written since."""
    # Spelled as the partial index spells it, so that it serves.
    query = select(_PARTS.part).where(_PARTS.path == document.path, literal_column("behind"))
    return tuple(connection.scalars(query))


def _next_digest(before: str | None, frame: bytes, written: Mapping[str, bytes], gone: Iterable[str]) -> str:
    """Names this state of the document: made of the state before and what has changed, as the whole is not read."""
    digest = hashlib.sha256(f"{before} {digest_of(frame)}".encode())
    for name in sorted(written):
        digest.update(f" {name} {digest_of(written[name])}".encode())
    for name in sorted(gone):
        digest.update(f" {name} -".encode())
    return digest.hexdigest()
