"""Compares the projected trees with the store, file by file and byte by byte."""

import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from stores.platform.database import Database
from stores.platform.journal.chains import ChainReport, verify_chains
from stores.platform.projection.atomic_files import FileTree
from stores.platform.projection.documents import read_document
from stores.platform.projection.stream_projection import current_file, read_archives, read_lines, read_offsets
from stores.platform.tables import IS_DIRTY, documents

REBUILD = "run `apprentice memory rebuild`"
KEEP_OR_DISCARD = "improve the ability to keep the edit, or run `apprentice memory rebuild --discard-edits`"


@dataclass(frozen=True)
class TreeDifference:
    """A file that differs from the store: ``missing``, ``changed``, ``permissions`` or ``unexplained``."""

    root: str
    path: str
    kind: str
    message: str
    remedy: str


@dataclass(frozen=True)
class TreeReport:
    """What the comparison found. ``pending`` files are about to change and were not compared."""

    files: int
    pending: int
    differences: tuple[TreeDifference, ...]
    chains: ChainReport

    @property
    def intact(self) -> bool:
        """Whether every file matches the store, and the journal its hashes."""
        return not self.differences and self.chains.intact


@dataclass(frozen=True)
class _Expected:
    root: str
    path: str
    content: Iterable[bytes]
    is_stream: bool


class TreeVerifier:
    """One comparison. It runs under the single-writer lock, so that no file changes meanwhile."""

    def __init__(self, database: Database, trees: Mapping[str, FileTree]) -> None:
        self._database = database
        self._trees = trees

    def report(self) -> TreeReport:
        """Reads every file and the whole journal."""
        differences: list[TreeDifference] = []
        explained: set[str] = set()
        files = 0
        with self._database.read() as connection:
            pending = self._pending(connection)
            explained.update(path for root, path in pending if root == "memory")
            for expected in self._expected(connection):
                files += 1
                if expected.root == "memory":
                    explained.add(expected.path)
                difference = self._difference(expected)
                if difference is not None:
                    differences.append(difference)
        differences += self._unexplained(explained)
        return TreeReport(files, len(pending), tuple(differences), verify_chains(self._database))

    def _pending(self, connection: Connection) -> set[tuple[str, str]]:
        rows = connection.execute(select(documents.c.root, documents.c.path).where(IS_DIRTY))
        return {(row.root, row.path) for row in rows}

    def _expected(self, connection: Connection) -> Iterator[_Expected]:
        live = select(documents.c.root, documents.c.path).where(
            documents.c.digest.is_not(None), ~documents.c.dirty
        )
        for row in connection.execute(live.order_by(documents.c.root, documents.c.path)).all():
            content = read_document(connection, row.root, row.path)
            yield _Expected(row.root, row.path, [content or b""], is_stream=False)
        offsets = read_offsets(connection)
        projected = max((offset.seq for offset in offsets.values()), default=0)
        archives = {
            stream: [file for file in files if file.key in offsets]
            for stream, files in read_archives(connection, projected).items()
        }
        archived = [file for files in archives.values() for file in files]
        streams = sorted(offsets.keys() - {file.key for file in archived})
        for file in archived + [current_file(name, archives, offsets[name].seq) for name in streams]:
            yield _Expected("memory", file.path, read_lines(connection, file), is_stream=True)

    def _difference(self, expected: _Expected) -> TreeDifference | None:
        tree = self._trees[expected.root]
        found = tree.status(expected.path)
        if found is None:
            return _differs(expected, "missing", "the file is missing")
        if not stat.S_ISREG(found.st_mode):
            return _differs(expected, "changed", "something that is no regular file is in its place")
        where = _first_difference(expected, tree.chunks(expected.path))
        if where is not None:
            return _differs(expected, "changed", f"the file differs from the store from {where} on")
        mode = stat.S_IMODE(found.st_mode)
        if mode != tree.file_mode:
            message = f"the permissions are {mode:04o} and must be {tree.file_mode:04o}"
            return _differs(expected, "permissions", message)
        return None

    def _unexplained(self, explained: set[str]) -> list[TreeDifference]:
        message = "no document and no stream of the store explains this file"
        remedy = f"move it elsewhere if it is wanted, then {REBUILD}"
        return [
            TreeDifference("memory", path, "unexplained", message, remedy)
            for path, is_folder in self._trees["memory"].paths()
            if not is_folder and path not in explained
        ]


def _differs(expected: _Expected, kind: str, message: str) -> TreeDifference:
    edited = expected.root == "workspace" and kind == "changed"
    return TreeDifference(expected.root, expected.path, kind, message, KEEP_OR_DISCARD if edited else REBUILD)


def _first_difference(expected: _Expected, found: Iterator[bytes]) -> str | None:
    """The place of the first byte that differs: a byte, and in a stream a line as well, both from 1."""
    position = line = 0
    ahead = b""
    for wanted in expected.content:
        while len(ahead) < len(wanted) and (chunk := next(found, b"")):
            ahead += chunk
        if ahead[: len(wanted)] != wanted:
            common = _common_prefix(wanted, ahead)
            line += wanted[:common].count(b"\n")
            return _place(position + common, line, expected.is_stream)
        ahead = ahead[len(wanted) :]
        position += len(wanted)
        line += wanted.count(b"\n")
    if ahead or next(found, b""):
        return _place(position, line, expected.is_stream)
    return None


def _place(position: int, line: int, is_stream: bool) -> str:
    return f"line {line + 1} (byte {position + 1})" if is_stream else f"byte {position + 1}"


def _common_prefix(one: bytes, other: bytes) -> int:
    length = min(len(one), len(other))
    return next((index for index in range(length) if one[index] != other[index]), length)
