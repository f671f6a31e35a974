"""Messages of LearnSessionWorkflow: its start, its commands (updates) and its end, one frozen model each."""

from pydantic import Field

from contracts.abilities.availability import InstallLane
from contracts.base import Contract, Sha256, Text200, Text240, Uuid
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.observation import BoundaryKind, BoundarySource, StepKindHint
from contracts.learning.questions import LearningAnswer
from contracts.learning.session import LearnSessionState
from contracts.learning.test_policy import TestPolicy
from contracts.learning.validation import ValidationRunKind
from contracts.platform.commands import CommitKey


class LearnSessionStart(Contract):
    """Starts a session's workflow: a new one from its idle state, a resting one from what the store has."""

    aggregate: LearnSessionAggregate
    created: bool = True
    """False only for the very first run, whose first message must be ``create``."""


class LearnSessionEnd(Contract):
    """Why a session's workflow closed. At rest, the next command opens another run."""

    state: LearnSessionState
    change: int


class LearnCommand(Contract):
    """Who asks, under which key, as part of which request."""

    commit_key: CommitKey
    correlation_id: Text200
    reason: Text240 | None = None
    seen_change: int = Field(
        default=0, ge=0, description="What the store had; a session that knows less looks first."
    )


class StartCommand(LearnCommand):
    """Begin capture; ``by_event`` when a first meaningful event did it rather than a person."""

    by_event: bool = False


class ResumeCommand(LearnCommand):
    """Go on with the capture, or begin another demonstration of the same task."""

    new_demonstration: bool = False


class MarkCommand(LearnCommand):
    """Mark a goal, a step or a trimmed end."""

    kind: BoundaryKind
    source: BoundarySource = BoundarySource.API_CALL
    label: str | None = None
    step_kind: StepKindHint | None = None
    at_event_id: Uuid | None = None


class SetTestPolicyCommand(LearnCommand):
    """Set the rehearsal's bounds."""

    policy: TestPolicy


class GenerateProposalCommand(LearnCommand):
    """Draft a proposal, asking first if wanted."""

    ask_before_build: bool | None = None
    replay: bool = False
    """Whether the demonstration has a starting state to be replayed on."""


class AnswerQuestionsCommand(LearnCommand):
    """Answers to open questions."""

    answers: tuple[LearningAnswer, ...]


class ReviseCommand(LearnCommand):
    """Send the proposal back to drafting with these changes; already checked by the API."""

    instructions: str
    edits: dict[str, object] = Field(default_factory=dict)


class ValidateCommand(LearnCommand):
    """Run the selected checks, or all."""

    run_label: str | None = None
    selected: tuple[ValidationRunKind, ...] = ()


class InstallCommand(LearnCommand):
    """Install into a lane."""

    lane: InstallLane
    note: str | None = None
    accept_unproved: bool = False
    unproved_digest: Sha256 | None = None
