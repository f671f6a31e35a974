"""Records of mining runs: written with the pages they tell of, readable while a run goes on."""

from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import delete, insert, select, update

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.mining_runs import (
    MiningProgress,
    MiningRun,
    MiningRunClosing,
    MiningRunOpening,
    MiningRunState,
)
from stores.canonical import canonical_json
from stores.database import Database
from stores.tables import mining_runs as table


class MiningRunStore:
    """The records of all runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self, opening: MiningRunOpening) -> MiningRun:
        """Opens a run's record, or returns the one it has."""
        with self._database.write() as connection:
            body = connection.scalar(select(table.c.body).where(table.c.run_id == opening.run_id))
            if body is not None:
                return MiningRun.model_validate_json(body)
            run = MiningRun(**opening.model_dump(), updated_at=opening.started_at)
            connection.execute(
                insert(table).values(
                    run_id=run.run_id,
                    owner=run.owner_user_id,
                    started_at=rfc3339(run.started_at),
                    body=canonical_json(run),
                )
            )
            return run

    def get(self, run_id: str, owner: str | None = None) -> MiningRun:
        """One run; with ``owner``, only one of that person's own.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        query = select(table.c.body).where(table.c.run_id == run_id)
        if owner is not None:
            query = query.where(table.c.owner == owner)
        with self._database.read() as connection:
            body = connection.scalar(query)
        if body is None:
            raise _not_found(run_id)
        return MiningRun.model_validate_json(body)

    def forget(self, run_id: str) -> None:
        """Removes the record of a run that was never started."""
        with self._database.write() as connection:
            connection.execute(delete(table).where(table.c.run_id == run_id))

    def note(self, run_id: str, progress: MiningProgress) -> MiningRun:
        """Records how far the run has come."""
        return self._change(run_id, lambda run: run.model_copy(update={"progress": progress}))

    def close(self, closing: MiningRunClosing) -> MiningRun:
        """Records how the run ended; the first end stands."""

        def closed(run: MiningRun) -> MiningRun:
            if run.state is not MiningRunState.RUNNING:
                return run
            return run.model_copy(
                update={
                    "state": closing.state,
                    "error": closing.error,
                    "finished_at": closing.finished_at,
                    "progress": closing.progress,
                }
            )

        return self._change(closing.run_id, closed)

    def _change(self, run_id: str, change: Callable[[MiningRun], MiningRun]) -> MiningRun:
        with self._database.write() as connection:
            body = connection.scalar(select(table.c.body).where(table.c.run_id == run_id).with_for_update())
            if body is None:
                raise _not_found(run_id)
            run = change(MiningRun.model_validate_json(body))
            run = run.model_copy(update={"updated_at": datetime.now(UTC)})
            connection.execute(update(table).where(table.c.run_id == run_id).values(body=canonical_json(run)))
            return run


def _not_found(run_id: str) -> Refusal:
    return Refusal(ErrorCode.NOT_FOUND, f"There is no mining run {run_id} of yours.")
