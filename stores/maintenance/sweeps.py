"""Runs a sweep page by page: selects, settles each item, and records the progress with the work."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Column, ColumnElement, Connection, select
from sqlalchemy.exc import DBAPIError, OperationalError

from contracts.base import clipped
from contracts.maintenance.runs import SAMPLE_SIZE, FailedItem, SweepName, SweepPage, SweepProgress
from stores.maintenance.runs import MaintenanceStore, record_progress
from stores.platform.database import Database


class Settled(NamedTuple):
    """What became of an item; ``removed`` counts rows deleted with it."""

    done: bool
    removed: int = 0


LEFT_ALONE = Settled(done=False)


class Sweep(Protocol):
    """One kind of clean-up. ``batch`` is how many items share a transaction."""

    @property
    def name(self) -> SweepName:
        """Which sweep this is."""
        ...

    @property
    def batch(self) -> int:
        """Items a transaction."""
        ...

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """The next items whose term is over at ``now``, beyond the item ``after``, in a fixed order."""
        ...

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Deals with one item, looking again whether it is still due. Any error leaves it as it was."""
        ...


def keys_after(
    connection: Connection, key: Column[Any], after: str, limit: int, *where: ColumnElement[bool]
) -> Sequence[str]:
    """The next keys, beyond ``after`` and in their own order, of the rows that match."""
    query = select(key).where(key > after, *where).order_by(key).limit(limit)
    return connection.scalars(query).all()


@dataclass
class _Tally:
    """What a batch adds to a sweep's progress."""

    settled: list[tuple[str, Settled]] = field(default_factory=list[tuple[str, Settled]])
    failed: list[FailedItem] = field(default_factory=list[FailedItem])

    def added_to(self, progress: SweepProgress, cursor: str) -> SweepProgress:
        done = [item for item, outcome in self.settled if outcome.done]
        return progress.changed(
            examined=progress.examined + len(self.settled) + len(self.failed),
            done=progress.done + len(done),
            skipped=progress.skipped + len(self.settled) - len(done),
            failed=progress.failed + len(self.failed),
            removed=progress.removed + sum(outcome.removed for _, outcome in self.settled),
            sample_ids=(*progress.sample_ids, *(clipped(item, 240) for item in done))[:SAMPLE_SIZE],
            failures=(*progress.failures, *self.failed)[:SAMPLE_SIZE],
            cursor=cursor,
        )


class _PreviewOver(Exception):
    """Undoes the transaction of a preview."""


class RetentionSweeps:
    """All sweeps over one database."""

    def __init__(self, database: Database, runs: MaintenanceStore, sweeps: Sequence[Sweep]) -> None:
        self._database = database
        self._runs = runs
        self._sweeps = {sweep.name: sweep for sweep in sweeps}

    def run_page(
        self,
        page: SweepPage,
        alive: Callable[[], bool] = lambda: True,
        failing: Callable[[str, Exception], None] = lambda _item, _error: None,
    ) -> SweepProgress:
        """Settles the next items of a sweep, from the cursor in the run's record.

        A batch is one transaction that also writes the progress, so after a crash nothing is counted twice
        and nothing is left out. An item that fails is passed to ``failing``, counted and skipped.
        ``alive`` is called after each batch; when it returns False the page ends early.

        Raises:
            Refusal: ``NOT_FOUND`` when the run has no record.
            DBAPIError: the database cannot be reached, is busy or full: the page is to be tried again.
        """
        sweep = self._sweeps[page.sweep]
        progress = self._runs.get(page.run_id).progress(page.sweep)
        if progress.finished:
            return progress
        with self._database.read() as connection:
            items = sweep.due(connection, page.now, progress.cursor, page.limit)
        for first in range(0, len(items), sweep.batch):
            progress = self._settle_batch(sweep, page, progress, items[first : first + sweep.batch], failing)
            if not alive():
                return progress
        if len(items) < page.limit:
            progress = progress.changed(finished=True)
            with self._database.write() as connection:
                record_progress(connection, page.run_id, progress)
        return progress

    def _settle_batch(
        self,
        sweep: Sweep,
        page: SweepPage,
        progress: SweepProgress,
        items: Sequence[str],
        failing: Callable[[str, Exception], None],
    ) -> SweepProgress:
        try:
            return self._settle_together(sweep, page, progress, items)
        except Exception as error:
            if _is_trouble_of_the_database(error):
                raise
            if len(items) == 1:
                failing(items[0], error)
                return self._note_failure(page, progress, items[0], error)
        # One of them spoils the transaction: one at a time, so that only it is left behind.
        for item in items:
            progress = self._settle_batch(sweep, page, progress, [item], failing)
        return progress

    def _settle_together(
        self, sweep: Sweep, page: SweepPage, progress: SweepProgress, items: Sequence[str]
    ) -> SweepProgress:
        tally = _Tally()
        try:
            with self._database.write() as connection:
                for item in items:
                    tally.settled.append((item, sweep.settle(connection, item, page.now, page.run_id)))
                progress = tally.added_to(progress, items[-1])
                if page.dry_run:
                    raise _PreviewOver
                record_progress(connection, page.run_id, progress)
        except _PreviewOver:
            with self._database.write() as connection:
                record_progress(connection, page.run_id, progress)
        return progress

    def _note_failure(
        self, page: SweepPage, progress: SweepProgress, item: str, error: Exception
    ) -> SweepProgress:
        reason = clipped(f"{type(error).__name__}: {error}".replace("\n", " "), 240)
        tally = _Tally(failed=[FailedItem(item=clipped(item, 240), reason=reason)])
        progress = tally.added_to(progress, item)
        with self._database.write() as connection:
            record_progress(connection, page.run_id, progress)
        return progress


def _is_trouble_of_the_database(error: Exception) -> bool:
    """Whether it is the database that is busy, full or away, and not the item that is bad."""
    return isinstance(error, OperationalError) or (
        isinstance(error, DBAPIError) and error.connection_invalidated
    )


def folders_in(parent: Path) -> list[Path]:
    """The folders below ``parent``, by name; none where it does not exist."""
    return sorted(path for path in parent.iterdir() if is_folder(path)) if parent.is_dir() else []


def is_folder(path: Path) -> bool:
    """Whether it is a folder itself, and no link to one."""
    return path.is_dir() and not path.is_symlink()
