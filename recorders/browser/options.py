"""What a browser recording is started with, and what it leaves."""

from dataclasses import dataclass, field
from pathlib import Path

from contracts.learning.observation import RedactionMode
from recorders.delivery import Backoff, DeliveryReport
from recorders.ingest_client import IngestTarget
from recorders.spool import DEFAULT_MAX_BYTES


@dataclass(frozen=True)
class BrowserRecorderOptions:
    """One recording of one session in one browser.

    With ``cdp_url`` (``http://127.0.0.1:PORT``) the browser that listens there is watched and left running;
    without it one is started with a profile of its own, which is removed afterwards, and its downloads go to
    ``folder``. ``browser_arguments`` are handed to a started browser as they are. With a ``presence_folder`` the
    recorder can be found and steered from outside, see ``recorders.running``; ``with_snapshots`` also reports what
    pages show. ``flush_timeout_s`` bounds the wait for delivery at the end.
    """

    learn_session_id: str
    target: IngestTarget
    spool_folder: Path
    cdp_url: str | None = None
    start_url: str | None = None
    headless: bool = False
    folder: Path = field(default_factory=Path.cwd)
    browser_arguments: tuple[str, ...] = ()
    presence_folder: Path | None = None
    with_snapshots: bool = True
    redaction_mode: RedactionMode = RedactionMode.MASK_TEXT
    flush_timeout_s: float = 10.0
    max_spool_bytes: int = DEFAULT_MAX_BYTES
    backoff: Backoff = field(default_factory=Backoff)


@dataclass(frozen=True)
class BrowserRecordingSummary:
    """How a recording ended: ``recorded`` counts actions and page summaries."""

    learn_session_id: str
    recorded: int
    delivery: DeliveryReport
    stopped_reason: str | None
    spool_folder: Path

    @property
    def complete(self) -> bool:
        """Whether everything recorded has reached the API."""
        return self.delivery.complete and self.stopped_reason is None

    def text(self) -> str:
        """One or two lines for the person who recorded."""
        counts = f"{self.recorded} events recorded, {self.delivery.delivered} delivered"
        if self.delivery.pending:
            counts += f"; {self.delivery.pending} wait in {self.spool_folder} for the next recording"
        reason = self.stopped_reason or self.delivery.reason
        return f"{counts} ({reason})" if reason else counts
