"""Lessons as people give them: typed in a real shell, seen by the real recorder, sent to the served API."""

import json
from pathlib import Path

import anyio
import pytest

from tests.fixtures.learner import WAIT_AT_MOST_SECONDS, Learner
from tests.fixtures.recorded_terminal import record
from tests.fixtures.served import served
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

GOAL = "Pack the sales report of a quarter"


def report_of(quarter: str) -> tuple[str, ...]:
    """The report of one quarter."""
    folder = f"reports/{quarter}"
    return (
        f"mkdir -p {folder}",
        f"printf 'north,3\\nsouth,9\\n' > {folder}/sales.csv",
        f"sort -t, -k2 -nr {folder}/sales.csv > {folder}/top.csv",
        f"tar -czf sales-{quarter}.tgz {folder}",
    )


def with_slips(commands: tuple[str, ...]) -> tuple[str, ...]:
    """The same, where the person looks around and mistypes a word."""
    first, *others = commands
    return (first, "ls reports", "sotr reports", *others, "ls -l")


@pytest.mark.thorough
@pytest.mark.acceptance("0A.33-1")
async def test_two_recorded_lessons_with_other_inputs_become_one_skill_with_a_parameter(
    stack: Stack, tmp_path: Path
) -> None:
    alice, desk = stack.learner(), tmp_path / "desk"
    await alice.create(target_app_whitelist=["terminal"])
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": GOAL})
    async with served(stack) as api:
        assert await record(alice, api, desk, report_of("q3")) == 4
        await alice.act("pause")
        await alice.act("resume", {"new_demonstration": True})
        # The slip is recorded, looking around is not.
        assert await record(alice, api, desk, with_slips(report_of("q4"))) == 5
    await alice.act("stop")
    await alice.propose()

    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    (parameter,) = detail["interpretation"]["parameters"]
    assert (parameter["name"], parameter["type"], parameter["required"]) == ("quarter", "text", True)
    assert parameter["examples"] == ["q3", "q4"]
    assert len(detail["proposal"]["source_trace_ids"]) == 2

    assert await alice.prove() == "ready_for_review"
    runs = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/validation-runs")
    rehearsed = {
        step["label"]: step["result"]
        for step in runs["steps"]
        if step["test_case_id"].startswith("rehearsal/")
    }
    assert set(rehearsed.values()) == {"passed"}
    assert any("sales-q3.tgz exists" in label for label in rehearsed)
    assert any(label == "demonstration 2: sales-q4.tgz exists" for label in rehearsed)

    await alice.propose_act("approve")
    slug = detail["proposal"]["proposed_skill_slug"]
    skill = (stack.settings.workspace / "skills" / slug / "SKILL.md").read_text()
    manifest = json.loads(
        (stack.settings.memory_root / f"system/capabilities/manifests/learned.{slug}.json").read_text()
    )
    assert "- {quarter} (text)" in skill
    assert "sales-{quarter}.tgz" in skill
    assert "sotr" not in skill
    assert manifest["input_schema"]["properties"]["quarter"]["examples"] == ["q3", "q4"]
    found = await alice.ok("POST", "/api/abilities/lookup", {"user_query": "pack the sales report"})
    assert [match["usable_now"] for match in found["matches"]] == [True]


@pytest.mark.thorough
@pytest.mark.acceptance("9.16-1")
async def test_a_task_recorded_in_three_sessions_is_mined_into_one_proven_proposal(
    stack: Stack, tmp_path: Path
) -> None:
    alice = stack.learner()
    allowed = {"mode": "build_then_review", "observe_outside_agent": True}
    await alice.ok("PUT", "/api/learn/mining/settings", allowed)
    shown: list[str] = []
    async with served(stack) as api:
        for quarter in ("q1", "q2", "q3"):
            await alice.create(target_app_whitelist=["terminal"])
            await alice.act("start")
            await alice.act("mark-goal", {"goal_description": GOAL})
            commands = report_of(quarter)
            await record(
                alice, api, tmp_path / quarter, with_slips(commands) if quarter == "q2" else commands
            )
            await alice.act("stop")
            await alice.act("cancel")
            shown.append(alice.session_id)
    assert await mined(alice) == {"traces": 3, "candidates": 1, "built": 1}

    (found,) = (await alice.ok("GET", "/api/learn/mining/candidates"))["candidates"]
    candidate = found["candidate"]
    assert sorted(candidate["source_session_ids"]) == sorted(shown)
    assert (candidate["title"], found["session_state"]) == (GOAL, "ready_for_review")
    detail = await alice.ok("GET", f"/api/learn/proposals/{candidate['proposal_id']}/detail")
    (parameter,) = detail["interpretation"]["parameters"]
    assert (parameter["name"], sorted(parameter["examples"])) == ("quarter", ["q1", "q2", "q3"])
    files = await alice.ok("GET", f"/api/learn/proposals/{candidate['proposal_id']}/files")
    skill = next(file["content"] for file in files["files"] if file["path"] == "SKILL.md")
    assert "sales-{quarter}.tgz" in skill
    assert "sotr" not in skill


async def mined(learner: Learner) -> dict[str, int]:
    """What a run over the learner's captures found."""
    run = await learner.ok("POST", "/api/learn/mining/scan")
    with anyio.fail_after(2 * WAIT_AT_MOST_SECONDS):
        while run["state"] == "running":
            await anyio.sleep(0.05)
            run = await learner.ok("GET", f"/api/learn/mining/runs/{run['run_id']}")
    assert run["state"] == "completed", run
    return {name: run["progress"][name] for name in ("traces", "candidates", "built")}
