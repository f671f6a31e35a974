"""What is said to a LearnSessionWorkflow: one frozen model a message."""

from pydantic import Field

from contracts.base import Contract, Text200, Text240, Uuid
from contracts.learning.aggregate import CommitKey, LearnSessionAggregate
from contracts.learning.observation import BoundaryKind, BoundarySource
from contracts.learning.proposal import InstallLane
from contracts.learning.questions import LearningAnswer
from contracts.learning.session import LearnSessionState
from contracts.learning.test_policy import TestPolicy
from contracts.learning.validation import ValidationRunKind


class LearnSessionStart(Contract):
    """Starts a session's workflow: a new one from its idle state, a resting one from what the store has."""

    aggregate: LearnSessionAggregate
    created: bool = True
    """False only for the very first run, whose first message must be ``create``."""


class LearnSessionEnd(Contract):
    """Why a session's workflow closed. At rest, the next command opens another run."""

    state: LearnSessionState
    change: int


class Asked(Contract):
    """Who asks, under which key, as part of which request."""

    commit_key: CommitKey
    correlation_id: Text200
    reason: Text240 | None = None


class AskedCapture(Asked):
    """Begin capture; ``by_event`` when a first meaningful event did it rather than a person."""

    by_event: bool = False


class AskedResume(Asked):
    """Go on with the capture, or begin another demonstration of the same task."""

    new_demonstration: bool = False


class AskedMark(Asked):
    """Mark a goal, a step or a trimmed end."""

    kind: BoundaryKind
    source: BoundarySource = BoundarySource.API_CALL
    label: str | None = None
    at_event_id: Uuid | None = None


class AskedTestPolicy(Asked):
    """Set the rehearsal's bounds."""

    policy: TestPolicy


class AskedProposal(Asked):
    """Draft a proposal, asking first if wanted."""

    ask_before_build: bool | None = None


class AskedAnswers(Asked):
    """Answers to open questions."""

    answers: tuple[LearningAnswer, ...]


class AskedRevision(Asked):
    """Send the proposal back to drafting with these changes; already checked by the API."""

    instructions: str
    edits: dict[str, object] = Field(default_factory=dict)


class AskedValidation(Asked):
    """Run the selected checks, or all."""

    run_label: str | None = None
    selected: tuple[ValidationRunKind, ...] = ()


class AskedInstall(Asked):
    """Install into a lane."""

    lane: InstallLane
    note: str | None = None
