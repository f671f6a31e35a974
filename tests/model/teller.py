"""Tells the application and the model the same, and compares what they say."""

from collections.abc import Callable
from random import Random
from typing import Any
from uuid import uuid4

from tests.model.driver import NOBODY, Driver, Sent
from tests.model.reference import ModelSession, Refused


def repeats(rng: Random) -> int:
    """How often a request is sent again at once under its key."""
    return rng.choice([0, 0, 0, 1, 2])


def refusal_of(decide: Callable[[], None]) -> tuple[int, str] | None:
    """How the model refuses, or ``None`` when it has taken the command."""
    try:
        decide()
    except Refused as refused:
        return refused.answer
    return None


def no_proposal() -> None:
    """The model's answer about a proposal that there is not."""
    raise Refused(404, "PROPOSAL_NOT_FOUND")


class Teller:
    """Commands under keys, with a log of those that were taken."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.log: list[tuple[Sent, Any]] = []

    def tell_proposal(
        self,
        session: ModelSession,
        action: str,
        body: Any,
        decide: Callable[[], None],
        rng: Random,
        learn: Callable[[dict[str, Any]], None] = lambda _: None,
    ) -> bool:
        """A command to the session's proposal; there may be none yet."""
        sent = self.request("POST", f"/api/learn/proposals/{session.proposal_id or NOBODY}/{action}", body)
        if session.proposal_id is None:
            return self.tell(session, sent, no_proposal)
        return self.tell(session, sent, decide, learn, repeats=repeats(rng))

    def tell(
        self,
        session: ModelSession | None,
        sent: Sent,
        decide: Callable[[], None],
        learn: Callable[[dict[str, Any]], None] = lambda _: None,
        *,
        repeats: int = 0,
        logged: bool = True,
    ) -> bool:
        """Asks model and application the same; they must say the same. Returns whether it was taken."""
        before = session.state if session else None
        refusal = refusal_of(decide)
        answer = self.driver.send(sent)
        if refusal is not None:
            error = answer.json().get("error", {})
            assert (answer.status_code, error.get("code")) == refusal, (sent, before, answer.text)
            assert error.get("current_state", before) == before
            return False
        assert answer.is_success, (sent, before, answer.text)
        learn(answer.json())
        for _ in range(repeats):
            assert self.driver.send(sent).json() == answer.json()
        if logged:
            self.log.append((sent, answer.json()))
        return True

    def post(self, session: ModelSession, action: str, body: Any = None) -> Sent:
        """A command to a session."""
        return self.request("POST", f"/api/learn/sessions/{session.session_id}/{action}", body)

    def request(self, method: str, path: str, body: Any) -> Sent:
        """A request under a new key."""
        return Sent(method, path, body, str(uuid4()))

    def detail(self, proposal_id: str | None) -> dict[str, Any]:
        """A proposal as its owner reads it."""
        found: dict[str, Any] = self.driver.get(f"/api/learn/proposals/{proposal_id}/detail")
        return found
