"""The captured runs that a session starts from (DOC3 §0A.5)."""

from contracts.base import Contract, Uuid

MAX_RUNS = 10
"""The most runs that one session may learn from."""


class SourceRun(Contract):
    """One run: its trace, and the session that holds what was captured of it."""

    trace_id: Uuid
    learn_session_id: Uuid
