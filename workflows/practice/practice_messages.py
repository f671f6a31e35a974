"""What is said to PracticeWorkflow."""

from contracts.base import Contract, Uuid
from contracts.practice.practice import PracticeRef, PracticeState


class PracticeStart(Contract):
    """Starts a session's practice; its bounds are on record."""

    ref: PracticeRef


class PracticeEnd(Contract):
    """How practice ended."""

    learn_session_id: Uuid
    state: PracticeState
