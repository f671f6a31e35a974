"""Observed events of a capture (terminal, browser, tool calls), and the registry of the adapters that record them.

DOC3 §0C.8, §0C.22; ingest: routes.md. Browser fields are our addition (§0A.9, §0A.10). Of a tool call only names and
the outcome are kept, never values of arguments or answers (§0A.10 "mcp_receipt"). The adapter status is DOC3's
(§0C.22); alternatives and the recorder's report are our additions (§0C.22 L3674, R11.2-44).
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints, field_validator

from contracts.abilities.control_surface import ControlSurface
from contracts.base import (
    Contract,
    Sha256,
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
from contracts.learning.session import LearnSessionState, ObservationMode
from contracts.learning.validation import SafetyClass


class BrowserAction(StrEnum):
    """What happened in a page; ``snapshot`` is what could be seen afterwards."""

    NAVIGATE = "navigate"
    CLICK = "click"
    INPUT = "input"
    SELECT = "select"
    SUBMIT = "submit"
    DOWNLOAD = "download"
    SNAPSHOT = "snapshot"


class EnteredValue(Contract):
    """A value by its class only: never the text. A password's length is 0, a file input's the number of files."""

    kind: Text80 = Field(
        description="The kind of field: text, password, email, date, choice, file, checked …"
    )
    length: int = Field(ge=0, le=10_000_000, description="Characters, or files.")


class PageSummary(Contract):
    """The accessible content of a page: names and messages, no values and no markup."""

    headings: tuple[Text120, ...] = Field(default=(), max_length=12)
    landmarks: tuple[Text120, ...] = Field(default=(), max_length=12)
    fields: tuple[Text120, ...] = Field(default=(), max_length=30)
    messages: tuple[Text160, ...] = Field(default=(), max_length=6, description="Status and live regions.")
    alerts: tuple[Text160, ...] = Field(default=(), max_length=6)
    dialogs: tuple[Text120, ...] = Field(default=(), max_length=4)
    invalid_fields: tuple[Text120, ...] = Field(default=(), max_length=30)


class BrowserObservation(Contract):
    """One action by its meaning: role and accessible name, never a selector or a place on the screen."""

    action: BrowserAction
    site: Text200 = Field(description="The page's origin, without credentials: https://shop.example.")
    page_path: Text200 = Field(default="", description="The address's path, without query and fragment.")
    page_title: Text200 = ""
    role: Text80 | None = Field(default=None, description="The ARIA role of what was acted on.")
    accessible_name: Text160 | None = None
    form_name: Text160 | None = Field(default=None, description="The form or dialog it belongs to.")
    value: EnteredValue | None = None
    file_name: Text160 | None = Field(default=None, description="A download's name.")
    outcome: PageSummary | None = Field(default=None, description="Of a snapshot: what the page showed.")


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


MAX_INNER_CHARS = 240
"""The longest text of what changed inside of a file."""


class ProducedFile(Contract):
    """A file that a command made or changed, named relative to the demonstration's folder."""

    path: Text240
    change: str = Field(pattern="^(created|modified|deleted)$")
    size_bytes: int = Field(ge=0)
    inside: Text240 | None = Field(
        default=None,
        description="What changed inside of it while a person worked in a program, in words: tables, numbers of rows.",
    )


MAX_WRITTEN_CHARS = 32 * 1024
"""The longest text of a file, and the longest difference, that an event carries."""

WrittenChars = Annotated[str, StringConstraints(max_length=MAX_WRITTEN_CHARS)]


class WrittenText(Contract):
    """A text file that a person wrote or changed by hand, in an editor or an interpreter.

    Nothing of a file in which something had to be masked is kept but its path.
    """

    path: Text240 = Field(description="Relative to the demonstration's folder.")
    text: WrittenChars | None = Field(
        default=None, description="The whole text after the command; absent where it is masked or too long."
    )
    patch: WrittenChars | None = Field(
        default=None, description="A unified diff against the text before, where there was one."
    )
    masked: bool = Field(default=False, description="Whether it held something that looks like a secret.")


OUTSIDE_FOLDER = "(outside)"
"""The working folder of a command that ran outside the demonstration's folder."""


MAX_FOLDERS = 8
"""The most folders of one lesson."""


class LessonFolder(Contract):
    """One of several folders of a lesson: where it lies among the others, and how commands name it."""

    name: Text400 = Field(
        description="Its path below the folder that holds them all, which is the lesson's root; '.' is the root.",
    )
    places: tuple[Text400, ...] = Field(
        min_length=1,
        max_length=4,
        description="How it is named from anywhere: from the home folder (`~/site`) where it lies there, absolute.",
    )

    made: bool = Field(default=False, description="Whether the lesson made it: it was not there before.")

    @field_validator("name")
    @classmethod
    def _plain(cls, name: str) -> str:
        if name != "." and {"", ".", ".."}.intersection(name.split("/")):
            raise ValueError("must be a plain path below the root, or '.' for the root itself")
        return name


class TerminalObservation(Contract):
    """What the terminal recorder knows of one command; our addition to DOC3's event."""

    command: Text2000 = Field(description="The command line, secrets already masked.")
    exit_class: ExitClass
    working_folder: Text400 = Field(
        description=f"Relative to the demonstration's folder; '.' is the folder, '{OUTSIDE_FOLDER}' none in it."
    )
    produced_files: tuple[ProducedFile, ...] = Field(default=(), max_length=100)
    written: tuple[WrittenText, ...] = Field(
        default=(), max_length=10, description="Text files that were written by hand during the command."
    )
    folders: tuple[LessonFolder, ...] = Field(
        default=(),
        max_length=MAX_FOLDERS,
        description="The folders of the lesson so far, the one it began in first. Where there are several, all paths"
        " are relative to the lesson's root.",
    )


class ToolObservation(Contract):
    """The tool or executable skill behind an observed call as it was when it was called."""

    definition_hash: Sha256 | None = Field(default=None, description="Of what its server said of it.")
    scopes: tuple[Text160, ...] = Field(
        default=(), max_length=50, description="What the sign-in that it was called with may do."
    )
    safety_class: SafetyClass | None = Field(
        default=None, description="Of an executable skill: how much harm it says that it can do (X-34)."
    )


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
    tool: ToolObservation | None = None
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


class StepKindHint(StrEnum):
    """What kind of step the person means."""

    ACTION = "action"
    GUARD = "guard"
    VERIFICATION = "verification"
    DECISION = "decision"
    OTHER = "other"


class WorkflowBoundary(VersionedContract):
    """A mark in the capture (DOC3 §0C.22)."""

    boundary_id: Uuid
    learn_session_id: Uuid
    kind: BoundaryKind
    source: BoundarySource
    label: Text400 | None = None
    step_kind: StepKindHint | None = Field(default=None, description="Of a marked step, where it was said.")
    source_event_id: Uuid | None = None
    created_at: UtcTime


class ToolOutcome(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    FAILED = "failed"
    BLOCKED = "blocked"


class ToolEffect(StrEnum):
    """What kind of call it was."""

    READ = "read"
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    SEND = "send"


class ToolCallReceipt(VersionedContract):
    """One finished call of a tool."""

    receipt_id: Uuid = Field(description="The call's own id; observing it again changes nothing.")
    server_id: Text80
    tool_name: Text120
    tool_title: Text160 | None = Field(default=None, description="What the server calls it for people.")
    effect: ToolEffect
    outcome: ToolOutcome
    argument_names: tuple[Text80, ...] = Field(default=(), max_length=50)
    resource_ref: Text240 | None = Field(
        default=None, description="What it acted on, as the server names it."
    )
    control_surface: ControlSurface = ControlSurface.MCP_SERVER
    tool: ToolObservation | None = None
    finished_at: UtcTime


class AdapterHeartbeatRequest(VersionedContract):
    """A recorder's sign of life; with an error code it says that it cannot record."""

    error_code: str | None = Field(
        default=None,
        max_length=120,
        pattern=r"^[A-Z][A-Z0-9_]*$",
        description="Why the recorder cannot record; left out when all is well.",
    )


class RegisteredAdapter(VersionedContract):
    """One kind of adapter: its status for the caller, whether it may be asked for, and what to use instead."""

    status: ObservationAdapterStatus
    available: bool = Field(description="Whether events of this kind are taken now.")
    captures: Text240
    reason: Text240 | None = Field(default=None, description="Why it is not available.")
    alternatives: tuple[ObservationAdapterKind, ...] = ()


class ObservationAdaptersResponse(VersionedContract):
    """Every kind of adapter, phase 1 first."""

    adapters: tuple[RegisteredAdapter, ...]


class UnavailableAdapter(Contract):
    """An entry of ``adapters`` in the error ``ADAPTER_UNAVAILABLE``."""

    kind: ObservationAdapterKind
    reason: Text240
    alternatives: tuple[ObservationAdapterKind, ...]
