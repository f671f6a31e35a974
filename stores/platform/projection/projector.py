"""Projects the store into files: the memory tree and our files in the agent's workspace.

Both are a pure function of the store: they can be caught up after any crash, and rebuilt byte for byte. A file
lock, and on PostgreSQL an advisory lock, let one process at a time write them. A worker's thread keeps them in step:
it is woken by every commit of its process, on PostgreSQL of any, and looks by itself now and then.
"""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import structlog
from filelock import FileLock, Timeout
from sqlalchemy import Connection, exists, func, select, text

from stores.platform.database import Database
from stores.platform.projection.atomic_files import FileTree
from stores.platform.projection.document_projection import DocumentProjection, ProjectionFailure
from stores.platform.projection.documents import stream_path
from stores.platform.projection.stream_projection import StreamProjection
from stores.platform.projection.tree_verifier import TreeReport, TreeVerifier
from stores.platform.tables import IS_DIRTY, documents, journal, projection_offsets, stream_archives

T = TypeVar("T")

log = structlog.get_logger(__name__)

LOCK_KEY = 0x41505052_54524545
"""The advisory lock on PostgreSQL."""

WAIT_SECONDS = 30.0
_POLL_SECONDS = 0.02

_LOST_HOLDERS = {"tcp_keepalives_idle": 1, "tcp_keepalives_interval": 1, "tcp_keepalives_count": 2}
"""Seconds and times. PostgreSQL ends the session of a writer whose machine is gone within three seconds, and with it
the lock; one whose process was killed ends at once. The default is two hours."""


class ProjectionBusyError(RuntimeError):
    """Another process has been writing the memory tree for longer than this one waits."""

    def __init__(self, memory_root: Path, waited: float) -> None:
        super().__init__(
            f"{memory_root} has been written by another process for {waited:g} s;"
            " find the worker or command that holds it, and try again"
        )


@contextmanager
def single_writer(
    database: Database, memory_root: Path, wait_seconds: float = WAIT_SECONDS
) -> Generator[Callable[[], None]]:
    """Holds the writer's place, and yields a check that fails once it was lost.

    The lock file beside the memory root keeps out the processes of this machine, and is let go by the kernel
    when its holder dies; on PostgreSQL an advisory lock keeps out those of others.

    Raises:
        ProjectionBusyError: the place was taken for ``wait_seconds``.
    """
    memory_root.parent.mkdir(parents=True, exist_ok=True)
    # A soft lock would outlive its holder, so a file system without locks is an error.
    lock = FileLock(
        memory_root.parent / f".{memory_root.name}.lock",
        timeout=wait_seconds,
        mode=0o600,
        poll_interval=_POLL_SECONDS,
        fallback_to_soft=False,
    )
    try:
        lock.acquire()
    except Timeout as error:
        raise ProjectionBusyError(memory_root, wait_seconds) from error
    try:
        if database.is_sqlite:
            yield _held
        else:
            with (
                database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
                _advisory_lock(connection, memory_root, wait_seconds),
            ):
                yield lambda: _confirm(connection)
    finally:
        lock.release()


def _held() -> None:
    """A lock of this machine's kernel is not lost while its holder lives."""


def _confirm(connection: Connection) -> None:
    # The lock lives as long as its session: a session that answers still holds it.
    connection.execute(text("SELECT 1"))


@contextmanager
def _advisory_lock(connection: Connection, memory_root: Path, wait_seconds: float) -> Generator[None]:
    give_up_at = time.monotonic() + wait_seconds
    for name, value in _LOST_HOLDERS.items():
        connection.execute(text(f"SET {name} = {value}"))
    while not connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": LOCK_KEY}):
        if time.monotonic() >= give_up_at:
            raise ProjectionBusyError(memory_root, wait_seconds)
        time.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": LOCK_KEY})


_PENDING = select(
    exists().where(IS_DIRTY).select_from(documents).label("documents"),
    select(func.max(journal.c.seq)).scalar_subquery().label("newest"),
    select(func.max(projection_offsets.c.seq)).scalar_subquery().label("projected"),
    exists()
    .where(stream_archives.c.archive.not_in(select(projection_offsets.c.stream)))
    .select_from(stream_archives)
    .label("archives"),
)


class _Behind(NamedTuple):
    """What has changed since the last catch-up."""

    documents: bool
    streams: bool
    archives: bool


_ALL, _NOTHING = _Behind(True, True, True), _Behind(False, False, False)


@dataclass(frozen=True)
class ProjectionReport:
    """What a catch-up or a rebuild changed on disk; ``upto_seq`` is 0 when there was nothing to look at."""

    documents_written: int = 0
    documents_removed: int = 0
    lines_appended: int = 0
    streams_rewritten: int = 0
    unexplained_removed: int = 0
    edits_kept: int = 0
    large_left: int = 0
    upto_seq: int = 0


class ProjectionError(RuntimeError):
    """Some files could not be made true; all others were, and these are tried again at every catch-up."""

    def __init__(self, failures: tuple[ProjectionFailure, ...]) -> None:
        first = failures[0]
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        super().__init__(f"{first.root} file {first.path} could not be made true: {first.reason}{more}")
        self.failures = failures


class Projector:
    """The writer of both trees. Several may exist; one at a time writes, the others wait for it."""

    def __init__(self, database: Database, memory_root: Path, workspace: Path) -> None:
        """Files of the memory tree are for this user alone; those in the workspace are read-only inputs."""
        self._database = database
        self._memory_root = memory_root
        self._trees = {
            "memory": FileTree(memory_root, file_mode=0o600, folder_mode=0o700),
            "workspace": FileTree(workspace, file_mode=0o444, folder_mode=0o755),
        }
        self._mended = False

    def follow(self, call: Callable[[], object]) -> Callable[[], None]:
        """Has ``call`` called when there is something to project (``Database.follow``); gives what ends that."""
        return self._database.follow(call)

    def catch_up(self, *, leave_large: bool = False) -> ProjectionReport:
        """Makes true what changed since the last time; one query when nothing did.

        The first call, and the first after a failure, also mends files that are missing or cut short. With
        ``leave_large`` files that list hundreds of things stay behind (``LARGE_PARTS``), for another call.

        Raises:
            ProjectionError: some files could not be written.
            ProjectionBusyError: another process holds the writer's place.
            OSError: a stream's file could not be written (the disk is full, say).
        """
        behind = self._behind() if self._mended else _ALL
        if behind == _NOTHING:
            return ProjectionReport()
        with self._writing() as (streams, files):
            if not self._mended:
                behind = _ALL
                streams.mend()
                files.mend()
            return self._brought_up(streams, files, behind, leave_large=leave_large)

    def rebuild(self, *, discard_edits: bool = False) -> ProjectionReport:
        """Writes both trees anew from the store, and removes memory files that nothing in it explains.

        Hand edits to a workspace file are kept unless ``discard_edits``. A file is replaced
        at once or not at all, so readers see the old or the new. Raises as ``catch_up``.
        """
        with self._writing() as (streams, files):
            unexplained = self._sweep()
            streams.restore_all()
            files.mark_differing(discard_edits=discard_edits)
            return self._brought_up(streams, files, _ALL, unexplained)

    def verify(self) -> TreeReport:
        """Compares every file with the store, and the journal with its own hashes; changes nothing.

        Raises:
            ProjectionBusyError: another process holds the writer's place.
        """
        with single_writer(self._database, self._memory_root):
            return TreeVerifier(self._database, self._trees).report()

    @contextmanager
    def _writing(self) -> Generator[tuple[StreamProjection, DocumentProjection]]:
        with single_writer(self._database, self._memory_root) as confirm:
            streams = StreamProjection(self._database, self._trees["memory"], confirm)
            files = DocumentProjection(self._database, self._trees, confirm)
            try:
                yield streams, files
            except BaseException:
                self._mended = False
                raise
            self._mended = True

    def _brought_up(
        self,
        streams: StreamProjection,
        files: DocumentProjection,
        behind: _Behind,
        unexplained: int = 0,
        *,
        leave_large: bool = False,
    ) -> ProjectionReport:
        if behind.documents:
            files.catch_up(leave_large=leave_large)
        if behind.streams or behind.archives:
            streams.catch_up(archives=behind.archives)
        if files.failures:
            raise ProjectionError(tuple(files.failures))
        return ProjectionReport(
            documents_written=files.written,
            documents_removed=files.removed,
            lines_appended=streams.lines_appended,
            streams_rewritten=streams.files_rewritten,
            unexplained_removed=unexplained,
            edits_kept=files.edits_kept,
            large_left=files.left,
            upto_seq=streams.upto_seq,
        )

    def _behind(self) -> _Behind:
        with self._database.read() as connection:
            row = connection.execute(_PENDING).one()
        entries = (row.newest or 0) > (row.projected or 0)
        return _Behind(documents=bool(row.documents), streams=entries, archives=bool(row.archives))

    def _sweep(self) -> int:
        with self._database.read() as connection:
            explained = explained_paths(connection)
        tree = self._trees["memory"]
        removed = 0
        for path, is_folder in tree.paths():
            if is_folder:
                tree.remove_folder(path)
            elif path not in explained:
                removed += tree.remove(path)
        tree.settle()
        return removed


def explained_paths(connection: Connection) -> set[str]:
    """Every file of the memory tree that a row of the store explains."""
    paths = set(connection.scalars(select(documents.c.path).where(documents.c.root == "memory")))
    paths.update(connection.scalars(select(stream_archives.c.archive)))
    paths.update(stream_path(stream) for stream in connection.scalars(select(journal.c.stream).distinct()))
    return paths


SETTLE_SECONDS = 0.3
"""How long a wake waits for what follows it, which is projected together with it. Nobody waits for these files: who
does (an install, a command on an ability) projects by itself. A pass costs four to six ``fsync``, one for each command
where they come one after another."""

MOST_SETTLE_SECONDS = 2.0
"""As above, where the last projection took long: the writer rests twice as long as it works."""

LARGE_QUIET_SECONDS = 0.5
"""How long nothing must have woken the loop before it writes files that list hundreds of things."""

LARGE_WITHIN_SECONDS = 3.0
"""How long such files wait at most while the loop is woken again and again."""

LOOK_SECONDS = 1.0
"""How often the loop looks without being woken, for what other processes have written (one query): on SQLite, and
where a notice was lost. It and the next
must be below the time for which an install waits for the files (``PendingProjection`` of stores/abilities)."""

RETRY_SECONDS = 2.0
"""How long it waits after a failure: what comes then looks through all files."""

IDLE_SECONDS = 5.0
"""How long nothing must have woken the loop before the journal is anchored."""


class ProjectionLoop:
    """One thread that projects whenever there is something to project."""

    def __init__(self, projector: Projector, anchor: Callable[[], object]) -> None:
        """``anchor`` seals the journal's heads; it is called when nothing has happened for a while."""
        self._projector = projector
        self._anchor = anchor
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._stop_following = projector.follow(self.wake)
        self._thread = threading.Thread(target=self._run, name="projection", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """There is something new; returns at once."""
        self._wake.set()

    def project(self) -> None:
        """Makes the files true now, for whoever is waited for; those that list hundreds of things soon.

        Raises as ``Projector.catch_up``.
        """
        if self._projector.catch_up(leave_large=True).large_left:
            self.wake()

    def close(self) -> None:
        """Projects what is left and stops."""
        self._stop_following()
        self._stop.set()
        self._wake.set()
        self._thread.join(timeout=30)

    def _run(self) -> None:
        idle = 0.0
        large_since: float | None = None
        while True:
            stopping = self._stop.is_set()
            self._wake.clear()
            begun = time.monotonic()
            overdue = large_since is not None and begun >= large_since + LARGE_WITHIN_SECONDS
            report = self._try(partial(self._projector.catch_up, leave_large=not (stopping or overdue)))
            rest = min(2 * (time.monotonic() - begun), MOST_SETTLE_SECONDS)
            if stopping:
                return
            large_left = report is not None and report.large_left > 0
            large_since = (large_since or begun) if large_left and not overdue else None
            pause = RETRY_SECONDS if report is None else LARGE_QUIET_SECONDS if large_left else LOOK_SECONDS
            if self._wake.wait(pause):
                idle = 0.0
                self._stop.wait(max(SETTLE_SECONDS, rest))
            elif large_left:
                # Nobody is waited for.
                large_since = 0.0
            elif (idle := idle + pause) >= IDLE_SECONDS:
                idle = 0.0
                self._try(self._anchor)

    def _try(self, part: Callable[[], T]) -> T | None:
        """What ``part`` gives; None where it failed."""
        try:
            return part()
        except Exception as error:
            # The store is the truth; files that lag are written as soon as they can be.
            log.error("projection failed", error=f"{type(error).__name__}: {error}")
            return None
