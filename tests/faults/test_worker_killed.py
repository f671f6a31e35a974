"""A worker is killed wherever a lesson has got to: another one finishes it, and everything happened once."""

from pathlib import Path

import httpx
import pytest

from tests.e2e.test_ability_trial import ended, handed_in
from tests.faults.deployment import Deployment
from tests.faults.patience import eventually
from tests.faults.traps import FAIL
from tests.faults.verdict import (
    assert_installed_once,
    assert_sound,
    demonstrate,
    installed,
    receipts_of,
    saga_of,
    shown_by,
    teach,
)
from tests.fixtures.learner import Learner
from tests.fixtures.recorded_terminal import record

pytestmark = pytest.mark.anyio

TAKES_A_WHILE = "seq 1 250000 | sort -R | tail -n 1"
"""Longer than the second after which a running command is reported for the first time."""

PLACES = ("Oslo", "Bern", "Porto", "Rome", "Corfu", "London")

BEFORE_AND_AFTER = ("before", "after")


async def approved(learner: Learner) -> bool:
    """Asks under one key, as who is told that the install goes on is advised to."""
    path, key = f"/api/learn/proposals/{learner.proposal_id}/approve", f"approve {learner.proposal_id}"
    response = await learner.call("POST", path, idempotency_key=key)
    waits = ("VALIDATION_IN_PROGRESS", "INSTALL_IN_PROGRESS")
    assert response.is_success or response.json()["error"]["code"] in waits, response.text
    return response.is_success


async def record_sorting(deployment: Deployment, learner: Learner, desk: Path) -> None:
    """Shows in a recorded terminal how a file that is there already is sorted."""
    await learner.create()
    await learner.act("start")
    await learner.act("mark-goal", {"goal_description": f"Sort the sales of {learner.user}, largest first"})
    desk.mkdir()
    (desk / "sales.csv").write_text("".join(f"{name},{name.count('o') * 7 + 3}\n" for name in PLACES))
    await record(learner, deployment.settings.local_api_url, desk, ("sort -t, -k2 -nr sales.csv > top.csv",))
    await learner.act("stop")


@pytest.mark.parametrize(
    ("check", "step"),
    [
        ("run_check.lint", "plan"),
        ("run_check.trigger", "materialise"),
        ("run_check.dry_run", "project_workspace"),
        ("run_check.dependency_check", "rebuild_bridge"),
        ("rehearse.rehearsal", "refresh_availability"),
    ],
)
async def test_killed_before_and_after_a_check_and_a_step(
    deployment: Deployment, http: httpx.AsyncClient, check: str, step: str
) -> None:
    points = [f"{stage}.{when}" for stage in (check, f"install_step.{step}") for when in BEFORE_AND_AFTER]
    alice = deployment.learner(http)
    await demonstrate(alice)
    await alice.propose()
    async with deployment.replacing_workers():
        for point in points:
            deployment.traps.set(point)
        assert await alice.prove() == "ready_for_review"
        await alice.propose_act("approve")
    assert [point for point in points if not deployment.traps.has_sprung(point)] == []
    await assert_installed_once(deployment, alice)


async def test_killed_in_the_middle_of_a_rehearsal(deployment: Deployment, http: httpx.AsyncClient) -> None:
    alice = deployment.learner(http)
    deployment.traps.set("rehearse.midway")
    await teach(alice, shown_by(alice, TAKES_A_WHILE))
    assert deployment.traps.has_sprung("rehearse.midway")
    await alice.propose_act("approve")
    await assert_installed_once(deployment, alice)


async def test_killed_in_the_middle_of_the_replay_a_lesson_is_replayed_again_and_drafted_with_its_proof(
    deployment: Deployment, http: httpx.AsyncClient, tmp_path: Path
) -> None:
    alice = deployment.learner(http)
    await record_sorting(deployment, alice, tmp_path / "desk")
    deployment.traps.set("replay_lesson.midway")
    async with deployment.replacing_workers():
        await alice.propose()
    assert deployment.traps.has_sprung("replay_lesson.midway")
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    assert any("sorted by field 2" in one for one in detail["interpretation"]["success_conditions"])
    assert await alice.prove() == "ready_for_review"
    await alice.propose_act("approve")
    await assert_installed_once(deployment, alice)


async def test_killed_while_steps_are_left_out_a_validation_leaves_them_out_again_and_reports_each_condition_once(
    deployment: Deployment, http: httpx.AsyncClient, tmp_path: Path
) -> None:
    alice = deployment.learner(http)
    await record_sorting(deployment, alice, tmp_path / "desk")
    await alice.propose()
    # Nobody has judged this one, so that the validation replays the lesson.
    edited = {"success_conditions": ["The file top.csv holds “Oslo,10”"]}
    await alice.propose_act("revise", {"revision_instructions": "", "edited_fields": edited})
    deployment.traps.set("rehearse.midway")
    async with deployment.replacing_workers():
        assert await alice.prove(selected_tests=["ablation"]) == "drafting_proposal"
    assert deployment.traps.has_sprung("rehearse.midway")
    found = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/validation-runs")
    cases = [(step["test_case_id"], step["result"]) for step in found["steps"]]
    assert cases == [("ablation/condition-01", "passed")]
    assert [run["overall_result"] for run in found["runs"]] == ["passed"]


async def test_killed_in_the_middle_of_a_trial_it_is_run_again_from_its_start(
    deployment: Deployment, http: httpx.AsyncClient, tmp_path: Path
) -> None:
    alice = deployment.learner(http)
    await teach(alice, shown_by(alice, TAKES_A_WHILE))
    detail = await alice.propose_act("approve")
    (tmp_path / "folder").mkdir()
    deployment.traps.set("try_ability.midway")
    async with deployment.replacing_workers():
        folder_ref = await handed_in(alice, tmp_path / "folder")
        path = f"/api/abilities/{detail['proposal']['ability_id']}/trials"
        started = await alice.ok("POST", path, {"folder_ref": folder_ref})
        run = await ended(alice, started["trial_id"])
    assert deployment.traps.has_sprung("try_ability.midway")
    assert (run["state"], [one["result"] for one in run["commands"]]) == ("passed", ["worked"]), run
    kinds = [one["event_kind"] for one in (await alice.ok("GET", "/api/learn/receipts"))["receipts"]]
    assert (kinds.count("trial_started"), kinds.count("trial_ended")) == (1, 1)


async def test_killed_after_a_decision_was_written_and_before_anybody_knew(
    deployment: Deployment, http: httpx.AsyncClient
) -> None:
    decisions = ("testing_proposal", "ready_for_review", "install_begun", "approved")
    points = [f"commit_session.{decision}.after" for decision in decisions]
    points += ["draft_proposal.any.after", "commit_session.install_begun.before"]
    alice = deployment.learner(http)
    async with deployment.replacing_workers():
        for point in points:
            deployment.traps.set(point)
        await teach(alice)
        # The store may be ahead of a workflow that has lost its worker; until then it says to try again.
        await eventually(lambda: approved(alice), "the approval is never taken")
    assert [point for point in points if not deployment.traps.has_sprung(point)] == []
    await assert_installed_once(deployment, alice)


@pytest.mark.parametrize("undo", ["rebuild_bridge.before", "materialise.after"])
async def test_killed_in_the_middle_of_an_undo(
    deployment: Deployment, http: httpx.AsyncClient, undo: str
) -> None:
    alice = deployment.learner(http)
    await teach(alice)
    before = await installed(deployment)
    deployment.traps.set("install_step.refresh_availability.after", FAIL)
    deployment.traps.set(f"undo_install_step.{undo}")
    await alice.propose_act("approve")
    assert deployment.traps.has_sprung(f"undo_install_step.{undo}")
    assert await alice.state() == "quarantined"
    assert await installed(deployment) == before
    saga = await saga_of(alice)
    assert saga["state"] == "rolled_back"
    assert [step["state"] for step in saga["steps"]] == ["compensated"] * 5
    undone = [step["updated_at"] for step in saga["steps"]]
    assert undone == sorted(undone, reverse=True)
    receipts = await receipts_of(alice)
    assert receipts[-3:] == ("install_requested", "install_failed", "quarantined")
    assert len(set(receipts)) == len(receipts)
    await assert_sound(deployment)
