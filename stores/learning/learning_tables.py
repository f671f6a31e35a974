"""Document tables of learning: sessions, proposals, questions, boundaries, validation runs, install sagas."""

from collections.abc import Collection, Iterable, Mapping
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection

from contracts.base import rfc3339
from contracts.errors import ErrorCode
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.evidence import LessonEvidence
from contracts.learning.install import InstallSaga
from contracts.learning.observation import ObservedActionEvent, WorkflowBoundary
from contracts.learning.proposal import SkillBundleProposal
from contracts.learning.questions import LearningAnswer, LearningQuestion
from contracts.learning.state_machine import AT_REST
from contracts.learning.validation import ValidationRun, ValidationStepResult
from stores.platform import tables
from stores.platform.database import batches
from stores.platform.document_table import DocumentTable


def _session_row(aggregate: LearnSessionAggregate) -> Mapping[str, Any]:
    at_rest = aggregate.session.state in AT_REST
    return {
        "holds_slot": not at_rest,
        "at_rest_at": rfc3339(aggregate.state_since) if at_rest else None,
        # A commit brings an archived session back to the lists; its clocks start anew.
        "archived_at": None,
    }


SESSIONS = DocumentTable(
    tables.learn_sessions,
    LearnSessionAggregate,
    _session_row,
    fields={
        "session_id": "session.learn_session_id",
        "owner": "session.owner_user_id",
        **{name: f"session.{name}" for name in ("state", "created_at", "updated_at")},
    },
    code=ErrorCode.LEARN_SESSION_NOT_FOUND,
    message="There is no session {key} of yours; list them with GET /api/learn/sessions.",
    body="aggregate",
    version="change",
)

PROPOSALS = DocumentTable(
    tables.proposals,
    SkillBundleProposal,
    fields={"state": "proposal_state"},
    code=ErrorCode.PROPOSAL_NOT_FOUND,
    message="There is no proposal {key} of yours; list them with GET /api/learn/proposals.",
)
"""Callers give ``session_id``, and ``staged`` with each new draft."""

QUESTIONS = DocumentTable(tables.questions, LearningQuestion)
"""The answer is a column of its own."""


def questions_of(
    connection: Connection, proposal_id: str
) -> list[tuple[LearningQuestion, LearningAnswer | None]]:
    """The questions about a proposal, each with its answer."""
    table = tables.questions
    query = QUESTIONS.select(table.c.proposal_id == proposal_id, also=(table.c.answer,))
    return [
        (
            QUESTIONS.parse(row.body),
            LearningAnswer.model_validate_json(row.answer) if row.answer is not None else None,
        )
        for row in connection.execute(query.order_by(table.c.question_id))
    ]


ROUNDS = DocumentTable(tables.proposal_rounds, SkillBundleProposal)
"""Callers give ``drafted_at`` and ``staged``."""

BOUNDARIES = DocumentTable(tables.boundaries, WorkflowBoundary, fields={"session_id": "learn_session_id"})

REMOVED = ""
"""The body of a removed observation, which keeps its id: a recorder's retry does not bring it back."""

OBSERVATIONS = DocumentTable(
    tables.observations,
    ObservedActionEvent,
    fields={"session_id": "learn_session_id"},
    where=(tables.observations.c.body != REMOVED,),
)


def observed_in(connection: Connection, session_id: str) -> tuple[ObservedActionEvent, ...]:
    """The observations that are held of a session, in the order in which they were written."""
    table = tables.observations
    return OBSERVATIONS.all(connection, table.c.session_id == session_id, order_by=(table.c.seq,))


def captures_of(
    connection: Connection, session_ids: Collection[str]
) -> Mapping[str, tuple[tuple[ObservedActionEvent, ...], tuple[WorkflowBoundary, ...]]]:
    """``observed_in`` and ``boundaries_of`` for many sessions, by session, with two statements for hundreds."""
    seq = tables.observations.c.seq
    events: dict[str, list[tuple[int, ObservedActionEvent]]] = {one: [] for one in session_ids}
    marks: dict[str, list[WorkflowBoundary]] = {one: [] for one in session_ids}
    for some in batches(session_ids):
        # Sorted here: asked to sort by number, a database may walk the observations of everybody in that order.
        query = OBSERVATIONS.select(tables.observations.c.session_id.in_(some), also=(seq,))
        for row in connection.execute(query):
            event = OBSERVATIONS.parse(row[0])
            events[event.learn_session_id].append((row[1], event))
        for mark in BOUNDARIES.all(connection, tables.boundaries.c.session_id.in_(some), order_by=()):
            marks[mark.learn_session_id].append(mark)
    return {
        one: (tuple(event for _, event in sorted(events[one], key=itemgetter(0))), _in_time(marks[one]))
        for one in session_ids
    }


def _in_time(marks: Iterable[WorkflowBoundary]) -> tuple[WorkflowBoundary, ...]:
    return tuple(sorted(marks, key=lambda mark: (mark.created_at, mark.boundary_id)))


def boundaries_of(connection: Connection, session_id: str) -> tuple[WorkflowBoundary, ...]:
    """The marks in a session's capture, oldest first."""
    table = tables.boundaries
    marks = BOUNDARIES.all(connection, table.c.session_id == session_id, order_by=(table.c.boundary_id,))
    return _in_time(marks)


VALIDATION_RUNS = DocumentTable(
    tables.validation_runs,
    ValidationRun,
    fields={"run_id": "validation_run_id"},
    message="There is no validation run {key}.",
)

VALIDATION_STEPS = DocumentTable(
    tables.validation_steps, ValidationStepResult, fields={"run_id": "validation_run_id"}
)

SAGAS = DocumentTable(
    tables.install_sagas,
    InstallSaga,
    code=ErrorCode.SAGA_NOT_FOUND,
    message="There is no install saga {key} of yours.",
)
"""Callers give ``owner`` and ``plan``."""

LESSON_EVIDENCE = DocumentTable(tables.lesson_evidence, LessonEvidence, lambda _evidence: {})
"""Callers give ``session_id`` and ``made_at``."""
