"""Store of trials of abilities: the folders handed in and resulting, one row a trial, receipts. Kept for a day."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, func, select

from contracts.base import clipped, rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.lifecycle import LearningReceiptKind
from contracts.learning.trials import (
    TrialCommand,
    TrialCondition,
    TrialFolder,
    TrialRun,
    TrialState,
)
from domain.abilities.execution_traces import captures_traces, trial_trace
from stores.abilities.ability_rows import manifest_of
from stores.platform.blobs import get_blob
from stores.platform.database import Database, advisory_lock
from stores.platform.document_table import DocumentTable
from stores.platform.journal.journal import TRACES, JournalEntries, append
from stores.platform.tables import ability_trials
from stores.platform.temporary_artifacts import (
    ArtifactTerms,
    expire_artifact,
    is_artifact_kept,
    keep_artifact,
)

KEPT = timedelta(hours=24)
"""How long a folder, a trial and its result are kept."""

MOST_KEPT_BYTES = 1024**3
"""What the folders and results of one user may take at once: 1 GiB, as archives."""

MOST_RUNNING = 3
"""Trials of one user that may run at once."""

FOLDER, RESULT = "trial-folder", "trial-result"

_PREFIX = "trial-folder/"
_ROW = ability_trials.c

TRIALS = DocumentTable(
    ability_trials,
    TrialRun,
    lambda run: {
        "trial_id": run.trial_id,
        "owner": run.owner_user_id,
        "state": run.state.value,
        "created_at": rfc3339(run.started_at),
        "expires_at": rfc3339(run.expires_at),
    },
    message="There is no such trial of yours, or its day is over; start a new one.",
)


class TrialStore:
    """The durable side of TrialWorkflow. Every change may be tried again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep_folder(self, owner: str, content: bytes, files: int, now: datetime) -> TrialFolder:
        """Keeps the archive of a folder for a day; the same one again is kept a day from now.

        Raises:
            Refusal: ``STORAGE_FULL``.
        """
        with self._database.write() as connection:
            row = keep_artifact(connection, owner, FOLDER, content, now, _terms())
        return TrialFolder(
            folder_ref=f"{_PREFIX}{row['digest']}",
            digest=row["digest"],
            size_bytes=len(content),
            files=files,
            created_at=datetime.fromisoformat(row["created_at"]),
            expires_at=datetime.fromisoformat(row["expires_at"]),
        )

    def hold_folder(self, owner: str, folder_ref: str, now: datetime) -> str:
        """Has the owner's folder kept for a day from now; its digest.

        Raises:
            Refusal: ``NOT_FOUND`` where it was not handed in, or its day is over.
        """
        digest = folder_digest(folder_ref)
        with self._database.write() as connection:
            if not expire_artifact(connection, owner, (FOLDER,), digest, now + KEPT, now):
                raise _no_folder()
        return digest

    def content(self, digest: str) -> bytes:
        """The archive of a folder.

        Raises:
            BlobNotFoundError: it was removed.
        """
        with self._database.read() as connection:
            return get_blob(connection, digest)

    def keep_result(self, owner: str, content: bytes, now: datetime) -> str:
        """Keeps the archive of a resulting folder for a day; its digest.

        Raises:
            Refusal: ``STORAGE_FULL``.
        """
        with self._database.write() as connection:
            return str(keep_artifact(connection, owner, RESULT, content, now, _terms())["digest"])

    def kept_result(self, owner: str, digest: str, now: datetime) -> bytes:
        """The archive of a resulting folder of the owner's.

        Raises:
            Refusal: ``NOT_FOUND`` where its day is over.
        """
        with self._database.read() as connection:
            if not is_artifact_kept(connection, owner, RESULT, digest, now):
                raise Refusal(ErrorCode.NOT_FOUND, "There is no resulting folder, or its day is over.")
            return get_blob(connection, digest)

    def open(self, run: TrialRun) -> TrialRun:
        """Puts a trial on record, or finds it there; its folder is kept as long as the trial.

        Raises:
            Refusal: ``NOT_FOUND`` where the folder was not handed in or its day is over; ``TOO_MANY_REQUESTS``.
        """
        now, owner = run.started_at, run.owner_user_id
        with self._database.write() as connection:
            advisory_lock(connection, f"ability trials {owner}")
            known = TRIALS.find(connection, run.trial_id, owner=owner)
            if known is not None:
                return known
            if not expire_artifact(connection, owner, (FOLDER,), run.folder_digest, run.expires_at, now):
                raise _no_folder()
            running = connection.scalar(
                select(func.count()).where(
                    _ROW.owner == owner,
                    _ROW.state == TrialState.RUNNING.value,
                    _ROW.expires_at > rfc3339(now),
                )
            )
            if int(running or 0) >= MOST_RUNNING:
                raise Refusal(
                    ErrorCode.TOO_MANY_REQUESTS,
                    f"{MOST_RUNNING} trials of yours run already; wait for one, or cancel it.",
                )
            TRIALS.add(connection, run)
            _record(connection, run, LearningReceiptKind.TRIAL_STARTED, "started on another folder")
        return run

    def forget(self, trial_id: str) -> None:
        """Takes a trial that was never started off the record."""
        with self._database.write() as connection:
            TRIALS.delete(connection, trial_id)

    def find(self, trial_id: str) -> TrialRun | None:
        """A trial of any owner; ``None`` where it was removed."""
        with self._database.read() as connection:
            return TRIALS.find(connection, trial_id)

    def owned(self, trial_id: str, owner: str, now: datetime) -> TrialRun:
        """The owner's trial.

        Raises:
            Refusal: ``NOT_FOUND``, also when its day is over.
        """
        with self._database.read() as connection:
            return _present(connection, trial_id, owner, now)

    def folder(self, run: TrialRun) -> bytes:
        """The archive of the folder that a trial runs on.

        Raises:
            BlobNotFoundError: it was removed.
        """
        with self._database.read() as connection:
            return get_blob(connection, run.folder_digest)

    def note_progress(self, trial_id: str, progress: str, now: datetime) -> bool:
        """Notes what a trial is doing; false where it does not run any more."""
        with self._database.write() as connection:
            run = TRIALS.find(connection, trial_id, lock=True)
            if run is None or run.state is not TrialState.RUNNING:
                return False
            TRIALS.put(connection, run.changed(progress=clipped(progress, 240), updated_at=now))
        return True

    def end(
        self,
        trial_id: str,
        state: TrialState,
        note: str,
        now: datetime,
        *,
        commands: tuple[TrialCommand, ...] = (),
        conditions: tuple[TrialCondition, ...] = (),
        result: bytes | None = None,
    ) -> TrialRun | None:
        """Records how a trial ended, with the resulting folder; the first end stands, ``None`` where it was removed.

        Raises:
            Refusal: ``STORAGE_FULL``, and nothing is recorded.
        """
        with self._database.write() as connection:
            run = TRIALS.find(connection, trial_id, lock=True)
            if run is None or run.state is not TrialState.RUNNING:
                return run
            ended = run.changed(
                state=state,
                note=clipped(note, 400),
                progress="",
                commands=commands,
                conditions=conditions,
                updated_at=now,
                finished_at=now,
            )
            if result is not None:
                row = keep_artifact(connection, run.owner_user_id, RESULT, result, now, _terms())
                ended = ended.changed(result_digest=row["digest"], result_bytes=len(result))
            TRIALS.put(connection, ended)
            _record(connection, ended, LearningReceiptKind.TRIAL_ENDED, f"{state.value}: {_counts(ended)}")
            _trace(connection, ended)
        return ended

    def result(self, trial_id: str, owner: str, now: datetime) -> bytes:
        """The archive of the resulting folder.

        Raises:
            Refusal: ``NOT_FOUND``; ``CONFLICT`` while it runs.
        """
        with self._database.read() as connection:
            run = _present(connection, trial_id, owner, now)
            if run.state is TrialState.RUNNING:
                raise Refusal(ErrorCode.CONFLICT, "The trial still runs; its result comes with its end.")
            digest = run.result_digest
            if digest is None or not is_artifact_kept(connection, owner, RESULT, digest, now):
                raise Refusal(ErrorCode.NOT_FOUND, "This trial has no resulting folder; its note says why.")
            return get_blob(connection, digest)

    def remove(self, trial_id: str, owner: str, now: datetime) -> TrialRun:
        """Removes a trial; its folders end at once unless another trial has them, and go with the next maintenance.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.write() as connection:
            advisory_lock(connection, f"ability trials {owner}")
            run = _present(connection, trial_id, owner, now)
            TRIALS.delete(connection, trial_id)
            others = TRIALS.all(connection, _ROW.owner == owner, order_by=(_ROW.trial_id,))
            kept = {digest for one in others for digest in (one.folder_digest, one.result_digest)}
            for digest in {run.folder_digest, run.result_digest} - kept:
                if digest is not None:
                    expire_artifact(connection, owner, (FOLDER, RESULT), digest, now, now)
            if run.state is TrialState.RUNNING:
                _record(connection, run.changed(updated_at=now), LearningReceiptKind.TRIAL_ENDED, "cancelled")
        return run


def _no_folder() -> Refusal:
    return Refusal(
        ErrorCode.NOT_FOUND, "There is no such folder of yours, or its day is over; hand it in again."
    )


def folder_digest(folder_ref: str) -> str:
    """The digest that a reference to a folder names; an invalid reference gives one that no folder has."""
    return folder_ref.removeprefix(_PREFIX)


def expired_trials(connection: Connection, now: datetime, after: str, limit: int) -> list[str]:
    """Trials whose day is over, in the order of their ids."""
    query = select(_ROW.trial_id).where(_ROW.expires_at <= rfc3339(now), _ROW.trial_id > after)
    return list(connection.scalars(query.order_by(_ROW.trial_id).limit(limit)))


def drop_trial(connection: Connection, trial_id: str, now: datetime) -> bool:
    """Deletes a trial whose day is over; whether it was there."""
    return TRIALS.delete(connection, trial_id, _ROW.expires_at <= rfc3339(now))


def _present(connection: Connection, trial_id: str, owner: str, now: datetime) -> TrialRun:
    run = TRIALS.owned(connection, trial_id, owner)
    if run.expires_at <= now:
        raise TRIALS.not_found(trial_id)
    return run


def _counts(run: TrialRun) -> str:
    worked = sum(1 for one in run.commands if one.result.value == "worked")
    held = sum(1 for one in run.conditions if one.result.value == "holds")
    return f"{worked} of {len(run.commands)} commands worked, {held} of {len(run.conditions)} conditions hold"


def _record(connection: Connection, run: TrialRun, kind: LearningReceiptKind, reason: str) -> None:
    """The receipt; it names no value and no file."""
    entries = JournalEntries(
        run.workflow_id, run.owner_user_id, run.correlation_id, run.updated_at, ability_id=run.ability_id
    )
    entries.receipt(kind, f"trial {run.trial_id}: {reason}", named=run.ability_id)
    append(connection, entries.drafts)


def _trace(connection: Connection, run: TrialRun) -> None:
    """The execution trace of a trial, where its capability keeps traces."""
    manifest = manifest_of(connection, run.ability_id)
    trace = trial_trace(manifest, run) if manifest is not None and captures_traces(manifest) else None
    if trace is None:
        return
    entries = JournalEntries(
        run.workflow_id, run.owner_user_id, run.correlation_id, run.updated_at, ability_id=run.ability_id
    )
    entries.add(TRACES, trace)
    append(connection, entries.drafts)


def _terms() -> ArtifactTerms:
    return ArtifactTerms(
        KEPT,
        MOST_KEPT_BYTES,
        (FOLDER, RESULT),
        "Your folders and results of trials take 1 GiB, the most there may be; they go after a day.",
    )
