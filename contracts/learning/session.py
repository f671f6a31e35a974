"""LearnSession, the runtime object of learning, with its captured source runs and coaching.

DOC3 §0C.1, §0A.5, §0C.4.
"""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from contracts.base import Contract, Text80, Text120, Text160, Text240, UtcTime, Uuid, VersionedContract

MAX_RUNS = 10
"""The most runs that one session may learn from."""

ARM_TIMEOUT = timedelta(hours=1)
CAPTURE_TIMEOUT = timedelta(hours=4)
QUESTION_DEADLINE = timedelta(days=7)
"""Defaults of the settings ``arm_timeout``, ``capture_timeout`` and ``question_deadline`` (DOC3 §0C.16D)."""

MODEL_TIMEOUT = timedelta(seconds=45)
"""Default of the setting ``model_timeout``."""

REPLAY_BUDGET = timedelta(seconds=60)
"""Default of the setting ``replay_budget``."""


class SourceRun(Contract):
    """One run: its trace, and the session that holds what was captured of it."""

    trace_id: Uuid
    learn_session_id: Uuid


Hint = Annotated[str, StringConstraints(min_length=1, max_length=240)]
KeptPath = Annotated[str, StringConstraints(max_length=120, pattern=r"^\w[\w.-]*(?:/\w[\w.-]*)*$")]


class HintKind(StrEnum):
    """What a hint is about."""

    USE_WHEN = "use_when"
    NOT_WHEN = "not_when"
    CHECKPOINT = "checkpoint"


class CoachingHint(Contract):
    """One hint. A checkpoint states an outcome on the way ("the total is filled in"), never an action."""

    kind: HintKind = HintKind.CHECKPOINT
    text: Hint


class CoachingConstraint(Contract):
    """Something that must not happen. What the agent did is checked against files and programs named here."""

    text: Hint
    kept_paths: tuple[KeptPath, ...] = Field(
        default=(), max_length=20, description="Files that stay as they are, relative to the working folder."
    )
    forbidden_programs: tuple[Annotated[str, StringConstraints(min_length=1, max_length=80)], ...] = Field(
        default=(), max_length=20, description="Programs, or names of tools, that are not used."
    )


class Coaching(Contract):
    """A coach's frame; the agent's own receipts fill in the steps."""

    goal: str = Field(min_length=1, max_length=400)
    hints: tuple[CoachingHint, ...] = Field(default=(), max_length=20)
    constraints: tuple[CoachingConstraint, ...] = Field(default=(), max_length=10)


class LearningEntryMode(StrEnum):
    """How a person starts teaching (DOC3 §0B.5)."""

    DEMONSTRATING_SKILL = "demonstrating_skill"
    COACHING_AGENT = "coaching_agent"
    AUTONOMOUS_AGENT_PRACTICE = "autonomous_agent_practice"
    IMPROVING_EXISTING_SKILL = "improving_existing_skill"
    IMPORT_SKILL = "import_skill"


class ObservationMode(StrEnum):
    """What may be watched; an option of a session, never a mode of its own (DOC3 §0C.5)."""

    NONE = "none"
    INSIDE_AGENT = "inside_agent"
    OUTSIDE_AGENT = "outside_agent"
    MIXED = "mixed"


class BuildPolicy(StrEnum):
    """Whether to ask before a proposal is built, and how far it may go without a person."""

    ASK_BEFORE_BUILD = "ask_before_build"
    BUILD_THEN_REVIEW = "build_then_review"
    PRIVATE_AUTO_INSTALL = "private_auto_install"


class LearnExecutionMode(StrEnum):
    """How closely the ability keeps to what was shown."""

    STRICT = "strict"
    GUIDED = "guided"
    ADAPTIVE = "adaptive"


class LearnSessionState(StrEnum):
    """The sixteen states of a session (DOC3 §0C.1)."""

    IDLE = "idle"
    ARMED = "armed"
    CAPTURING = "capturing"
    PAUSED = "paused"
    STOPPED = "stopped"
    REVIEWING = "reviewing"
    AWAITING_QUESTIONS = "awaiting_questions"
    DRAFTING_PROPOSAL = "drafting_proposal"
    TESTING_PROPOSAL = "testing_proposal"
    READY_FOR_REVIEW = "ready_for_review"
    INSTALLING_PRIVATE = "installing_private"
    INSTALLED_PRIVATE = "installed_private"
    APPROVED = "approved"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    QUARANTINED = "quarantined"


class LearnTargetKind(StrEnum):
    """What the session is to bring about."""

    NEW_SKILL = "new_skill"
    EXISTING_SKILL = "existing_skill"
    IMPORTED_SKILL = "imported_skill"


class ActorMode(StrEnum):
    """Who acts during the session."""

    USER_DRIVEN = "user_driven"
    AGENT_DRIVEN = "agent_driven"
    MIXED = "mixed"


class LearnSession(VersionedContract):
    """A learning session as clients see it (DOC3 §0C.1; ``owner_user_id`` by decision, rows §2.20)."""

    learn_session_id: Uuid
    owner_user_id: Text120
    entry_mode: LearningEntryMode
    observation_mode: ObservationMode = ObservationMode.NONE
    build_policy: BuildPolicy = BuildPolicy.BUILD_THEN_REVIEW
    execution_mode: LearnExecutionMode = LearnExecutionMode.GUIDED
    target_kind: LearnTargetKind = LearnTargetKind.NEW_SKILL
    state: LearnSessionState
    actor_mode: ActorMode = ActorMode.MIXED
    project_id: Text120 | None = None
    room_id: Text160 | None = None
    target_skill_id: Text160 | None = None
    target_app_family: Text80 | None = None
    target_app_whitelist: tuple[Text160, ...] = ()
    coaching: Coaching | None = Field(default=None, description="What the coach gave the agent.")
    active_trace_ids: tuple[Uuid, ...] = ()
    active_observation_batch_ids: tuple[Uuid, ...] = ()
    proposal_id: Uuid | None = None
    interpretation_id: Uuid | None = None
    validation_run_id: Uuid | None = None
    ability_id: Text160 | None = None
    start_boundary_ref: Text240 | None = None
    stop_boundary_ref: Text240 | None = None
    test_policy_ref: Text240 | None = None
    clone_of: Uuid | None = Field(default=None, description="The rejected session this one was cloned from.")
    created_at: UtcTime
    updated_at: UtcTime
