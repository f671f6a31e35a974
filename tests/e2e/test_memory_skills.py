"""Memories, facts and social events through the API: gate, workflow, sandbox, memory and back."""

from typing import Any
from uuid import uuid4

import pytest

from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

AGENT = ("read", "call")


async def _run(who: Learner, skill: str, **given: Any) -> dict[str, Any]:
    path = f"/api/skills/{skill}/invocations"
    return await who.ok("POST", path, {"input": given}, prefer="wait=30")


@pytest.mark.acceptance("AI-33", "AI-34", "AI-35", "AI-37")
async def test_what_an_agent_stores_it_finds_and_nobody_else(stack: Stack) -> None:
    agent, other = stack.learner("alice", AGENT), stack.learner("bob", AGENT)
    kept = await _run(agent, "store_memory_item", text="Anna likes dark chocolate", tags=["gifts"])
    assert (kept["status"], kept["outputs"]["created"]) == ("success", True), kept
    assert kept["observables"]["effects"] == [{"name": "memory_stored", "state": "satisfied"}]
    social = await _run(
        agent,
        "log_social_event",
        summary="Coffee with Anna at the harbour",
        people=[{"id": "person:anna", "type": "Person"}],
        fact={"subject": "Anna", "predicate": "lives_in", "object": "Lisbon"},
    )
    assert social["status"] == "success", social
    fact = await _run(agent, "upsert_world_fact", subject="Anna", predicate="lives_in", object="Paris")
    assert fact["status"] == "success", fact
    found = await _run(agent, "query_relevant_memories", query="Anna")
    assert {one["kind"] for one in found["outputs"]["memories"]} == {"memory", "event", "fact"}, found
    assert (await _run(other, "query_relevant_memories", query="Anna"))["outputs"]["count"] == 0


async def test_one_key_stores_one_memory_and_no_other(stack: Stack) -> None:
    agent, key = stack.learner("alice", AGENT), str(uuid4())
    first = await _run(agent, "store-memory-item", text="once", idempotency_key=key)
    again = await _run(agent, "store-memory-item", text="once", idempotency_key=key)
    assert again["outputs"]["memory_id"] == first["outputs"]["memory_id"]
    other = await _run(agent, "store-memory-item", text="twice", idempotency_key=key)
    assert (other["status"], other["error"]["code"]) == ("failure", "IDEMPOTENCY_KEY_REUSED")


@pytest.mark.parametrize(
    ("skill", "given", "field"),
    [
        ("store-memory-item", {"text": "x" * 4001}, "text"),
        ("store-memory-item", {"text": "x", "tags": ["t"] * 101}, "tags"),
        ("store-memory-item", {"text": "x", "happened_at": "soon"}, "happened_at"),
        ("query-relevant-memories", {"limit": 101}, "limit"),
        ("upsert-world-fact", {"subject": "a", "predicate": "b"}, "object"),
        ("log-social-event", {"summary": "x", "people": []}, "people"),
    ],
)
async def test_one_past_each_bound_is_refused(
    stack: Stack, skill: str, given: dict[str, Any], field: str
) -> None:
    agent = stack.learner("alice", AGENT)
    status, error = await agent.refused("POST", f"/api/skills/{skill}/invocations", {"input": given})
    assert (status, error["code"]) == (400, "INVALID_INPUT")
    assert field in str(error["fields"])
