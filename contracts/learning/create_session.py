"""Request body that creates a learning session (DOC3 §0C.2)."""

from enum import StrEnum

from pydantic import Field, model_validator

from contracts.base import Contract, Text80, Text120, Text160, Text240, Uuid, VersionedContract
from contracts.learning.observation import ObservationAdapterKind
from contracts.learning.session import (
    MAX_RUNS,
    BuildPolicy,
    Coaching,
    LearnExecutionMode,
    LearningEntryMode,
    LearnSession,
    LearnTargetKind,
    ObservationMode,
)


class CreateLearnSessionRequest(VersionedContract):
    """What a client asks for; ``clone_of`` takes the settings of one of its own sessions."""

    entry_mode: LearningEntryMode
    observation_mode: ObservationMode = ObservationMode.NONE
    build_policy: BuildPolicy = BuildPolicy.BUILD_THEN_REVIEW
    execution_mode: LearnExecutionMode = LearnExecutionMode.GUIDED
    target_kind: LearnTargetKind = LearnTargetKind.NEW_SKILL
    project_id: Text120 | None = None
    room_id: Text160 | None = None
    target_skill_id: Text160 | None = None
    target_app_family: Text80 | None = None
    target_app_whitelist: tuple[Text160, ...] = Field(default=(), max_length=100)
    required_adapters: tuple[ObservationAdapterKind, ...] = Field(
        default=(), max_length=13, description="Refused unless each of these can record now (R11.2-44)."
    )
    coaching: Coaching | None = Field(default=None, description="Only with entry_mode coaching_agent.")
    ask_before_build: bool = False
    allow_private_install: bool = False
    requested_safe_target_ref: Text240 | None = Field(
        default=None,
        min_length=1,
        description="What a rehearsal works on: the absolute path of a document to copy, or a path inside the "
        "rehearsal's folder, the only place it may write to. It becomes the session's test policy.",
    )
    source_trace_ids: tuple[Uuid, ...] = Field(
        default=(),
        max_length=MAX_RUNS,
        description="Recent runs to learn from instead of a capture; the session starts in reviewing.",
    )
    clone_of: Uuid | None = None
    client_request_id: Text120 | None = None

    @model_validator(mode="after")
    def _only_a_coach_coaches(self) -> "CreateLearnSessionRequest":
        if self.coaching is not None and self.entry_mode is not LearningEntryMode.COACHING_AGENT:
            raise ValueError("coaching belongs to entry_mode coaching_agent")
        return self


class LearnUiMode(StrEnum):
    """Which surface a client opens for the new session."""

    OVERLAY = "overlay"
    DRAWER = "drawer"
    RECENT_RUN = "recent-run"
    EXPLORATORY = "exploratory"
    IMPORT = "import"


class CreateNextAction(StrEnum):
    """What the client does next."""

    WAIT_FOR_FIRST_MEANINGFUL_EVENT = "wait_for_first_meaningful_event"
    SHOW_RECENT_RUN_PICKER = "show_recent_run_picker"
    LAUNCH_EXPLORATION = "launch_exploration"
    SHOW_SKILL_DELTA_EDITOR = "show_skill_delta_editor"
    SHOW_IMPORT_CONFIGURATOR = "show_import_configurator"


class CreateLearnSessionResponse(Contract):
    """The new session, and how to show it."""

    session: LearnSession
    ui_mode: LearnUiMode
    next_action: CreateNextAction
