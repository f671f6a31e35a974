"""How a draft came about, a session's practice, and search, in a real browser against the real application."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.console.conftest import PATIENCE_MS, Console
from tests.fixtures.hand_work import show_by_hand
from tests.fixtures.learner import Demonstrated
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio
expect.set_options(timeout=PATIENCE_MS)

SKILL = "skills/summarise-the-sales-figures/SKILL.md"


def report_of(quarter: str, customer: str) -> tuple[Demonstrated, ...]:
    """The report of one quarter and customer, as a person types it."""
    source = f"reports/{quarter}/{customer}.csv"
    return (
        (f"mkdir -p reports/{quarter}", ()),
        (f"printf 'north,3\\nsouth,9\\n' > {source}", (source,)),
        (f"tar czf {customer}-{quarter}.tgz reports/{quarter}", (f"{customer}-{quarter}.tgz",)),
    )


async def test_a_draft_says_who_worded_it_what_varies_and_what_it_rests_on(console: Console) -> None:
    page, learner = console.page, console.learner
    await learner.create()
    await learner.act("start")
    await learner.act("mark-goal", {"goal_description": "Pack the report of q3"})
    await learner.observe(report_of("q3", "anna"))
    await learner.act("pause")
    await learner.act("resume", {"new_demonstration": True})
    await learner.observe(report_of("q4", "bertram"))
    await learner.act("stop")
    await learner.propose()
    await console.sign_in()
    await console.open(f"sessions/{learner.session_id}")
    parameters = page.get_by_role("region", name="Parameters")
    quarter = parameters.get_by_role("listitem").filter(has_text="quarter").first
    await expect(quarter).to_contain_text("q3, q4")
    await expect(quarter).to_contain_text("Required")
    origin = page.get_by_role("region", name="How it was drafted")
    await expect(origin).to_contain_text("The rules, without a model")
    await expect(origin).to_contain_text("2 demonstrations")
    await expect(origin.get_by_role("list", name="Rests on")).to_contain_text("Capability manifest")
    where = page.get_by_role("region", name="Where it can be used")
    await expect(where).to_contain_text("Can be used as it is")
    await where.get_by_role("button", name="Request adapter…").click()
    await page.get_by_label("What it is to connect or offer").fill("The archive of the sales team")
    await page.get_by_role("button", name="Request it").click()
    asked = where.get_by_role("list", name="Adapters asked for")
    await expect(asked).to_contain_text("The archive of the sales team")


async def test_a_model_that_worded_a_draft_is_named(console: Console) -> None:
    await console.page.goto(console.url)
    text = await console.page.evaluate(
        """async () => {
            const { wordedBy } = await import("/console/static/parts/drafting.js");
            const told = { by: "model:small-1", note: "A person stated the goal.", traces: 1, dependencies: [] };
            document.body.append(...wordedBy(told).filter(Boolean));
            return document.body.textContent;
        }"""
    )
    assert "The model small-1" in text
    assert "A person stated the goal." in text


async def test_commands_that_are_no_part_of_the_lesson_are_listed_with_their_reasons(
    console: Console,
) -> None:
    page = console.page
    await page.goto(console.url)
    # The console's own script has ended only when the form is there; it must find the page whole.
    await expect(page.get_by_label("Access token")).to_be_visible()
    await page.evaluate(
        """async () => {
            const { meaning } = await import("/console/static/parts/draft.js");
            const read = { goal_summary: "Sort", use_conditions: [], non_use_conditions: [], success_conditions: [] };
            const leftOut = [{ command: "ls -l", reason: "It changed no file." }];
            const parts = meaning({ title: "Sort", meaning: read, phrases: [], negative: [], leftOut });
            document.body.replaceChildren(...parts.filter(Boolean));
        }"""
    )
    await page.get_by_text("Left out of the lesson (1)").click()
    await expect(page.get_by_role("listitem")).to_have_text("ls -lIt changed no file.")
    await expect(
        page.get_by_text("Revise with “put back …” and its words if one of them belongs to it.")
    ).to_be_visible()


async def test_where_a_hand_and_an_improvement_disagree_both_texts_are_shown(
    console: Console, stack: Stack
) -> None:
    page, learner = console.page, console.learner
    await learner.teach()
    ability_id = (await learner.propose_act("approve"))["proposal"]["ability_id"]
    skill: Path = stack.settings.workspace / SKILL
    by_hand = skill.read_text().replace(
        "## When not to use\n\n", "## When not to use\n\n- On <b>Sundays</b>.\n"
    )
    skill.chmod(0o644)
    skill.write_text(by_hand)
    await learner.create(
        entry_mode="improving_existing_skill",
        target_kind="existing_skill",
        target_skill_id=ability_id,
        observation_mode="none",
    )
    await learner.act("stop")
    await learner.propose()
    edits = {"non_use_conditions": ["The figures are still being collected"]}
    await learner.propose_act("revise", {"revision_instructions": "as edited", "edited_fields": edits})
    await console.sign_in()
    await console.open(f"sessions/{learner.session_id}")
    base = page.get_by_role("region", name="What it improves")
    await expect(base).to_contain_text("Version 1")
    await expect(base.get_by_label("Kept, by hand").first).to_contain_text("- On <b>Sundays</b>.")
    await expect(base.get_by_label("Proposed, left out").first).to_contain_text("still being collected")
    await base.get_by_role("link", name=ability_id).click()
    await expect(page.get_by_role("heading", level=1, name="Summarise the sales figures")).to_be_visible()


async def test_practice_shows_its_budget_its_attempts_and_what_was_seen_to_hold(console: Console) -> None:
    page, learner = console.page, console.learner
    console.refusals.add(404)
    await learner.create(entry_mode="autonomous_agent_practice", observation_mode="inside_agent")
    await console.sign_in()
    await console.open(f"sessions/{learner.session_id}")
    card = page.get_by_role("region", name="Practice")
    await expect(card).to_contain_text("Nothing was practised in this session")
    await expect(card).to_contain_text("apprentice learn practice")
    await learner.act(
        "practice",
        {
            "goal": "Sort the sales figures into top.csv",
            "success_conditions": [{"kind": "file_contains", "path": "top.csv", "text": "south,9\nnorth,3"}],
            "allowed_commands": ["sort -t, -k2 -nr {input} > {output}"],
            "start_files": [{"name": "sales.csv", "content": "north,3\nsouth,9\n"}],
        },
    )
    await expect(card).to_contain_text("Goal reached")
    await expect(card.get_by_role("group", name="Budget")).to_contain_text("1 of 3")
    await expect(card.get_by_role("group", name="Budget")).to_contain_text("of 40")
    await expect(card.get_by_role("list", name="Actions of attempt 1")).to_contain_text("sort -t, -k2 -nr")
    await expect(card.get_by_role("list", name="Conditions of attempt 1")).to_contain_text("Seen to hold")


async def test_sessions_and_proposals_are_searched_by_the_service(console: Console) -> None:
    page, learner = console.page, console.learner
    await learner.teach("Summarise the sales figures")
    await learner.propose_act("reject", {"reason": "Too narrow"})
    await learner.teach("Pack the holiday photos")
    await console.sign_in()
    await console.open("history")
    rows = page.get_by_role("table").get_by_role("row")
    await expect(rows).to_have_count(3)
    box = page.get_by_role("searchbox", name="Search the history")
    await box.fill("holiday photos")
    await expect(rows).to_have_count(2)
    await expect(page.get_by_role("link", name="Pack the holiday photos")).to_be_visible()
    await box.fill("tulips & <b>roses</b>")
    await expect(page.get_by_text("Nothing in the history is called “tulips & <b>roses</b>”")).to_be_visible()
    await page.get_by_role("button", name="Clear the search").click()
    await expect(rows).to_have_count(3)
    await expect(box).to_be_focused()

    await console.open("pending")
    card = page.get_by_role("link", name="Pack the holiday photos")
    await expect(card).to_be_visible()
    search = page.get_by_role("searchbox", name="Search sessions and proposals")
    await search.fill("sales")
    await expect(page.get_by_role("link", name="Summarise the sales figures")).to_be_visible()
    await expect(card).to_have_count(0)
    await search.fill("tulips")
    await expect(page.get_by_text("Nothing pending fits")).to_be_visible()
    await search.fill("holiday")
    await expect(card).to_be_visible()


async def test_earlier_drafts_stay_to_be_read(console: Console) -> None:
    page, learner = console.page, console.learner
    await learner.teach("Summarise the sales figures")
    edits = {"title": "Add up the sales"}
    await learner.propose_act("revise", {"revision_instructions": "as edited", "edited_fields": edits})
    await console.sign_in()
    await console.open(f"sessions/{learner.session_id}")
    card = page.get_by_role("region", name="Earlier drafts")
    first = card.locator("summary")
    await expect(first).to_contain_text("Revision 1: Summarise the sales figures")
    await expect(first).to_contain_text("Passed")
    await first.focus()
    await page.keyboard.press("Enter")
    await expect(card.get_by_label("SKILL.md")).to_contain_text("# Summarise the sales figures")
    drafted = page.get_by_role("region", name="Drafted files")
    await expect(drafted.get_by_label("SKILL.md")).to_contain_text("# Add up the sales")
    picture = page.get_by_role("region", name="Workflow").get_by_role(
        "img", name="Workflow of Add up the sales"
    )
    await expect(picture).to_contain_text("verification")
    await expect(picture.locator("rect").first).to_be_visible()


async def test_what_is_not_proved_is_accepted_by_a_box_beside_the_list(console: Console) -> None:
    page, learner = console.page, console.learner
    await show_by_hand(learner)
    assert await learner.prove() == "ready_for_review"
    await console.sign_in()
    await console.open(f"sessions/{learner.session_id}")
    card = page.get_by_role("region", name="Not proved here")
    await expect(card.get_by_role("listitem")).to_have_count(4)
    await expect(card).to_contain_text("which no rehearsal works on")
    await page.get_by_role("button", name="Approve…").first.click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("list", name="Not proved")).to_contain_text("Rank the regions")
    await dialog.get_by_role("button", name="Approve and install").click()
    await expect(dialog).to_be_visible()
    assert await learner.state() == "ready_for_review"
    box = dialog.get_by_role("checkbox", name="I have read what is not proved")
    await box.focus()
    await page.keyboard.press("Space")
    await expect(box).to_be_checked()
    await dialog.get_by_role("button", name="Approve and install").click()
    await expect(dialog).to_have_count(0)
    session = await learner.ok("GET", f"/api/learn/sessions/{learner.session_id}/detail")
    await console.open(f"skills/{session['ability_id']}")
    said = page.get_by_role("region", name="Not proved")
    await expect(said).to_contain_text("alice accepted that")
    await expect(said.get_by_role("listitem")).to_have_count(4)


async def test_a_checkpoint_that_nothing_tests_is_shown_with_its_reason_and_the_next_step(
    console: Console,
) -> None:
    await console.page.goto(console.url)
    items = await console.page.evaluate(
        """async () => {
            const { meaning } = await import("/console/static/parts/draft.js");
            const checkpoint = (id, goal) => ({ checkpoint_id: id, goal, success_condition: `${goal} is right` });
            const read = {
                goal_summary: "Draw it", use_conditions: [], non_use_conditions: [], success_conditions: [],
                user_confirmed: true, checkpoints: [checkpoint("cp-01", "Table"), checkpoint("cp-02", "Picture")],
            };
            const because = [{ checkpoint_id: "cp-02", reason: "Nothing can see it.", next_step: "Look yourself." }];
            document.body.append(...meaning({ title: "Draw", meaning: read, phrases: [], negative: [], because }));
            return [...document.querySelectorAll("[aria-labelledby=not-tested] li")].map((one) => one.textContent);
        }"""
    )
    assert items == ["Picture: Picture is rightNothing can see it. Look yourself."]
