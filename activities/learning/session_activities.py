"""Activities of learning sessions (commit, draft) and of install sagas (do a step, undo a step, close)."""

from collections.abc import Callable

from temporalio import activity

from activities.learning.drafting import Drafter
from activities.platform.refusals import refusing
from contracts.learning.aggregate import (
    BaseCheck,
    CommitResult,
    DraftRequest,
    DraftSummary,
    SessionCommit,
    SessionLook,
    SessionSeen,
)
from contracts.learning.install import SagaClose, SagaStepInput, SagaStepName, SagaStepOutput
from stores.learning.base_skills import BaseSkills
from stores.learning.installs import InstallStore
from stores.learning.sessions import SessionStore


class SessionActivities:
    """Local activities: transactions of milliseconds."""

    def __init__(
        self,
        sessions: SessionStore,
        drafter: Drafter,
        written: Callable[[], None],
        bases: BaseSkills,
    ) -> None:
        """``written`` is called after each commit, to have the files projected."""
        self._bases = bases
        self._sessions = sessions
        self._drafter = drafter
        self._written = written

    @activity.defn
    @refusing
    def commit_session(self, commit: SessionCommit) -> CommitResult:
        """Writes one decision; a repeated one answers what the first did."""
        result = self._sessions.commit(commit)
        self._written()
        return result

    @activity.defn
    @refusing
    def look_at_session(self, look: SessionLook) -> SessionSeen:
        """The session as the store has it, where that is newer than what is known."""
        present = self._sessions.find(look.learn_session_id)
        newer = present is not None and present.change > look.known_change
        return SessionSeen(newer=present if newer else None)

    @activity.defn
    @refusing
    def draft_proposal(self, request: DraftRequest) -> DraftSummary:
        """Reads the capture, drafts, and stages the draft; nothing adopts it yet."""
        return self._drafter.draft(request)

    @activity.defn
    @refusing
    def check_base(self, request: BaseCheck) -> None:
        """Refuses to install an improvement whose base has moved or was edited by hand."""
        self._bases.check(request.proposal, request.lane)


_THEN_FILES = frozenset({SagaStepName.PROJECT_WORKSPACE, SagaStepName.REFRESH_AVAILABILITY})
"""After these the files are written: the skill's own first, which may fail, and then those that tell of it."""


class InstallActivities:
    """A step is its transaction. The files of the skill, and those that tell of it, are there when its saga ends.

    Files that list all abilities may follow a moment later, where there are hundreds.
    """

    def __init__(self, installs: InstallStore, project: Callable[[], object]) -> None:
        """``project`` makes the files on disk agree with the store, now."""
        self._installs = installs
        self._project = project

    @activity.defn(name="install_step")
    @refusing
    def do_step(self, request: SagaStepInput) -> SagaStepOutput:
        """Does one step; a repeated one changes nothing more."""
        try:
            output = self._installs.do_step(request.saga, request.step)
            if request.step in _THEN_FILES:
                self._project()
        except Exception as error:
            self._installs.note_attempt(request.saga, request.step, _shown(error), undoing=False)
            raise
        return output

    @activity.defn(name="undo_install_step")
    def undo_step(self, request: SagaStepInput) -> None:
        """Undoes one step, whether or not it was done. Refuses nothing: a full disk is waited for."""
        try:
            self._installs.undo_step(request.saga, request.step)
            self._project()
        except Exception as error:
            self._installs.note_attempt(request.saga, request.step, _shown(error), undoing=True)
            raise

    @activity.defn(name="close_install")
    def close(self, request: SagaClose) -> None:
        """Records how a saga ended that did not install."""
        self._installs.close(request.saga, request.state, request.error)


def _shown(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:240]
