"""A draft in a language model's words, from the HTTP API to a real HTTP endpoint and back."""

from dataclasses import replace
from datetime import timedelta

import anyio
import pytest

from gateways.learning.sessions import LearnGateway
from tests.fixtures.model_server import ModelServer, Reply, rewording
from tests.fixtures.model_stack import MODEL, detail, history_of
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


async def test_a_model_words_the_draft_and_the_draft_is_proven_and_installed_like_any(
    taught: Stack, model_server: ModelServer
) -> None:
    model_server.replies(
        rewording(
            title="Summarise the sales figures",
            trigger_phrases=["summarise the sales", "order the sales by amount"],
            use_conditions=["When the sales of a period are to be compared"],
            negative_triggers=["sales forecast"],
        )
    )
    alice = taught.learner()
    await alice.demonstrate()
    await alice.propose()
    shown = await detail(alice)
    assert shown["proposal"]["drafted_by"] == f"model:{MODEL}", shown["proposal"]["drafter_note"]
    assert shown["interpretation"]["written_by"] == f"model:{MODEL}"
    assert shown["interpretation"]["use_conditions"] == ["When the sales of a period are to be compared"]
    assert "order the sales by amount" in shown["proposal"]["trigger_phrases"]
    assert "sales forecast" in shown["proposal"]["negative_triggers"]
    assert [c["goal"].endswith("as it should be") for c in shown["interpretation"]["checkpoints"]] == [
        True
    ] * len(shown["interpretation"]["checkpoints"])
    assert await alice.prove() == "ready_for_review"
    approved = await alice.propose_act("approve")
    assert approved["proposal"]["drafted_by"] == f"model:{MODEL}"
    found = await alice.ok("POST", "/api/abilities/lookup", {"user_query": "order the sales by amount"})
    assert found["matches"][0]["score"] >= 0.3


async def test_a_persons_edits_win_and_do_not_ask_the_model_again(
    taught: Stack, model_server: ModelServer
) -> None:
    model_server.replies(
        rewording(title="Summarise the sales by region", use_conditions=["When sales are due"])
    )
    alice = taught.learner()
    await alice.demonstrate()
    await alice.propose()
    assert (await detail(alice))["proposal"]["title"] == "Summarise the sales by region"
    edited = {
        "title": "Monthly sales",
        "checkpoints": [{"goal": "Done", "success_condition": "The list is there"}],
    }
    await alice.propose_act("revise", {"revision_instructions": "", "edited_fields": edited})
    shown = await detail(alice)
    assert shown["proposal"]["title"] == "Monthly sales"
    assert [c["goal"] for c in shown["interpretation"]["checkpoints"]] == ["Done"]
    assert shown["interpretation"]["use_conditions"] == ["When sales are due"]
    assert shown["proposal"]["drafted_by"] == f"model:{MODEL}"
    assert len(model_server.asked) == 1


async def test_a_wish_for_a_revision_is_put_to_the_model_with_its_present_wording(
    taught: Stack, model_server: ModelServer
) -> None:
    model_server.replies(rewording(), rewording(use_conditions=["When the sales of a quarter are due"]))
    alice = taught.learner()
    await alice.demonstrate()
    await alice.propose()
    await alice.propose_act("revise", {"revision_instructions": "Say that it is for quarters"})
    second = model_server.asked[1].data
    assert second["wish_of_the_person"] == "Say that it is for quarters"
    assert second["present_wording"]["trigger_phrases"]
    assert (await detail(alice))["interpretation"]["use_conditions"] == [
        "When the sales of a quarter are due"
    ]


async def test_answers_are_fixed_for_the_model_and_the_draft_is_worded_again(
    taught: Stack, model_server: ModelServer
) -> None:
    alice = taught.learner()
    await alice.demonstrate(ask_before_build=True)
    assert (await alice.propose())["session"]["state"] == "awaiting_questions"
    questions = (await detail(alice))["questions"]
    answers = [{"question_id": q["question_id"], "answer_text": "When Bob asks for sales"} for q in questions]
    await alice.act("answer-questions", {"answers": answers})
    assert len(model_server.asked) == 2
    assert set(model_server.asked[1].data["fixed_fields"]) > set(model_server.asked[0].data["fixed_fields"])
    assert (await detail(alice))["proposal"]["drafted_by"] == f"model:{MODEL}"


async def test_cancelling_does_not_wait_for_the_model(taught: Stack, model_server: ModelServer) -> None:
    model_server.replies(Reply(hold=True))
    alice = taught.learner()
    await alice.demonstrate()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(alice.propose)
        await anyio.to_thread.run_sync(model_server.arrived.wait, 30)
        await alice.act("cancel", {"reason": "changed my mind"})
    model_server.released.set()
    assert await alice.state() == "cancelled"
    assert "was cut short" in (await detail(alice))["proposal"]["drafter_note"]


async def test_without_a_model_nothing_is_asked_and_no_activity_is_scheduled(stack: Stack) -> None:
    alice = stack.learner()
    await alice.demonstrate()
    await alice.propose()
    proposal = (await detail(alice))["proposal"]
    assert (proposal["drafted_by"], proposal["drafter_note"]) == ("deterministic", "")
    assert "word_draft" not in await history_of(stack, alice)


async def test_a_capture_with_nothing_in_it_is_refused_as_ever(
    taught: Stack, model_server: ModelServer
) -> None:
    alice = taught.learner()
    await alice.create()
    await alice.act("start")
    await alice.act("stop")
    status, error = await alice.refused(
        "POST", f"/api/learn/sessions/{alice.session_id}/generate-proposal", {}
    )
    assert (status, error["code"]) == (400, "INSUFFICIENT_TRACES")
    assert model_server.asked == []


async def test_a_draft_is_waited_for_as_long_as_the_model_may_take(
    taught: Stack, model_server: ModelServer
) -> None:
    alice = taught.learner()
    await alice.demonstrate()
    queue = taught.settings.task_queue
    hasty = LearnGateway(
        taught.client, queue, taught.services.sessions, answer_within=timedelta(milliseconds=1)
    )
    taught.app.state.services = replace(taught.services, gateway=hasty)
    await alice.propose()
    assert (await detail(alice))["proposal"]["drafted_by"] == f"model:{MODEL}"
