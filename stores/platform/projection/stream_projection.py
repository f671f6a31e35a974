"""Projects the journal's streams into JSONL files: appended at a recorded offset, rotated into archives, restored."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from stores.platform.database import Database, insert_or
from stores.platform.journal.journal import safe_upper_bound
from stores.platform.projection.atomic_files import FileTree
from stores.platform.projection.documents import stream_path
from stores.platform.tables import journal, projection_offsets, stream_archives

_LINES_A_READ = 1_000


@dataclass(frozen=True)
class Offset:
    """How far a file is true: up to the entry ``seq``, which ends at ``size_bytes``."""

    seq: int = 0
    size_bytes: int = 0


@dataclass(frozen=True)
class StreamFile:
    """A file that holds the lines of ``stream`` with ``after < seq <= upto``.

    ``key`` is the file's key in ``projection_offsets``: the stream for its own file, the path for an archive.
    """

    key: str
    path: str
    stream: str
    after: int
    upto: int


def read_offsets(connection: Connection) -> dict[str, Offset]:
    """The recorded offset of every JSONL file by its key."""
    rows = connection.execute(select(projection_offsets))
    return {row.stream: Offset(row.seq, row.size_bytes) for row in rows}


def read_archives(connection: Connection, upto: int) -> dict[str, list[StreamFile]]:
    """The archives that reach no further than ``upto``, by stream, the oldest first."""
    rows = connection.execute(
        select(stream_archives.c.stream, stream_archives.c.archive, stream_archives.c.upto_seq)
        .where(stream_archives.c.upto_seq <= upto)
        .order_by(stream_archives.c.stream, stream_archives.c.upto_seq, stream_archives.c.archive)
    )
    archives: dict[str, list[StreamFile]] = {}
    for row in rows:
        earlier = archives.setdefault(row.stream, [])
        after = earlier[-1].upto if earlier else 0
        earlier.append(StreamFile(row.archive, row.archive, row.stream, after, row.upto_seq))
    return archives


def current_file(stream: str, archives: Mapping[str, list[StreamFile]], upto: int) -> StreamFile:
    """The stream's own file, with what its ``archives`` leave to it."""
    archived = archives.get(stream)
    return StreamFile(stream, stream_path(stream), stream, archived[-1].upto if archived else 0, upto)


def read_lines(connection: Connection, file: StreamFile) -> Iterator[bytes]:
    """The bytes of ``file``, a thousand lines at a time."""
    after = file.after
    while True:
        rows = connection.execute(
            select(journal.c.seq, journal.c.document)
            .where(journal.c.stream == file.stream, journal.c.seq > after, journal.c.seq <= file.upto)
            .order_by(journal.c.seq)
            .limit(_LINES_A_READ)
        ).all()
        if not rows:
            return
        after = rows[-1].seq
        yield "".join(f"{row.document}\n" for row in rows).encode()


ENTRIES_A_PASS = 10_000
"""How many entries are appended before their offsets are recorded."""


class StreamProjection:
    """Writes the JSONL files. Its caller holds the single writer's place, which ``confirm`` checks.

    Every file is synced before its offset is recorded: what lies beyond an offset is written anew, and a file
    shorter than its offset is restored from the journal.
    """

    def __init__(self, database: Database, tree: FileTree, confirm: Callable[[], None]) -> None:
        self._database = database
        self._tree = tree
        self._confirm = confirm
        self.lines_appended = 0
        self.files_rewritten = 0
        self.upto_seq = 0

    def catch_up(self, *, archives: bool = True) -> None:
        """Appends what is new, then rotates what is archived, where there may be new ``archives``."""
        while self._append_pass():
            pass
        if archives:
            self._rotate()

    def mend(self) -> None:
        """Restores every file that is not as long as it was recorded to be."""
        with self._database.read() as connection:
            offsets = read_offsets(connection)
            for file in self._recorded_files(connection, offsets):
                self._tree.remove_temporary(file.path)
                self._make_whole(connection, file, offsets[file.key])
        self._tree.settle()

    def restore_all(self) -> None:
        """Writes every file anew from the journal, and records its size."""
        with self._database.read() as connection:
            offsets = read_offsets(connection)
            bound = safe_upper_bound(connection)
            last = {
                row.stream: row.seq
                for row in connection.execute(
                    select(journal.c.stream, func.max(journal.c.seq).label("seq"))
                    .where(journal.c.seq <= bound)
                    .group_by(journal.c.stream)
                )
            }
            files = self._recorded_files(connection, offsets, last)
            restored = {
                file.key: Offset(file.upto, self._tree.replace(file.path, read_lines(connection, file)))
                for file in files
            }
        self.files_rewritten += len(restored)
        self._record(restored)

    def _append_pass(self) -> bool:
        with self._database.read() as connection:
            offsets = read_offsets(connection)
            projected = max((offset.seq for offset in offsets.values()), default=0)
            bound = safe_upper_bound(connection)
            self.upto_seq = max(projected, bound)
            rows = connection.execute(
                select(journal.c.seq, journal.c.stream, journal.c.document)
                .where(journal.c.seq > projected, journal.c.seq <= bound)
                .order_by(journal.c.seq)
                .limit(ENTRIES_A_PASS)
            ).all()
            if not rows:
                return False
            fresh: dict[str, list[str]] = {}
            moved: dict[str, int] = {}
            for row in rows:
                fresh.setdefault(row.stream, []).append(f"{row.document}\n")
                moved[row.stream] = row.seq
            archives = self._projected_archives(connection, offsets)
            recorded: dict[str, Offset] = {}
            for stream, lines in fresh.items():
                offset = offsets.get(stream, Offset())
                whole = current_file(stream, archives, offset.seq)
                size = self._extend(connection, whole, offset, "".join(lines).encode())
                recorded[stream] = Offset(moved[stream], size)
        self._record(recorded)
        self.lines_appended += len(rows)
        return len(rows) == ENTRIES_A_PASS

    def _extend(self, connection: Connection, file: StreamFile, offset: Offset, content: bytes) -> int:
        if offset.size_bytes == 0:
            return self._tree.replace(file.path, [content])
        self._make_whole(connection, file, offset, cut=False)
        self._tree.append(file.path, offset.size_bytes, content)
        return offset.size_bytes + len(content)

    def _make_whole(
        self, connection: Connection, file: StreamFile, offset: Offset, *, cut: bool = True
    ) -> None:
        size = self._tree.size(file.path)
        if size is None or size < offset.size_bytes:
            self._tree.replace(file.path, read_lines(connection, file))
            self.files_rewritten += 1
        elif cut and size > offset.size_bytes:
            self._tree.append(file.path, offset.size_bytes, b"")

    def _rotate(self) -> None:
        with self._database.read() as connection:
            offsets = read_offsets(connection)
            projected = max((offset.seq for offset in offsets.values()), default=0)
            archives = read_archives(connection, projected)
            for stream, files in archives.items():
                pending = [file for file in files if file.key not in offsets]
                if not pending:
                    continue
                recorded = {
                    file.key: Offset(file.upto, self._tree.replace(file.path, read_lines(connection, file)))
                    for file in pending
                }
                if stream in offsets:
                    # The archive is durable before its lines leave the stream's own file.
                    self._tree.settle()
                    current = current_file(stream, archives, offsets[stream].seq)
                    size = self._tree.replace(current.path, read_lines(connection, current))
                    recorded[stream] = Offset(offsets[stream].seq, size)
                self.files_rewritten += len(recorded)
                self._record(recorded)

    def _projected_archives(
        self, connection: Connection, offsets: dict[str, Offset]
    ) -> dict[str, list[StreamFile]]:
        projected = max((offset.seq for offset in offsets.values()), default=0)
        archives = read_archives(connection, projected)
        return {
            stream: kept
            for stream, files in archives.items()
            if (kept := [file for file in files if file.key in offsets])
        }

    def _recorded_files(
        self, connection: Connection, offsets: dict[str, Offset], upto: dict[str, int] | None = None
    ) -> list[StreamFile]:
        """The archives and streams that have an offset; with ``upto`` every stream in it instead."""
        archives = self._projected_archives(connection, offsets)
        archived = [file for files in archives.values() for file in files]
        keys = {file.key for file in archived}
        if upto is None:
            upto = {key: offset.seq for key, offset in offsets.items() if key not in keys}
        return archived + [current_file(stream, archives, seq) for stream, seq in sorted(upto.items())]

    def _record(self, offsets: dict[str, Offset]) -> None:
        self._tree.settle()
        self._confirm()
        with self._database.write() as connection:
            write_offsets(connection, offsets)


def write_offsets(connection: Connection, offsets: dict[str, Offset]) -> None:
    """Records how far each file is true."""
    if not offsets:
        return
    statement = insert_or(connection, projection_offsets)
    recorded = statement.on_conflict_do_update(
        index_elements=["stream"],
        set_={"seq": statement.excluded.seq, "size_bytes": statement.excluded.size_bytes},
    )
    connection.execute(
        recorded,
        [
            {"stream": key, "seq": offset.seq, "size_bytes": offset.size_bytes}
            for key, offset in offsets.items()
        ],
    )
