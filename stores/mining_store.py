"""Looking through one person's captures: read, group, judge, and keep what passes, in one transaction."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Connection, text
from uuid_utils import uuid7

from contracts.learning.lifecycle import LearningReceiptKind as Receipt
from contracts.learning.mining import (
    BUILDS_BY_ITSELF,
    CandidateState,
    MiningCandidate,
    MiningGate,
    MiningMode,
)
from contracts.learning.mining_runs import MiningFailure
from domain.learning.mining import (
    MiningRules,
    TraceGroup,
    closed_gates,
    group_traces,
    representative,
)
from domain.learning.mining_clusters import ambiguities, cluster_of, title_of
from stores.database import Database
from stores.journal import append
from stores.journal_records import JournalDraft
from stores.mining_candidates import write_candidate
from stores.mining_entries import CandidateEntries
from stores.mining_reads import candidates_of, sessions_of_builds, settled_sources
from stores.mining_settings import settings_of
from stores.mining_traces import MiningTraces

STUCK_AFTER = timedelta(hours=1)
"""A build that has not got anywhere for this long has lost its workflow, and is taken up again."""

_TURN = text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))")
_LISTED = frozenset({CandidateState.OPEN, CandidateState.FAILED, CandidateState.EXPIRED})


@dataclass(frozen=True)
class PersonMined:
    """What one person's captures came to."""

    off: bool = False
    traces: int = 0
    excluded: int = 0
    clusters: int = 0
    candidates: int = 0
    deferred: int = 0
    failures: tuple[MiningFailure, ...] = ()
    closed: Counter[MiningGate] = field(default_factory=Counter[MiningGate])
    to_build: tuple[str, ...] = ()


class MiningStore:
    """Mines people one at a time; nobody's captures are ever put beside somebody else's."""

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
    _wait_for_turn(connection, owner)
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
        if before is None or _says_more(found, before):
            write_candidate(connection, found)
            entries = CandidateEntries(found, correlation_id, now).cluster()
            if before is None:
                entries.receipt(Receipt.CANDIDATE_FOUND, f"candidate {found.candidate_id}")
            drafts += entries.drafts
            kept.append(found)
        else:
            kept.append(before)
    for gone in listed:
        if gone.state is CandidateState.OPEN:
            expired = gone.model_copy(
                update={
                    "state": CandidateState.EXPIRED,
                    "reason": "Its traces do not support it any more.",
                    "updated_at": now,
                }
            )
            write_candidate(connection, expired)
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


def _wait_for_turn(connection: Connection, owner: str) -> None:
    """Two runs over one person write one after the other; on SQLite there is one writer anyway."""
    if connection.dialect.name != "sqlite":
        connection.execute(_TURN, {"key": f"skill-mining/{owner}"})


def _says_more(found: MiningCandidate, before: MiningCandidate) -> bool:
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
