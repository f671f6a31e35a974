"""How long learning data is kept (DOC3 §0C.16D; question deadline and idempotency keys: decisions).

A term is over at its last instant: due means ``now >= since + term``. The clocks of a session run from when
it came to rest (decisions "Learning"); ``None`` as a start means that the clock does not run. Whatever a
session that is not at rest still refers to is never due (§0C.16D "Nightly job integration").
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from contracts.learning.checkpoints import CheckpointStatus, CheckpointVerificationReceipt
from contracts.learning.proposal import ProposalState
from contracts.learning.session import LearnSession
from contracts.learning.state_machine import AT_REST

SESSION_ARCHIVE_AFTER = timedelta(days=30)
OBSERVATION_PURGE_AFTER = timedelta(days=7)
PROPOSAL_ARCHIVE_AFTER = timedelta(days=14)
IDEMPOTENCY_KEPT = timedelta(hours=24)
MINING_RUN_KEPT = timedelta(days=90)
MINING_CANDIDATE_KEPT = timedelta(days=90)
TOOL_CALL_KEPT = timedelta(days=90)
GRANT_KEPT = timedelta(days=90)
SIGN_IN_FLOW_KEPT = timedelta(days=1)
INVOCATION_KEPT = timedelta(days=30)
"""An invocation of a skill, after its end (O-23)."""

TOOL_FOLDER_KEPT = timedelta(days=1)
"""The folder of a local program, since something was last added to or removed from it."""

CHECKPOINT_RECEIPTS_KEPT = 100
"""The newest receipts of each ability that stay whole; of older ones only the counts do."""

ARCHIVED_PROPOSAL_STATES = frozenset({ProposalState.CANCELLED, ProposalState.REJECTED})
"""The states in which a proposal is put away; its validation runs go with it."""


def session_archive_due(at_rest_at: datetime | None, now: datetime, *, referenced: bool = False) -> bool:
    """Whether a session is to be archived."""
    return not referenced and _over(at_rest_at, SESSION_ARCHIVE_AFTER, now)


def observation_purge_due(
    at_rest_at: datetime | None, now: datetime, *, retain: bool = False, referenced: bool = False
) -> bool:
    """Whether a raw observation is to be deleted; one flagged ``retain`` never is."""
    return not retain and not referenced and _over(at_rest_at, OBSERVATION_PURGE_AFTER, now)


def proposal_archive_due(
    state: ProposalState, ended_at: datetime | None, now: datetime, *, referenced: bool = False
) -> bool:
    """Whether a proposal, and its validation runs with it, is to be archived."""
    if referenced or state not in ARCHIVED_PROPOSAL_STATES:
        return False
    return _over(ended_at, PROPOSAL_ARCHIVE_AFTER, now)


def idempotency_key_expired(stored_at: datetime, now: datetime) -> bool:
    """Whether a stored answer may be forgotten."""
    return _over(stored_at, IDEMPOTENCY_KEPT, now)


def mining_run_due(ended_at: datetime | None, now: datetime) -> bool:
    """Whether the record of a mining run may be forgotten."""
    return _over(ended_at, MINING_RUN_KEPT, now)


def mining_candidate_due(ended_at: datetime | None, now: datetime) -> bool:
    """Whether a candidate that was dismissed or expired may be forgotten."""
    return _over(ended_at, MINING_CANDIDATE_KEPT, now)


def practice_files_due(at_rest_at: str | None, *, purged: bool, referenced: bool = False) -> bool:
    """Whether the start files of a practice are to be deleted: its session is at rest and purged."""
    return at_rest_at is not None and purged and not referenced


def ids_in_use(sessions: Iterable[LearnSession]) -> frozenset[str]:
    """Every id that a session not at rest refers to, its own among them: nothing of these may be removed."""
    return frozenset(
        ref for session in sessions if session.state not in AT_REST for ref in _references(session)
    )


@dataclass(frozen=True, slots=True)
class CompactedReceipts:
    """One ability's receipts after compaction."""

    kept: tuple[CheckpointVerificationReceipt, ...]
    """The newest, newest first."""
    dropped: tuple[CheckpointVerificationReceipt, ...] = ()
    """Those that only the counts remember from now on."""
    counts: Mapping[CheckpointStatus, int] = field(default_factory=dict[CheckpointStatus, int])
    """Receipts dropped so far, this time and before."""


def compact_checkpoint_receipts(
    receipts: Iterable[CheckpointVerificationReceipt],
    counted_before: Mapping[CheckpointStatus, int] | None = None,
    keep: int = CHECKPOINT_RECEIPTS_KEPT,
) -> CompactedReceipts:
    """Keeps the newest ``keep`` of one ability's receipts whole and adds the others to the counts.

    Receipts of the same instant are ordered by their ids, so a second run changes nothing.
    """
    newest_first = sorted(receipts, key=lambda one: (one.created_at, one.receipt_id), reverse=True)
    dropped = tuple(newest_first[keep:])
    counts = Counter(counted_before or {})
    counts.update(receipt.status for receipt in dropped)
    return CompactedReceipts(kept=tuple(newest_first[:keep]), dropped=dropped, counts=dict(counts))


def _over(since: datetime | None, term: timedelta, now: datetime) -> bool:
    return since is not None and now >= since + term


def _references(session: LearnSession) -> Iterable[str]:
    yield session.learn_session_id
    yield from session.active_trace_ids
    yield from session.active_observation_batch_ids
    optional = (
        session.clone_of,
        session.proposal_id,
        session.interpretation_id,
        session.validation_run_id,
        session.ability_id,
    )
    yield from (ref for ref in optional if ref is not None)
