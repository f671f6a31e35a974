"""The transition table of a LearnSession as data (DOC3 §0C.1A; at rest: decisions "Learning")."""

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType

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

CAPTURE_OVER: frozenset[S] = frozenset(S) - {S.IDLE, S.ARMED, S.CAPTURING, S.PAUSED}
"""Capture ended before or at these; ``stop`` answers ``CAPTURE_ALREADY_STOPPED``."""


def may_go(source: S, target: S) -> bool:
    """Whether the table lets a session in ``source`` go to ``target``."""
    return target in TRANSITIONS[source]


def is_legal_path(*states: S) -> bool:
    """Whether every step along ``states`` is in the table."""
    return all(may_go(a, b) for a, b in pairwise(states))
