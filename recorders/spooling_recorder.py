"""Base of the live recorders: options, recording state, spooling of redacted events, summary."""

from collections.abc import Callable
from enum import StrEnum

from contracts.learning.observation import ObservedActionEvent
from domain.learning.redaction.redaction import redact_event
from recorders.delivery import Delivery, DeliveryState
from recorders.running import SPOOL_FULL
from recorders.spool import Spool, SpoolFull


class RecordingState(StrEnum):
    """Whether events are kept: only while ``recording``."""

    RECORDING = "rec"
    PAUSED = "paused"
    HELD = "held"
    ENDED = "not recording"


class SpoolingRecorder:
    """Spools redacted events while recording is on; ``say`` tells the person what changed.

    ``spool_place`` is what a person is told of where undelivered events stay.
    """

    _PAUSED_MESSAGE = "recording is paused"

    def __init__(
        self, spool: Spool, delivery: Delivery, say: Callable[[str], None], spool_place: str
    ) -> None:
        self._spool = spool
        self._delivery = delivery
        self._say = say
        self._spool_place = spool_place
        self._paused = False
        self._delivery_state = DeliveryState.FLOWING
        self._end_reason: str | None = None
        self._error_code: str | None = None
        self.recorded: int = 0

    @property
    def state(self) -> RecordingState:
        """What happens to the next event."""
        if self._end_reason is not None:
            return RecordingState.ENDED
        if self._paused:
            return RecordingState.PAUSED
        is_held = self._delivery_state is DeliveryState.HELD
        return RecordingState.HELD if is_held else RecordingState.RECORDING

    @property
    def end_reason(self) -> str | None:
        """Why recording ended before what it watched did, if it did."""
        return self._end_reason

    @property
    def error_code(self) -> str | None:
        """What keeps the recorder from recording, for the registry of adapters."""
        return self._error_code

    def pause(self) -> None:
        """Keeps nothing until ``resume``."""
        if self.state is RecordingState.RECORDING:
            self._say(self._PAUSED_MESSAGE)
        self._paused = True

    def resume(self) -> None:
        """Keeps events again, unless recording has ended."""
        self._paused = False
        if self.state is RecordingState.RECORDING:
            self._say("recording goes on")

    def watch_delivery(self) -> None:
        """Follows delivery: says when it falls behind or is held, and ends recording when it is refused."""
        report = self._delivery.report()
        if report.state is self._delivery_state:
            return
        self._delivery_state = report.state
        match report.state:
            case DeliveryState.STOPPED:
                self._end(f"{report.reason}; what is undelivered stays in {self._spool_place}")
            case DeliveryState.HELD:
                self._say("the session is paused: nothing is recorded until it goes on")
            case DeliveryState.BEHIND:
                self._say(f"delivery is behind: {report.pending} events wait ({report.reason or 'slow'})")
            case DeliveryState.FLOWING:
                self._say("delivery goes on")

    def _append(self, event: ObservedActionEvent) -> bool:
        if self._end_reason is not None:
            return False
        try:
            self._spool.append([redact_event(event)])
        except SpoolFull as error:
            self._error_code = SPOOL_FULL
            self._end(str(error))
            return False
        self._delivery.notify()
        return True

    def _end(self, reason: str) -> None:
        if self._end_reason is None:
            self._end_reason = reason
            self._say(f"recording has ended: {reason}")
