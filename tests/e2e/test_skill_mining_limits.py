"""What mining never does: use what it may not, build over somebody's work, or leave a failed draft behind."""

import pytest

from tests.e2e.test_skill_mining import allow, candidates, mine, report_of, show
from tests.fixtures.learner import Demonstrated
from tests.fixtures.stack import EVERYDAY_SCOPES, Stack

pytestmark = pytest.mark.anyio

WITH_SECRET: tuple[Demonstrated, ...] = (
    ("curl -u alice:hunter2secret https://sales.example/data > sales.csv", ("sales.csv",)),
    ("sort sales.csv > top.txt", ("top.txt",)),
)
CANNOT_BE_REPEATED: tuple[Demonstrated, ...] = (
    ("sort figures-that-are-not-there.csv > top.txt", ("top.txt",)),
    ("wc -l top.txt > count.txt", ("count.txt",)),
)


async def test_captures_on_different_files_become_one_skill_with_a_parameter(stack: Stack) -> None:
    learner = stack.learner()
    await allow(learner)
    for region in ("north", "south", "east"):
        await show(learner, report_of(region))
    await mine(learner)
    (found,) = await candidates(learner)
    assert found["candidate"]["cluster"]["variation_score"] == 0
    assert found["session_state"] == "ready_for_review"
    detail = await learner.ok("GET", f"/api/learn/proposals/{found['candidate']['proposal_id']}/detail")
    (parameter,) = detail["interpretation"]["parameters"]
    assert sorted(parameter["examples"]) == ["east", "north", "south"]


async def test_nobody_s_captures_are_put_beside_somebody_else_s(stack: Stack) -> None:
    alice, bob = stack.learner("alice"), stack.learner("bob")
    for learner in (alice, bob):
        await allow(learner)
    await show(alice)
    await show(alice)
    await show(bob)
    for learner in (alice, bob):
        run = await mine(learner)
        assert run["progress"]["closed_gates"] == {"enough_traces": 1}
        assert await candidates(learner) == []
    await show(alice)
    await mine(alice)
    (found,) = await candidates(alice)
    path = f"/api/learn/mining/candidates/{found['candidate']['candidate_id']}"
    assert (await bob.refused("GET", path))[1]["code"] == "NOT_FOUND"
    assert (await bob.refused("POST", f"{path}/accept"))[1]["code"] == "NOT_FOUND"
    assert (await bob.refused("POST", f"{path}/dismiss"))[1]["code"] == "NOT_FOUND"
    run = await alice.ok("POST", "/api/learn/mining/scan")
    assert (await bob.refused("GET", f"/api/learn/mining/runs/{run['run_id']}"))[0] == 404


async def test_captures_that_held_a_secret_or_were_purged_do_not_count(stack: Stack) -> None:
    learner = stack.learner()
    await allow(learner)
    for _ in range(3):
        await show(learner, WITH_SECRET)
    run = await mine(learner)
    assert (run["progress"]["traces"], run["progress"]["excluded"]) == (0, 3)
    for _ in range(3):
        purged = await show(learner)
        await learner.ok("DELETE", f"/api/learn/sessions/{purged}")
    run = await mine(learner)
    assert (run["progress"]["traces"], run["progress"]["excluded"]) == (0, 6)
    reasons = {one["reason"]: one["count"] for one in run["progress"]["left_out"]}
    assert reasons == {"secret": 3, "purged": 3}
    assert await candidates(learner) == []


async def test_a_task_with_an_unsettled_checkpoint_waits_until_it_was_reached(stack: Stack) -> None:
    learner = stack.learner()
    await allow(learner)
    shown = [await show(learner) for _ in range(3)]
    report = {"checkpoint_id": "cp-01", "learn_session_id": shown[1], "evidence": "the totals"}
    await learner.ok(
        "POST", "/api/bridge/verify-checkpoint", {**report, "status": "skipped", "reason": "no time"}
    )
    run = await mine(learner)
    assert run["progress"]["closed_gates"] == {"no_friction": 1}
    assert await candidates(learner) == []
    await learner.ok("POST", "/api/bridge/verify-checkpoint", {**report, "status": "reached"})
    await mine(learner)
    assert len(await candidates(learner)) == 1


async def test_captures_of_another_proposal_do_not_count_and_a_task_that_has_one_is_not_mined(
    stack: Stack,
) -> None:
    learner = stack.learner()
    await allow(learner)
    await learner.teach(allow_private_install=True)
    await learner.propose_act("install", {"install_lane": "experimental_private"})
    for _ in range(2):
        await show(learner)
    run = await mine(learner)
    assert run["progress"]["traces"] == 2
    await show(learner)
    run = await mine(learner)
    assert run["progress"]["closed_gates"] == {"not_covered": 1}
    assert await candidates(learner) == []


async def test_a_dismissed_candidate_stays_dismissed_and_its_captures_do_not_count_again(
    stack: Stack,
) -> None:
    learner = stack.learner()
    await allow(learner, mode="ask_before_build")
    for _ in range(3):
        await show(learner)
    await mine(learner)
    (found,) = await candidates(learner)
    path = f"/api/learn/mining/candidates/{found['candidate']['candidate_id']}"
    gone = await learner.ok("POST", f"{path}/dismiss", {"reason": "a one-off"})
    assert (gone["candidate"]["state"], gone["candidate"]["reason"]) == ("dismissed", "a one-off")
    assert await learner.ok("POST", f"{path}/dismiss") == gone
    assert (await learner.refused("POST", f"{path}/accept"))[1]["code"] == "CONFLICT"
    await show(learner)
    run = await mine(learner)
    assert run["progress"]["traces"] == 1
    assert [one["candidate"]["state"] for one in await candidates(learner)] == ["dismissed"]


async def test_an_open_session_is_never_built_over(stack: Stack) -> None:
    learner = stack.learner()
    await allow(learner)
    for _ in range(3):
        await show(learner)
    await learner.create()
    mine_own = learner.session_id
    run = await mine(learner)
    assert (run["progress"]["deferred"], run["progress"]["built"]) == (1, 0)
    (found,) = await candidates(learner)
    path = f"/api/learn/mining/candidates/{found['candidate']['candidate_id']}/accept"
    status, error = await learner.refused("POST", path)
    assert (status, error["code"]) == (409, "LEARN_SESSION_ALREADY_ACTIVE")
    assert error["active_session_id"] == mine_own
    assert await learner.state() == "armed"
    await learner.act("cancel")
    accepted = await learner.ok("POST", path)
    assert accepted["candidate"]["state"] == "built"
    assert accepted["session_state"] in {"testing_proposal", "ready_for_review"}
    learner.session_id = accepted["candidate"]["learn_session_id"]
    assert await learner.settled("testing_proposal") == "ready_for_review"


async def test_a_draft_that_fails_its_tests_is_withdrawn_unless_a_person_asked_for_it(stack: Stack) -> None:
    learner = stack.learner()
    await allow(learner)
    for _ in range(3):
        await show(learner, CANNOT_BE_REPEATED)
    run = await mine(learner)
    assert run["progress"]["builds_failed"] == 1
    (found,) = await candidates(learner)
    assert (found["candidate"]["state"], found["session_state"]) == ("failed", "cancelled")
    assert found["candidate"]["reason"] == "The draft did not pass its tests."
    await mine(learner)
    assert (await candidates(learner)) == [found], "it is not tried again by itself"
    path = f"/api/learn/mining/candidates/{found['candidate']['candidate_id']}/accept"
    accepted = await learner.ok("POST", path)
    learner.session_id = accepted["candidate"]["learn_session_id"]
    assert await learner.settled("testing_proposal") == "drafting_proposal"
    assert (await candidates(learner))[0]["candidate"]["state"] == "built"


async def test_settings_are_each_person_s_own_and_need_the_right_to_teach(stack: Stack) -> None:
    alice, bob = stack.learner("alice"), stack.learner("bob", [s for s in EVERYDAY_SCOPES if s != "learn"])
    await allow(alice, mode="auto_install_private", min_successful_traces=5)
    theirs = await bob.ok("GET", "/api/learn/mining/settings")
    assert (theirs["settings"]["mode"], theirs["settings"]["min_successful_traces"]) == (
        "build_then_review",
        3,
    )
    assert (theirs["max_variation"], theirs["min_verification_coverage"]) == (0.4, 0.6)
    assert (await bob.refused("PUT", "/api/learn/mining/settings", {"mode": "off"}))[0] == 403
    assert (await bob.refused("POST", "/api/learn/mining/scan"))[0] == 403
