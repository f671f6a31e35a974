"""What the JSONL files must hold: the lines of each stream, split between its archives and its own file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from stores.tables import journal, projection_offsets, stream_archives
from stores.tree_paths import stream_path

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
