"""What sessions that are not at rest refer to: maintenance leaves all of it alone (DOC3 §0C.16D)."""

from sqlalchemy import Connection, func, select

from contracts.learning.aggregate import LearnSessionAggregate
from domain.maintenance.retention import ids_in_use
from stores.tables import learn_sessions as table


class OpenReferences:
    """The ids in use, read again only when an open session has changed."""

    def __init__(self) -> None:
        self._read: tuple[tuple[object, ...], frozenset[str]] = ((), frozenset())

    def ids(self, connection: Connection) -> frozenset[str]:
        """Every id that an open session refers to, as the caller's transaction sees it."""
        signature = tuple(
            connection.execute(
                select(
                    func.count(),
                    func.sum(table.c.change),
                    func.min(table.c.session_id),
                    func.max(table.c.session_id),
                ).where(table.c.holds_slot)
            ).one()
        )
        known, ids = self._read
        if signature != known:
            bodies = connection.scalars(select(table.c.aggregate).where(table.c.holds_slot)).all()
            ids = _ids_of([LearnSessionAggregate.model_validate_json(body) for body in bodies])
            self._read = (signature, ids)
        return ids


def session_refs(aggregate: LearnSessionAggregate) -> frozenset[str]:
    """The names under which other sessions may refer to this one."""
    session = aggregate.session
    named = {session.learn_session_id, *session.active_trace_ids, *session.active_observation_batch_ids}
    if session.proposal_id is not None:
        named.add(session.proposal_id)
    return frozenset(named)


def _ids_of(aggregates: list[LearnSessionAggregate]) -> frozenset[str]:
    traces = {
        trace
        for aggregate in aggregates
        if aggregate.proposal is not None
        for trace in aggregate.proposal.source_trace_ids
    }
    return ids_in_use(aggregate.session for aggregate in aggregates) | traces
