"""What recorders report and what is kept of it (DOC3 §0C.8, §0C.22; ingest: routes.md)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import (
    Contract,
    Text80,
    Text120,
    Text160,
    Text200,
    Text240,
    Text400,
    Text2000,
    UtcTime,
    Uuid,
    VersionedContract,
)
from contracts.capabilities.control_surface import ControlSurface
from contracts.learning.browser_observation import BrowserObservation
from contracts.learning.session import LearnSessionState, ObservationMode

MAX_BATCH = 500
"""The most events one ingest request may carry."""


class ObservationAdapterKind(StrEnum):
    """The thirteen kinds of recorder."""

    BROWSER_DOM = "browser_dom"
    BROWSER_SNAPSHOT = "browser_snapshot"
    ACCESSIBILITY_UI = "accessibility_ui"
    KEYBOARD_SHORTCUT = "keyboard_shortcut"
    TEXT_ENTRY = "text_entry"
    MOUSE_CLICK = "mouse_click"
    CLIPBOARD = "clipboard"
    FILE_DIALOG = "file_dialog"
    PROCESS_LAUNCH = "process_launch"
    TERMINAL_COMMAND = "terminal_command"
    MIDI = "midi"
    MCP_RECEIPT = "mcp_receipt"
    WRAPPER_RECEIPT = "wrapper_receipt"


class AdapterPhase(StrEnum):
    """When an adapter is deployed; only phase 1 is there on day one."""

    PHASE_1 = "phase_1"
    PHASE_2 = "phase_2"
    PHASE_3 = "phase_3"


class ObservationAdapterStatus(VersionedContract):
    """An adapter's health as the registry shows it."""

    adapter_id: Text80
    kind: ObservationAdapterKind
    enabled: bool
    healthy: bool
    phase: AdapterPhase
    last_seen_at: UtcTime | None = None
    last_error_code: Text120 | None = None


class RedactionMode(StrEnum):
    """How much of a text the adapter may keep."""

    NONE = "none"
    MASK_TEXT = "mask_text"
    HASH_ONLY = "hash_only"


class ExitClass(StrEnum):
    """How a command ended; never its output."""

    OK = "ok"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class ProducedFile(Contract):
    """A file that a command made or changed, named relative to the demonstration's folder."""

    path: Text240
    change: str = Field(pattern="^(created|modified|deleted)$")
    size_bytes: int = Field(ge=0)


class TerminalObservation(Contract):
    """What the terminal recorder knows of one command; our addition to DOC3's event."""

    command: Text2000 = Field(description="The command line, secrets already masked.")
    exit_class: ExitClass
    working_folder: Text400 = Field(description="Relative to the demonstration's folder; '.' is the folder.")
    produced_files: tuple[ProducedFile, ...] = Field(default=(), max_length=100)


class ObservedActionEvent(VersionedContract):
    """One observed action in its redacted form (DOC3 §0C.22)."""

    event_id: Uuid
    learn_session_id: Uuid
    adapter_kind: ObservationAdapterKind
    app_family: Text80 | None = None
    window_title: Text200 | None = None
    action_label: Text240
    control_surface: ControlSurface | None = None
    target_ref: Text240 | None = None
    before_state_ref: Text240 | None = None
    after_state_ref: Text240 | None = None
    caused_state_change: bool = False
    redaction_mode: RedactionMode = RedactionMode.MASK_TEXT
    bundle_id: Text160 | None = Field(default=None, description="For the target whitelist (DOC3 §0C.2).")
    retain: bool = Field(default=False, description="Keep past the seven-day purge (DOC3 §0C.16D).")
    terminal: TerminalObservation | None = None
    browser: BrowserObservation | None = None
    created_at: UtcTime


class IngestObservationsRequest(VersionedContract):
    """A batch from a recorder. Event ids are idempotent: sending an event again changes nothing."""

    events: tuple[ObservedActionEvent, ...] = Field(min_length=1, max_length=MAX_BATCH)


class IngestObservationsResponse(VersionedContract):
    """What became of the batch; when this arrives, the accepted events are durable."""

    accepted: int = Field(ge=0)
    dropped_off_target: int = Field(ge=0)
    dropped_not_meaningful: int = Field(ge=0)
    duplicate: int = Field(ge=0)
    session_state: LearnSessionState


class ObservationListResponse(VersionedContract):
    """The captured actions, redacted, oldest first."""

    observations: tuple[ObservedActionEvent, ...]
    total: int = Field(ge=0)
    page: int = Field(ge=1)
    page_size: int = Field(ge=1, le=100)


class ObservationScopeRuntime(VersionedContract):
    """What is being observed right now (DOC3 §0C.8; ``capture_state`` and ``active_runtime`` by rows §3.9)."""

    learn_session_id: Uuid
    adapters_active: tuple[Text80, ...] = ()
    data_classes_observed: tuple[Text80, ...] = ()
    redaction_modes: dict[str, str] = Field(default_factory=dict)
    scope: ObservationMode
    target_app_whitelist: tuple[Text160, ...] = ()
    off_target_events_dropped: int = Field(default=0, ge=0)
    capture_state: str = Field(default="idle", pattern="^(idle|capturing|paused|stopped)$")
    active_runtime: str = Field(default="none", pattern="^(none|openclaw_native|bridge_observer)$")
    started_at: UtcTime


class BoundaryKind(StrEnum):
    """What a mark in the capture means."""

    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    CANCEL = "cancel"
    TRIM_START = "trim_start"
    TRIM_END = "trim_end"
    MARK_GOAL = "mark_goal"
    MARK_STEP = "mark_step"


class BoundarySource(StrEnum):
    """Who set a mark."""

    USER_CLICK = "user_click"
    HOTKEY = "hotkey"
    SYSTEM_INFERRED = "system_inferred"
    API_CALL = "api_call"


class WorkflowBoundary(VersionedContract):
    """A mark in the capture (DOC3 §0C.22)."""

    boundary_id: Uuid
    learn_session_id: Uuid
    kind: BoundaryKind
    source: BoundarySource
    label: Text400 | None = None
    source_event_id: Uuid | None = None
    created_at: UtcTime
