"""How a practice ends whatever its session says to that."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.practice.practice_activities import PracticeActivities
from contracts.errors import ErrorCode, Refusal
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
from stores.learning.learning_tables import SESSIONS
from stores.learning.observations import ObservationLog
from stores.learning.sessions import SessionStore
from stores.platform.database import Database
from stores.practice.practice import PracticeKnowledge, PracticeStore
from tests.fixtures.databases import migrated
from tests.fixtures.past import add_session
from tests.fixtures.practised import add_practice
from tests.fixtures.stack import connect

pytestmark = pytest.mark.anyio


class FakeSession:
    """A session that takes what worked, or refuses it; ``left`` is when its owner leaves it."""

    def __init__(self, *, kept: bool | Refusal, stopped: Refusal | None = None) -> None:
        self._kept = kept
        self._stopped = stopped
        self.left: Callable[[], None] = lambda: None

    async def begin(self, run: PracticeRun, alive: Callable[[], None]) -> None:
        return

    async def keep(self, run: PracticeRun, attempt: PracticeAttempt, alive: Callable[[], None]) -> bool:
        self.left()
        if isinstance(self._kept, Refusal):
            raise self._kept
        return self._kept

    async def stop(self, run: PracticeRun, reason: str, alive: Callable[[], None]) -> None:
        if self._stopped is not None:
            raise self._stopped


@dataclass(frozen=True)
class Arena:
    """A practice that has reached its goal, and the end of it."""

    database: Database
    session_id: str
    address: str
    folder: Path

    def leave(self) -> None:
        """The owner cancels the session."""
        self._put(LearnSessionState.CANCELLED)

    def _put(self, state: LearnSessionState) -> None:
        with self.database.write() as connection:
            found = SESSIONS.get(connection, self.session_id)
            SESSIONS.replace(connection, found.changed(session=found.session.changed(state=state)))

    async def end(self, session: FakeSession) -> PracticeRun:
        """What the record says once ``end_practice`` has run."""
        log = ObservationLog(self.database)
        practices = PracticeStore(self.database)
        activities = PracticeActivities(
            practices,
            PracticeKnowledge(self.database, log),
            SessionStore(self.database),
            lambda _: session,
            self.folder,
            lambda: None,
        )
        ref = PracticeRef(
            learn_session_id=self.session_id, owner_user_id=self.session_id, correlation_id="c-1"
        )
        closing = PracticeClosing(
            ref=ref, state=PracticeState.REACHED, note="Reached in attempt 1.", now=datetime.now(UTC)
        )
        environment = ActivityEnvironment(client=await connect(self.address))
        try:
            return await environment.run(activities.end_practice, closing)
        finally:
            log.close()


@pytest.fixture
def capturing(tmp_path: Path, temporal_address: str) -> Iterator[Arena]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrated(url)
    database = Database(url)
    session = add_session(database, None, state=LearnSessionState.CAPTURING)
    add_practice(database, session, session)
    ref = PracticeRef(learn_session_id=session, owner_user_id=session, correlation_id="c-1")
    idea = PracticeIdea(steps=(PracticeStep(command="sort a > b", source=IdeaSource.ALLOWED),), confidence=1)
    attempt = PracticeAttempt(number=1, idea=idea, reached=True, outcome="so")
    PracticeStore(database).note(AttemptNoted(ref=ref, attempt=attempt, now=datetime.now(UTC)))
    yield Arena(database, session, temporal_address, tmp_path)
    database.close()


LEFT = Refusal(ErrorCode.INVALID_LEARN_STATE_TRANSITION, "A session that is cancelled takes no policy.")
TOO_LATE = "Reached in attempt 1. The session was cancelled by then: what worked is not in its capture."


async def test_a_goal_that_was_reached_too_late_to_be_kept_is_not_said_to_be_in_the_capture(
    capturing: Arena,
) -> None:
    capturing.leave()
    run = await capturing.end(FakeSession(kept=False))
    assert (run.state, run.note) == (PracticeState.CANCELLED, TOO_LATE)


async def test_a_session_that_is_cancelled_while_it_takes_what_worked_ends_the_practice(
    capturing: Arena,
) -> None:
    session = FakeSession(kept=LEFT)
    session.left = capturing.leave
    run = await capturing.end(session)
    assert (run.state, run.note) == (PracticeState.CANCELLED, TOO_LATE)


async def test_what_a_session_refuses_for_good_ends_the_practice_with_the_reason(capturing: Arena) -> None:
    refused = Refusal(ErrorCode.TEST_POLICY_VIOLATION, "No such target.")
    run = await capturing.end(FakeSession(kept=refused, stopped=LEFT))
    assert run.state is PracticeState.FAILED
    assert run.note == "Reached in attempt 1. The session did not take what worked: No such target."


async def test_an_end_that_was_seen_by_a_files_making_alone_says_so(capturing: Arena) -> None:
    run = await capturing.end(FakeSession(kept=True))
    assert run.state is PracticeState.REACHED
    assert run.note == "Reached in attempt 1. Only that list.txt came to be was checked, not what it holds."


async def test_a_capture_that_refuses_to_stop_keeps_no_practice_running(capturing: Arena) -> None:
    run = await capturing.end(FakeSession(kept=True, stopped=LEFT))
    assert run.state is PracticeState.REACHED


@pytest.mark.parametrize("where", ["kept", "stopped"])
async def test_what_may_pass_is_tried_again(capturing: Arena, where: str) -> None:
    busy = Refusal(ErrorCode.TEMPORAL_UNAVAILABLE, "No worker has answered in time.")
    session = FakeSession(kept=busy) if where == "kept" else FakeSession(kept=True, stopped=busy)
    with pytest.raises(ApplicationError) as raised:
        await capturing.end(session)
    assert not raised.value.non_retryable
    assert PracticeStore(capturing.database).get(capturing.session_id).state is PracticeState.RUNNING
