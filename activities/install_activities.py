"""Activities of an install saga: do a step, undo a step, close the saga."""

from collections.abc import Callable

from temporalio import activity

from activities.refusals import refusing
from contracts.learning.install_work import SagaClose, SagaStepInput, SagaStepOutput
from contracts.learning.saga import SagaStepName
from stores.base_skills import BaseSkills
from stores.install_store import InstallStore

_BEFORE_FILES = frozenset({SagaStepName.PLAN, SagaStepName.PROJECT_WORKSPACE})
"""Before these, nothing that somebody edited by hand may be in the way."""


class InstallActivities:
    """A step is its transaction and the files that follow from it: both are there when it answers."""

    def __init__(self, installs: InstallStore, project: Callable[[], object], bases: BaseSkills) -> None:
        """``project`` makes the files on disk agree with the store, now."""
        self._bases = bases
        self._installs = installs
        self._project = project

    @activity.defn(name="install_step")
    @refusing
    def do_step(self, request: SagaStepInput) -> SagaStepOutput:
        """Does one step; a repeated one changes nothing more."""
        try:
            if request.step in _BEFORE_FILES:
                self._bases.guard_hand_edits(request.saga)
            output = self._installs.do_step(request.saga, request.step)
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
