"""Keeps a browser's events in the spool, as long as recording is on."""

from collections.abc import Callable

from contracts.learning.observation import ObservedActionEvent
from domain.learning.meaningful import is_meaningful
from recorders.delivery import Delivery
from recorders.spool import Spool
from recorders.spooling_recorder import RecordingState, SpoolingRecorder


class ActionRecorder(SpoolingRecorder):
    """Spools the meaningful events of one browser."""

    def __init__(self, spool: Spool, delivery: Delivery, say: Callable[[str], None]) -> None:
        super().__init__(spool, delivery, say, spool_place="the spool")
        self._is_stopped = False

    @property
    def state(self) -> RecordingState:
        """What happens to the next event. A recording that was stopped is over, and nothing went wrong with it."""
        return RecordingState.ENDED if self._is_stopped else super().state

    def stop(self) -> None:
        """Ends the recording for good, as somebody asked from outside."""
        if self.state is not RecordingState.ENDED:
            self._is_stopped = True
            self._say("recording has ended: it was stopped from outside")

    def keep(self, event: ObservedActionEvent) -> None:
        """Spools ``event`` when it counts and recording is on."""
        if self.state is RecordingState.RECORDING and is_meaningful(event) and self._append(event):
            self.recorded += 1
