"""summarise_conversation_segment and generate_reflection: by rules, and with a model that answers or fails."""

import json
from typing import Any

import pytest

from activities.skills.services.content_models import endpoints
from activities.skills.services.model_service import ModelService
from activities.skills.services.offered import Method
from contracts.base import Contract
from tests.fixtures.bundled_skills import run_bundled
from tests.fixtures.model_server import ModelServer, Reply, completion, serving

pytestmark = pytest.mark.anyio

TURNS = [
    {"speaker": "Anna", "text": "The cello lesson moves to Monday. The key is sk-ant-api03-" + "a" * 90},
    {"speaker": "Ben", "text": "Then I bring the cello on Monday."},
]
EVENTS = [
    {"event_id": "e-1", "skill_id": "debit_wallet", "data": {"status": "failure", "error_code": "TX_FAILED"}}
]


class Events:
    """A memory with one event."""

    class Asked(Contract):
        limit: int

    def __init__(self) -> None:
        async def events(asker: Any, asked: Any) -> Any:
            return EVENTS

        self.methods = {"events": Method(self.Asked, events, reads=True)}


def services(server: ModelServer | None = None) -> dict[str, Any]:
    models = endpoints({"m-1": server.url}, lambda _: None, 4_096) if server is not None else None
    return {"model": ModelService(models), "memory": Events()}


@pytest.mark.acceptance("AI-31")
async def test_without_a_model_a_summary_is_what_was_said() -> None:
    done = await run_bundled("summarise-conversation-segment", {"turns": TURNS}, services())
    assert (done.outputs["method"], done.outputs["model_used"]) == ("extractive", "local-extract")
    said = " ".join(turn["text"] for turn in TURNS)
    assert done.outputs["sentences"]
    assert all(one["text"] in said for one in done.outputs["sentences"])


@pytest.mark.acceptance("AI-31")
async def test_a_configured_model_words_a_summary_and_is_told_no_secret() -> None:
    with serving() as server:
        server.replies(completion(json.dumps({"summary": "The lesson is on Monday."})))
        done = await run_bundled("summarise-conversation-segment", {"turns": TURNS}, services(server))
        assert (done.outputs["summary"], done.outputs["method"], done.outputs["model_used"]) == (
            "The lesson is on Monday.",
            "model",
            "m-1",
        )
        assert "sk-ant" not in json.dumps(server.asked[0].json)


@pytest.mark.acceptance("AI-31")
@pytest.mark.produces("summarise-conversation-segment", "LLM_ERROR")
async def test_a_model_that_fails_is_not_replaced_by_rules() -> None:
    with serving() as server:
        server.replies(Reply(status=500))
        done = await run_bundled("summarise-conversation-segment", {"turns": TURNS}, services(server))
        assert (done.status.value, done.error.code) == ("failure", "LLM_ERROR")


@pytest.mark.acceptance("AI-38")
async def test_a_model_words_a_reflection_whose_events_are_counted() -> None:
    with serving() as server:
        server.replies(completion(json.dumps({"summary": "The debit did not come about."})))
        done = await run_bundled("generate-reflection", {}, services(server))
        assert done.outputs["reflection"] == "The debit did not come about."
        assert (done.outputs["event_ids"], done.outputs["model_used"]) == (["e-1"], "m-1")
        assert done.outputs["observations"][0]["event_ids"] == ["e-1"]
