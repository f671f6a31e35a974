"""One task shown twice with other inputs becomes one skill that asks for what differed."""

import json
from datetime import UTC, datetime

import pytest

from tests.fixtures.learner import Demonstrated, Learner
from tests.fixtures.stack import Stack
from tests.fixtures.starting import state_of

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


async def show_twice(learner: Learner, *more: Demonstrated) -> None:
    """Both demonstrations in one session, the second with ``more``, up to the stop."""
    await learner.create()
    await learner.act("start")
    await learner.act("mark-goal", {"goal_description": "Pack the report of q3"})
    await learner.observe(report_of("q3", "anna"))
    await learner.act("pause")
    await learner.act("resume", {"new_demonstration": True})
    await learner.observe((*report_of("q4", "bertram"), *more))
    await learner.act("stop")


@pytest.mark.thorough
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


async def test_a_person_renames_and_retypes_a_parameter_and_the_whole_draft_follows(stack: Stack) -> None:
    alice = stack.learner()
    await show_twice(alice)
    await alice.propose()
    renamed = {"name": "quarter", "new_name": "period", "type": "choice", "required": False}
    await alice.propose_act(
        "revise", {"revision_instructions": "rename", "edited_fields": {"parameters": [renamed]}}
    )
    described = {"name": "period", "description": "The quarter to report on"}
    detail = await alice.propose_act(
        "revise", {"revision_instructions": "describe", "edited_fields": {"parameters": [described]}}
    )
    found = {p["name"]: p for p in detail["interpretation"]["parameters"]}
    files = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/files")
    texts = {file["path"]: file["content"] for file in files["files"]}
    (manifest,) = [json.loads(text) for path, text in texts.items() if path.startswith("capabilities/")]

    assert (found["period"]["type"], found["period"]["required"]) == ("choice", False)
    assert "- {period} (choice, optional): The quarter to report on" in texts["SKILL.md"]
    assert not any("{quarter}" in text for text in texts.values())
    assert manifest["input_schema"]["properties"]["period"]["enum"] == ["q3", "q4", ""]
    assert await alice.prove() == "ready_for_review"


async def test_an_edit_of_a_parameter_that_was_not_shown_is_refused_and_changes_nothing(
    stack: Stack,
) -> None:
    alice = stack.learner()
    await show_twice(alice)
    await alice.propose()
    before = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    status, error = await alice.refused(
        "POST",
        f"/api/learn/proposals/{alice.proposal_id}/revise",
        {
            "revision_instructions": "rename",
            "edited_fields": {"parameters": [{"name": "month", "new_name": "period"}]},
        },
    )

    assert (status, error["code"]) == (422, "REVISION_INVALID")
    assert [field["path"] for field in error["fields"]] == ["parameters/month/name"]
    assert "quarter" in error["message"]
    after = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    assert after["proposal"]["content_hash"] == before["proposal"]["content_hash"]


async def test_each_demonstration_is_rehearsed_with_its_own_inputs(stack: Stack) -> None:
    alice = stack.learner()
    await show_twice(alice)
    await alice.propose()
    assert await alice.prove() == "ready_for_review"
    runs = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/validation-runs")
    rehearsed = {
        step["test_case_id"]: step for step in runs["steps"] if step["test_case_id"].startswith("rehearsal/")
    }

    assert {step["result"] for step in rehearsed.values()} == {"passed"}
    made = {step["label"] for case, step in rehearsed.items() if "demonstration-2/effect" in case}
    assert "demonstration 2: bertram-q4.tgz exists" in made
    assert any("demonstration-1/effect" in case for case in rehearsed)


def sorted_table(city: str) -> tuple[Demonstrated, ...]:
    return ((f"sort -t, -k2 -n {city}.csv > top.csv", ("top.csv",)),)


async def test_each_demonstration_is_rehearsed_on_the_folder_that_it_began_with(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    for city in ("wien", "graz"):
        if city == "graz":
            await alice.act("pause")
            await alice.act("resume", {"new_demonstration": True})
        files = {f"{city}.csv": f"{city},9\nlinz,3\n".encode()}
        clean = state_of(alice.session_id, files, taken_at=datetime.now(UTC))
        stack.services.starting_states.keep(clean)
        await alice.observe(sorted_table(city))
    await alice.act("stop")
    await alice.propose()
    assert await alice.prove() == "ready_for_review"
    runs = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/validation-runs")
    rehearsed = [step for step in runs["steps"] if step["test_case_id"].startswith("rehearsal/")]

    assert [step for step in rehearsed if step["result"] != "passed"] == []
    assert "demonstration 2: run: sort -t, -k2 -n graz.csv > top.csv" in [one["label"] for one in rehearsed]


async def test_a_step_that_only_the_second_demonstration_had_is_asked_about_and_noted(stack: Stack) -> None:
    alice = stack.learner()
    await show_twice(alice, ("sha256sum bertram-q4.tgz > bertram-q4.sum", ("bertram-q4.sum",)))
    asked = await alice.ok(
        "POST", f"/api/learn/sessions/{alice.session_id}/generate-proposal", {"ask_before_build": True}
    )
    proposal_id = asked["session"]["proposal_id"]
    detail = await alice.ok("GET", f"/api/learn/proposals/{proposal_id}/detail")
    (step,) = detail["interpretation"]["optional_steps"]
    asked_about = " ".join(question["question_text"] for question in detail["questions"])

    assert (step["demonstrations"], step["of"]) == ([2], 2)
    assert "in demonstration 2 of 2" in asked_about
