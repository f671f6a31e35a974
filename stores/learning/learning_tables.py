"""Document tables of learning: sessions, proposals, questions, boundaries, validation runs, install sagas."""

from collections.abc import Mapping
from typing import Any

from contracts.base import rfc3339
from contracts.errors import ErrorCode
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.install import InstallSaga
from contracts.learning.observation import WorkflowBoundary
from contracts.learning.proposal import SkillBundleProposal
from contracts.learning.questions import LearningQuestion
from contracts.learning.state_machine import AT_REST
from contracts.learning.validation import ValidationRun, ValidationStepResult
from stores.platform import tables
from stores.platform.document_table import DocumentTable


def _session_row(aggregate: LearnSessionAggregate) -> Mapping[str, Any]:
    session = aggregate.session
    at_rest = session.state in AT_REST
    return {
        "session_id": session.learn_session_id,
        "owner": session.owner_user_id,
        "state": session.state.value,
        "change": aggregate.change,
        "holds_slot": not at_rest,
        "at_rest_at": rfc3339(aggregate.state_since) if at_rest else None,
        # A commit brings an archived session back to the lists; its clocks start anew.
        "archived_at": None,
        "created_at": rfc3339(session.created_at),
        "updated_at": rfc3339(session.updated_at),
    }


SESSIONS = DocumentTable(
    tables.learn_sessions,
    LearnSessionAggregate,
    _session_row,
    code=ErrorCode.LEARN_SESSION_NOT_FOUND,
    message="There is no session {key} of yours; list them with GET /api/learn/sessions.",
    body="aggregate",
    version="change",
)

PROPOSALS = DocumentTable(
    tables.proposals,
    SkillBundleProposal,
    lambda one: {
        "proposal_id": one.proposal_id,
        "owner": one.owner_user_id,
        "state": one.proposal_state.value,
        "content_hash": one.content_hash,
        "created_at": rfc3339(one.created_at),
        "updated_at": rfc3339(one.updated_at),
    },
    code=ErrorCode.PROPOSAL_NOT_FOUND,
    message="There is no proposal {key} of yours; list them with GET /api/learn/proposals.",
)
"""Callers give ``session_id``, and ``staged`` with each new draft."""

QUESTIONS = DocumentTable(
    tables.questions,
    LearningQuestion,
    lambda one: {"question_id": one.question_id, "proposal_id": one.proposal_id},
)
"""The answer is a column of its own."""

BOUNDARIES = DocumentTable(
    tables.boundaries,
    WorkflowBoundary,
    lambda one: {"boundary_id": one.boundary_id, "session_id": one.learn_session_id},
)

VALIDATION_RUNS = DocumentTable(
    tables.validation_runs,
    ValidationRun,
    lambda one: {
        "run_id": one.validation_run_id,
        "proposal_id": one.proposal_id,
        "content_hash": one.content_hash,
    },
    message="There is no validation run {key}.",
)

VALIDATION_STEPS = DocumentTable(
    tables.validation_steps,
    ValidationStepResult,
    lambda one: {"run_id": one.validation_run_id, "test_case_id": one.test_case_id},
)

SAGAS = DocumentTable(
    tables.install_sagas,
    InstallSaga,
    lambda one: {"saga_id": one.saga_id, "proposal_id": one.proposal_id, "state": one.state.value},
    code=ErrorCode.SAGA_NOT_FOUND,
    message="There is no install saga {key} of yours.",
)
"""Callers give ``owner`` and ``plan``."""
