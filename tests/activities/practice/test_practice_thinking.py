"""Asking a model what to practise, no longer than the practice has left."""

from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

from activities.practice.practice_activities import PracticeThinking
from clients.learning.model_endpoint import ModelEndpoint
from contracts.learning.session import LearnSessionState
from contracts.practice.practice import PracticeQuestion, PracticeRef, PracticeThoughts
from stores.learning.observations import ObservationLog
from stores.learning.sessions import SessionStore
from stores.platform.database import Database
from stores.practice.practice import PracticeKnowledge, PracticeStore
from tests.fixtures.databases import migrated
from tests.fixtures.model_server import ModelServer, Reply
from tests.fixtures.past import add_session
from tests.fixtures.practised import add_practice

pytestmark = pytest.mark.anyio


async def thoughts(folder: Path, url: str, state: LearnSessionState, seconds_left: float) -> PracticeThoughts:
    """What comes of asking about a practice on record whose session is in this state."""
    store = f"sqlite:///{folder / 'store.db'}"
    migrated(store)
    database = Database(store)
    log = ObservationLog(database)
    try:
        session = add_session(database, None, state=state)
        add_practice(database, session, session)
        thinking = PracticeThinking(
            PracticeStore(database),
            PracticeKnowledge(database, log),
            SessionStore(database),
            ModelEndpoint(url, "small-writer", lambda: None, timeout_seconds=45, max_output_tokens=500),
        )
        ref = PracticeRef(learn_session_id=session, owner_user_id=session, correlation_id="c-1")
        asked = PracticeQuestion(ref=ref, seconds_left=seconds_left)
        return await ActivityEnvironment().run(thinking.think_of_plans, asked)
    finally:
        log.close()
        database.close()


async def test_no_answer_is_waited_for_longer_than_the_practice_has_left(
    tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.replies(Reply(hold=True))
    found = await thoughts(tmp_path, model_server.url, LearnSessionState.CAPTURING, 0.2)
    assert (found.model, found.plans) == ("small-writer", ())
    assert found.note == "The time allowed was used up while a model was asked."


async def test_a_session_that_does_not_practise_any_more_tells_a_model_nothing(
    tmp_path: Path, model_server: ModelServer
) -> None:
    found = await thoughts(tmp_path, model_server.url, LearnSessionState.PAUSED, 60)
    assert found.note == "The session is paused: no model was asked."
    assert model_server.asked == []
