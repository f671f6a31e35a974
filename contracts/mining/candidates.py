"""Skill mining: settings, candidates and what became of them (DOC3 §0.2F, §0.4; rows G0-07, G0-12).

The document's product name is left out of two of its fields, as in ``ObservationMode``.
"""

from enum import StrEnum

from pydantic import Field

from contracts.abilities.availability import InstallLane
from contracts.abilities.control_surface import ControlSurface
from contracts.base import Contract, Text80, Text120, Text160, Text240, UtcTime, Uuid, VersionedContract
from contracts.errors import ErrorCode
from contracts.learning.interpretation import ProjectScope
from contracts.learning.session import BuildPolicy, LearnSessionState
from contracts.platform.lists import Page

MAX_CLUSTER_TRACES = 100
"""The most traces of one person that a run looks at, the newest first."""


class MiningMode(StrEnum):
    """What mining may do by itself (DOC3 §0.4D); nothing of it ever goes beyond the private lane."""

    OFF = "off"
    ASK_BEFORE_BUILD = "ask_before_build"
    BUILD_THEN_REVIEW = "build_then_review"
    AUTO_INSTALL_PRIVATE = "auto_install_private"


POLICY_OF: dict[MiningMode, BuildPolicy] = {
    MiningMode.OFF: BuildPolicy.BUILD_THEN_REVIEW,
    MiningMode.ASK_BEFORE_BUILD: BuildPolicy.ASK_BEFORE_BUILD,
    MiningMode.BUILD_THEN_REVIEW: BuildPolicy.BUILD_THEN_REVIEW,
    MiningMode.AUTO_INSTALL_PRIVATE: BuildPolicy.PRIVATE_AUTO_INSTALL,
}
"""The build policy of a session that is opened for a candidate; with mining off only a person opens one."""


BUILDS_BY_ITSELF = frozenset({MiningMode.BUILD_THEN_REVIEW, MiningMode.AUTO_INSTALL_PRIVATE})
"""The modes in which a candidate is built without being accepted first."""


class MiningSettings(VersionedContract):
    """What one person allows mining to look at and to do."""

    mode: MiningMode = MiningMode.BUILD_THEN_REVIEW
    observe_inside_agent: bool = Field(default=True, description="Traces of the agent's own actions count.")
    observe_outside_agent: bool = Field(
        default=False,
        description="Traces of what was done outside the agent count; never unless switched on.",
    )
    min_successful_traces: int = Field(default=3, ge=1, le=MAX_CLUSTER_TRACES)
    require_user_feedback_before_build_when_ambiguous: bool = True
    require_tests_before_proposal: bool = Field(
        default=True,
        description="A draft that mining made by itself is only shown once it has passed its tests.",
    )


class PutMiningSettingsRequest(MiningSettings):
    """Replaces the caller's settings; what is left out gets its default."""

    client_request_id: Text120 | None = None


class MiningSettingsResponse(VersionedContract):
    """The caller's settings, the limits they work with, and what must stay visible while they hold."""

    settings: MiningSettings
    max_variation: float = Field(ge=0, le=1)
    min_verification_coverage: float = Field(ge=0, le=1)
    observation_banner: Text240 | None = Field(
        default=None, description="To be shown all the time while traces from outside the agent are used."
    )


class TraceSourceMode(StrEnum):
    """Where the traces of a cluster come from."""

    AGENT_OBSERVED = "agent_observed"
    USER_GUIDED = "user_guided"
    DESKTOP_OBSERVED = "desktop_observed"


class WorkflowTraceCluster(VersionedContract):
    """Traces of one task, and how alike and how well verified they are."""

    cluster_id: Uuid
    normalized_goal: Text240
    app_family: Text80
    source_mode: TraceSourceMode
    successful_trace_ids: tuple[Uuid, ...] = ()
    failed_trace_ids: tuple[Uuid, ...] = ()
    dominant_control_surfaces: tuple[ControlSurface, ...] = ()
    variation_score: float = Field(default=0, ge=0, le=1, description="0: every trace took the same steps.")
    verification_coverage_score: float = Field(
        default=0, ge=0, le=1, description="The share of steps whose outcome can be seen."
    )
    project_specificity: ProjectScope = ProjectScope.UNCLEAR
    created_at: UtcTime
    updated_at: UtcTime


class MiningGate(StrEnum):
    """What must hold before a skill is suggested (DOC3 §0.4F)."""

    ENOUGH_TRACES = "enough_traces"
    LOW_VARIATION = "low_variation"
    VERIFIED = "verified"
    SAFE = "safe"
    NO_FRICTION = "no_friction"
    NOT_COVERED = "not_covered"
    REUSABLE = "reusable"


class CandidateState(StrEnum):
    """What became of a candidate."""

    OPEN = "open"
    BUILDING = "building"
    BUILT = "built"
    FAILED = "failed"
    DISMISSED = "dismissed"
    EXPIRED = "expired"


class MiningCandidate(VersionedContract):
    """A task that was done often enough, and alike enough, to make a skill of it."""

    candidate_id: Uuid
    owner_user_id: Text120
    title: Text160
    cluster: WorkflowTraceCluster
    source_session_ids: tuple[Uuid, ...]
    representative_session_id: Uuid = Field(description="Whose capture the draft is made from.")
    ambiguity_flags: tuple[Text160, ...] = ()
    state: CandidateState = CandidateState.OPEN
    reason: Text240 | None = Field(
        default=None, description="Why it is where it is, where that needs saying."
    )
    attempt: int = Field(default=0, ge=0, description="How often a build was begun.")
    learn_session_id: Uuid | None = Field(
        default=None, description="The session that the newest build opens."
    )
    proposal_id: Uuid | None = None
    earlier_session_ids: tuple[Uuid, ...] = Field(default=(), description="Of builds that came to nothing.")
    created_at: UtcTime
    updated_at: UtcTime


class CandidateAction(StrEnum):
    """What its owner can say of a candidate."""

    ACCEPT = "accept"
    DISMISS = "dismiss"


class RefusedCandidateAction(Contract):
    """What is not possible now; ``code`` is what it would answer."""

    action: CandidateAction
    code: ErrorCode
    reason: Text240


class CandidateActions(Contract):
    """What may be said of a candidate as things stand."""

    allowed_actions: tuple[CandidateAction, ...] = Field(
        default=(), description="What the caller may do with it now."
    )
    refused_actions: tuple[RefusedCandidateAction, ...] = Field(
        default=(), description="What is not possible yet, with the reason."
    )


class MiningCandidateView(CandidateActions, VersionedContract):
    """A candidate as clients read it, with what it takes now and how far its session and proposal have come."""

    candidate: MiningCandidate
    session_state: LearnSessionState | None = None
    install_lane: InstallLane | None = None


class MiningCandidatesResponse(Page):
    """A page of the caller's candidates, newest first."""

    candidates: tuple[MiningCandidateView, ...] = ()


class MiningDecisionRequest(VersionedContract):
    """Accepts or dismisses a candidate."""

    reason: Text240 | None = None
    client_request_id: Text120 | None = None


class CandidateFeedbackKind(StrEnum):
    """What a person said of a candidate."""

    ACCEPTED = "accepted"
    DISMISSED = "dismissed"


class CandidateFeedback(VersionedContract):
    """A person's word on a candidate, for the journal."""

    candidate_id: Uuid
    feedback_kind: CandidateFeedbackKind
    feedback_text: Text240 | None = None
    created_at: UtcTime


class TraceClusterRecord(Contract):
    """A cluster as the journal keeps it, with the candidate it belongs to."""

    candidate_id: Uuid
    state: CandidateState
    cluster: WorkflowTraceCluster
