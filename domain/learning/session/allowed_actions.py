"""Allowed actions of a session, a proposal and a mining candidate; eligibility of captured runs as sources.

The API, the CLI and the console show the result. These rules look at the one object; what the whole deployment
cannot do is decided by ``domain.learning.session.deployment``. Captured runs: DOC3 §0A.5, rows SL-06.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from contracts.abilities.availability import InstallLane
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.observation import ExitClass, ObservedActionEvent
from contracts.learning.proposal import ProposalState
from contracts.learning.state_machine import (
    LANES_OF,
    TAKEN_IN,
    SessionCommand,
    lane_refusal,
    legal_commands,
    refused_outright,
)
from contracts.learning.views.allowed_actions import RefusedAction, SessionActions
from contracts.mining.candidates import (
    CandidateAction,
    CandidateActions,
    CandidateState,
    MiningCandidate,
    RefusedCandidateAction,
)
from domain.learning.comparison.comparison import COMPATIBLE_SHARE, aligned_pairs, kind_of
from domain.learning.interpretation.steps import DemonstratedStep, all_events

PROPOSAL_COMMANDS = frozenset(
    {
        SessionCommand.REVISE,
        SessionCommand.VALIDATE,
        SessionCommand.INSTALL,
        SessionCommand.APPROVE,
        SessionCommand.REJECT,
    }
)
"""The commands that are addressed to a proposal; the others go to its session."""

_BRINGS_TO_REST = frozenset(
    {SessionCommand.APPROVE, SessionCommand.INSTALL, SessionCommand.REJECT, SessionCommand.CANCEL}
)

_MOST_REASON = 240

_NOT_YET = frozenset(
    {
        ErrorCode.VALIDATION_REQUIRED,
        ErrorCode.VALIDATION_IN_PROGRESS,
        ErrorCode.CHECKPOINT_LINT_FAILED,
    }
)
"""Refusals of a command whose time comes with the next step: its reason is worth telling."""

MOSTLY = 0.8
"""The least share of a run's actions that must not have failed."""

RICH = 2
"""The fewest actions that must count in a run."""

_PROMOTED = frozenset({ProposalState.APPROVED, ProposalState.INSTALLED_PRIVATE})

_OVER = frozenset({ProposalState.REJECTED, ProposalState.CANCELLED})

_BUILDABLE = frozenset({CandidateState.OPEN, CandidateState.FAILED})

_BEGUN = frozenset({CandidateState.BUILDING, CandidateState.BUILT})


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What the rules look at."""

    aggregate: LearnSessionAggregate
    captured: bool = True
    """Whether there is anything that a draft could rest on."""
    closed_lanes: Mapping[InstallLane, Refusal] = field(default_factory=dict[InstallLane, Refusal])
    """The lanes that what an improvement improves keeps closed (DOC3 §0C.4)."""


def session_actions(facts: SessionFacts) -> SessionActions:
    """The commands that the session takes now, and why those that belong to its state are not."""
    state = facts.aggregate.session.state
    allowed: list[SessionCommand] = []
    refused: list[RefusedAction] = []
    for command in SessionCommand:
        if command is SessionCommand.CREATE:
            continue
        found = _refused(facts, command)
        if found is None:
            allowed.append(command)
        elif state in TAKEN_IN[command] or found[0] in _NOT_YET:
            refused.append(RefusedAction(action=command, code=found[0], reason=found[1][:_MOST_REASON]))
    return SessionActions(
        allowed_actions=tuple(allowed),
        allowed_lanes=tuple(
            lane
            for command, lanes in LANES_OF.items()
            if command in allowed
            for lane in lanes
            if _open(facts, lane)
        ),
        refused_actions=tuple(refused),
    )


def proposal_actions(facts: SessionFacts) -> SessionActions:
    """The commands that the session's proposal takes now: those of its session that are addressed to it."""
    found = session_actions(facts)
    return SessionActions(
        allowed_actions=tuple(one for one in found.allowed_actions if one in PROPOSAL_COMMANDS),
        allowed_lanes=found.allowed_lanes,
        refused_actions=tuple(one for one in found.refused_actions if one.action in PROPOSAL_COMMANDS),
    )


def _refused(facts: SessionFacts, command: SessionCommand) -> tuple[ErrorCode, str] | None:
    found = refused_outright(facts.aggregate, command)
    if found is not None:
        return found
    if command is SessionCommand.GENERATE_PROPOSAL and not facts.captured:
        return (
            ErrorCode.INSUFFICIENT_TRACES,
            "Nothing was captured; cancel, and show the task in a new session.",
        )
    lanes = LANES_OF.get(command, ())
    if lanes and not any(_open(facts, lane) for lane in lanes):
        kept_closed = facts.closed_lanes[lanes[0]]
        return kept_closed.code, kept_closed.message
    return None


def _open(facts: SessionFacts, lane: InstallLane) -> bool:
    return lane not in facts.closed_lanes and lane_refusal(facts.aggregate, lane) is None


@dataclass(frozen=True, slots=True)
class CandidateFacts:
    """What the rules on a candidate look at."""

    candidate: MiningCandidate
    active_session: LearnSessionAggregate | None = None
    """Its owner's session that is not at rest."""
    traces_spent: bool = False
    """Whether one of its traces is part of another proposal."""


def candidate_actions(facts: CandidateFacts) -> CandidateActions:
    """What may be said of the candidate now, and why it may not be built where one would look for that."""
    refusals = {action: candidate_refusal(facts, action) for action in CandidateAction}
    told = facts.candidate.state not in _BEGUN | {CandidateState.DISMISSED}
    return CandidateActions(
        allowed_actions=tuple(action for action, found in refusals.items() if found is None),
        refused_actions=tuple(
            RefusedCandidateAction(action=action, code=found.code, reason=found.message[:_MOST_REASON])
            for action, found in refusals.items()
            if found is not None and told
        ),
    )


def candidate_refusal(facts: CandidateFacts, action: CandidateAction) -> Refusal | None:
    """Why the owner may not take ``action`` now, or ``None`` when it does something.

    Repeating what was done already is refused here and harmless at the store, which answers what it has.
    """
    found = facts.candidate
    if action is CandidateAction.DISMISS:
        return _undismissable(found)
    if found.state not in _BUILDABLE:
        return Refusal(
            ErrorCode.CONFLICT,
            f"The candidate is {found.state.value}; show the task again and it will be found anew.",
            current_state=found.state.value,
            retryable=False,
        )
    if facts.active_session is not None:
        return already_active(facts.active_session)
    if facts.traces_spent:
        return Refusal(
            ErrorCode.CONFLICT,
            "One of its traces is part of another proposal by now; run mining again.",
            retryable=False,
        )
    return None


def already_active(aggregate: LearnSessionAggregate) -> Refusal:
    """The refusal of another session beside one that is not at rest, with what brings that one to rest now."""
    session = aggregate.session
    ending = [one.value for one in legal_commands(aggregate) if one in _BRINGS_TO_REST]
    advice = (
        f"bring it to rest first: {' or '.join(ending)}" if ending else "wait until its install has ended"
    )
    return Refusal(
        ErrorCode.LEARN_SESSION_ALREADY_ACTIVE,
        f"Session {session.learn_session_id} is {session.state.value}; {advice}.",
        active_session_id=session.learn_session_id,
        current_state=session.state.value,
        allowed=ending,
    )


def _undismissable(found: MiningCandidate) -> Refusal | None:
    if found.state in _BEGUN:
        return Refusal(
            ErrorCode.CONFLICT,
            f"The candidate is {found.state.value}; reject or cancel its session instead.",
            learn_session_id=found.learn_session_id,
            retryable=False,
        )
    if found.state is CandidateState.DISMISSED:
        return Refusal(ErrorCode.CONFLICT, "The candidate is dismissed already.", retryable=False)
    return None


def success_share(events: Sequence[ObservedActionEvent]) -> float:
    """The share of the actions that did not fail; 0 of none."""
    if not events:
        return 0.0
    failed = sum(1 for e in events if e.terminal and e.terminal.exit_class is not ExitClass.OK)
    return 1 - failed / len(events)


def why_not(
    events: Sequence[ObservedActionEvent],
    steps: Sequence[DemonstratedStep],
    proposals: Sequence[ProposalState],
    *,
    in_open_session: bool,
) -> str | None:
    """Why a run cannot be learned from; None when it can.

    ``proposals`` are the states of those that rest on its trace.
    """
    counted = all_events(steps)
    if in_open_session:
        return "It belongs to a session that is still open."
    if any(state in _PROMOTED for state in proposals):
        return "It has become an ability already."
    if any(state not in _OVER for state in proposals):
        return "Another proposal rests on it."
    if success_share(events) < MOSTLY:
        return f"Less than {MOSTLY:.0%} of its actions succeeded."
    if len(counted) < RICH or not any(event.caused_state_change for event in counted):
        return "Too little was captured: it needs at least two actions, one of which changed something."
    return None


def compatible(first: Sequence[DemonstratedStep], second: Sequence[DemonstratedStep]) -> bool:
    """Whether two runs show the same task, as ``compare`` judges it; runs of other programs cost little."""
    events = all_events(first), all_events(second)
    longest = max(len(events[0]), len(events[1]))
    if not longest:
        return False
    kinds = [Counter(kind_of(event) for event in side) for side in events]
    if (kinds[0] & kinds[1]).total() / longest < COMPATIBLE_SHARE:
        return False
    return len(aligned_pairs(*events)) / longest >= COMPATIBLE_SHARE
