"""Documents that list everything of a kind, kept as rows for each entry: a change writes only what it changed.

The file is put together from the rows when it is projected or read (``documents.assembled``).
"""

import hashlib
import time
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from pydantic import BaseModel
from sqlalchemy import Connection, Executable, delete, literal_column, select, true, update

from stores.platform.canonical import digest_of, document_bytes
from stores.platform.database import batches, insert_for
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


def put_parts(
    connection: Connection,
    document: PartedDocument,
    frame: BaseModel | bytes,
    changed: Mapping[str, Part | None],
    *,
    whole: bool = False,
) -> None:
    """Writes some parts of a document, and the frame around them; what stays as it is costs nothing.

    ``frame`` is the document with an empty list, or the bytes of it as ``read_frame`` gave them. ``None`` for a part
    removes it. With ``whole`` the parts that are not among ``changed`` are removed.

    Raises:
        DocumentConflictError: as ``put_document``.
    """
    path = checked_path(document.path)
    framed = frame if isinstance(frame, bytes) else document_bytes(frame)
    here = (documents.c.root == "memory", documents.c.path == path)
    # Held until the end: others that change the same document wait.
    before = connection.execute(
        select(
            documents.c.digest,
            documents.c.content,
            documents.c.parts,
            documents.c.change,
            documents.c.dropped,
        )
        .where(*here)
        .with_for_update()
    ).one_or_none()
    digest, known_frame, known_field, last, dropped = before or (None, None, None, None, None)
    if digest is None:
        refuse_conflicts(connection, "memory", path)
    # Of a document that was removed, or kept whole, no parts count.
    whole = whole or digest is None or known_field is None
    written, gone = _differences(connection, path, changed, whole=whole)
    if not written and not gone and (known_frame, known_field) == (framed, document.field):
        return
    number = _first_change() if last is None else last + 1
    if gone or digest is None:
        dropped = number
    if gone:
        for some in batches(sorted(gone)):
            connection.execute(delete(document_parts).where(_PARTS.path == path, _PARTS.part.in_(some)))
    if written:
        connection.execute(
            _puts_part(connection.dialect.name),
            [
                {"path": path, "part": name, "content": content, "behind": False, "change": number}
                for name, content in written.items()
            ],
        )
    row = {
        "root": "memory",
        "path": path,
        "content": framed,
        "digest": _next_digest(digest, framed, written, gone),
        "parts": document.field,
        "dirty": True,
        "claimed": False,
        "change": number,
        "dropped": dropped,
    }
    connection.execute(_puts_frame(connection.dialect.name), row)


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
    content: bytes | None = connection.scalar(
        select(documents.c.content).where(
            documents.c.root == "memory", documents.c.path == document.path, documents.c.parts.is_not(None)
        )
    )
    return None if content is None else bytes(content)


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


def _differences(
    connection: Connection, path: str, changed: Mapping[str, Part | None], *, whole: bool
) -> tuple[dict[str, bytes], set[str]]:
    """What has to be written and what removed."""
    query = select(_PARTS.part, _PARTS.content, _PARTS.behind).where(_PARTS.path == path)
    queries = [query] if whole else [query.where(_PARTS.part.in_(some)) for some in batches(sorted(changed))]
    known = {row.part: row for one in queries for row in connection.execute(one)}
    written: dict[str, bytes] = {}
    for name, part in changed.items():
        if part is None:
            continue
        content = b"    " + document_bytes(part)[:-1].replace(b"\n", b"\n    ")
        row = known.get(name)
        if row is None or row.behind or row.content != content:
            written[name] = content
    return written, {name for name in known if changed.get(name) is None}


def _next_digest(before: str | None, frame: bytes, written: Mapping[str, bytes], gone: Iterable[str]) -> str:
    """Names this state of the document: made of the state before and what has changed, as the whole is not read."""
    digest = hashlib.sha256(f"{before} {digest_of(frame)}".encode())
    for name in sorted(written):
        digest.update(f" {name} {digest_of(written[name])}".encode())
    for name in sorted(gone):
        digest.update(f" {name} -".encode())
    return digest.hexdigest()
