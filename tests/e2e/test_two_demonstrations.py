"""One task shown twice with other inputs becomes one skill that asks for what differed."""

import json

import pytest

from tests.fixtures.learner import Demonstrated, Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


def report_of(quarter: str, customer: str) -> tuple[Demonstrated, ...]:
    """The report of one quarter and customer, as a person types it."""
    source, top = f"reports/{quarter}/{customer}.csv", f"reports/{quarter}/top.txt"
    return (
        (f"mkdir -p reports/{quarter}", ()),
        (f"printf 'north,3\\nsouth,9\\n' > {source}", (source,)),
        (f"sort -t, -k2 -nr {source} > {top}", (top,)),
        (f"tar czf {customer}-{quarter}.tgz reports/{quarter}", (f"{customer}-{quarter}.tgz",)),
    )


async def show_twice(learner: Learner) -> None:
    """Both demonstrations in one session, up to the stop."""
    await learner.create()
    await learner.act("start")
    await learner.act("mark-goal", {"goal_description": "Pack the report of q3"})
    await learner.observe(report_of("q3", "anna"))
    await learner.act("pause")
    await learner.act("resume", {"new_demonstration": True})
    await learner.observe(report_of("q4", "bertram"))
    await learner.act("stop")


@pytest.mark.acceptance("0A.33-1")
async def test_two_demonstrations_with_other_inputs_install_as_one_skill_with_parameters(
    stack: Stack,
) -> None:
    alice = stack.learner()
    await show_twice(alice)
    await alice.propose()
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    found = {p["name"]: p for p in detail["interpretation"]["parameters"]}

    assert found["quarter"]["examples"] == ["q3", "q4"]
    assert [p["examples"] for p in found.values() if "anna" in p["examples"]] == [["anna", "bertram"]]
    assert len(found) == 2
    assert len(detail["proposal"]["source_trace_ids"]) == 2

    assert await alice.prove() == "ready_for_review"
    await alice.propose_act("approve")
    (entry,) = (await alice.ok("GET", "/api/abilities/availability"))["abilities"]
    slug = detail["proposal"]["proposed_skill_slug"]
    text = (stack.settings.workspace / "skills" / slug / "SKILL.md").read_text()
    manifest = json.loads(
        (stack.settings.memory_root / f"system/capabilities/manifests/learned.{slug}.json").read_text()
    )
    assert "## Parameters" in text
    assert "{quarter}" in text
    assert "reports/{quarter}/top.txt" in text
    assert set(manifest["input_schema"]["properties"]) == set(found)
    assert entry["usable_now"] is True
    assert all("q3" not in phrase for phrase in detail["proposal"]["trigger_phrases"])


async def test_a_single_demonstration_makes_no_parameter(stack: Stack) -> None:
    alice = stack.learner()
    await alice.demonstrate()
    await alice.propose()
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")

    assert detail["interpretation"]["parameters"] == []


async def test_demonstrations_of_different_tasks_are_refused_with_what_they_share(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await alice.observe(report_of("q3", "anna"))
    await alice.act("pause")
    await alice.act("resume", {"new_demonstration": True})
    await alice.observe(
        (("pandoc notes.md -o notes.pdf", ("notes.pdf",)), ("sha256sum notes.pdf > s", ("s",)))
    )
    await alice.act("stop")
    status, error = await alice.refused(
        "POST", f"/api/learn/sessions/{alice.session_id}/generate-proposal", {}
    )

    assert (status, error["code"]) == (400, "INCOMPATIBLE_TRACES")
    assert error["share"] == 0.0
    assert await alice.state() == "stopped"
