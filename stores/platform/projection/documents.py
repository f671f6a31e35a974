"""Documents of the memory tree and the agent's workspace as rows, written with the transaction they belong to.

The projector writes them to disk afterwards. Paths are checked here.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Literal

from sqlalchemy import (
    ColumnElement,
    Connection,
    Executable,
    and_,
    bindparam,
    func,
    null,
    select,
    true,
    union,
    update,
)

from stores.platform.canonical import digest_of
from stores.platform.database import batches, insert_for, mark_followed
from stores.platform.tables import IS_DIRTY, document_parts, documents, journal

TEMPORARY_SUFFIX = ".apprentice-tmp"
"""Ends the name of a file while it is being written."""

STREAM_SUFFIX = ".jsonl"

MAX_PATH_CHARACTERS = 1_024
MAX_NAME_BYTES = 200
"""Of one file or folder name; file systems allow 255, and a temporary name is longer than its file's."""


class InvalidTreePathError(ValueError):
    """A path that cannot be that of a projected file."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path!r} cannot be a file of the tree: {reason}")
        self.path = path


@lru_cache(maxsize=4_096)
def checked_path(path: str) -> str:
    """``path`` itself, when it is relative, normal and printable.

    Raises:
        InvalidTreePathError: it is empty, absolute or too long, steps out of the tree, or holds characters
            that are invisible or that file systems read differently.
    """
    if not path or len(path) > MAX_PATH_CHARACTERS:
        raise InvalidTreePathError(path, f"it needs 1 to {MAX_PATH_CHARACTERS} characters")
    if any(unicodedata.category(character)[0] == "C" for character in path) or "\\" in path:
        raise InvalidTreePathError(path, "it holds a control or invisible character, or a backslash")
    if not unicodedata.is_normalized("NFC", path):
        raise InvalidTreePathError(path, "it is not in Unicode's composed form (NFC)")
    for name in path.split("/"):
        if name in {"", ".", ".."}:
            raise InvalidTreePathError(path, "it must be relative, without empty, '.' or '..' parts")
        if len(name.encode()) > MAX_NAME_BYTES:
            raise InvalidTreePathError(path, f"the name {name[:20]}… has more than {MAX_NAME_BYTES} bytes")
    if path.endswith(TEMPORARY_SUFFIX):
        raise InvalidTreePathError(path, f"{TEMPORARY_SUFFIX} is kept for files being written")
    return path


@lru_cache(maxsize=1_024)
def stream_path(stream: str) -> str:
    """The file of a journal stream, below the memory root.

    Raises:
        InvalidTreePathError: the stream's name cannot be a path, or already has the suffix.
    """
    if stream.endswith(STREAM_SUFFIX):
        raise InvalidTreePathError(stream, f"a stream is named without {STREAM_SUFFIX}")
    return checked_path(checked_path(stream) + STREAM_SUFFIX)


def parents_of(path: str) -> tuple[str, ...]:
    """The folders above ``path``, the outermost first; none for a file at the top."""
    names = path.split("/")[:-1]
    return tuple("/".join(names[: depth + 1]) for depth in range(len(names)))


DocumentRoot = Literal["memory", "workspace"]
"""The memory tree, or the folder shared with the agent."""

_DIGESTS = select(documents.c.path, documents.c.digest).where(
    documents.c.root == bindparam("of_root"), documents.c.path.in_(bindparam("of_paths", expanding=True))
)


class DocumentConflictError(ValueError):
    """A file cannot be where a folder or a stream of the journal already is, nor the other way round."""

    def __init__(self, root: str, path: str, rival: str) -> None:
        super().__init__(f"the document {path} of {root} cannot be kept beside {rival}; remove one of them")
        self.path = path
        self.rival = rival


def put_document(connection: Connection, root: DocumentRoot, path: str, content: bytes) -> None:
    """Makes ``content`` what the file ``path`` below ``root`` holds; the same content again changes nothing.

    Raises:
        InvalidTreePathError: ``path`` is not a relative, printable path.
        DocumentConflictError: another document, or a stream, needs the same place as something else.
    """
    put_documents(connection, root, {path: content})


def put_documents(connection: Connection, root: DocumentRoot, contents: Mapping[str, bytes]) -> None:
    """As ``put_document`` for files below one root, by path: what is there is read together, and written together."""
    digests = {checked_path(path): digest_of(content) for path, content in contents.items()}
    known = document_digests(connection, root, digests)
    changed = [path for path, digest in digests.items() if known.get(path) != digest]
    refuse_conflicts(connection, root, [path for path in changed if known.get(path) is None])
    if changed:
        connection.execute(
            _puts(connection.dialect.name),
            [
                {
                    "root": root,
                    "path": path,
                    "content": contents[path],
                    "digest": digests[path],
                    "dirty": True,
                    "claimed": False,
                }
                for path in changed
            ],
        )
        mark_followed(connection)


def remove_document(connection: Connection, root: DocumentRoot, path: str) -> None:
    """Removes the file ``path`` below ``root``; nothing happens when there is none."""
    gone = {"content": null(), "digest": null(), "dirty": true(), "parts": null()}
    connection.execute(
        update(documents).where(*_at(root, checked_path(path)), documents.c.digest.is_not(None)).values(gone)
    )
    mark_followed(connection)


def read_document(connection: Connection, root: DocumentRoot, path: str) -> bytes | None:
    """What the file ``path`` below ``root`` holds, on disk or soon; None when there is no such file."""
    row = connection.execute(
        select(documents.c.content, documents.c.parts).where(*_at(root, path))
    ).one_or_none()
    if row is None or row.content is None:
        return None
    return bytes(row.content) if row.parts is None else assembled(connection, path, row.content, row.parts)


def documents_of_folder(
    connection: Connection, root: DocumentRoot, folder: str, beside: Iterable[str]
) -> dict[str, bytes]:
    """What the documents below ``folder`` hold, and those of ``beside`` that there are, by path, read together."""
    found = select(documents.c.path, documents.c.content, documents.c.parts).where(documents.c.root == root)
    # Each for itself: for both in one condition SQLite walks all documents of the root.
    both = union(found.where(*_below(folder)), found.where(documents.c.path.in_(sorted(beside))))
    rows = connection.execute(both).all()
    return {
        row.path: bytes(row.content)
        if row.parts is None
        else assembled(connection, row.path, row.content, row.parts)
        for row in rows
        if row.content is not None
    }


def document_digest(connection: Connection, root: DocumentRoot, path: str) -> str | None:
    """What tells this state of the document from every other; None when there is no such file."""
    return document_digests(connection, root, [path]).get(path)


def document_digests(
    connection: Connection, root: DocumentRoot, paths: Iterable[str]
) -> dict[str, str | None]:
    """As ``document_digest`` for several files, read together; what was never there is left out."""
    return {
        row.path: row.digest
        for some in batches(paths)
        for row in connection.execute(_DIGESTS, {"of_root": root, "of_paths": some})
    }


def assembled(connection: Connection, path: str, frame: bytes, field: str) -> bytes:
    """A document with its parts: ``frame``, the document whose list ``field`` is empty, and each entry of the list.

    The bytes are those that ``document_bytes`` makes of the whole.
    """
    rows = connection.execute(
        select(document_parts.c.part, document_parts.c.content).where(document_parts.c.path == path)
    ).all()
    if not rows:
        return bytes(frame)
    # Sorted here: databases sort text each in their own way.
    parts = [bytes(row.content) for row in sorted(rows, key=lambda row: row.part)]
    before, empty, after = bytes(frame).partition(f'\n  "{field}": ['.encode())
    return b"".join((before, empty, b"\n", b",\n".join(parts), b"\n  ", after))


def unwritten(connection: Connection, root: DocumentRoot) -> set[str]:
    """The paths of the documents that are not on the disk as they are here."""
    # Asked for one root, SQLite walks all documents of that root and not the few of the index.
    rows = connection.execute(select(documents.c.root, documents.c.path).where(IS_DIRTY))
    return {row.path for row in rows if row.root == root}


def list_documents(connection: Connection, root: DocumentRoot, folder: str) -> tuple[str, ...]:
    """The paths of the documents below ``folder``, sorted."""
    query = select(documents.c.path).where(
        documents.c.root == root, documents.c.digest.is_not(None), *_below(folder)
    )
    return tuple(sorted(connection.scalars(query)))


def folder_contents(connection: Connection, root: DocumentRoot, folder: str) -> tuple[bytes, ...]:
    """What the documents below ``folder`` hold, in the order of their paths."""
    here = (documents.c.root == root, documents.c.digest.is_not(None), *_below(folder))
    query = select(documents.c.content).where(*here).order_by(documents.c.path)
    return tuple(bytes(content) for content in connection.scalars(query) if content is not None)


def _below(folder: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    # "0" is the character after "/": the range is everything that begins with "folder/".
    return documents.c.path > f"{folder}/", documents.c.path < f"{folder}0"


@cache
def _puts(dialect: str) -> Executable:
    statement = insert_for(dialect, documents)
    excluded = statement.excluded
    fresh = {"content": excluded.content, "digest": excluded.digest, "dirty": true(), "parts": null()}
    return statement.on_conflict_do_update(index_elements=["root", "path"], set_=fresh)


def _at(root: str, path: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return documents.c.root == root, documents.c.path == path


def refuse_conflicts(connection: Connection, root: str, paths: Sequence[str]) -> None:
    """Refuses new documents where a file, a folder or a stream is, or another one of them is put.

    Raises:
        DocumentConflictError: another document, or a stream, needs the same place as something else.
    """
    if not paths:
        return
    new = set(paths)
    for path in paths:
        beside = next((folder for folder in parents_of(path) if folder in new), None)
        if beside is not None:
            raise DocumentConflictError(root, path, beside)
    for start in range(0, len(paths), _PATHS_A_STATEMENT):
        _refuse_kept(connection, root, paths[start : start + _PATHS_A_STATEMENT])


_PATHS_A_STATEMENT = 50
"""For how many paths one statement looks for what is below them: databases bound how much one may say."""


def _refuse_kept(connection: Connection, root: str, paths: Sequence[str]) -> None:
    above = sorted({folder for path in paths for folder in parents_of(path)})
    places = [and_(documents.c.path > f"{path}/", documents.c.path < f"{path}0") for path in paths]
    if above:
        places.append(documents.c.path.in_(above))
    # Each for itself: for all in one condition SQLite walks all documents of the root.
    rivals = [
        select(documents.c.path)
        .where(documents.c.root == root, documents.c.digest.is_not(None), place)
        .limit(1)
        .scalar_subquery()
        for place in places
    ]
    rival = connection.scalar(select(func.coalesce(*rivals, null())))
    if rival is not None:
        path = next(one for one in paths if one.startswith(f"{rival}/") or rival.startswith(f"{one}/"))
        raise DocumentConflictError(root, path, rival)
    streams = {path.removesuffix(STREAM_SUFFIX): path for path in paths if path.endswith(STREAM_SUFFIX)}
    if root == "memory" and streams:
        taken = connection.scalar(select(journal.c.stream).where(journal.c.stream.in_(streams)).limit(1))
        if taken is not None:
            raise DocumentConflictError(root, streams[taken], f"the journal's stream {taken}")
