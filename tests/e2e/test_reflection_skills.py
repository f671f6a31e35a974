"""Summaries, reflections, suggestions, and what comes of invocations fed back to memory, facts and goals."""

from typing import Any

import pytest

from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

PERSON = ("read", "call", "approve")
WALLET = "0x" + "ab" * 20


async def _run(
    who: Learner, skill: str, context: dict[str, Any] | None = None, **given: Any
) -> dict[str, Any]:
    body = {"input": given} | ({"context": context} if context is not None else {})
    return await who.ok("POST", f"/api/skills/{skill}/invocations", body, prefer="wait=30")


async def _fails(who: Learner, context: dict[str, Any] | None = None) -> dict[str, Any]:
    """A debit of a wallet that nobody made."""
    given = {"wallet_address": WALLET, "amount": 1, "currency": "USDC", "tx_description": "a fee"}
    key = "0199aa10-7c00-7000-8000-0000000000aa"
    done = await _run(who, "debit_wallet", context, **given, idempotency_key=key)
    assert done["error"]["code"] == "INSUFFICIENT_BALANCE", done
    return done


TURNS = [
    ("Ann", "Hi! The server in Berlin was down last night. We lost two hours."),
    ("Ben", "Why was the server down? Was it the disk again?"),
    ("Ann", "Yes, the disk of the server failed. We have to replace the disk before Friday."),
    ("Ben", "OK. I'll order a disk today. Thanks!"),
]


@pytest.mark.acceptance("AI-31")
async def test_every_sentence_of_a_summary_stands_in_the_source(stack: Stack) -> None:
    turns = [{"speaker": speaker, "text": text} for speaker, text in TURNS]
    done = await _run(stack.learner("alice", PERSON), "summarise_conversation_segment", turns=turns)
    assert done["status"] == "success", done
    chosen = done["outputs"]["sentences"]
    assert len(chosen) == 3
    assert all(one["text"] in TURNS[one["turn"]][1] for one in chosen)
    assert "disk of the server failed" in done["outputs"]["summary"]
    nothing = await _run(
        stack.learner("alice", PERSON),
        "summarise_conversation_segment",
        turns=[{"speaker": "Ann", "text": "?!"}],
    )
    assert (nothing["status"], nothing["outputs"]["sentences"]) == ("partial", [])


@pytest.mark.acceptance("AI-26", "AI-38", "AI-39", "AI-24")
async def test_a_failed_call_is_remembered_reflected_on_and_becomes_a_suggestion(stack: Stack) -> None:
    alice, bob = stack.learner("alice", PERSON), stack.learner("bob", PERSON)
    empty = await _run(alice, "generate_reflection")
    assert (empty["outputs"]["observations"], empty["outputs"]["event_ids"]) == ([], [])
    assert "nothing" in empty["message"]
    assert (await _run(alice, "propose_small_adjustments"))["outputs"]["count"] == 0
    failed = await _fails(alice)
    assert [one["state"] for one in failed["observables"]["effects"]] == ["failed"]
    found = await _run(alice, "query_relevant_memories", query="debit wallet failed", kinds=["event"])
    assert found["outputs"]["count"] == 1, found
    event = found["outputs"]["memories"][0]["memory_id"]
    assert (await _run(bob, "query_relevant_memories", query="debit wallet failed"))["outputs"]["count"] == 0
    told = (await _run(alice, "generate_reflection"))["outputs"]
    named = {one for observation in told["observations"] for one in observation["event_ids"]}
    assert event in named
    assert named <= set(told["event_ids"])
    suggested = (await _run(alice, "propose_small_adjustments"))["outputs"]["goals"]
    assert [(one["state"], one["derived_from"]) for one in suggested] == [("candidate", [event])]
    assert "INSUFFICIENT_BALANCE" in suggested[0]["reason"]
    again = (await _run(alice, "propose_small_adjustments"))["outputs"]["goals"]
    assert [one["goal_id"] for one in again] == [suggested[0]["goal_id"]]


@pytest.mark.acceptance("AI-25")
async def test_a_goal_takes_what_comes_of_the_calls_made_for_it(stack: Stack) -> None:
    alice = stack.learner("alice", PERSON)
    await _fails(alice)
    goal = (await _run(alice, "propose_small_adjustments"))["outputs"]["goals"][0]["goal_id"]
    path = f"/api/memory/goals/{goal}/state"
    assert (await alice.refused("POST", path, {"state": "completed"}))[0] == 409
    assert (await alice.ok("POST", path, {"state": "active"}))["state"] == "active"
    await _run(alice, "send_message_to_user", {"goal_id": goal}, message="I look into it")
    (moved,) = (await alice.ok("GET", "/api/memory/goals"))["goals"]
    assert (moved["state"], moved["outcomes"][0]["satisfied"]) == ("progressed", ["message_arrived"])
    mallory = stack.learner("mallory", PERSON)
    assert (await mallory.refused("POST", path, {"state": "dropped"}))[0] == 404


@pytest.mark.acceptance("AI-29")
@pytest.mark.produces("*", "PRECONDITION_UNMET")
async def test_an_input_is_filled_from_a_fact_and_refused_without_it(stack: Stack) -> None:
    alice = stack.learner("alice", PERSON)
    wallet = {"$fact": {"subject": "Household", "predicate": "wallet"}}
    path = "/api/skills/fetch-wallet-balance/invocations"
    status, error = await alice.refused("POST", path, {"input": {"wallet_address": wallet}})
    assert (status, error["code"], error["precondition"]) == (409, "PRECONDITION_UNMET", "Household wallet")
    await _run(alice, "upsert_world_fact", subject="Household", predicate="wallet", object=WALLET)
    done = await _run(alice, "fetch_wallet_balance", wallet_address=wallet)
    assert (done["status"], done["outputs"]["wallet_address"]) == ("success", WALLET), done
