"""Nightly sweeps of mining runs and candidates, practice files, documents and secrets; and the list of all sweeps."""

import shutil
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from sqlalchemy import Column, ColumnElement, Connection, delete, exists, select

from contracts.base import rfc3339
from contracts.maintenance.runs import SweepName
from contracts.mining.candidates import CandidateState, MiningCandidate
from contracts.mining.runs import MiningRunState
from domain.maintenance.retention import (
    MINING_CANDIDATE_KEPT,
    MINING_RUN_KEPT,
    mining_candidate_due,
    mining_run_due,
    practice_files_due,
)
from stores.imports.uploads import KIND as SKILL_BUNDLE
from stores.imports.uploads import forget_uploads
from stores.learning.observations import ObservationLog
from stores.learning.session_reads import OpenReferences
from stores.learning.trials import drop_trial, expired_trials
from stores.maintenance.archive_sweeps import (
    ArchiveProposals,
    ArchiveSessions,
    PurgeObservations,
    held_session,
)
from stores.maintenance.compaction_sweeps import ForgetKeys, RemoveBlobs, referred_digests
from stores.maintenance.receipt_sweeps import CompactCheckpointReceipts, RotateReceipts
from stores.maintenance.runs import MaintenanceStore, is_preview
from stores.maintenance.sweeps import LEFT_ALONE, RetentionSweeps, Settled, folders_in, is_folder, keys_after
from stores.maintenance.tool_sweeps import (
    RemoveToolCalls,
    RemoveToolServerFolders,
    past_flow,
    past_grant,
    past_invocation,
)
from stores.mcp.mcp_tables import mcp_grants, mcp_oauth_flows
from stores.mining.candidate_reads import CANDIDATES
from stores.mining.runs import RUNS
from stores.platform import tables
from stores.platform.database import Database
from stores.platform.tables import blobs, secrets
from stores.platform.temporary_artifacts import ArtifactKey, drop_artifact, expired_artifacts
from stores.skills.skill_tables import skill_invocations

_RUNS = tables.mining_runs
_CANDIDATES = tables.mining_candidates
_OBSERVATIONS = tables.observations

ENDED = frozenset({CandidateState.DISMISSED, CandidateState.EXPIRED})
"""The states in which nothing comes of a candidate by itself any more."""


class RemoveMiningRuns:
    """Records of mining runs go after 90 days; a running one stays."""

    name = SweepName.REMOVE_MINING_RUNS
    batch = 200

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Run ids in their own order."""
        old = _RUNS.c.started_at <= rfc3339(now - MINING_RUN_KEPT)
        return keys_after(connection, _RUNS.c.run_id, after, limit, old)

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Removes one record."""
        run = RUNS.find(connection, item, lock=True)
        if run is None or run.state is MiningRunState.RUNNING:
            return LEFT_ALONE
        if not mining_run_due(run.finished_at or run.started_at, now):
            return LEFT_ALONE
        return _removed(RUNS.delete(connection, item))


class RemoveMiningCandidates:
    """Candidates go 90 days after they were dismissed or expired.

    A dismissed one stays for as long as observations of its captures are kept: it is what keeps them from being
    found again. So does either while a session that was built from it holds any, since copies are no evidence.
    """

    name = SweepName.REMOVE_MINING_CANDIDATES
    batch = 50

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Candidate ids in their own order."""
        ended = _CANDIDATES.c.state.in_([state.value for state in ENDED])
        old = _CANDIDATES.c.updated_at <= rfc3339(now - MINING_CANDIDATE_KEPT)
        return keys_after(connection, _CANDIDATES.c.candidate_id, after, limit, ended, old)

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Removes one candidate."""
        candidate = CANDIDATES.find(connection, item, lock=True)
        if candidate is None or candidate.state not in ENDED:
            return LEFT_ALONE
        if not mining_candidate_due(candidate.updated_at, now) or _observed(connection, _guarded(candidate)):
            return LEFT_ALONE
        return _removed(CANDIDATES.delete(connection, item))


def _removed(deleted: bool) -> Settled:
    return Settled(done=deleted, removed=int(deleted))


def _guarded(candidate: MiningCandidate) -> tuple[str, ...]:
    """The sessions that would count as evidence again without the candidate."""
    built = (*candidate.earlier_session_ids, *filter(None, (candidate.learn_session_id,)))
    shown = candidate.source_session_ids if candidate.state is CandidateState.DISMISSED else ()
    return (*built, *shown)


def _observed(connection: Connection, session_ids: Sequence[str]) -> bool:
    return bool(connection.scalar(select(exists().where(_OBSERVATIONS.c.session_id.in_(session_ids)))))


_SESSIONS = tables.learn_sessions


class RemovePracticeFiles:
    """Start files go once their session is at rest and its observations are purged: no rehearsal needs them."""

    name = SweepName.REMOVE_PRACTICE_FILES
    batch = 10

    def __init__(self, folder: Path, references: OpenReferences) -> None:
        """``folder`` holds one folder a session; what has another name than a session is left alone."""
        self._folder = folder
        self._references = references

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Session ids in their own order."""
        kept = [place.name for place in folders_in(self._folder) if place.name > after]
        found: list[str] = []
        for first in range(0, len(kept), 500):
            query = select(_SESSIONS.c.session_id).where(
                _SESSIONS.c.session_id.in_(kept[first : first + 500]),
                _SESSIONS.c.at_rest_at.is_not(None),
                _SESSIONS.c.observations_purged_at.is_not(None),
            )
            found += connection.scalars(query.order_by(_SESSIONS.c.session_id)).all()
            if len(found) >= limit:
                break
        return found[:limit]

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Removes one session's start files; a preview only counts them, since no rollback brings files back."""
        held = held_session(connection, item, self._references)
        place = self._folder / item
        if held is None or not is_folder(place):
            return LEFT_ALONE
        if not practice_files_due(held.at_rest_at, purged=held.purged, referenced=held.referenced):
            return LEFT_ALONE
        files = sum(1 for path in place.rglob("*") if not path.is_dir() or path.is_symlink())
        if not is_preview(connection, run_id):
            shutil.rmtree(place)
        return Settled(done=True, removed=files)


_TRIAL, _MARK = " ", "!"
# Sort before every digest, so that trials go first, then what is kept for days.


class RemoveContent:
    """Trials, documents and outputs whose time is over go with their content; then what ``RemoveBlobs`` finds.

    Other content that no row refers to is kept 30 days; a person's document or folder is not.
    """

    name = SweepName.REMOVE_BLOBS
    batch = 200

    def __init__(self, blobs_after: RemoveBlobs) -> None:
        self._blobs_after = blobs_after

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Trials, then artifacts, then blobs, each in the order of their ids or digests."""
        found: list[str] = []
        if not after or after.startswith(_TRIAL):
            found = [f"{_TRIAL}{key}" for key in expired_trials(connection, now, after[1:], limit)]
            after = ""
        if len(found) < limit and (not after or after.startswith(_MARK)):
            last = ArtifactKey(*after[1:].split("|", 2)) if after else None
            left = limit - len(found)
            found += [f"{_MARK}{'|'.join(key)}" for key in expired_artifacts(connection, now, last, left)]
            after = ""
        if len(found) < limit:
            found += self._blobs_after.due(connection, now, after, limit - len(found))
        return found

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Deletes one trial; or one artifact, and its content when nothing else refers to that; or one blob."""
        if item.startswith(_TRIAL):
            return _removed(drop_trial(connection, item[1:], now))
        if not item.startswith(_MARK):
            return self._blobs_after.settle(connection, item, now, run_id)
        key = ArtifactKey(*item[1:].split("|", 2))
        if not drop_artifact(connection, key, now):
            return LEFT_ALONE
        if key.kind == SKILL_BUNDLE:
            forget_uploads(connection, key.owner, key.digest, now)
        if referred_digests(connection, {key.digest}):
            return Settled(done=True, removed=1)
        content = connection.execute(delete(blobs).where(blobs.c.digest == key.digest)).rowcount
        return Settled(done=True, removed=1 + content)


class RemoveExpired:
    """Deletes the rows of a table that are past their term, in the order of their keys."""

    batch = 200

    def __init__(
        self, name: SweepName, key: Column[str], past: Callable[[datetime], ColumnElement[bool]]
    ) -> None:
        """``past`` is the condition of a row whose term is over."""
        self.name = name
        self._key = key
        self._past = past

    def due(self, connection: Connection, now: datetime, after: str, limit: int) -> Sequence[str]:
        """The keys of rows past their term."""
        return keys_after(connection, self._key, after, limit, self._past(now))

    def settle(self, connection: Connection, item: str, now: datetime, run_id: str) -> Settled:
        """Deletes one row, unless it was written anew meanwhile."""
        gone = connection.execute(delete(self._key.table).where(self._key == item, self._past(now)))
        return Settled(done=gone.rowcount == 1, removed=gone.rowcount)


def past_secret(now: datetime) -> ColumnElement[bool]:
    """Needs no key: nothing reveals an expired secret."""
    return secrets.c.expires_at <= rfc3339(now)


def nightly_sweeps(
    database: Database,
    runs: MaintenanceStore,
    observations: ObservationLog,
    practice_folder: Path,
    tool_folder: Path,
) -> RetentionSweeps:
    """The sweeps over ``database``, the start files in ``practice_folder`` and the folders of local tool servers in
    ``tool_folder``; the workflow decides their order."""
    references = OpenReferences()
    return RetentionSweeps(
        database,
        runs,
        (
            ArchiveSessions(references),
            PurgeObservations(references, observations),
            ArchiveProposals(references),
            ForgetKeys(),
            RotateReceipts(),
            CompactCheckpointReceipts(),
            RemoveContent(RemoveBlobs()),
            RemoveExpired(SweepName.REMOVE_EXPIRED_SECRETS, secrets.c.ref, past_secret),
            RemoveMiningRuns(),
            RemoveMiningCandidates(),
            RemovePracticeFiles(practice_folder, references),
            RemoveToolCalls(),
            RemoveExpired(SweepName.REMOVE_GRANTS, mcp_grants.c.grant_id, past_grant),
            RemoveExpired(SweepName.REMOVE_SIGN_IN_FLOWS, mcp_oauth_flows.c.challenge_id, past_flow),
            RemoveExpired(SweepName.REMOVE_INVOCATIONS, skill_invocations.c.invocation_id, past_invocation),
            RemoveToolServerFolders(tool_folder),
        ),
    )
