"""The documents as files: tombstones first, then what changed, each old or new and never a mixture.

Files of ours in the agent's workspace that were edited by hand are found by what was last written there.
"""

import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    true,
    update,
)

from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import Database, batches, insert_or
from stores.platform.projection.atomic_files import FileTree
from stores.platform.projection.documents import assembled, parents_of, read_document
from stores.platform.tables import IS_DIRTY, claimed_folders, document_parts, documents

LARGE_PARTS = 500
"""A document of more parts takes long to put together: it is left to whoever has time, where nobody waits for it."""

DOCUMENTS_A_BATCH = 200
"""How many documents are in memory, and recorded in one transaction, at a time."""


@dataclass(frozen=True)
class ProjectionFailure:
    """A file that could not be made true; it is tried again at every catch-up."""

    root: str
    path: str
    reason: str


@dataclass(frozen=True)
class WrittenDocument:
    """A document that was written, with the digest and the size of its file."""

    root: str
    path: str
    digest: str
    size: int


class ForeignFileError(OSError):
    """Someone else's file is where a document must go in the workspace."""


class DocumentProjection:
    """Writes the documents. Its caller holds the single writer's place, which ``confirm`` checks."""

    def __init__(
        self, database: Database, trees: Mapping[str, FileTree], confirm: Callable[[], None]
    ) -> None:
        self._database = database
        self._trees = trees
        self._confirm = confirm
        self.written = 0
        self.removed = 0
        self.edits_kept = 0
        self.left = 0
        self.failures: list[ProjectionFailure] = []

    def catch_up(self, *, leave_large: bool = False) -> None:
        """Removes what was removed, then writes what changed. What fails is kept in ``failures``.

        With ``leave_large`` documents of more than ``LARGE_PARTS`` parts stay as they are, and are counted in ``left``.
        """
        with self._database.read() as connection:
            dirty = connection.execute(
                select(
                    documents.c.root,
                    documents.c.path,
                    documents.c.digest,
                    documents.c.claimed,
                    documents.c.parts,
                ).where(IS_DIRTY)
            ).all()
            if leave_large:
                small = [row for row in dirty if row.parts is None or not _is_large(connection, row.path)]
                self.left = len(dirty) - len(small)
                dirty = small
        # Sorted here: asked to sort, SQLite walks all documents in that order and not the few of the index.
        dirty = sorted(dirty, key=lambda row: (row.root, row.path))
        self._remove([row for row in dirty if row.digest is None])
        keys = [(row.root, row.path) for row in dirty if row.digest is not None]
        for start in range(0, len(keys), DOCUMENTS_A_BATCH):
            self._write(keys[start : start + DOCUMENTS_A_BATCH])

    def mend(self) -> None:
        """Marks dirty every document whose file is missing, cut short or, in the memory tree, of another length.

        A workspace file that holds something else was edited by hand: it is left alone until an install that
        has taken the edit in, or a rebuild, writes it.
        """
        self._mark_dirty([one for one in self._documents_written() if self._is_damaged(one)])

    def mark_differing(self, *, discard_edits: bool) -> None:
        """Marks dirty every document whose file has other bytes or permissions than it should.

        Unless ``discard_edits``, workspace files that were edited by hand are left alone, as by ``mend``.
        """
        differing = [one for one in self._documents_written() if not self._is_true(one)]
        wrong = [row for row in differing if discard_edits or not self._is_edited(row)]
        self.edits_kept = len(differing) - len(wrong)
        self._mark_dirty(wrong)

    def _documents_written(self) -> list[WrittenDocument]:
        found: list[WrittenDocument] = []
        with self._database.read() as connection:
            rows = connection.execute(
                select(
                    documents.c.root,
                    documents.c.path,
                    documents.c.digest,
                    func.length(documents.c.content).label("size"),
                    documents.c.parts,
                ).where(documents.c.digest.is_not(None), ~documents.c.dirty)
            ).all()
            for row in rows:
                digest, size = row.digest, row.size
                if row.parts is not None:
                    content = read_document(connection, row.root, row.path) or b""
                    digest, size = digest_of(content), len(content)
                found.append(WrittenDocument(row.root, row.path, digest, size))
        return found

    def _is_edited(self, row: WrittenDocument) -> bool:
        if row.root == "memory" or self._is_damaged(row):
            return False
        return digest_of(b"".join(self._trees[row.root].chunks(row.path))) != row.digest

    def _is_damaged(self, row: WrittenDocument) -> bool:
        size = self._trees[row.root].size(row.path)
        if size is None or row.root == "memory":
            return size != row.size
        if size >= row.size:
            return False
        with self._database.read() as connection:
            content = connection.scalar(
                select(documents.c.content).where(documents.c.root == row.root, documents.c.path == row.path)
            )
        held = b"".join(self._trees[row.root].chunks(row.path))
        return content is not None and bytes(content).startswith(held)

    def _is_true(self, row: WrittenDocument) -> bool:
        tree = self._trees[row.root]
        found = tree.status(row.path)
        if found is None or not stat.S_ISREG(found.st_mode) or stat.S_IMODE(found.st_mode) != tree.file_mode:
            return False
        return digest_of(b"".join(tree.chunks(row.path))) == row.digest

    def _mark_dirty(self, rows: Sequence[WrittenDocument]) -> None:
        if rows:
            with self._database.write() as connection:
                connection.execute(
                    update(documents)
                    .where(documents.c.root == bindparam("of_root"), documents.c.path == bindparam("of_path"))
                    .values(dirty=true()),
                    [{"of_root": row.root, "of_path": row.path} for row in rows],
                )

    def _remove(self, rows: Sequence[Row[*tuple[Any, ...]]]) -> None:
        if not rows:
            return
        above = {folder for row in rows if row.root == "workspace" for folder in parents_of(row.path)}
        with self._database.read() as connection:
            ours = {
                path
                for some in batches(sorted(above))
                for path in connection.scalars(
                    select(claimed_folders.c.path).where(claimed_folders.c.path.in_(some))
                )
            }
        done: list[Row[*tuple[Any, ...]]] = []
        folders: set[str] = set()
        for row in rows:
            try:
                if row.root == "memory" or row.claimed:
                    self.removed += self._trees[row.root].remove(row.path)
                    folders |= self._remove_empty(row, ours)
                done.append(row)
            except OSError as error:
                self._fail(row.root, row.path, error)
        self._settle()
        with self._database.write() as connection:
            if done:
                connection.execute(
                    delete(documents).where(
                        documents.c.root == bindparam("of_root"),
                        documents.c.path == bindparam("of_path"),
                        documents.c.digest.is_(None),
                    ),
                    [{"of_root": row.root, "of_path": row.path} for row in done],
                )
            connection.execute(delete(claimed_folders).where(claimed_folders.c.path.in_(folders)))

    def _remove_empty(self, row: Row[*tuple[Any, ...]], ours: set[str]) -> set[str]:
        gone: set[str] = set()
        for folder in reversed(parents_of(row.path)):
            if row.root == "workspace" and folder not in ours:
                break
            if not self._trees[row.root].remove_folder(folder):
                break
            if row.root == "workspace":
                gone.add(folder)
        return gone

    def _write(self, keys: list[tuple[str, str]]) -> None:
        with self._database.read() as connection:
            found = connection.execute(
                select(documents).where(or_(*_below_each_root(keys)), documents.c.digest.is_not(None))
            ).all()
            # Sorted here: asked to sort, PostgreSQL may walk all documents in that order.
            rows = sorted(found, key=lambda row: (row.root, row.path))
            put_together = {
                row.path: assembled(connection, row.path, row.content, row.parts)
                for row in rows
                if row.parts is not None
            }
        done: list[Row[*tuple[Any, ...]]] = []
        for row in self._claim(rows):
            try:
                whole = put_together[row.path] if row.parts is not None else bytes(row.content)
                self._trees[row.root].replace(row.path, [whole])
                done.append(row)
            except OSError as error:
                self._fail(row.root, row.path, error)
        self._settle()
        if done:
            with self._database.write() as connection:
                connection.execute(
                    update(documents)
                    .where(
                        documents.c.root == bindparam("of_root"),
                        documents.c.path == bindparam("of_path"),
                        documents.c.digest == bindparam("of_digest"),
                    )
                    .values(dirty=False),
                    [{"of_root": row.root, "of_path": row.path, "of_digest": row.digest} for row in done],
                )
        self.written += len(done)

    def _claim(self, rows: Sequence[Row[*tuple[Any, ...]]]) -> list[Row[*tuple[Any, ...]]]:
        """The rows that may be written: in the workspace, those whose place is free or already ours.

        The claim is durable before the file is: after a crash the file is known to be ours.
        """
        tree = self._trees["workspace"]
        allowed: list[Row[*tuple[Any, ...]]] = []
        claims: list[dict[str, str]] = []
        folders: set[str] = set()
        for row in rows:
            if row.root == "workspace":
                try:
                    if not row.claimed:
                        self._refuse_foreign(tree, row)
                        claims.append({"of_root": row.root, "of_path": row.path})
                    folders |= {folder for folder in parents_of(row.path) if tree.status(folder) is None}
                except OSError as error:
                    self._fail(row.root, row.path, error)
                    continue
            allowed.append(row)
        if claims or folders:
            with self._database.write() as connection:
                if claims:
                    connection.execute(
                        update(documents)
                        .where(
                            documents.c.root == bindparam("of_root"),
                            documents.c.path == bindparam("of_path"),
                        )
                        .values(claimed=true()),
                        claims,
                    )
                if folders:
                    connection.execute(
                        insert_or(connection, claimed_folders).on_conflict_do_nothing(),
                        [{"path": folder} for folder in sorted(folders)],
                    )
        return allowed

    def _refuse_foreign(self, tree: FileTree, row: Row[*tuple[Any, ...]]) -> None:
        found = tree.status(row.path)
        if found is None:
            return
        if stat.S_ISREG(found.st_mode) and digest_of(b"".join(tree.chunks(row.path))) == row.digest:
            return
        raise ForeignFileError("something that is not ours is there: move it away, or use another name")

    def _fail(self, root: str, path: str, error: OSError) -> None:
        self.failures.append(ProjectionFailure(root, path, error.strerror or str(error)))

    def _settle(self) -> None:
        for tree in self._trees.values():
            tree.settle()
        self._confirm()


LARGEST_BYTES = 1024 * 1024
"""A longer file counts as changed by what is read of it; a skill's files are far smaller."""


class WorkspaceEdits:
    """Compares a skill's workspace files with what we last wrote there."""

    def __init__(self, database: Database, workspace: Path) -> None:
        self._database = database
        self._tree = FileTree(workspace, file_mode=0o444, folder_mode=0o755)

    def of_skill(self, slug: str) -> dict[str, bytes]:
        """The changed files with what they hold now. A file that is gone, or never was ours, is not among them."""
        folder = f"skills/{slug}"
        with self._database.read() as connection:
            rows = connection.execute(
                select(documents.c.path, documents.c.digest).where(
                    documents.c.root == "workspace",
                    documents.c.path > f"{folder}/",
                    documents.c.path < f"{folder}0",
                    documents.c.claimed,
                    ~documents.c.dirty,
                    documents.c.digest.is_not(None),
                )
            ).all()
        found: dict[str, bytes] = {}
        for row in rows:
            if self._tree.size(row.path) is None:
                continue
            content = self._read(row.path)
            if digest_of(content) != row.digest:
                found[row.path] = content
        return found

    def _read(self, path: str) -> bytes:
        content = bytearray()
        for chunk in self._tree.chunks(path):
            content += chunk
            if len(content) > LARGEST_BYTES:
                break
        return bytes(content)


def _is_large(connection: Connection, path: str) -> bool:
    parts = select(document_parts.c.path).where(document_parts.c.path == path)
    return connection.scalar(parts.offset(LARGE_PARTS).limit(1)) is not None


def _below_each_root(keys: Sequence[tuple[str, str]]) -> list[ColumnElement[bool]]:
    """That a document is one of ``keys``; SQLite walks the whole table for a list of pairs."""
    return [
        and_(documents.c.root == root, documents.c.path.in_([path for of, path in keys if of == root]))
        for root in sorted({root for root, _ in keys})
    ]


def edits_digest(edited: Mapping[str, bytes]) -> str:
    """One digest for a set of edited files."""
    return digest_of(canonical_json({path: digest_of(content) for path, content in edited.items()}))
