"""What a wrapped command is recorded with, and what it leaves."""

from dataclasses import dataclass, field
from pathlib import Path

from contracts.learning.observation import RedactionMode
from recorders.delivery import Backoff, DeliveryReport
from recorders.ingest_client import IngestTarget
from recorders.spool import DEFAULT_MAX_BYTES


@dataclass(frozen=True)
class WrapperOptions:
    """One command of one session.

    ``folder`` is the demonstration's folder: files made in it are named relative to it. ``label`` is what the
    person calls the step. Of a ``session_paused`` nothing is recorded, and the command runs all the same. With a
    ``presence_folder`` the recorder can be found and steered from outside, see ``recorders.running``;
    ``with_launches`` also reports programs that the command leaves running. ``flush_timeout_s`` bounds the wait
    for delivery at the end.
    """

    learn_session_id: str
    target: IngestTarget
    spool_folder: Path
    folder: Path = field(default_factory=Path.cwd)
    label: str | None = None
    session_paused: bool = False
    presence_folder: Path | None = None
    with_launches: bool = True
    redaction_mode: RedactionMode = RedactionMode.MASK_TEXT
    flush_timeout_s: float = 5.0
    max_spool_bytes: int = DEFAULT_MAX_BYTES
    backoff: Backoff = field(default_factory=Backoff)


@dataclass(frozen=True)
class WrapperSummary:
    """How a wrapped command ended: its exit code as a shell gives it, and what became of its receipt.

    ``recorded`` counts events: the receipt, and one for each program left running. ``not_recorded`` says why
    there is no receipt.
    """

    exit_code: int
    recorded: int
    delivery: DeliveryReport
    not_recorded: str | None
    spool_folder: Path

    def text(self) -> str:
        """One line for the person who ran it."""
        if self.not_recorded is not None:
            return f"no receipt: {self.not_recorded}"
        said = f"{self.recorded} recorded, {self.delivery.delivered} delivered"
        if self.delivery.pending:
            said += f"; {self.delivery.pending} wait in {self.spool_folder} for the next recording"
        return f"{said} ({self.delivery.reason})" if self.delivery.reason else said
