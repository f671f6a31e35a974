import json
import logging
from collections.abc import Iterator

import anyio
import pytest
from anyio import to_thread

from clients.learning.fit_judge import MOST_OPEN, PAUSE_SECONDS, FitJudge
from clients.learning.model_endpoint import ModelEndpoint
from clients.platform.key_reference import KeyUnavailable
from domain.abilities.fit.deciding import Doubt
from tests.fixtures.model_server import Answering, Asked, ModelServer, Reply, completion

pytestmark = pytest.mark.anyio

KEY = "sk-" + "canaryKEY" * 4
COUNT = Doubt("a-1", "Count the errors", "")
SEND = Doubt("a-2", "Send the log", "")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def judge(server: ModelServer, clock: Clock | None = None, timeout_seconds: float = 30) -> FitJudge:
    model = ModelEndpoint(
        server.url, "judge", lambda: KEY, timeout_seconds=timeout_seconds, max_output_tokens=500
    )
    return FitJudge(model, clock=clock or Clock())


def fitting(*titles: str) -> Answering:
    """Finds that the abilities with these titles fit."""

    def answer(asked: Asked) -> Reply:
        shown = asked.data["abilities"]
        return completion(json.dumps({"fits": [one["number"] for one in shown if one["title"] in titles]}))

    return answer


async def decide(one: FitJudge, said: str, *doubts: Doubt) -> dict[str, bool]:
    return await to_thread.run_sync(one, said, doubts)


async def test_one_question_decides_about_all_and_its_answer_is_remembered(model_server: ModelServer) -> None:
    model_server.replies(fitting(COUNT.title))
    asking = judge(model_server)
    for _ in range(2):
        assert await decide(asking, "how many errors", COUNT, SEND) == {"a-1": True, "a-2": False}
    assert len(model_server.asked) == 1
    assert model_server.asked[0].headers["authorization"] == f"Bearer {KEY}"


async def test_only_what_is_not_known_is_asked(model_server: ModelServer) -> None:
    model_server.replies(fitting(COUNT.title))
    asking = judge(model_server)
    await decide(asking, "how many errors", COUNT)
    await decide(asking, "how many errors", COUNT, SEND)
    await decide(asking, "how many errors", COUNT._replace(goal="Count them by day"))
    await decide(asking, "send it", COUNT)
    assert [[one["title"] for one in asked.data["abilities"]] for asked in model_server.asked] == [
        ["Count the errors"],
        ["Send the log"],
        ["Count the errors"],
        ["Count the errors"],
    ]


@pytest.mark.parametrize("reply", [Reply(status=401), completion("yes, all"), completion('{"fits": [7]}')])
async def test_a_failure_decides_nothing_and_nobody_is_asked_for_a_while(
    reply: Reply, model_server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    model_server.replies(reply, fitting(COUNT.title))
    clock = Clock()
    asking = judge(model_server, clock)
    with caplog.at_level(logging.WARNING):
        assert await decide(asking, "how many errors", COUNT) == {}
        clock.now += PAUSE_SECONDS - 1
        assert await decide(asking, "how many errors", COUNT) == {}
    assert len(model_server.asked) == 1
    assert "yes, all" not in caplog.text
    clock.now += 1
    assert await decide(asking, "how many errors", COUNT) == {"a-1": True}


async def test_what_is_remembered_is_said_while_nobody_is_asked(model_server: ModelServer) -> None:
    model_server.replies(fitting(COUNT.title), Reply(status=401))
    asking = judge(model_server)
    await decide(asking, "how many errors", COUNT)
    assert await decide(asking, "how many errors", COUNT, SEND) == {"a-1": True}


async def test_a_slow_model_keeps_nobody_waiting(model_server: ModelServer) -> None:
    model_server.replies(Reply(hold=True))
    assert await decide(judge(model_server, timeout_seconds=0.2), "how many errors", COUNT) == {}


async def test_a_key_that_cannot_be_read_decides_nothing(model_server: ModelServer) -> None:
    def no_key() -> str:
        raise KeyUnavailable("the variable is not set")

    model = ModelEndpoint(model_server.url, "judge", no_key, timeout_seconds=30, max_output_tokens=500)
    assert await decide(FitJudge(model), "how many errors", COUNT) == {}
    assert model_server.asked == []


@pytest.fixture
def arrivals(model_server: ModelServer) -> Iterator[list[Asked]]:
    """Questions that arrived and get no answer before the test has ended."""
    model_server.replies(Reply(hold=True))
    yield model_server.asked
    model_server.released.set()


async def test_with_too_many_questions_open_a_lookup_is_answered_without_the_model(
    model_server: ModelServer, arrivals: list[Asked]
) -> None:
    asking = judge(model_server)
    async with anyio.create_task_group() as lookups:
        for number in range(MOST_OPEN):
            lookups.start_soon(decide, asking, f"request {number}", COUNT)
        while len(arrivals) < MOST_OPEN:
            await anyio.lowlevel.checkpoint()
        assert await decide(asking, "one too many", COUNT) == {}
        model_server.released.set()
    assert len(arrivals) == MOST_OPEN
