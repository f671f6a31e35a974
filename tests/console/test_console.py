"""What a person can do in the console, in a real browser against the real application."""

import pytest
from playwright.async_api import expect

from console.routes import vocabulary
from contracts.learning.lifecycle import LearningLifecycleEvent as Event
from tests.console.conftest import PATIENCE_MS, Console
from tests.fixtures.learner import SALES_REPORT
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio
expect.set_options(timeout=PATIENCE_MS)


async def test_a_wrong_token_is_refused_in_plain_words_and_a_right_one_stays_in_the_tab(
    console: Console,
) -> None:
    page = console.page
    console.refusals.add(401)
    await console.sign_in("apr_wrong")
    alert = page.get_by_role("alert")
    await expect(alert).to_contain_text("does not know this token")
    await expect(
        page.get_by_text("start apprentice up anew: it puts a new one into the file")
    ).to_be_visible()
    await expect(alert).to_contain_text("Correlation id")

    await console.sign_in()
    await expect(page.get_by_role("heading", level=1, name="Ability Learning")).to_be_focused()
    await expect(page.get_by_role("heading", name="Create new ability by:")).to_be_visible()
    cards = page.get_by_role("list", name="Create new ability by:").get_by_role("listitem")
    assert await cards.count() == 5
    await expect(cards.filter(has_text="Not built yet")).to_have_count(0)
    await expect(cards.filter(has_text="apprentice import add")).to_have_count(1)
    assert console.learner.secret not in page.url
    assert await page.evaluate("localStorage.length") == 0
    await page.reload()
    await expect(page.get_by_role("heading", level=1, name="Ability Learning")).to_be_visible()

    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_label("Access token")).to_be_focused()
    assert await page.evaluate("sessionStorage.length") == 0


async def test_the_agents_name_replaces_generic_labels_and_is_only_text(console: Console) -> None:
    page, name = console.page, "Ada <b>Lovelace</b>"
    await page.route("**/console/vocabulary.json", lambda route: route.fulfill(json=vocabulary(name)))
    await console.sign_in()
    cards = page.get_by_role("list", name="Create new ability by:")
    await expect(cards.get_by_role("heading", name=f"Coaching {name}")).to_be_visible()
    await expect(cards.get_by_role("heading", name=f"{name} Practice")).to_be_visible()
    await expect(cards).to_contain_text(f"Let {name} find its own way")
    await expect(page.locator(".brand")).to_have_text(f"Apprentice{name}")
    await expect(page).to_have_title(f"Learn New Ability · Ability Learning · {name}")
    assert await page.locator("b").count() == 0


@pytest.mark.everyday
@pytest.mark.acceptance("R11.2-45")
async def test_an_ability_is_taught_from_its_capture_to_its_skill(console: Console) -> None:
    page, learner = console.page, console.learner
    await console.sign_in()
    await console.open("skills")
    await expect(page.get_by_text("No skill yet")).to_be_visible()
    banner = page.get_by_role("complementary", name="Observation")
    await expect(banner).to_be_hidden()

    await learner.create(target_app_whitelist=["terminal"])
    await learner.act("start")
    await learner.act("mark-goal", {"goal_description": "Summarise the sales figures"})
    await learner.observe()
    for view in ("skills", "history", "active", f"sessions/{learner.session_id}"):
        await console.open(view)
        await expect(banner).to_contain_text("Your actions are being observed")
    await expect(page.get_by_role("main").get_by_text("tar czf reports.tgz reports")).to_be_visible()
    await banner.get_by_role("button", name="Stop capture").click()
    await expect(banner).to_be_hidden()

    await page.get_by_role("button", name="Draft a proposal").click()
    await expect(page.get_by_role("heading", name="What was understood")).to_be_visible()
    await page.get_by_role("button", name="Validate").click()
    await page.get_by_role("button", name="Approve…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Approve and install").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(page.get_by_role("heading", name="Install")).to_be_visible()
    await expect(page.get_by_text("It is installed and listed under Skills.")).to_be_visible()
    assert await learner.state() == "approved"

    await page.get_by_role("link", name="Skills", exact=True).click()
    await page.get_by_role("link", name="Summarise the sales figures").click()
    await expect(page.get_by_text("Usable now")).to_be_visible()
    await expect(page.get_by_label("SKILL.md")).to_contain_text("summarise-the-sales-figures")


@pytest.mark.acceptance("R11.2-35")
async def test_the_open_page_of_skills_shows_what_was_approved_elsewhere_by_itself(
    console: Console, stack: Stack
) -> None:
    page, learner = console.page, console.learner
    await console.sign_in()
    await console.open("skills")
    await expect(page.get_by_text("No skill yet")).to_be_visible()
    opened = await page.evaluate("performance.timeOrigin")
    await learner.teach()
    await learner.propose_act("approve")
    told = "".join(entry.document for entry in stack.services.tail.replay(learner.session_id, 0))
    assert f'"{Event.ABILITY_SNAPSHOT_UPDATED.value}"' in told
    await expect(page.get_by_role("link", name="Summarise the sales figures")).to_be_visible()
    await expect(page.get_by_text("Usable now")).to_be_visible()
    assert await page.evaluate("performance.timeOrigin") == opened


@pytest.mark.acceptance("capture_already_stopped_error_rendered")
async def test_stopping_what_somebody_else_has_stopped_says_so_and_shows_where_it_stands(
    console: Console,
) -> None:
    page, learner = console.page, console.learner
    console.refusals.add(409)
    await learner.create()
    await learner.act("start")
    await learner.act("mark-goal", {"goal_description": "Summarise the sales figures"})
    await learner.observe()
    await console.sign_in()
    await console.open(f"sessions/{learner.session_id}")
    stands = page.get_by_role("region", name="Where it stands")
    stop = stands.get_by_role("button", name="Stop capture")
    await expect(stop).to_be_enabled()
    # What goes on is not told to this page: it offers what it saw last.
    await page.route("**/api/learn/sessions?*", lambda route: route.abort())
    await page.route("**/events", lambda route: route.abort())
    await learner.act("stop")
    await stop.click()
    await expect(
        page.get_by_text("The capture has ended; what is shown here is being refreshed.")
    ).to_be_visible()
    await expect(stands.get_by_role("button", name="Draft a proposal")).to_be_visible()
    await expect(stop).to_have_count(0)
    console.complaints.clear()


async def test_questions_are_answered_without_losing_what_is_typed(console: Console) -> None:
    page, learner = console.page, console.learner
    await learner.demonstrate()
    await learner.propose(ask_before_build=True)
    await console.sign_in()
    await console.open(f"sessions/{learner.session_id}")
    form = page.get_by_role("form", name="Questions")
    boxes = form.get_by_role("textbox")
    await boxes.first.fill("Never on a Sunday")
    # Somebody answers the others elsewhere: the page is drawn anew around what is being typed.
    detail = await learner.ok("GET", f"/api/learn/proposals/{learner.proposal_id}/detail")
    mine, *others = detail["questions"]
    answers = [{"question_id": one["question_id"], "answer_text": "Whenever asked"} for one in others]
    await learner.act("answer-questions", {"answers": answers})
    await expect(boxes).to_have_count(1)
    await expect(form.get_by_label(mine["question_text"])).to_have_value("Never on a Sunday")
    await form.get_by_role("button", name="Send answers").click()
    await expect(form).to_have_count(0)
    await expect(page.get_by_role("region", name="Answers")).to_contain_text("Never on a Sunday")
    await expect(page.get_by_role("region", name="Answers")).to_contain_text("Whenever asked")


async def test_a_proposal_is_rejected_with_the_keyboard_alone(console: Console) -> None:
    page, learner = console.page, console.learner
    await learner.teach()
    await console.sign_in()
    await console.open(f"sessions/{learner.session_id}")
    reject = page.get_by_role("button", name="Reject…")
    await reject.focus()
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_label("Reason")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await expect(reject).to_be_focused()
    await page.keyboard.press("Enter")
    await page.keyboard.type("Too narrow")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await expect(dialog.get_by_role("button", name="Reject for good")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("region", name="Receipts")).to_contain_text("Too narrow")
    assert await learner.state() == "rejected"


async def test_what_was_observed_is_shown_as_text_and_never_run(console: Console) -> None:
    page, learner = console.page, console.learner
    attack = "echo '<img src=x onerror=alert(1)>' > page.html"
    await learner.create()
    await learner.act("start")
    await learner.observe((*SALES_REPORT, (attack, ("page.html",))))
    await console.sign_in()
    await console.open(f"sessions/{learner.session_id}")
    await expect(page.get_by_role("main").get_by_text(attack)).to_be_visible()
    assert await page.locator("main img").count() == 0


async def test_a_token_without_the_right_leaves_the_buttons_off_and_says_why(
    console: Console, stack: Stack
) -> None:
    page, learner = console.page, console.learner
    await learner.create()
    await console.sign_in(stack.learner(learner.user, ("read",)).secret)
    await console.open(f"sessions/{learner.session_id}")
    await expect(page.get_by_role("button", name="Cancel session…")).to_be_disabled()
    await expect(page.get_by_text("Your token lacks learn")).to_be_visible()


async def test_a_session_that_is_not_there_says_what_to_do(console: Console) -> None:
    console.refusals.add(404)
    await console.sign_in()
    await console.open("sessions/01a1fda6-e088-75a6-98e6-c029d182cef2")
    alert = console.page.get_by_role("alert")
    await expect(alert).to_contain_text("Go back to the list")
    await expect(alert).to_contain_text("Correlation id")


BROKEN_WORDS = """() => {
  const broken = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (node.parentElement.closest('code, pre, script, style, dd, .copyable, a[href^="http"]')) continue;
    for (const { 0: word, index } of node.data.matchAll(/\\p{L}+/gu)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (lines.size > 1) broken.push(word);
    }
  }
  return broken;
}"""
"""The words that stand on more than one line, of what is no id and no path."""


async def test_no_word_is_broken_in_the_middle_on_any_screen(console: Console) -> None:
    page, learner = console.page, console.learner
    await learner.create()
    await learner.act("start")
    await learner.act("mark-goal", {"goal_description": "Summarise the sales figures"})
    await learner.observe()
    await console.sign_in()
    for width in (320, 360, 480, 768, 1024):
        await page.set_viewport_size({"width": width, "height": 740})
        for view in ("learn", "active", "skills", "approvals", f"sessions/{learner.session_id}"):
            await console.open(view)
            await expect(page.locator(".loading")).to_have_count(0)
            assert await page.evaluate(BROKEN_WORDS) == [], (width, view)
    await page.set_viewport_size({"width": 320, "height": 740})
    await page.evaluate(
        "document.querySelectorAll('*').forEach((one) => { one.style.wordBreak = 'break-all'; })"
    )
    assert await page.evaluate(BROKEN_WORDS) != [], "the test sees no broken word"


async def test_the_header_stays_in_one_line_on_a_laptop(console: Console) -> None:
    page = console.page
    await console.sign_in()
    tops = "[...document.querySelectorAll('.masthead > *:not([hidden])')].map((one) => one.getBoundingClientRect())"
    for width in (1280, 1366, 1440):
        await page.set_viewport_size({"width": width, "height": 740})
        await console.open("learn")
        await expect(page.locator(".loading")).to_have_count(0)
        boxes = await page.evaluate(f"{tops}.map(({{ top, bottom }}) => [top, bottom])")
        assert len(boxes) == 4
        assert max(top for top, _ in boxes) < min(bottom for _, bottom in boxes), width


OPTIONS = """[...document.querySelectorAll('.copyable code')].flatMap((code) => {
  const text = code.textContent, found = [];
  for (const { index, 0: option } of text.matchAll(/--[a-z]+/g)) {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    let node, start = 0;
    while ((node = walker.nextNode()) && start + node.length <= index) start += node.length;
    const range = document.createRange();
    range.setStart(node, index - start);
    range.setEnd(node, index - start + option.length);
    found.push([option, new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size]);
  }
  return found;
})"""
"""The options of the commands to copy, each with how many lines it stands on."""


async def test_an_option_of_a_command_stays_on_one_line(console: Console) -> None:
    page = console.page
    await console.sign_in()
    for width in (360, 1280):
        await page.set_viewport_size({"width": width, "height": 740})
        await console.open("learn")
        for option in ("--hint", "--allow"):
            await expect(page.locator(".copyable code", has_text=option)).to_be_visible()
        options = await page.evaluate(OPTIONS)
        assert {"--hint", "--allow"} <= {option for option, _ in options}
        assert [option for option, lines in options if lines > 1] == [], width


async def test_nothing_is_cut_off_on_a_narrow_screen_and_dark_is_dark(console: Console) -> None:
    page, learner = console.page, console.learner
    await learner.create()
    await learner.act("start")
    await learner.observe()
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.emulate_media(color_scheme="dark")
    await console.sign_in()
    for view in ("learn", "active", "pending", "history", "skills", f"sessions/{learner.session_id}"):
        await console.open(view)
        await expect(page.get_by_role("complementary", name="Observation")).to_be_visible()
        await expect(page.locator(".loading")).to_have_count(0)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
    background = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(19, 20, 25)"
