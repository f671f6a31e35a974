"""Reading one person's captures for mining: what counts, what is left out, what cannot be read."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import select

from contracts.base import clipped
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.mining import MAX_CLUSTER_TRACES, MiningSettings
from contracts.learning.mining_runs import MiningFailure
from domain.learning.mining_traces import Exclusion, MinedTrace, TraceStanding, mined_traces
from stores.database import Database
from stores.mining_reads import proposed_traces
from stores.observations import ObservationLog
from stores.tables import learn_sessions as table


@dataclass(frozen=True)
class TracesRead:
    """What a person's captures came to."""

    traces: tuple[MinedTrace, ...] = ()
    excluded: int = 0
    failures: tuple[MiningFailure, ...] = ()


class MiningTraces:
    """The captures of all people, one person at a time."""

    def __init__(self, database: Database, log: ObservationLog) -> None:
        self._database = database
        self._log = log

    def people_after(self, cursor: str, limit: int) -> tuple[str, ...]:
        """The next people who have had a session, by name; pages go on after ``cursor``."""
        query = select(table.c.owner).where(table.c.owner > cursor).distinct()
        with self._database.read() as connection:
            return tuple(connection.scalars(query.order_by(table.c.owner).limit(limit)))

    def has_open_session(self, owner: str) -> bool:
        """Whether the person's one place for an open session is taken."""
        query = select(table.c.session_id).where(table.c.owner == owner, table.c.holds_slot).limit(1)
        with self._database.read() as connection:
            return connection.scalar(query) is not None

    def of(
        self,
        owner: str,
        settings: MiningSettings,
        spent: frozenset[str],
        copies: frozenset[str],
        alive: Callable[[], None] = lambda: None,
    ) -> TracesRead:
        """The newest traces of ``owner``, without sessions in ``spent``; ``copies`` only bear on the verdict.

        A session that cannot be read is named in ``failures`` and skipped. ``alive`` is called for each.
        """
        query = (
            select(table.c.session_id, table.c.observations_purged_at, table.c.aggregate)
            .where(table.c.owner == owner, table.c.session_id.not_in(spent))
            .order_by(table.c.session_id.desc())
            .limit(MAX_CLUSTER_TRACES)
        )
        with self._database.read() as connection:
            rows = connection.execute(query).all()
            proposed = proposed_traces(connection, owner, copies)
        traces: list[MinedTrace] = []
        failures: list[MiningFailure] = []
        excluded = 0
        for row in rows:
            alive()
            try:
                found = self._one(row.aggregate, row.observations_purged_at is not None, settings)
            except Exception as error:
                # One broken capture must not keep the others from being found.
                reason = clipped(f"{type(error).__name__} while reading the capture", 240)
                failures.append(MiningFailure(item=f"session {row.session_id}", reason=reason))
                continue
            if isinstance(found, Exclusion):
                excluded += 1
                continue
            usable = [one for one in found if one.standing is not TraceStanding.COUNTS]
            if row.session_id not in copies:
                usable = [one for one in found if one in usable or one.trace_id not in proposed]
            traces += usable
            excluded += len(found) - len(usable)
        return TracesRead(tuple(traces), excluded, tuple(failures))

    def _one(self, body: str, purged: bool, settings: MiningSettings) -> tuple[MinedTrace, ...] | Exclusion:
        aggregate = LearnSessionAggregate.model_validate_json(body)
        session_id = aggregate.session.learn_session_id
        events = self._log.all_of(session_id)
        # Of a purged session only what was marked to be kept is left, which is not the trace any more.
        accepted = self._log.counters(session_id).accepted + (1 if purged else 0)
        boundaries = self._log.boundaries_of(session_id)
        return mined_traces(aggregate, events, boundaries, accepted, settings)
