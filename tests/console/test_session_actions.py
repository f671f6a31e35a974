"""What a session's page lets a person do: what the service offers, and nothing else."""

import re
from pathlib import Path

import pytest
from playwright.async_api import expect
from uuid_utils import uuid7

from tests.console.conftest import PATIENCE_MS, Console
from tests.fixtures.learner import Learner
from tests.fixtures.mined import add_mined
from tests.fixtures.practising import begin, ended, practice
from tests.fixtures.recorded_terminal import record
from tests.fixtures.stack import EVERYDAY_SCOPES, Stack

pytestmark = pytest.mark.anyio
expect.set_options(timeout=PATIENCE_MS)


async def practised(learner: Learner) -> None:
    """The agent has practised by itself, and what came of it is proven."""
    await begin(learner)
    await practice(learner)
    assert (await ended(learner))["state"] == "reached"
    await learner.propose()
    assert await learner.prove() == "ready_for_review"


@pytest.mark.thorough
@pytest.mark.acceptance("0A.33-4")
async def test_what_the_agent_practised_is_installed_privately_and_approved_only_then(
    console: Console,
) -> None:
    page, learner = console.page, console.learner
    await practised(learner)
    await console.sign_in()
    await console.open(f"sessions/{learner.session_id}")
    stands = page.get_by_role("region", name="Where it stands")
    install = stands.get_by_role("button", name="Install privately…")
    await expect(install).to_be_enabled()
    await expect(stands.get_by_role("button", name="Approve…")).to_have_count(0)
    await expect(stands).to_contain_text(
        "Approve: What the agent practised alone is installed privately first"
    )

    await install.focus()
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("for you alone?")
    await expect(dialog).to_contain_text("nobody else’s")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await expect(install).to_be_focused()
    assert await learner.state() == "ready_for_review"

    await page.keyboard.press("Enter")
    await dialog.get_by_role("button", name="Install privately").click()
    await expect(dialog).to_have_count(0)
    await expect(stands.get_by_text("Only you can use it.")).to_be_visible()
    assert await learner.state() == "installed_private"
    await expect(stands.get_by_role("button")).to_contain_text(["Approve…"])
    await expect(stands.get_by_role("button", name="Install privately…")).to_have_count(0)
    await stands.get_by_role("button", name="Approve…").click()
    await dialog.get_by_role("button", name="Approve and install").click()
    await expect(stands.get_by_text("It is installed and listed under Skills.")).to_be_visible()
    assert await learner.state() == "approved"


async def test_a_refused_install_says_so_in_its_dialog_and_changes_nothing(console: Console) -> None:
    page, learner = console.page, console.learner
    await learner.teach()
    await console.sign_in()
    await console.open(f"sessions/{learner.session_id}")
    await page.get_by_role("button", name="Install privately…").click()
    # Somebody revises it elsewhere while the dialog is open: another draft is not what was looked at.
    edits = {"use_conditions": ["Maria asks for the figures"]}
    await learner.propose_act("revise", {"revision_instructions": "as edited", "edited_fields": edits})
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Install privately").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("The draft has changed since you opened it")
    assert await learner.state() == "drafting_proposal"


async def test_a_token_without_the_right_to_install_sees_why_the_button_is_off(
    console: Console, stack: Stack
) -> None:
    page, learner = console.page, console.learner
    await learner.teach()
    scopes = [scope for scope in EVERYDAY_SCOPES if scope != "install"]
    await console.sign_in(stack.learner(scopes=scopes).secret)
    await console.open(f"sessions/{learner.session_id}")
    await expect(page.get_by_role("button", name="Install privately…")).to_be_disabled()
    await expect(page.get_by_role("button", name="Approve…")).to_be_enabled()
    await expect(page.get_by_text("Your token lacks install;")).to_be_visible()


async def test_a_capture_is_begun_marked_and_trimmed_from_its_page(console: Console) -> None:
    page, learner = console.page, console.learner
    await learner.create()
    await console.sign_in()
    await console.open(f"sessions/{learner.session_id}")
    stands = page.get_by_role("region", name="Where it stands")
    await expect(stands.get_by_role("button", name="Stop capture")).to_have_count(0)
    await stands.get_by_role("button", name="Start capture").click()
    await stands.get_by_role("button", name="Say the goal…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Goal").fill("Summarise the sales figures")
    await dialog.get_by_role("button", name="Note the goal").click()
    await expect(dialog).to_have_count(0)
    await stands.get_by_role("button", name="Mark a step…").click()
    await dialog.get_by_label("What the step does").fill("Put the figures together")
    await dialog.get_by_role("button", name="Mark it").click()
    await expect(dialog).to_have_count(0)
    await learner.observe()

    card = page.get_by_role("region", name="What was captured")
    await card.get_by_role("button", name="Trim…").click()
    await dialog.get_by_label("Leave out").select_option(label="everything after this action")
    await dialog.get_by_label("Action").select_option(
        label="3. sort -t, -k2 -nr reports/sales.csv > reports/top.txt"
    )
    await dialog.get_by_role("button", name="Trim").click()
    await expect(dialog).to_have_count(0)
    account = await learner.ok("GET", f"/api/learn/sessions/{learner.session_id}/account")
    assert account["boundary"]["goal"] == "Summarise the sales figures"
    marks = {mark["kind"]: mark for mark in account["boundary"]["marks"]}
    assert marks["mark_step"]["label"] == "Put the figures together"
    shown = await learner.ok("GET", f"/api/learn/sessions/{learner.session_id}/observations")
    assert marks["trim_end"]["source_event_id"] == shown["observations"][2]["event_id"]


async def test_where_nothing_was_captured_no_draft_is_offered_and_the_page_says_why(console: Console) -> None:
    page, learner = console.page, console.learner
    await learner.create()
    await learner.act("start")
    await learner.act("stop")
    await console.sign_in()
    await console.open(f"sessions/{learner.session_id}")
    stands = page.get_by_role("region", name="Where it stands")
    await expect(stands).to_contain_text("Draft a proposal: Nothing was captured")
    await expect(stands.get_by_role("button", name="Draft a proposal")).to_have_count(0)
    await expect(stands.get_by_role("button", name="Cancel session…")).to_be_enabled()


async def test_a_proposal_is_revised_with_words_and_proven_again(console: Console) -> None:
    page, learner = console.page, console.learner
    await learner.teach()
    await console.sign_in()
    await console.open(f"sessions/{learner.session_id}")
    stands = page.get_by_role("region", name="Where it stands")
    await stands.get_by_role("button", name="Revise…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("What to change").fill('add the trigger "bundle the month"')
    await dialog.get_by_role("button", name="Revise").click()
    await expect(dialog).to_have_count(0)
    await expect(stands.get_by_text("Read what was understood, then have it proven.")).to_be_visible()
    await expect(stands).to_contain_text("Install privately, Approve: The draft is not validated")
    await stands.get_by_role("button", name="Validate").click()
    await expect(stands.get_by_role("button", name="Approve…")).to_be_visible()


async def test_a_suggestion_is_built_only_while_no_session_is_in_the_way(
    console: Console, stack: Stack
) -> None:
    page, learner = console.page, console.learner
    add_mined(stack.database, learner.user, str(uuid7()), str(uuid7()))
    await learner.create()
    await console.sign_in()
    await console.open("mining")
    card = page.get_by_role("list", name="Suggestions").get_by_role("listitem").first
    await expect(card.get_by_role("button", name="Dismiss…")).to_be_enabled()
    await expect(card).to_contain_text("is armed; bring it to rest first: cancel.")
    await expect(card.get_by_role("button", name="Accept and build")).to_have_count(0)
    await learner.act("cancel")
    await expect(card.get_by_role("button", name="Accept and build")).to_be_enabled()
    await card.get_by_role("button", name="Dismiss…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Dismiss for good").click()
    await expect(card).to_contain_text("Dismissed")
    await expect(card.get_by_role("button")).to_have_count(0)


@pytest.mark.thorough
async def test_while_a_demonstration_is_replayed_its_page_says_what_is_tried(
    console: Console, origin: str, tmp_path: Path
) -> None:
    page, learner = console.page, console.learner
    await learner.create()
    await learner.act("start")
    desk = tmp_path / "desk"
    desk.mkdir()
    (desk / "sales.csv").write_text("".join(f"{name},{len(name)}\n" for name in ("Oslo", "Bern", "Corfu")))
    await record(learner, origin, desk, ["sleep 1; sort sales.csv > sorted.csv"])
    await learner.act("stop")
    await console.sign_in()
    await console.open(f"sessions/{learner.session_id}")
    stands = page.get_by_role("region", name="Where it stands")
    await stands.get_by_role("button", name="Draft a proposal").click()
    reported = stands.get_by_text("Replaying: ")
    await expect(reported).to_contain_text(re.compile("the whole demonstration|without"))
    await expect(reported).to_have_count(0)
    await expect(page.get_by_role("region", name="How it was drafted")).to_be_visible()
