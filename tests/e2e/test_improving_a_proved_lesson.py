"""An improvement keeps what its base proved, and is rehearsed on the folder that its commands were shown on."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.fixtures.learner import Demonstrated, Learner
from tests.fixtures.stack import Stack
from tests.fixtures.starting import state_of

pytestmark = pytest.mark.anyio

LOGS = {"app.log": b"b\na\nc\n", "old.log": b"x\n"}
ROTATED: tuple[Demonstrated, ...] = (("sort -r app.log > app.log.1", ("app.log.1",)),)
COUNTED: tuple[Demonstrated, ...] = (*ROTATED, ("wc -l < app.log.1 > count.txt", ("count.txt",)))


async def show(
    stack: Stack, learner: Learner, shown: tuple[Demonstrated, ...], files: Mapping[str, bytes] = LOGS
) -> None:
    """A demonstration in a folder with these files, up to the draft."""
    await learner.act("start")
    clean = state_of(learner.session_id, files, taken_at=datetime.now(UTC))
    stack.services.starting_states.keep(clean)
    await learner.observe(shown)
    await learner.act("stop")
    await learner.propose()


async def installed(stack: Stack) -> tuple[Learner, str]:
    """A proved ability that works on files which were there, and its owner."""
    alice = stack.learner()
    await alice.create()
    await show(stack, alice, ROTATED)
    assert await alice.prove() == "ready_for_review"
    return alice, await approved(alice)


async def approved(learner: Learner) -> str:
    return str((await learner.propose_act("approve"))["proposal"]["ability_id"])


async def improve(learner: Learner, ability_id: str, **fields: Any) -> None:
    mode = {"entry_mode": "improving_existing_skill", "target_kind": "existing_skill"}
    await learner.create(**mode, target_skill_id=ability_id, **fields)


async def improved_in_words(learner: Learner, ability_id: str, words: str) -> None:
    await improve(learner, ability_id, observation_mode="none")
    await learner.act("stop")
    await learner.propose()
    await learner.propose_act("revise", {"revision_instructions": words})


async def rehearsed(learner: Learner) -> dict[str, str]:
    """Each case of the newest run's rehearsal with its result."""
    found = await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/validation-runs")
    newest = found["runs"][0]["validation_run_id"]
    return {
        step["test_case_id"]: f"{step['result']}: {step['details']}"
        for step in found["steps"]
        if step["validation_run_id"] == newest and step["test_case_id"].startswith("rehearsal/")
    }


async def diff_of(learner: Learner) -> str:
    return str((await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/diff"))["diff"])


async def test_words_alone_are_rehearsed_on_the_folder_of_the_lesson_that_they_improve(stack: Stack) -> None:
    alice, ability_id = await installed(stack)
    first = await rehearsed(alice)
    for phrase in ("roll the logs", "turn the logs"):
        await improved_in_words(alice, ability_id, f'add the trigger "{phrase}"')

        assert await alice.prove() == "ready_for_review", await rehearsed(alice)
        assert await rehearsed(alice) == first
        assert any(case.startswith("rehearsal/condition-") for case in first)
        assert await approved(alice) == ability_id


async def test_words_alone_are_proved_by_the_replays_of_the_lesson_that_they_improve(stack: Stack) -> None:
    alice, ability_id = await installed(stack)
    await improved_in_words(alice, ability_id, 'add the trigger "roll the logs"')
    assert await alice.prove() == "ready_for_review"
    assert await alice.prove(selected_tests=["ablation"]) == "ready_for_review"
    found = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/validation-runs")
    told = {step["test_case_id"]: step["details"] for step in found["steps"]}

    assert "told apart by" in told["ablation/condition-01"]


async def test_a_better_way_is_rehearsed_on_its_own_folder_and_keeps_the_facts_and_the_example(
    stack: Stack,
) -> None:
    alice, ability_id = await installed(stack)
    await improve(alice, ability_id)
    await show(stack, alice, COUNTED)
    changed = await diff_of(alice)

    assert "-## What the result depends on" not in changed
    assert "-How it was done once" not in changed
    assert "+wc -l < {app_file}.1 > count.txt" in changed
    assert await alice.prove() == "ready_for_review", await rehearsed(alice)
    assert {result.partition(":")[0] for result in (await rehearsed(alice)).values()} == {"passed"}


async def test_words_that_rename_a_parameter_are_spoken_by_the_example_too(stack: Stack) -> None:
    alice, ability_id = await installed(stack)
    files = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/files")
    (before,) = [f["content"] for f in files["files"] if f["path"] == "references/demonstration.md"]
    assert "{app_file}" in before

    await improved_in_words(alice, ability_id, "rename the parameter app_file to log")
    files = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/files")
    texts = {file["path"]: file["content"] for file in files["files"]}
    assert "{log}" in texts["references/demonstration.md"]
    assert not any("{app_file}" in text for text in texts.values())


async def test_once_the_folder_of_the_lesson_is_gone_its_improvement_begins_with_an_empty_one_and_says_so(
    stack: Stack,
) -> None:
    alice, ability_id = await installed(stack)
    with stack.database.write() as connection:
        stack.services.observations.purge(connection, alice.session_id)
    await improved_in_words(alice, ability_id, 'add the trigger "roll the logs"')

    assert await alice.prove() == "drafting_proposal"
    said = (await rehearsed(alice))["rehearsal/command-01"]
    assert said.startswith("failed: ")
    assert "It began with an empty folder, as no starting state is kept" in said
