"""Mines one user's captures: reads the traces, groups them, applies the gates, and writes the candidates."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Connection, select
from uuid_utils import uuid7

from contracts.base import clipped
from contracts.learning.lifecycle import LearningReceiptKind as Receipt
from contracts.mining.candidates import (
    BUILDS_BY_ITSELF,
    MAX_CLUSTER_TRACES,
    CandidateState,
    MiningCandidate,
    MiningGate,
    MiningMode,
    MiningSettings,
)
from contracts.mining.runs import Exclusion, MiningFailure
from domain.mining.grouping import (
    MiningRules,
    TraceGroup,
    ambiguities,
    closed_gates,
    cluster_of,
    group_traces,
    representative,
    title_of,
)
from domain.mining.traces import MinedTrace, TraceStanding, mined_traces
from stores.learning.checkpoints import receipts_of_session
from stores.learning.learning_tables import SESSIONS
from stores.learning.observations import ObservationLog
from stores.mining.candidate_reads import (
    CANDIDATES,
    candidates_of,
    proposed_traces,
    sessions_of_builds,
    settled_sources,
)
from stores.mining.candidates import CandidateEntries
from stores.mining.runs import settings_of
from stores.platform.database import Database, advisory_lock
from stores.platform.journal.journal import JournalDraft, append
from stores.platform.tables import HOLDS_SLOT
from stores.platform.tables import learn_sessions as table


@dataclass(frozen=True)
class TracesRead:
    """What a person's captures came to."""

    traces: tuple[MinedTrace, ...] = ()
    excluded: Counter[Exclusion] = field(default_factory=Counter[Exclusion])
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
        query = select(table.c.session_id).where(table.c.owner == owner, HOLDS_SLOT).limit(1)
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
        excluded: Counter[Exclusion] = Counter()
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
                excluded[found] += 1
                continue
            usable = [one for one in found if one.standing is not TraceStanding.COUNTS]
            if row.session_id not in copies:
                usable = [one for one in found if one in usable or one.trace_id not in proposed]
            traces += usable
            excluded[Exclusion.HAS_PROPOSAL] += len(found) - len(usable)
        return TracesRead(tuple(traces), excluded, tuple(failures))

    def _one(self, body: str, purged: bool, settings: MiningSettings) -> tuple[MinedTrace, ...] | Exclusion:
        aggregate = SESSIONS.parse(body)
        session_id = aggregate.session.learn_session_id
        events = self._log.all_of(session_id)
        # Of a purged session only what was marked to be kept is left, which is not the trace any more.
        accepted = self._log.counters(session_id).accepted + (1 if purged else 0)
        boundaries = self._log.boundaries_of(session_id)
        with self._database.read() as connection:
            receipts = receipts_of_session(connection, session_id)
        return mined_traces(aggregate, events, boundaries, accepted, settings, receipts)


STUCK_AFTER = timedelta(hours=1)
"""A build that has not got anywhere for this long has lost its workflow, and is taken up again."""

_LISTED = frozenset({CandidateState.OPEN, CandidateState.FAILED, CandidateState.EXPIRED})


@dataclass(frozen=True)
class PersonMined:
    """What one person's captures came to."""

    off: bool = False
    traces: int = 0
    excluded: Counter[Exclusion] = field(default_factory=Counter[Exclusion])
    clusters: int = 0
    candidates: int = 0
    deferred: int = 0
    failures: tuple[MiningFailure, ...] = ()
    closed: Counter[MiningGate] = field(default_factory=Counter[MiningGate])
    to_build: tuple[str, ...] = ()


class MiningStore:
    """Mines one user at a time; captures of different users are never compared."""

    def __init__(
        self, database: Database, traces: MiningTraces, max_variation: float, min_coverage: float
    ) -> None:
        """The limits are those of the installation; how many traces it takes is each person's setting."""
        self._database = database
        self._traces = traces
        self._max_variation = max_variation
        self._min_coverage = min_coverage

    def people_after(self, cursor: str, limit: int) -> tuple[str, ...]:
        """The next people to look at."""
        return self._traces.people_after(cursor, limit)

    def mine(
        self, owner: str, correlation_id: str, now: datetime, alive: Callable[[], None] = lambda: None
    ) -> PersonMined:
        """Keeps what passes every gate as open candidates; looking again changes nothing.

        At most one of them is to be built by itself, and none while the person has an open session.
        """
        with self._database.read() as connection:
            settings = settings_of(connection, owner)
            known = candidates_of(connection, owner)
        if settings.mode is MiningMode.OFF:
            return PersonMined(off=True)
        read = self._traces.of(owner, settings, settled_sources(known), sessions_of_builds(known), alive)
        groups = group_traces(read.traces)
        rules = MiningRules(settings.min_successful_traces, self._max_variation, self._min_coverage)
        verdicts = [(group, closed_gates(group, rules)) for group in groups]
        passed = [group for group, closed in verdicts if not closed]
        with self._database.write() as connection:
            kept = _keep(connection, owner, passed, correlation_id, now)
        waiting = [one for one in kept if one.state is CandidateState.OPEN]
        by_itself = waiting if settings.mode in BUILDS_BY_ITSELF else []
        stuck = tuple(one.candidate_id for one in known if _is_stuck(one, now))
        busy = bool(by_itself) and self._traces.has_open_session(owner)
        return PersonMined(
            traces=sum(len(group.counted) for group in groups),
            excluded=read.excluded,
            clusters=len(groups),
            candidates=len(passed),
            deferred=len(by_itself) if busy else max(0, len(by_itself) - 1),
            failures=read.failures,
            closed=Counter(gate for _, closed in verdicts for gate in closed),
            to_build=stuck if busy or not by_itself else (*stuck, _best(by_itself).candidate_id),
        )


def _keep(
    connection: Connection, owner: str, groups: Sequence[TraceGroup], correlation_id: str, now: datetime
) -> tuple[MiningCandidate, ...]:
    """Writes the groups as candidates; a known one with a trace in common goes on under its id.

    A listed candidate that nothing supports any more has expired.
    """
    advisory_lock(connection, f"mining-candidates/{owner}")
    known = candidates_of(connection, owner)
    spent = settled_sources(known)
    listed = [one for one in known if one.state in _LISTED]
    kept: list[MiningCandidate] = []
    drafts: list[JournalDraft] = []
    for group in groups:
        sessions = {trace.session_id for trace in group.successful}
        if sessions & spent:
            # Settled since the captures were read: the next run sees what is left.
            continue
        before = next((one for one in listed if sessions & set(one.source_session_ids)), None)
        if before is not None:
            listed.remove(before)
        found = _candidate(owner, group, before, now)
        if before is None or _has_new_evidence(found, before):
            CANDIDATES.put(connection, found)
            entries = CandidateEntries(found, correlation_id, now).cluster()
            if before is None:
                entries.receipt(Receipt.CANDIDATE_FOUND, f"candidate {found.candidate_id}")
            drafts += entries.drafts
            kept.append(found)
        else:
            kept.append(before)
    for gone in listed:
        if gone.state is CandidateState.OPEN:
            expired = gone.changed(
                state=CandidateState.EXPIRED, reason="Its traces do not support it any more.", updated_at=now
            )
            CANDIDATES.put(connection, expired)
            drafts += CandidateEntries(expired, correlation_id, now).cluster().drafts
    append(connection, drafts)
    return tuple(kept)


def _candidate(
    owner: str, group: TraceGroup, before: MiningCandidate | None, now: datetime
) -> MiningCandidate:
    created = before.created_at if before else now
    cluster_id = before.cluster.cluster_id if before else str(uuid7())
    return MiningCandidate(
        candidate_id=before.candidate_id if before else str(uuid7()),
        owner_user_id=owner,
        title=title_of(group),
        cluster=cluster_of(group, cluster_id, created, now),
        source_session_ids=tuple(dict.fromkeys(trace.session_id for trace in group.successful)),
        representative_session_id=representative(group.successful).session_id,
        ambiguity_flags=ambiguities(group),
        attempt=before.attempt if before else 0,
        earlier_session_ids=_sessions_so_far(before) if before else (),
        created_at=created,
        updated_at=now,
    )


def _sessions_so_far(candidate: MiningCandidate) -> tuple[str, ...]:
    newest = (candidate.learn_session_id,) if candidate.learn_session_id else ()
    return (*candidate.earlier_session_ids, *newest)


def _has_new_evidence(found: MiningCandidate, before: MiningCandidate) -> bool:
    """Whether the candidate has changed; one whose build failed waits for new evidence."""
    if before.state is CandidateState.EXPIRED:
        return True
    evidence = ("successful_trace_ids", "failed_trace_ids")
    return any(getattr(found.cluster, name) != getattr(before.cluster, name) for name in evidence)


def _is_stuck(candidate: MiningCandidate, now: datetime) -> bool:
    return candidate.state is CandidateState.BUILDING and now - candidate.updated_at >= STUCK_AFTER


def _best(candidates: Sequence[MiningCandidate]) -> MiningCandidate:
    """The one with the most evidence, of equals the most alike, of equals the oldest."""
    return min(
        candidates,
        key=lambda one: (
            -len(one.cluster.successful_trace_ids),
            one.cluster.variation_score,
            one.candidate_id,
        ),
    )
