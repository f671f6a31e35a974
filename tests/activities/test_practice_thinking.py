"""Asking a model what to practise, no longer than the practice has left."""

from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

from activities.practice_thinking import PracticeThinking
from clients.model_endpoint import ModelEndpoint
from contracts.learning.practice import PracticeRef
from contracts.learning.practice_model import PracticeQuestion, PracticeThoughts
from stores.database import Database
from stores.observations import ObservationLog
from stores.practice_knowledge import PracticeKnowledge
from stores.practice_store import PracticeStore
from stores.session_store import SessionStore
from tests.api.practice_world import add_practice
from tests.fixtures.databases import migrated
from tests.fixtures.model_server import ModelServer, Reply

pytestmark = pytest.mark.anyio

SESSION = "01936f5e-0000-7000-8000-000000000001"


async def thoughts(folder: Path, model: ModelEndpoint, seconds_left: float) -> PracticeThoughts:
    """What comes of asking about a practice on record."""
    url = f"sqlite:///{folder / 'store.db'}"
    migrated(url)
    database = Database(url)
    log = ObservationLog(database)
    try:
        add_practice(database, "alice", SESSION)
        thinking = PracticeThinking(
            PracticeStore(database),
            PracticeKnowledge(database, log),
            SessionStore(database),
            model,
        )
        ref = PracticeRef(learn_session_id=SESSION, owner_user_id="alice", correlation_id="c-1")
        asked = PracticeQuestion(ref=ref, seconds_left=seconds_left)
        return await ActivityEnvironment().run(thinking.think_of_plans, asked)
    finally:
        log.close()
        database.close()


async def test_no_answer_is_waited_for_longer_than_the_practice_has_left(
    tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.replies(Reply(hold=True))
    model = ModelEndpoint(
        model_server.url, "small-writer", lambda: None, timeout_seconds=45, max_output_tokens=500
    )
    found = await thoughts(tmp_path, model, 0.2)
    assert (found.model, found.plans) == ("small-writer", ())
    assert found.note == "The time allowed was used up while a model was asked."
