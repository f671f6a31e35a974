"""Keeps events in the spool, as long as recording is on."""

from collections.abc import Callable

from contracts.learning.observation import ObservedActionEvent
from domain.learning.meaningful import is_meaningful
from domain.learning.redaction import redact_event
from recorders.delivery import Delivery, DeliveryState
from recorders.heartbeat import SPOOL_FULL
from recorders.spool import Spool, SpoolFull
from recorders.terminal.command_recorder import RecordingState


class ActionRecorder:
    """Spools the meaningful events of one browser; ``say`` tells the person what changed."""

    def __init__(self, spool: Spool, delivery: Delivery, say: Callable[[str], None]) -> None:
        self._spool = spool
        self._delivery = delivery
        self._say = say
        self._paused = False
        self._delivery_state = DeliveryState.FLOWING
        self._end_reason: str | None = None
        self._error_code: str | None = None
        self._is_stopped = False
        self.recorded = 0

    @property
    def state(self) -> RecordingState:
        """What happens to the next event."""
        if self._is_stopped or self._end_reason is not None:
            return RecordingState.ENDED
        if self._paused:
            return RecordingState.PAUSED
        is_held = self._delivery_state is DeliveryState.HELD
        return RecordingState.HELD if is_held else RecordingState.RECORDING

    @property
    def end_reason(self) -> str | None:
        """Why recording ended by itself, if it did."""
        return self._end_reason

    @property
    def error_code(self) -> str | None:
        """Why the adapter cannot record any more, if that is so."""
        return self._error_code

    def stop(self) -> None:
        """Ends the recording for good, as somebody asked from outside."""
        if self.state is not RecordingState.ENDED:
            self._is_stopped = True
            self._say("recording has ended: it was stopped from outside")

    def pause(self) -> None:
        """Keeps nothing until ``resume``."""
        if self.state is RecordingState.RECORDING:
            self._say("recording is paused")
        self._paused = True

    def resume(self) -> None:
        """Keeps events again, unless recording has ended."""
        self._paused = False
        if self.state is RecordingState.RECORDING:
            self._say("recording goes on")

    def keep(self, event: ObservedActionEvent) -> None:
        """Spools ``event`` when it counts and recording is on."""
        if self.state is not RecordingState.RECORDING or not is_meaningful(event):
            return
        try:
            self._spool.append([redact_event(event)])
        except SpoolFull as error:
            self._error_code = SPOOL_FULL
            self._end(str(error))
            return
        self.recorded += 1
        self._delivery.notify()

    def watch_delivery(self) -> None:
        """Follows delivery: says when it falls behind or is held, and ends recording when it is refused."""
        report = self._delivery.report()
        if report.state is self._delivery_state:
            return
        self._delivery_state = report.state
        match report.state:
            case DeliveryState.STOPPED:
                self._end(f"{report.reason}; what is undelivered stays in the spool")
            case DeliveryState.HELD:
                self._say("the session is paused: nothing is recorded until it goes on")
            case DeliveryState.BEHIND:
                self._say(f"delivery is behind: {report.pending} events wait ({report.reason or 'slow'})")
            case DeliveryState.FLOWING:
                self._say("delivery goes on")

    def _end(self, reason: str) -> None:
        if self._end_reason is None:
            self._end_reason = reason
            self._say(f"recording has ended: {reason}")
