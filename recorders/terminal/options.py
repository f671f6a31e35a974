"""What a terminal recording is started with, and what it leaves."""

from dataclasses import dataclass, field
from pathlib import Path

from contracts.learning.observation import RedactionMode
from recorders.delivery import Backoff, DeliveryReport
from recorders.errors import RecorderError as RecorderError
from recorders.ingest_client import IngestTarget
from recorders.spool import DEFAULT_MAX_BYTES


@dataclass(frozen=True)
class TerminalRecorderOptions:
    """One recording of one session.

    ``folder`` is the demonstration's folder: the shell starts there, and files made in it are named relative to
    it. With a ``presence_folder`` the recorder can be found and steered from outside, see ``recorders.running``;
    ``with_launches`` also reports programs that a command leaves running. ``flush_timeout_s`` bounds the wait for
    delivery at the end, ``command_timeout_s`` one scripted command.
    """

    learn_session_id: str
    target: IngestTarget
    spool_folder: Path
    folder: Path = field(default_factory=Path.cwd)
    presence_folder: Path | None = None
    with_launches: bool = True
    redaction_mode: RedactionMode = RedactionMode.MASK_TEXT
    flush_timeout_s: float = 10.0
    command_timeout_s: float = 120.0
    max_spool_bytes: int = DEFAULT_MAX_BYTES
    backoff: Backoff = field(default_factory=Backoff)


@dataclass(frozen=True)
class RecordingSummary:
    """How a recording ended. ``commands`` were entered while recording; ``skipped`` of them only looked around."""

    learn_session_id: str
    commands: int
    recorded: int
    skipped: int
    delivery: DeliveryReport
    stopped_reason: str | None
    spool_folder: Path

    @property
    def complete(self) -> bool:
        """Whether everything recorded has reached the API."""
        return self.delivery.complete and self.stopped_reason is None

    def text(self) -> str:
        """One or two lines for the person who recorded."""
        counts = (
            f"{self.recorded} commands recorded, {self.skipped} left out, {self.delivery.delivered} delivered"
        )
        if self.delivery.pending:
            counts += f"; {self.delivery.pending} wait in {self.spool_folder} for the next recording"
        reason = self.stopped_reason or self.delivery.reason
        return f"{counts} ({reason})" if reason else counts
