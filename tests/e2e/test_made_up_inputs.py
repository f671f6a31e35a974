"""Data that is written in a lesson and worked on in it: a person says whether it is there already next time."""

from pathlib import Path
from typing import Any

import pytest

from host.folder_archive import unpack_folder
from tests.e2e.test_ability_trial import LIMITS, ended, handed_in
from tests.fixtures.learner import Learner
from tests.fixtures.recorded_terminal import record
from tests.fixtures.served import served
from tests.fixtures.stack import Stack

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

SHOWN = (
    "printf 'rowan 40\\nalder 25\\nrowan 35\\n' > harvest.txt",
    "sort harvest.txt > ranked.txt",
    "awk '{ t[$1] += $2 } END { for (c in t) print c, t[c] }' ranked.txt > sums.txt",
)


async def asked(stack: Stack, desk: Path) -> tuple[Learner, list[dict[str, Any]]]:
    """A lesson whose data was made up in it, and the questions about it."""
    desk.mkdir()
    alice = stack.learner()
    await alice.create(target_app_whitelist=["terminal"])
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": "Sum the harvest of each tree"})
    async with served(stack) as api:
        await record(alice, api, desk, SHOWN)
    await alice.act("stop")
    await alice.propose(ask_before_build=True)
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    return alice, detail["questions"]


async def answered(alice: Learner, questions: list[dict[str, Any]], about_the_file: str) -> dict[str, Any]:
    """The proposal once the question about the file is answered so, and all others as suggested."""
    said = {one["question_id"]: one.get("suggestion") or "none" for one in questions}
    said[questions[0]["question_id"]] = about_the_file
    answers = [{"question_id": one, "answer_text": text} for one, text in said.items()]
    await alice.act("answer-questions", {"answers": answers})
    return await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")


async def test_data_that_is_there_already_is_taken_out_of_the_method_and_worked_on_elsewhere(
    stack: Stack, tmp_path: Path
) -> None:
    alice, questions = await asked(stack, tmp_path / "desk")
    assert questions[0]["question_text"].startswith("Is harvest.txt there already next time")

    detail = await answered(alice, questions, "Yes, it is there already")
    meaning = detail["interpretation"]
    assert "harvest.txt" in [example for one in meaning["parameters"] for example in one["examples"]]
    assert not any("rowan" in said for said in meaning["success_conditions"])
    assert await alice.prove() == "ready_for_review"
    await alice.propose_act("approve")

    (entry,) = (await alice.ok("GET", "/api/abilities/availability"))["abilities"]
    other = tmp_path / "other"
    other.mkdir()
    (other / "harvest.txt").write_text("elm 1\nelm 2\n")
    trials = f"/api/abilities/{entry['ability_id']}/trials"
    run = await ended(
        alice, (await alice.ok("POST", trials, {"folder_ref": await handed_in(alice, other)}))["trial_id"]
    )
    assert run["state"] == "passed", run
    assert [one["command"].partition(" ")[0] for one in run["commands"]] == ["sort", "awk"]
    archive = await alice.call("GET", f"/api/abilities/trials/{run['trial_id']}/result")
    out = tmp_path / "out"
    out.mkdir()
    unpack_folder(archive.content, out, LIMITS)
    assert (out / "harvest.txt").read_text() == "elm 1\nelm 2\n"
    assert (out / "sums.txt").read_text() == "elm 3\n"


async def test_data_that_the_work_makes_stays_in_the_method(stack: Stack, tmp_path: Path) -> None:
    alice, questions = await asked(stack, tmp_path / "desk")
    detail = await answered(alice, questions, questions[0]["suggestion"])
    files = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/files")
    drafted = {file["path"]: file["content"] for file in files["files"]}
    assert "printf 'rowan 40" in drafted["references/demonstration.md"]
    assert any("harvest.txt" in said for said in detail["interpretation"]["success_conditions"])


async def test_an_answer_that_is_not_understood_is_named_on_the_draft(stack: Stack, tmp_path: Path) -> None:
    alice, questions = await asked(stack, tmp_path / "desk")
    detail = await answered(alice, questions, "hm")
    assert detail["proposal"]["drafter_note"].startswith(
        "“hm” does not say whether harvest.txt is there already. So the work makes it"
    )
