"""What one whole lifecycle asks of Temporal: counters that are the same on every machine."""

import pytest
from temporalio.worker import Worker
from uuid_utils import uuid7

from bench.bare_updates import BareUpdates
from bench.lifecycle import MAX_CALLS, MAX_EVENTS, OBSERVED_EVENTS, bare, history_events, lifecycle
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


async def test_a_lifecycle_takes_few_calls_to_temporal_and_leaves_a_short_history(stack: Stack) -> None:
    alice = stack.learner()
    await lifecycle(alice)
    events = await history_events(stack.client, stack, alice.session_id)
    assert 0 < stack.services.gateway.calls <= MAX_CALLS
    assert all(events.values())
    assert sum(events.values()) <= MAX_EVENTS


async def test_events_are_observed_without_a_call_to_temporal(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    before = stack.services.gateway.calls
    kept = await alice.observe([("make report", ("report.txt",))] * OBSERVED_EVENTS)
    assert kept["accepted"] == OBSERVED_EVENTS
    assert stack.services.gateway.calls == before


async def test_the_floor_takes_as_many_updates_as_it_is_told(stack: Stack) -> None:
    queue = f"bare-{uuid7()}"
    async with Worker(stack.client, task_queue=queue, workflows=[BareUpdates]):
        assert await bare(stack.client, queue, 3) > 0
