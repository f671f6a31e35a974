"""State machine of a learning session: the transition table, and which command each state accepts.

The workflow's validators, the API and every list of allowed actions read these tables (DOC3 §0C.1A, §0C.16; at rest:
decisions "Learning").
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from contracts.abilities.availability import InstallLane
from contracts.base import Contract
from contracts.errors import ErrorCode
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.session import LearningEntryMode, ObservationMode
from contracts.learning.session import LearnSessionState as S

TRANSITIONS: Mapping[S, frozenset[S]] = MappingProxyType(
    {
        S.IDLE: frozenset({S.ARMED, S.CANCELLED}),
        S.ARMED: frozenset({S.CAPTURING, S.CANCELLED}),
        S.CAPTURING: frozenset({S.PAUSED, S.STOPPED, S.CANCELLED}),
        S.PAUSED: frozenset({S.CAPTURING, S.STOPPED, S.CANCELLED}),
        S.STOPPED: frozenset({S.REVIEWING, S.CANCELLED}),
        S.REVIEWING: frozenset({S.AWAITING_QUESTIONS, S.DRAFTING_PROPOSAL, S.CANCELLED}),
        S.AWAITING_QUESTIONS: frozenset({S.REVIEWING, S.DRAFTING_PROPOSAL, S.CANCELLED}),
        S.DRAFTING_PROPOSAL: frozenset({S.TESTING_PROPOSAL, S.READY_FOR_REVIEW, S.CANCELLED}),
        S.TESTING_PROPOSAL: frozenset({S.READY_FOR_REVIEW, S.DRAFTING_PROPOSAL, S.CANCELLED, S.QUARANTINED}),
        S.READY_FOR_REVIEW: frozenset({S.INSTALLING_PRIVATE, S.APPROVED, S.REJECTED, S.DRAFTING_PROPOSAL}),
        S.INSTALLING_PRIVATE: frozenset({S.INSTALLED_PRIVATE, S.QUARANTINED}),
        S.INSTALLED_PRIVATE: frozenset({S.APPROVED, S.QUARANTINED}),
        S.APPROVED: frozenset({S.QUARANTINED}),
        S.REJECTED: frozenset(),
        S.CANCELLED: frozenset(),
        S.QUARANTINED: frozenset({S.DRAFTING_PROPOSAL, S.CANCELLED}),
    }
)
"""From each state, the states it may go to. Anything else is ``INVALID_LEARN_STATE_TRANSITION``."""

TERMINAL: frozenset[S] = frozenset({S.REJECTED, S.CANCELLED})
"""States that nothing leaves."""

AT_REST: frozenset[S] = TERMINAL | {S.APPROVED, S.INSTALLED_PRIVATE}
"""The owner's slot is free, retention clocks run, the workflow may close."""

UNDER_WAY: frozenset[S] = frozenset(S) - AT_REST - {S.QUARANTINED}
"""Something is still being shown, drafted, tested or installed; a quarantined session only waits to be revised."""

CAPTURE_OVER: frozenset[S] = frozenset(S) - {S.IDLE, S.ARMED, S.CAPTURING, S.PAUSED}
"""Capture ended before or at these; ``stop`` answers ``CAPTURE_ALREADY_STOPPED``."""


def may_go(source: S, target: S) -> bool:
    """Whether the table lets a session in ``source`` go to ``target``."""
    return target in TRANSITIONS[source]


class SessionCommand(StrEnum):
    """Everything a person can tell a session."""

    CREATE = "create"
    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    CANCEL = "cancel"
    MARK = "mark"
    TRIM = "trim"
    SET_TEST_POLICY = "set-test-policy"
    GENERATE_PROPOSAL = "generate-proposal"
    ANSWER_QUESTIONS = "answer-questions"
    REVISE = "revise"
    VALIDATE = "validate"
    INSTALL = "install"
    APPROVE = "approve"
    REJECT = "reject"


_CANCELLABLE = frozenset(state for state in S if S.CANCELLED in TRANSITIONS[state])

TAKEN_IN: Mapping[SessionCommand, frozenset[S]] = MappingProxyType(
    {
        SessionCommand.CREATE: frozenset({S.IDLE}),
        SessionCommand.START: frozenset({S.ARMED}),
        SessionCommand.PAUSE: frozenset({S.CAPTURING}),
        SessionCommand.RESUME: frozenset({S.PAUSED}),
        SessionCommand.STOP: frozenset({S.CAPTURING, S.PAUSED}),
        SessionCommand.CANCEL: _CANCELLABLE,
        SessionCommand.MARK: frozenset({S.CAPTURING, S.PAUSED}),
        SessionCommand.TRIM: frozenset({S.CAPTURING, S.PAUSED, S.STOPPED, S.REVIEWING}),
        SessionCommand.SET_TEST_POLICY: frozenset(
            {
                S.ARMED,
                S.CAPTURING,
                S.PAUSED,
                S.STOPPED,
                S.REVIEWING,
                S.AWAITING_QUESTIONS,
                S.DRAFTING_PROPOSAL,
                S.QUARANTINED,
            }
        ),
        SessionCommand.GENERATE_PROPOSAL: frozenset({S.STOPPED, S.REVIEWING}),
        SessionCommand.ANSWER_QUESTIONS: frozenset({S.AWAITING_QUESTIONS}),
        SessionCommand.REVISE: frozenset({S.DRAFTING_PROPOSAL, S.READY_FOR_REVIEW, S.QUARANTINED}),
        SessionCommand.VALIDATE: frozenset({S.DRAFTING_PROPOSAL, S.READY_FOR_REVIEW}),
        SessionCommand.INSTALL: frozenset({S.READY_FOR_REVIEW}),
        SessionCommand.APPROVE: frozenset({S.READY_FOR_REVIEW, S.INSTALLED_PRIVATE}),
        SessionCommand.REJECT: frozenset({S.READY_FOR_REVIEW}),
    }
)
"""The states in which each command is taken."""

LANES_OF: Mapping[SessionCommand, tuple[InstallLane, ...]] = MappingProxyType(
    {
        SessionCommand.INSTALL: (InstallLane.EXPERIMENTAL_PRIVATE,),
        SessionCommand.APPROVE: (InstallLane.APPROVED_WORKSPACE, InstallLane.SHARED_PROMOTED),
    }
)
"""The lanes that a command can install into, the usual one first."""

_WITHOUT_CAPTURE = frozenset({LearningEntryMode.IMPORT_SKILL, LearningEntryMode.IMPROVING_EXISTING_SKILL})


class CommandRefusal(Contract):
    """Why a command is not taken now."""

    code: ErrorCode
    message: str
    current_state: S
    allowed: tuple[SessionCommand, ...] = ()


def legal_commands(aggregate: LearnSessionAggregate) -> tuple[SessionCommand, ...]:
    """The commands the session takes as it stands, with arguments that fit."""
    return tuple(command for command in SessionCommand if refused_outright(aggregate, command) is None)


def refused_outright(
    aggregate: LearnSessionAggregate, command: SessionCommand
) -> tuple[ErrorCode, str] | None:
    """Why ``command`` is not taken now whatever its arguments are, or ``None`` when some are taken.

    Beyond :func:`refusal` it minds the lanes of an install. A validation counts as refused while the lint
    fails, though the lint alone may be run.
    """
    found = _refusal_code(aggregate, command)
    if found is not None:
        return found
    if command is SessionCommand.VALIDATE and not aggregate.lint_passed:
        return _LINT_FAILED
    closed = [_closed_lane(aggregate, lane) for lane in LANES_OF.get(command, ())]
    return closed[0] if closed and None not in closed else None


def refusal(aggregate: LearnSessionAggregate, command: SessionCommand) -> CommandRefusal | None:
    """Why ``command`` is not taken now, or ``None`` when it is."""
    return _refused(aggregate, _refusal_code(aggregate, command))


def _refusal_code(aggregate: LearnSessionAggregate, command: SessionCommand) -> tuple[ErrorCode, str] | None:
    state = aggregate.session.state
    if aggregate.install is not None:
        return ErrorCode.INSTALL_IN_PROGRESS, "An install is under way; wait for it to end."
    if state in TAKEN_IN[command] or _stops_without_capture(aggregate, command):
        return None
    if aggregate.timed_out and state is S.CANCELLED:
        return ErrorCode.SESSION_TIMEOUT, "The session timed out before capture began; start a new one."
    if command is SessionCommand.STOP and state in CAPTURE_OVER:
        return ErrorCode.CAPTURE_ALREADY_STOPPED, "Capture was stopped already; reload the session."
    if state is S.TESTING_PROPOSAL and command in _WAIT_FOR_VALIDATION:
        return ErrorCode.VALIDATION_IN_PROGRESS, "A validation is running; wait for it to end."
    if state is S.DRAFTING_PROPOSAL and command in _NEED_VALIDATION:
        if not aggregate.lint_passed:
            return _LINT_FAILED
        return (
            ErrorCode.VALIDATION_REQUIRED,
            "The draft is not validated; run `apprentice learn validate` first.",
        )
    return (
        ErrorCode.INVALID_LEARN_STATE_TRANSITION,
        f"A session that is {state.value} does not take {command.value}.",
    )


def lane_refusal(aggregate: LearnSessionAggregate, lane: InstallLane) -> CommandRefusal | None:
    """Why what the agent practised alone may not go into ``lane`` yet, or ``None`` when it may.

    It is installed privately first (DOC3 §0A.7 "no shared install directly from exploratory mode"); what has
    had its private trial is a person's to approve.
    """
    return _refused(aggregate, _closed_lane(aggregate, lane))


def _refused(aggregate: LearnSessionAggregate, found: tuple[ErrorCode, str] | None) -> CommandRefusal | None:
    """The refusal with what is taken instead."""
    if found is None:
        return None
    code, message = found
    return CommandRefusal(
        code=code,
        message=message,
        current_state=aggregate.session.state,
        allowed=legal_commands(aggregate),
    )


def _closed_lane(aggregate: LearnSessionAggregate, lane: InstallLane) -> tuple[ErrorCode, str] | None:
    session = aggregate.session
    practised = session.entry_mode is LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE
    if not practised or session.state is S.INSTALLED_PRIVATE or lane is InstallLane.EXPERIMENTAL_PRIVATE:
        return None
    return (
        ErrorCode.INSTALL_LANE_DENIED,
        "What the agent practised alone is installed privately first: as experimental_private.",
    )


_LINT_FAILED = (
    ErrorCode.CHECKPOINT_LINT_FAILED,
    "The draft fails the checkpoint lint; `apprentice learn show` says where.",
)
_WAIT_FOR_VALIDATION = frozenset(
    {SessionCommand.VALIDATE, SessionCommand.INSTALL, SessionCommand.APPROVE, SessionCommand.REVISE}
)
_NEED_VALIDATION = frozenset({SessionCommand.INSTALL, SessionCommand.APPROVE})


def _stops_without_capture(aggregate: LearnSessionAggregate, command: SessionCommand) -> bool:
    """Modes that observe nothing may be stopped as soon as they are armed (decisions "Learning")."""
    session = aggregate.session
    return (
        command is SessionCommand.STOP
        and session.state is S.ARMED
        and session.entry_mode in _WITHOUT_CAPTURE
        and session.observation_mode is ObservationMode.NONE
    )
