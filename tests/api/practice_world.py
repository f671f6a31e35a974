"""A practice on record, for the tests of every route."""

from datetime import UTC, datetime, timedelta

from contracts.learning.practice import PracticeBudget, PracticeRun, StartPracticeRequest
from stores.database import Database
from stores.practice_store import PracticeStore


def add_practice(database: Database, owner: str, session_id: str) -> None:
    """Puts a practice of this session on record that nobody carries out."""
    PracticeStore(database).open(*practice_of(owner, session_id))


def practice_of(
    owner: str, session_id: str, lasts: timedelta = timedelta(minutes=15)
) -> tuple[PracticeRun, StartPracticeRequest]:
    """A practice that may take so long from now, and what was asked for."""
    request = StartPracticeRequest.model_validate(
        {
            "goal": "Make a list",
            "success_conditions": [{"kind": "file_exists", "path": "list.txt"}],
            "allowed_commands": ["sort"],
        }
    )
    now = datetime.now(UTC)
    run = PracticeRun(
        learn_session_id=session_id,
        owner_user_id=owner,
        goal=request.goal,
        success_conditions=request.success_conditions,
        allowed_commands=request.allowed_commands,
        budget=PracticeBudget(),
        request_blob="0" * 64,
        workflow_id=f"practice/{session_id}",
        correlation_id="world",
        started_at=now,
        updated_at=now,
        ends_by=now + lasts,
    )
    return run, request
