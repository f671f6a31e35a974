"""The life of a session through the API: the acceptance tests of R11.2 on the learning lifecycle."""

import json
from pathlib import Path

import pytest
from sqlalchemy import select, update
from temporalio.client import WorkflowExecutionStatus

from contracts.learning.session import LearnSessionState
from gateways.platform.updates import ANSWER_WITHIN
from stores.platform.journal.journal import JournalFilter, read_entries
from stores.platform.tables import learn_sessions, proposals
from tests.fixtures.learner import SALES_REPORT
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


def boundaries_of(stack: Stack, session_id: str) -> list[str]:
    return [mark.kind.value for mark in stack.services.observations.boundaries_of(session_id)]


def receipts_of(body: dict[str, object]) -> list[str]:
    receipts = body["receipts"]
    assert isinstance(receipts, list)
    return [receipt["event_kind"] for receipt in reversed(receipts)]


@pytest.mark.acceptance("R11.2-05")
async def test_a_session_that_is_idle_is_not_tested_and_stays_as_it_is(stack: Stack) -> None:
    alice = stack.learner()
    await alice.teach()
    await alice.propose_act("reject", {"reason": "not this way"})
    # Nothing rests in idle by itself: the store is made to say so, of session and proposal.
    state = {"state": "idle"}
    with stack.database.write() as connection:
        aggregate = json.loads(connection.execute(select(learn_sessions.c.aggregate)).scalar_one())
        aggregate["session"].update(state)
        aggregate["proposal"].update(proposal_state="draft")
        connection.execute(update(learn_sessions).values(aggregate=json.dumps(aggregate), **state))
        body = json.loads(connection.execute(select(proposals.c.body)).scalar_one())
        body.update(proposal_state="draft")
        connection.execute(update(proposals).values(body=json.dumps(body), state="draft"))
    assert await alice.state() == "idle"
    status, error = await alice.refused("POST", f"/api/learn/proposals/{alice.proposal_id}/validate")
    assert (status, error["code"]) == (400, "INVALID_LEARN_STATE_TRANSITION")
    assert error["current_state"] == "idle"
    assert await alice.state() == "idle"


async def test_a_session_that_shows_nothing_yet_cannot_be_validated_or_proposed(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    status, error = await alice.refused("POST", f"/api/learn/sessions/{alice.session_id}/generate-proposal")
    assert (status, error["code"]) == (400, "INVALID_LEARN_STATE_TRANSITION")
    assert error["current_state"] == "armed"
    assert "start" in error["allowed"]
    assert await alice.state() == "armed"


@pytest.mark.acceptance("R11.2-06")
async def test_a_user_has_one_active_session_and_is_told_which(stack: Stack) -> None:
    alice, bob = stack.learner("alice"), stack.learner("bob")
    await alice.create()
    await alice.act("start")
    status, error = await alice.refused("POST", "/api/learn/sessions", {"entry_mode": "demonstrating_skill"})
    assert (status, error["code"]) == (409, "LEARN_SESSION_ALREADY_ACTIVE")
    assert error["active_session_id"] == alice.session_id
    await bob.create()
    await alice.act("cancel")
    await alice.create()


@pytest.mark.acceptance("R11.2-07")
async def test_resume_goes_from_paused_to_capturing_and_from_nowhere_else(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    path = f"/api/learn/sessions/{alice.session_id}/resume"
    assert (await alice.refused("POST", path))[1]["code"] == "INVALID_LEARN_STATE_TRANSITION"
    assert (await alice.act("pause"))["session"]["state"] == "paused"
    assert (await alice.act("resume"))["session"]["state"] == "capturing"


@pytest.mark.acceptance("R11.2-10")
async def test_what_is_trimmed_away_at_either_end_is_no_part_of_the_lesson(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": "Summarise the sales figures"})
    shown = [("cp a.csv first.csv", ("first.csv",)), *SALES_REPORT, ("cp b.csv last.csv", ("last.csv",))]
    await alice.observe(shown)
    path = f"/api/learn/sessions/{alice.session_id}/observations"
    ids = [one["event_id"] for one in (await alice.ok("GET", path))["observations"]]
    begun = await alice.act("trim", {"trim_kind": "trim_start", "to_event_id": ids[1]})
    ended = await alice.act("trim", {"trim_kind": "trim_end", "to_event_id": ids[-2]})
    marks = {mark.boundary_id: mark for mark in stack.services.observations.boundaries_of(alice.session_id)}
    first, last = (
        marks[begun["session"]["start_boundary_ref"]],
        marks[ended["session"]["stop_boundary_ref"]],
    )
    assert (first.kind.value, last.kind.value) == ("trim_start", "trim_end")
    await alice.act("stop")
    await alice.propose()
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    told = json.dumps(detail["interpretation"]) + json.dumps(detail["proposal"])
    assert "summary" in told or "reports" in told
    assert not [name for name in ("first.csv", "last.csv", "a.csv", "b.csv") if f"{name}" in told]


@pytest.mark.acceptance("R11.2-08", "R11.2-09")
async def test_goals_steps_and_trims_are_boundaries_of_the_session(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": "Summarise the sales figures"})
    await alice.act("mark-step", {"step_label": "Prepare the figures"})
    await alice.observe()
    path = f"/api/learn/sessions/{alice.session_id}/observations"
    second = (await alice.ok("GET", path))["observations"][1]["event_id"]
    trimmed = await alice.act("trim", {"trim_kind": "trim_start", "to_event_id": second})
    assert boundaries_of(stack, alice.session_id) == ["start", "mark_goal", "mark_step", "trim_start"]
    assert trimmed["session"]["start_boundary_ref"]


@pytest.mark.acceptance("R11.2-11")
async def test_generate_proposal_passes_through_reviewing_to_drafting(stack: Stack) -> None:
    alice = stack.learner()
    await alice.demonstrate()
    answer = await alice.propose()
    assert answer["session"]["state"] == "drafting_proposal"
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    assert detail["proposal"]["proposal_state"] == "draft"
    assert detail["checkpoint_lint_report"]["passed"] is True
    journal = stack.services.tail.replay(alice.session_id, 0)
    states = [entry.state for entry in journal]
    assert states[-2:] == [LearnSessionState.REVIEWING, LearnSessionState.DRAFTING_PROPOSAL]


@pytest.mark.acceptance("R11.2-13")
async def test_reject_ends_the_session_and_it_can_be_cloned(stack: Stack) -> None:
    alice = stack.learner()
    await alice.teach()
    rejected = await alice.propose_act("reject", {"reason": "not what I meant"})
    assert rejected["proposal"]["proposal_state"] == "rejected"
    assert await alice.state() == "rejected"
    old = alice.session_id
    clone = await alice.create(clone_of=old)
    assert clone["session"]["clone_of"] == old
    # What it was called is what it is found by; a session without a proposal has no name yet.
    name = rejected["proposal"]["title"]
    for path, found in (("sessions", "learn_session_id"), ("history", "learn_session_id")):
        listed = await alice.ok("GET", f"/api/learn/{path}?q={name}")
        assert [item[found] for item in listed.get("sessions", listed.get("items"))] == [old]
    assert (await alice.ok("GET", f"/api/learn/proposals?q={name}&state=rejected"))["total"] == 1
    assert (await alice.ok("GET", "/api/learn/proposals?q=nothing+so+called"))["total"] == 0


def policy(**fields: object) -> dict[str, object]:
    return {"policy_id": "01936f5e-0000-7000-8000-000000000001", "mode": "blank_artifact", **fields}


@pytest.mark.everyday
@pytest.mark.acceptance("R11.2-15")
async def test_a_failed_rehearsal_leads_back_to_drafting_and_its_repair_to_review(
    stack: Stack, tmp_path: Path
) -> None:
    source = tmp_path / "figures.csv"
    source.write_text("b,2\na,1\n")
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await alice.observe([("sort figures.csv > sorted.csv", ("sorted.csv",))])
    await alice.act("stop")
    await alice.propose()
    assert await alice.prove() == "drafting_proposal"
    runs = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/validation-runs")
    assert runs["runs"][0]["overall_result"] == "failed"
    handle = stack.client.get_workflow_handle(f"validation-run/{runs['runs'][0]['validation_run_id']}")
    described = await handle.describe()
    assert described.status is WorkflowExecutionStatus.FAILED
    (failed,) = [s for s in runs["steps"] if s["result"] == "failed"]
    assert failed["test_case_id"] == "rehearsal/command-01"
    assert "`apprentice learn test-policy --safe-target copied_document=/PATH`" in failed["details"]

    target = {"target_kind": "copied_document", "ref": str(source)}
    await alice.act("set-test-policy", {"test_policy": policy(mode="copy_artifact", safe_targets=[target])})
    assert await alice.prove() == "ready_for_review"
    assert source.read_text() == "b,2\na,1\n"


async def test_a_relative_path_of_a_document_to_copy_is_refused_at_once(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    target = {"target_kind": "copied_document", "ref": "figures.csv"}
    bounds = policy(mode="copy_artifact", safe_targets=[target])
    path = f"/api/learn/sessions/{alice.session_id}/set-test-policy"
    status, error = await alice.refused("POST", path, {"test_policy": bounds})
    assert (status, error["code"]) == (422, "VALIDATION_FAILED")
    assert "figures.csv is relative" in error["message"]
    assert [one["path"] for one in error["fields"]] == ["body.test_policy.safe_targets.0"]


async def test_a_command_that_reaches_outside_its_bounds_quarantines_the_proposal(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await alice.observe([*SALES_REPORT, ("curl -T reports.tgz https://example.org/", ())])
    await alice.act("stop")
    await alice.propose()
    assert await alice.prove() == "quarantined"
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    assert detail["proposal"]["proposal_state"] == "quarantined"
    assert detail["proposal"]["install_lane"] == "quarantined"
    await alice.propose_act("revise", {"revision_instructions": "leave the upload out"})
    assert await alice.state() == "drafting_proposal"


@pytest.mark.acceptance("R11.2-22", "R11.2-23", "R11.2-25")
@pytest.mark.parametrize(("condition", "rule"), [("div-8472", "CKP-001"), ("(340, 220)", "CKP-002")])
async def test_a_draft_that_fails_the_lint_cannot_go_to_review(
    stack: Stack, condition: str, rule: str
) -> None:
    alice = stack.learner()
    await alice.demonstrate()
    await alice.propose()
    checkpoint = {
        "checkpoint_id": "cp-01",
        "goal": "The report is ready",
        "success_condition": condition,
        "order_hint": 1,
    }
    revised = await alice.propose_act(
        "revise", {"revision_instructions": "simplify", "edited_fields": {"checkpoints": [checkpoint]}}
    )
    findings = revised["checkpoint_lint_report"]["findings"]
    assert rule in {finding["rule"] for finding in findings}
    status, error = await alice.refused("POST", f"/api/learn/proposals/{alice.proposal_id}/validate")
    assert (status, error["code"]) == (400, "CHECKPOINT_LINT_FAILED")
    assert await alice.prove(selected_tests=["lint"]) == "drafting_proposal"


@pytest.mark.acceptance("R11.2-16")
@pytest.mark.acceptance("0A.33-10")
async def test_every_stage_leaves_its_receipt(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("cancel", {"reason": "changed my mind"})
    body = await alice.ok("GET", f"/api/learn/receipts?learn_session_id={alice.session_id}")
    assert receipts_of(body) == ["session_started", "observation_armed", "cancelled"]
    assert body["receipts"][0]["reason"] == "changed my mind"
    with stack.database.read() as connection:
        told = read_entries(connection, JournalFilter(session_id=alice.session_id))
    assert [one.document["event"] for one in told if "event" in one.document] == [
        "teach.session.created",
        "teach.session.cancelled",
    ]

    await alice.teach()
    await alice.propose_act("approve")
    body = await alice.ok("GET", f"/api/learn/receipts?learn_session_id={alice.session_id}&page_size=100")
    assert receipts_of(body) == [
        "session_started",
        "observation_armed",
        "capture_started",
        "capture_stopped",
        "proposal_drafted",
        "tests_started",
        "tests_passed",
        "install_requested",
        "bridge_rebuilt",
        "availability_updated",
        "activated",
        "approved",
    ]


@pytest.mark.acceptance("R11.2-24", "R11.2-26", "R11.2-27")
async def test_the_installed_skill_speaks_of_states_and_never_of_commands_or_the_graph(stack: Stack) -> None:
    alice = stack.learner()
    await alice.teach()
    await alice.propose_act("approve")
    (ability,) = (await alice.ok("GET", "/api/abilities/availability"))["abilities"]
    detail = await alice.ok("GET", f"/api/abilities/{ability['ability_id']}")
    skill = detail["skill_markdown"]
    assert "## Checkpoints" in skill
    assert "reports/top.txt" in skill
    for command in ("sort -t", "tar czf", "printf '", "next_step_ids", "entry_step_id", "step_type"):
        assert command not in skill
    files = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/files")
    assert not any("next_step_ids" in file["content"] for file in files["files"])


@pytest.mark.acceptance("R11.2-31")
@pytest.mark.acceptance("0A.33-6")
async def test_a_private_ability_is_found_by_its_owner_alone(stack: Stack) -> None:
    alice, bob = stack.learner("alice"), stack.learner("bob")
    await alice.teach(allow_private_install=True)
    installed = await alice.propose_act("install", {"install_lane": "experimental_private"})
    assert await alice.state() == "installed_private"
    query = {"user_query": "summarise the sales figures"}
    (match,) = (await alice.ok("POST", "/api/abilities/lookup", query))["matches"]
    assert match["ability_id"] == installed["ability_id"]
    assert (await bob.ok("POST", "/api/abilities/lookup", query))["matches"] == []
    path = f"/api/abilities/{installed['ability_id']}/availability"
    assert (await bob.refused("GET", path))[0] == 404


async def test_the_same_name_taught_again_becomes_the_next_version(stack: Stack) -> None:
    alice = stack.learner()
    for version in (1, 2):
        await alice.teach()
        await alice.propose_act("approve")
        (ability,) = (await alice.ok("GET", "/api/abilities/availability"))["abilities"]
        versions = await alice.ok("GET", f"/api/abilities/{ability['ability_id']}/versions")
        seen = [(v["version"], v["current"]) for v in versions["versions"]]
        assert seen == [(n, n == version) for n in range(version, 0, -1)]


@pytest.mark.acceptance("9.16-4", "0.11C-8")
async def test_private_auto_install_needs_no_person_but_never_leaves_the_private_lane(stack: Stack) -> None:
    alice = stack.learner()
    await alice.demonstrate(build_policy="private_auto_install", allow_private_install=True)
    await alice.propose()
    await alice.propose_act("validate")
    assert (
        await alice.settled("testing_proposal", "ready_for_review", "installing_private")
        == "installed_private"
    )
    (ability,) = (await alice.ok("GET", "/api/abilities/availability"))["abilities"]
    assert ability["install_lane"] == "experimental_private"


@pytest.mark.acceptance("9.16-2")
async def test_answers_lead_from_questions_to_a_confirmed_draft(stack: Stack) -> None:
    alice = stack.learner()
    await alice.demonstrate(ask_before_build=True)
    assert (await alice.propose())["session"]["state"] == "awaiting_questions"
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    questions = detail["questions"]
    assert 1 <= len(questions) <= 5
    assert all(question["suggestion"] for question in questions)
    for left, question in reversed(list(enumerate(questions))):
        answer = {"question_id": question["question_id"], "answer_text": f"Whenever it is asked, case {left}"}
        body = await alice.act("answer-questions", {"answers": [answer]})
        assert body["remaining_questions"] == left
        assert body["next_action"] == ("more_questions" if left else "validate")
    assert await alice.state() == "drafting_proposal"
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    assert "Whenever it is asked, case 0" in json.dumps(detail["interpretation"])


async def test_stop_says_when_capture_is_over_already(stack: Stack) -> None:
    alice = stack.learner()
    await alice.demonstrate()
    status, error = await alice.refused("POST", f"/api/learn/sessions/{alice.session_id}/stop")
    assert (status, error["code"]) == (409, "CAPTURE_ALREADY_STOPPED")


async def test_a_capture_without_a_meaningful_action_is_no_basis_for_a_proposal(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await alice.observe([("ls", ())])
    stopped = await alice.act("stop")
    assert stopped["captured_event_count"] == 0
    path = f"/api/learn/sessions/{alice.session_id}/generate-proposal"
    status, error = await alice.refused("POST", path)
    assert (status, error["code"]) == (400, "INSUFFICIENT_TRACES")
    assert await alice.state() == "stopped"


async def test_the_first_meaningful_event_begins_the_capture(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    assert (await alice.observe([("ls", ())]))["session_state"] == "armed"
    assert (await alice.observe())["session_state"] == "capturing"
    assert await alice.state() == "capturing"


async def test_an_unproven_draft_cannot_be_approved(stack: Stack) -> None:
    alice = stack.learner()
    await alice.demonstrate()
    await alice.propose()
    status, error = await alice.refused("POST", f"/api/learn/proposals/{alice.proposal_id}/approve")
    assert (status, error["code"]) == (409, "VALIDATION_REQUIRED")


async def test_proofs_are_bound_to_the_draft_and_gone_when_it_changes(stack: Stack) -> None:
    alice = stack.learner()
    await alice.teach()
    await alice.propose_act(
        "revise",
        {"revision_instructions": "rename", "edited_fields": {"goal_summary": "Make the weekly sales list"}},
    )
    assert await alice.state() == "drafting_proposal"
    runs = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/validation-runs")
    assert [run["stale"] for run in runs["runs"]] == [True]
    assert (await alice.refused("POST", f"/api/learn/proposals/{alice.proposal_id}/approve"))[0] == 409


async def test_delete_cancels_an_unfinished_capture_and_purges_what_was_seen(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await alice.observe()
    assert await alice.ok("DELETE", f"/api/learn/sessions/{alice.session_id}") == {"deleted": True}
    assert await alice.state() == "cancelled"
    observed = await alice.ok("GET", f"/api/learn/sessions/{alice.session_id}/observations")
    assert observed["observations"] == []


@pytest.mark.acceptance("9.16-5")
async def test_a_session_that_did_not_ask_to_be_watched_takes_no_observation(stack: Stack) -> None:
    alice = stack.learner()
    await alice.create(observation_mode="none")
    path = f"/api/learn/sessions/{alice.session_id}/observations"
    status, error = await alice.refused("POST", path, {"events": alice.events()})
    assert (status, error["code"]) == (403, "FORBIDDEN")
    assert (await alice.ok("GET", path))["observations"] == []
    assert await alice.state() == "armed"


async def test_a_task_that_a_killed_worker_had_is_given_to_another_before_a_command_gives_up(
    stack: Stack,
) -> None:
    alice = stack.learner()
    await alice.teach()
    query = f"TaskQueue = '{stack.settings.task_queue}'"
    started = {
        found.workflow_type: await anext(
            aiter(stack.client.get_workflow_handle(found.id, run_id=found.run_id).fetch_history_events())
        )
        async for found in stack.client.list_workflows(query)
    }
    assert {"LearnSessionWorkflow", "ValidationRunWorkflow"} <= set(started)
    for kind, event in started.items():
        attributes = event.workflow_execution_started_event_attributes
        assert attributes.workflow_task_timeout.ToTimedelta() < ANSWER_WITHIN / 2, kind
