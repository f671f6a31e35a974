"""How a practice ends when its session was left just before."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

from activities.practice.practice_activities import PracticeActivities
from contracts.learning.session import LearnSessionState
from contracts.practice.practice import (
    AttemptNoted,
    IdeaSource,
    PracticeAttempt,
    PracticeClosing,
    PracticeIdea,
    PracticeRef,
    PracticeRun,
    PracticeState,
    PracticeStep,
)
from stores.learning.observations import ObservationLog
from stores.learning.sessions import SessionStore
from stores.platform.database import Database
from stores.practice.practice import PracticeKnowledge, PracticeStore
from tests.fixtures.databases import migrated
from tests.fixtures.past import add_session
from tests.fixtures.practised import add_practice
from tests.fixtures.stack import connect

pytestmark = pytest.mark.anyio


class LeftSession:
    """A session that takes nothing any more."""

    async def begin(self, run: PracticeRun, alive: Callable[[], None]) -> None:
        return

    async def keep(self, run: PracticeRun, attempt: PracticeAttempt, alive: Callable[[], None]) -> bool:
        return False

    async def stop(self, run: PracticeRun, reason: str, alive: Callable[[], None]) -> None:
        raise AssertionError("a paused capture is not stopped")


async def test_a_goal_that_was_reached_too_late_to_be_kept_is_not_said_to_be_in_the_capture(
    tmp_path: Path, temporal_address: str
) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrated(url)
    database = Database(url)
    log = ObservationLog(database)
    practices = PracticeStore(database)
    session = add_session(database, None, state=LearnSessionState.PAUSED)
    add_practice(database, session, session)
    ref = PracticeRef(learn_session_id=session, owner_user_id=session, correlation_id="c-1")
    idea = PracticeIdea(steps=(PracticeStep(command="sort a > b", source=IdeaSource.ALLOWED),), confidence=1)
    now = datetime.now(UTC)
    practices.note(
        AttemptNoted(
            ref=ref, attempt=PracticeAttempt(number=1, idea=idea, reached=True, outcome="so"), now=now
        )
    )
    activities = PracticeActivities(
        practices,
        PracticeKnowledge(database, log),
        SessionStore(database),
        lambda _: LeftSession(),
        tmp_path,
        lambda: None,
    )
    closing = PracticeClosing(ref=ref, state=PracticeState.REACHED, note="Reached in attempt 1.", now=now)
    environment = ActivityEnvironment(client=await connect(temporal_address))
    run = await environment.run(activities.end_practice, closing)
    log.close()
    database.close()
    assert run.state is PracticeState.CANCELLED
    assert run.note == (
        "Reached in attempt 1. The session was paused by then: what worked is not in its capture."
    )
