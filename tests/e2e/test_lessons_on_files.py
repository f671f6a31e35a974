"""Lessons on files that are there already: replayed on their starting state, drafted from what that proved."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from stores.learning.lesson_evidence import LessonEvidenceStore
from stores.platform.tables import lesson_evidence
from tests.fixtures.learner import Learner
from tests.fixtures.recorded_terminal import record
from tests.fixtures.served import served
from tests.fixtures.stack import Stack

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

ROWS = "".join(f"item {n},{n * 37 % 23}\n" for n in range(20))
SHOWN = (
    "ls",
    "export LIMIT=3",
    "sotr -t, -k2 stock.csv",
    "sort -t, -k2 stock.csv > top.csv",
    'sort -t, -k2,2nr stock.csv | head -n "$LIMIT" > top.csv',
    "cp top.csv scratch.csv",
    "rm scratch.csv",
    "cat > count.sh <<'END'\nwc -l < top.csv\nEND",
    "bash count.sh > count.txt",
)


async def taught(
    stack: Stack,
    desk: Path,
    commands: tuple[str, ...],
    goal: str = "List the three largest stocks",
    **proposing: Any,
) -> tuple[Learner, dict[str, Any]]:
    """A drafted lesson of these commands, and the proposal's detail."""
    alice = await shown(stack, desk, commands, goal)
    await alice.propose(**proposing)
    return alice, await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")


async def shown(stack: Stack, desk: Path, commands: tuple[str, ...], goal: str) -> Learner:
    """A lesson of these commands up to its stop."""
    desk.mkdir()
    (desk / "stock.csv").write_text(ROWS)
    alice = stack.learner()
    await alice.create(target_app_whitelist=["terminal"])
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": goal})
    async with served(stack) as api:
        await record(alice, api, desk, commands)
    await alice.act("stop")
    return alice


async def test_a_command_that_is_left_out_in_words_takes_what_rested_on_it_along(
    stack: Stack, tmp_path: Path
) -> None:
    commands = (
        "sort -t, -k2,2nr stock.csv > sorted.csv",
        "head -n 3 sorted.csv > top.csv",
        "wc -l < stock.csv > count.txt",
        "cp stock.csv stock.bak",
        "rm sorted.csv",
    )
    alice, before = await taught(stack, tmp_path / "desk", commands)
    path = f"/api/learn/proposals/{alice.proposal_id}"
    assert "stock.bak" in str(before["interpretation"]["checkpoints"])
    status, error = await alice.refused(
        "POST", f"{path}/revise", {"revision_instructions": "leave out the step that makes the sorted list"}
    )
    assert (status, error["code"]) == (422, "REVISION_INVALID")
    assert "“head -n 3 sorted.csv > top.csv” uses sorted.csv, which it makes" in error["message"]

    unknown = {"revision_instructions": "", "edited_fields": {"left_out": [alice.proposal_id]}}
    status, error = await alice.refused("POST", f"{path}/revise", unknown)
    assert (status, error["code"]) == (422, "REVISION_INVALID")

    words = {"revision_instructions": "Call it Top of the stock. Do not delete the sorted list, drop the cp."}
    detail = await alice.propose_act("revise", words)
    assert detail["proposal"]["drafter_note"] == ""
    checkpoints = str(detail["interpretation"]["checkpoints"])
    assert "stock.bak" not in checkpoints
    assert "count.txt" in checkpoints
    assert "sorted.csv" in checkpoints
    files = {one["path"]: one["content"] for one in (await alice.ok("GET", f"{path}/files"))["files"]}
    assert "stock.bak" not in str(files)
    assert "rm sorted.csv" not in str(files)
    assert "sorted.csv" in files["tests/success.json"]
    await alice.prove()

    twice = await alice.propose_act("revise", {"revision_instructions": "drop the wc"})
    assert "count.txt" not in str(twice["interpretation"]["checkpoints"])
    assert twice["proposal"]["title"] == "Top of the stock"
    back: dict[str, Any] = {"revision_instructions": "look again", "edited_fields": {"left_out": []}}
    again = await alice.propose_act("revise", back)
    assert again["interpretation"]["checkpoints"] == before["interpretation"]["checkpoints"]


async def test_a_doubtful_number_is_asked_about_first_and_becomes_a_parameter_by_the_answer(
    stack: Stack, tmp_path: Path
) -> None:
    commands, goal = ("split -l 7 stock.csv piece_",), "Cut the stock list into pieces"
    alice, detail = await taught(stack, tmp_path / "desk", commands, goal, ask_before_build=True)
    path = f"/api/learn/proposals/{alice.proposal_id}/detail"
    questions = detail["questions"]
    assert len(questions) <= 5
    assert questions[0]["question_text"].startswith(
        "Is 7 always the number of lines in “split -l 7 stock.csv piece_”"
    )

    said = {question["question_id"]: question.get("suggestion") or "none" for question in questions}
    said[questions[0]["question_id"]] = "No, call it rows"
    answers = [{"question_id": one, "answer_text": text} for one, text in said.items()]
    await alice.act("answer-questions", {"answers": answers})
    parameters = (await alice.ok("GET", path))["interpretation"]["parameters"]
    assert ("rows", "number", ["7"]) in [(p["name"], p["type"], p["examples"]) for p in parameters]

    fixed = await alice.propose_act("revise", {"revision_instructions": "make rows fixed"})
    assert "rows" not in [p["name"] for p in fixed["interpretation"]["parameters"]]


async def test_a_lesson_keeps_what_contributes_and_states_what_its_replay_proved(
    stack: Stack, tmp_path: Path
) -> None:
    alice, detail = await taught(stack, tmp_path / "desk", SHOWN)
    files = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/files")
    drafted = {file["path"]: file["content"] for file in files["files"]}
    example, skill = drafted["references/demonstration.md"], drafted["SKILL.md"]
    assert "sotr" not in skill + example
    assert "scratch.csv" not in skill + example
    assert example.count("sort -t, -k2") == 1
    assert drafted["scripts/count.sh"] == "wc -l < top.csv\n"
    assert "largest first" in skill
    assert any("sorted by field 2" in one for one in detail["interpretation"]["success_conditions"])
    shown = {one["name"]: one["examples"][0] for one in detail["interpretation"]["parameters"]}
    assert {"stock.csv", "3"} <= set(shown.values())
    left_out = {one["command"]: one["reason"] for one in detail["left_out"]}
    assert left_out["rm scratch.csv"].startswith("What it changed (scratch.csv) was replaced or removed")
    assert "sotr -t, -k2 stock.csv" in left_out

    assert await alice.prove() == "ready_for_review"
    runs = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/validation-runs")
    rehearsed = {
        s["test_case_id"]: s["result"] for s in runs["steps"] if s["test_case_id"].startswith("rehearsal/")
    }
    assert set(rehearsed.values()) == {"passed"}
    assert any(case.startswith("rehearsal/condition-") for case in rehearsed)


FAILING = ('sort stock.csv > "${PLACE-.}/sorted.csv"', 'mkdir "${PLACE-.}/new"')
"""Commands that fail where they are shown, and work in a sandbox, which does not know the variable."""


async def test_a_lesson_in_which_everything_failed_is_refused_with_what_failed(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACE", "/nowhere")
    alice = await shown(stack, tmp_path / "desk", FAILING, "Sort the stocks")
    path = f"/api/learn/sessions/{alice.session_id}/generate-proposal"
    status, error = await alice.refused("POST", path, {})
    assert (status, error["code"]) == (400, "INSUFFICIENT_TRACES")
    assert "“sort stock.csv" in error["message"]
    assert "“mkdir" in error["message"]
    assert "show the task again" in error["message"]
    assert await alice.state() == "stopped"


async def test_a_lesson_of_which_only_looking_worked_is_not_proved(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACE", "/nowhere")
    looking = ("wc -l stock.csv", FAILING[0], "cat stock.csv")
    alice, detail = await taught(stack, tmp_path / "desk", looking, "Sort the stocks")
    assert "sorted.csv" not in str(detail["interpretation"])
    assert await alice.prove() == "ready_for_review"
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    (step,) = detail["unproved"]
    assert step["step"].startswith("sort stock.csv")
    assert "failed when it was shown" in step["reason"]
    status, error = await alice.refused("POST", f"/api/learn/proposals/{alice.proposal_id}/approve", {})
    assert (status, error["code"]) == (409, "UNPROVED_NOT_ACCEPTED")


async def test_ablation_and_variation_are_asked_for_by_name_and_report_each_condition(
    stack: Stack, tmp_path: Path
) -> None:
    alice, _ = await taught(stack, tmp_path / "desk", ("sort -t, -k2,2nr stock.csv > top.csv",))
    assert await alice.prove() == "ready_for_review"
    assert await alice.prove(selected_tests=["variation", "ablation"]) == "ready_for_review"
    listed = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/validation-runs")
    run = listed["runs"][0]
    assert run["result_refs"] == ["check:ablation", "check:variation"]
    said = {
        one["test_case_id"]: (one["result"], one["details"])
        for one in listed["steps"]
        if one["validation_run_id"] == run["validation_run_id"]
    }
    assert {case.partition("/")[0] for case in said} == {"ablation", "variation"}
    assert said["ablation/condition-01"][0] == "passed"
    assert "told apart by" in said["ablation/condition-01"][1]
    assert any(text.startswith("holds for ") for result, text in said.values() if result == "passed")
    assert all(result != "failed" for result, _ in said.values()), said


async def test_what_no_sandbox_can_carry_out_is_not_rehearsed_and_says_so(
    stack: Stack, tmp_path: Path
) -> None:
    fetched = "curl -s -o prices.csv file://$PWD/stock.csv"
    alice, detail = await taught(stack, tmp_path / "desk", (fetched, "sort stock.csv > sorted.csv"))
    await alice.prove()
    runs = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/validation-runs")
    steps = {step["test_case_id"]: step for step in runs["steps"]}
    left = steps["rehearsal/unrehearsed-01"]
    assert left["result"] == "skipped"
    assert "it needs the network" in left["details"]
    assert detail["proposal"]["title"]


async def test_the_evidence_goes_with_the_observations_it_was_found_in(stack: Stack, tmp_path: Path) -> None:
    alice, _ = await taught(stack, tmp_path / "desk", ("sort stock.csv > sorted.csv",))
    found = LessonEvidenceStore(stack.database).of_session(alice.session_id)
    assert found is not None
    assert found.reproduced
    with stack.database.write() as connection:
        stack.services.observations.purge(connection, alice.session_id)
        assert connection.scalar(select(func.count()).select_from(lesson_evidence)) == 0
