"""Learning from what was captured before: only fitting runs are offered, and they are reviewed, not repeated."""

from collections.abc import Sequence

import pytest

from tests.fixtures.learner import Demonstrated, Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

OTHER_TASK: tuple[Demonstrated, ...] = (
    ("printf 'a\\n' > notes.md", ("notes.md",)),
    ("sha256sum notes.md > notes.sum", ("notes.sum",)),
    ("gzip -k notes.md", ("notes.md.gz",)),
)


def report_of(quarter: str) -> tuple[Demonstrated, ...]:
    source, top = f"reports/{quarter}/sales.csv", f"reports/{quarter}/top.txt"
    return (
        (f"mkdir -p reports/{quarter}", ()),
        (f"printf 'north,3\\nsouth,9\\n' > {source}", (source,)),
        (f"sort -t, -k2 -nr {source} > {top}", (top,)),
    )


async def run(learner: Learner, shown: Sequence[Demonstrated], goal: str | None = None) -> str:
    """Captures a run in a session that comes to nothing; the run's trace."""
    await learner.create()
    await learner.act("start")
    if goal:
        await learner.act("mark-goal", {"goal_description": goal})
    await learner.observe(shown)
    stopped = await learner.act("stop")
    await learner.act("cancel")
    return str(stopped["captured_trace_ids"][0])


async def listed(learner: Learner) -> dict[str, dict[str, object]]:
    answer = await learner.ok("GET", "/api/learn/recent-runs")
    return {one["trace_id"]: one for one in answer["runs"]}


async def learn_from(learner: Learner, *traces: str) -> dict[str, object]:
    return await learner.create(observation_mode="none", source_trace_ids=list(traces))


@pytest.mark.acceptance("0A.33-2")
async def test_a_compatible_set_of_recent_runs_becomes_one_skill_with_a_parameter(stack: Stack) -> None:
    alice = stack.learner()
    first = await run(alice, report_of("q3"), "Rank the sales of q3")
    second = await run(alice, report_of("q4"))
    found = await listed(alice)
    assert list(found) == [second, first]
    assert found[first]["title"] == "Rank the sales of q3"
    assert found[first]["compatible_with"] == [second]
    assert (found[first]["actions"], found[first]["success_share"]) == (3, 1.0)

    created = await learn_from(alice, first, second)
    assert (created["ui_mode"], created["next_action"]) == ("recent-run", "show_recent_run_picker")
    assert created["session"]["state"] == "reviewing"
    assert created["session"]["active_trace_ids"] == [first, second]
    await alice.propose()
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    (parameter,) = detail["interpretation"]["parameters"]
    assert (parameter["name"], parameter["examples"]) == ("quarter", ["q3", "q4"])
    assert detail["proposal"]["source_trace_ids"] == [first, second]

    assert await alice.prove() == "ready_for_review"
    await alice.propose_act("approve")
    assert await alice.state() == "approved"
    assert await listed(alice) == {}


async def test_a_run_can_be_trimmed_and_its_actions_left_out_before_drafting(stack: Stack) -> None:
    alice = stack.learner()
    trace = await run(alice, (*report_of("q3"), ("tar czf q3.tgz reports", ("q3.tgz",)), *OTHER_TASK))
    await learn_from(alice, trace)
    path = f"/api/learn/sessions/{alice.session_id}/observations"
    events = (await alice.ok("GET", path))["observations"]
    assert {event["learn_session_id"] for event in events} == {alice.session_id}
    await alice.ok("DELETE", f"{path}/{events[3]['event_id']}")
    await alice.act("trim", {"trim_kind": "trim_end", "to_event_id": events[2]["event_id"]})
    await alice.propose()
    text = (await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/files"))["files"]
    markdown = next(file["content"] for file in text if file["path"] == "SKILL.md")

    assert "reports/q3/top.txt" in markdown
    assert "q3.tgz" not in markdown
    assert "notes" not in markdown


async def test_only_runs_that_succeeded_are_rich_and_are_free_are_offered(stack: Stack) -> None:
    alice = stack.learner()
    poor = await run(alice, report_of("q1")[1:2])
    await alice.teach()
    proposal = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    (attached,) = proposal["proposal"]["source_trace_ids"]
    assert await listed(alice) == {}
    status, error = await alice.refused(
        "POST",
        "/api/learn/sessions",
        {"entry_mode": "demonstrating_skill", "source_trace_ids": [poor, attached]},
    )

    assert (status, error["code"]) == (409, "RUN_NOT_ELIGIBLE")
    assert error["reasons"][poor].startswith("Too little")
    assert error["reasons"][attached].startswith("It belongs to a session that is still open")

    await alice.propose_act("approve")
    _, error = await alice.refused(
        "POST", "/api/learn/sessions", {"entry_mode": "demonstrating_skill", "source_trace_ids": [attached]}
    )
    assert error["reasons"] == {attached: "It has become an ability already."}


async def test_runs_of_different_tasks_are_refused_with_a_reason_and_nothing_is_made(stack: Stack) -> None:
    alice = stack.learner()
    first = await run(alice, report_of("q3"))
    second = await run(alice, OTHER_TASK)
    assert (await listed(alice))[first]["compatible_with"] == []
    status, error = await alice.refused(
        "POST",
        "/api/learn/sessions",
        {"entry_mode": "demonstrating_skill", "source_trace_ids": [first, second]},
    )

    assert (status, error["code"]) == (400, "INCOMPATIBLE_TRACES")
    assert error["share"] < 0.6
    assert (await alice.ok("GET", "/api/learn/sessions"))["total"] == 2


async def test_a_run_of_somebody_else_is_unknown_and_a_purged_one_is_gone(stack: Stack) -> None:
    alice, bob = stack.learner(), stack.learner("bob")
    trace = await run(alice, report_of("q3"))
    assert await listed(bob) == {}
    body = {"entry_mode": "demonstrating_skill", "source_trace_ids": [trace]}
    _, error = await bob.refused("POST", "/api/learn/sessions", body)
    assert error["reasons"] == {trace: "There is no such run of yours."}

    await alice.ok("DELETE", f"/api/learn/sessions/{alice.session_id}")
    assert await listed(alice) == {}


async def test_a_repeated_create_answers_the_same_session_even_if_the_run_is_taken_by_then(
    stack: Stack,
) -> None:
    alice = stack.learner()
    trace = await run(alice, report_of("q3"))
    body = {"entry_mode": "demonstrating_skill", "source_trace_ids": [trace]}
    first = await alice.ok("POST", "/api/learn/sessions", body, idempotency_key="run-1")
    second = await alice.ok("POST", "/api/learn/sessions", body, idempotency_key="run-1")

    assert second == first


async def test_a_recent_run_can_improve_an_installed_skill(stack: Stack) -> None:
    alice = stack.learner()
    await alice.teach()
    approved = await alice.propose_act("approve")
    trace = await run(alice, (*report_of("q3"), ("tar czf q3.tgz reports", ("q3.tgz",))))
    created = await alice.create(
        entry_mode="improving_existing_skill",
        target_kind="existing_skill",
        target_skill_id=approved["proposal"]["ability_id"],
        observation_mode="none",
        source_trace_ids=[trace],
    )
    await alice.propose()
    shown = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/diff")

    assert created["next_action"] == "show_skill_delta_editor"
    assert created["session"]["state"] == "reviewing"
    assert shown["base_version"] == 1
    assert "q3.tgz" in shown["diff"]


async def test_a_practice_session_takes_no_recent_runs(stack: Stack) -> None:
    alice = stack.learner()
    trace = await run(alice, report_of("q3"))
    status, error = await alice.refused(
        "POST",
        "/api/learn/sessions",
        {"entry_mode": "autonomous_agent_practice", "source_trace_ids": [trace]},
    )

    assert (status, error["code"]) == (422, "VALIDATION_FAILED")
