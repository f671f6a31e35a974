"""Activities of trials: run the method of an ability in the sandbox on a copy of a folder, and record how it ended."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.platform.refusals import refusing
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import DraftBundle
from contracts.learning.trials import (
    MAX_FOLDER_BYTES,
    MAX_FOLDER_FILES,
    MAX_RESULT_BYTES,
    MAX_RESULT_FILES,
    TrialCommandResult,
    TrialConditionResult,
    TrialEnding,
    TrialOutcome,
    TrialRef,
    TrialRun,
    TrialState,
)
from domain.learning.proof.trial import Trial, ability_folders, trial_of
from host.folder_archive import ArchiveLimits, FolderTooLarge, UnsafeArchive, pack_folder, unpack_folder
from host.sandbox.launch_order import SandboxUnavailable
from skills.rehearsal.shell_session import Surroundings
from skills.rehearsal.trial import TrialReport, run_trial
from stores.learning.drafts import DraftStore
from stores.learning.starting_states import StartingStates
from stores.learning.trials import TrialStore

FOLDER_LIMITS = ArchiveLimits(MAX_FOLDER_FILES, MAX_FOLDER_BYTES)
RESULT_LIMITS = ArchiveLimits(MAX_RESULT_FILES, MAX_RESULT_BYTES)

PASSED = "All commands worked and no condition failed."
_IMPROVE = "Where the method itself is wrong, improve the ability: show it once more."


class TrialActivities:
    """A trial may be run again from its start: each run has a folder of its own, and the upload stays."""

    def __init__(
        self,
        trials: TrialStore,
        drafts: DraftStore,
        states: StartingStates,
        rehearsal_root: Path,
        written: Callable[[], None],
    ) -> None:
        """``rehearsal_root`` is where the sandboxes' temporary folders are made; ``written`` wakes the projection."""
        self._trials = trials
        self._drafts = drafts
        self._states = states
        self._rehearsal_root = rehearsal_root
        self._written = written

    @activity.defn(no_thread_cancel_exception=True)
    @refusing
    def try_ability(self, ref: TrialRef) -> TrialOutcome:
        """Runs the method and records how it ended; a trial that was removed or has ended is left alone."""
        run = self._trials.find(ref.trial_id)
        if run is None:
            return TrialOutcome(state=TrialState.CANCELLED)
        if run.state is not TrialState.RUNNING:
            return _outcome(run)
        bundle = self._bundle(run)
        trial = trial_of(bundle.draft, bundle.interpretation.parameters, run.values)
        report = self._report(run, trial, bundle)
        if report.cancelled:
            return self._cancelled(run, trial)
        ended = self._trials.end(
            run.trial_id,
            TrialState.PASSED if report.passed else TrialState.FAILED,
            _note(report),
            datetime.now(UTC),
            commands=report.commands,
            conditions=report.conditions,
            result=report.result,
        )
        self._written()
        return _outcome(ended) if ended is not None else TrialOutcome(state=TrialState.CANCELLED)

    @activity.defn
    @refusing
    def end_trial(self, ending: TrialEnding) -> TrialOutcome:
        """Records that a trial was cancelled or broke off."""
        ended = self._trials.end(ending.ref.trial_id, ending.state, ending.note, ending.now)
        self._written()
        return _outcome(ended) if ended is not None else TrialOutcome(state=ending.state)

    def _bundle(self, run: TrialRun) -> DraftBundle:
        bundle = self._drafts.bundle_of_version(run.ability_id, run.ability_version)
        if bundle is None:
            raise Refusal(
                ErrorCode.TRIAL_NOT_POSSIBLE, "The lesson that this ability was made from is not kept here."
            )
        return bundle

    def _surroundings(self, bundle: DraftBundle) -> Surroundings:
        """The locale and time zone of the demonstration, as long as they are kept: they decide how lines sort."""
        session_id = bundle.interpretation.learn_session_id
        state = self._states.of_draft(session_id, bundle.draft.starting_state_id)
        folders = bundle.draft.folders
        if state is None:
            return Surroundings(folders=folders)
        return Surroundings(state.locale, state.time_zone, folders=folders)

    def _report(self, run: TrialRun, trial: Trial, bundle: DraftBundle) -> TrialReport:
        content = self._trials.folder(run)

        def place(folder: Path) -> None:
            unpack_folder(content, folder, FOLDER_LIMITS, links_out=True)
            _refuse_missing(bundle, folder)

        cancelled = threading.Event()
        try:
            return run_trial(
                trial,
                self._rehearsal_root,
                place=place,
                collect=lambda folder: pack_folder(folder, RESULT_LIMITS),
                cancelled=cancelled,
                progress=self._progress(run, len(trial.commands), cancelled),
                surroundings=self._surroundings(bundle),
            )
        except SandboxUnavailable as unavailable:
            message = clipped(f"A trial needs a sandbox: {unavailable}", 240)
            raise Refusal(ErrorCode.ADAPTER_UNAVAILABLE, message) from unavailable
        except (FolderTooLarge, UnsafeArchive) as error:
            message = clipped(f"The resulting folder cannot be handed out: {error}.", 240)
            raise Refusal(ErrorCode.TRIAL_NOT_POSSIBLE, message) from error

    def _progress(self, run: TrialRun, total: int, cancelled: threading.Event) -> Callable[[int], None]:
        seen = -1

        def note(done: int) -> None:
            nonlocal seen
            activity.heartbeat(done, total)
            if activity.is_cancelled() or activity.is_worker_shutdown():
                cancelled.set()
            if done != seen:
                seen = done
                doing = f"running command {min(done + 1, total)} of {total}"
                if not self._trials.note_progress(run.trial_id, doing, datetime.now(UTC)):
                    cancelled.set()

        return note

    def _cancelled(self, run: TrialRun, trial: Trial) -> TrialOutcome:
        if activity.is_worker_shutdown() and not activity.is_cancelled():
            # Another worker begins again, in a folder of its own.
            raise ApplicationError("the worker is shutting down", type="WorkerShutdown")
        return TrialOutcome(state=TrialState.CANCELLED, commands=len(trial.commands))


def _refuse_missing(bundle: DraftBundle, folder: Path) -> None:
    """Refuses a folder that does not hold each of those that the ability works in.

    Raises:
        Refusal: ``TRIAL_NOT_POSSIBLE``.
    """
    missing = [one.path for one in ability_folders(bundle.draft.folders) if not (folder / one.path).is_dir()]
    if missing:
        raise Refusal(
            ErrorCode.TRIAL_NOT_POSSIBLE,
            clipped(
                f"The archive has no folder {' and no folder '.join(missing)}: this ability works in several;"
                " hand in one archive with each at its path.",
                240,
            ),
        )


def _note(report: TrialReport) -> str:
    """How it ended, and what to do where it did not pass."""
    failed = next((one for one in report.commands if one.result is TrialCommandResult.FAILED), None)
    if failed is not None:
        said = clipped(f"Command {failed.number} failed: {failed.details}", 200)
        return f"{said}. Mend the folder or the values and try again. {_IMPROVE}"
    unmet = next((one for one in report.conditions if one.result is TrialConditionResult.FAILED), None)
    if unmet is not None:
        said = clipped(f"A condition does not hold: {unmet.statement} ({unmet.details})", 200)
        return f"{said}. Look at the resulting folder. {_IMPROVE}"
    return PASSED


def _outcome(run: TrialRun) -> TrialOutcome:
    results = [one.result for one in run.conditions]
    return TrialOutcome(
        state=run.state,
        commands_worked=sum(1 for one in run.commands if one.result is TrialCommandResult.WORKED),
        commands=len(run.commands),
        conditions_held=results.count(TrialConditionResult.HOLDS),
        conditions_failed=results.count(TrialConditionResult.FAILED),
        conditions_not_applicable=results.count(TrialConditionResult.NOT_APPLICABLE),
    )
