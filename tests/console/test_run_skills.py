"""Run skills in a real browser: the catalog with its reasons, a form made from the schema, the run and its record."""

import re

import pytest
from playwright.async_api import expect

from tests.console.conftest import PATIENCE_MS, Console
from tests.fixtures.learner import Learner
from tests.fixtures.stack import EVERYDAY_SCOPES, Stack

pytestmark = pytest.mark.anyio
expect.set_options(timeout=PATIENCE_MS)

WALLET = "0x" + "c0ffee" * 6 + "cafe"


async def funded(stack: Stack) -> Learner:
    person = stack.learner("alice", (*EVERYDAY_SCOPES, "call", "admin"))
    await person.ok("POST", "/api/wallets", {"wallet_address": WALLET, "currency": "USDC"})
    await person.ok("POST", f"/api/wallets/{WALLET}/fund", {"amount": "20"})
    return person


async def test_a_skill_is_found_filled_in_run_and_its_record_shown(stack: Stack, console: Console) -> None:
    person, page = await funded(stack), console.page
    await console.sign_in(person.secret)
    await page.get_by_role("link", name="Run skills").click()
    await expect(page.get_by_role("heading", level=1, name="Run skills")).to_be_visible()
    await page.get_by_role("link", name="debit-wallet").click()
    await expect(page.get_by_text("It was not run yet")).to_be_visible()
    await expect(page.get_by_text("the service ledger")).to_be_visible()

    # A field that is wrong is told at its place, by what the service says.
    console.refusals.add(400)
    await page.get_by_label("wallet_address").fill("0x12")
    await page.get_by_label("amount").fill("0.25")
    await page.get_by_label("currency").select_option(label="USDC")
    await page.get_by_label("tx_description").fill("a fee")
    await page.get_by_label("tx_description").press("Enter")
    await expect(page.get_by_label("wallet_address")).to_have_attribute("aria-invalid", "true")
    await expect(page.get_by_label("wallet_address")).to_be_focused()
    await expect(page.get_by_label("tx_description")).to_have_value("a fee")

    await page.get_by_label("wallet_address").fill(WALLET)
    await page.get_by_role("button", name="Run it").click()
    run = page.get_by_role("region", name="This run")
    await expect(run).to_contain_text("Done")
    await expect(run).to_contain_text("Took 0.25 USDC; 19.75 is left.")
    await expect(run.get_by_label("Outputs")).to_contain_text('"new_balance": 19.75')
    await run.get_by_text("Record").click()
    await expect(run).to_contain_text("skill-invocation/")
    await expect(page).to_have_url(re.compile(r"#/run/debit-wallet/[0-9a-f-]{36}$"))
    await expect(page.get_by_role("region", name="Runs")).to_contain_text("Done")


async def test_a_skill_that_asks_is_confirmed_where_it_runs_or_among_the_approvals(
    stack: Stack, console: Console
) -> None:
    person, page = await funded(stack), console.page
    rule = {
        "rule_id": "money",
        "decision": "ask",
        "reason": "money is asked about",
        "skills": ["debit-wallet"],
    }
    await person.ok("PUT", "/api/skills/policy", {"rules": [rule]})
    given = {
        "wallet_address": WALLET,
        "amount": 1,
        "currency": "USDC",
        "tx_description": "a fee",
        "idempotency_key": "0199aa10-7c00-7000-8000-000000000003",
    }
    first = await person.ok("POST", "/api/skills/debit-wallet/invocations", {"input": given})
    await console.sign_in(person.secret)
    await console.open(f"run/debit-wallet/{first['invocation_id']}")
    run = page.get_by_role("region", name="This run")
    await expect(run).to_contain_text("Waits for you")
    await run.get_by_role("button", name="Confirm").click()
    await expect(run).to_contain_text("19 is left")

    given |= {"idempotency_key": "0199aa10-7c00-7000-8000-000000000004"}
    await person.ok("POST", "/api/skills/debit-wallet/invocations", {"input": given})
    await console.open("approvals")
    card = page.get_by_role("region", name="May debit-wallet be run?")
    await expect(card).to_contain_text("Expires in")
    await expect(card.get_by_label("What it would get")).to_contain_text(WALLET)
    await card.get_by_role("button", name="Refuse").click()
    await expect(page.get_by_text("Nothing waits for you")).to_be_visible()


async def test_a_folder_that_nobody_approved_says_so_and_is_approved_after_a_look(
    stack: Stack, console: Console
) -> None:
    person, page = stack.learner("alice", (*EVERYDAY_SCOPES, "call", "admin")), console.page
    root = stack.settings.workspace / "skills"
    for name, front in (("greet", FRONT), ("broken", "no front matter at all")):
        folder = root / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(front, encoding="utf-8")
        (folder / "handler.py").write_text(HANDLER, encoding="utf-8")
    await console.sign_in(person.secret)
    await console.open("run")
    await page.get_by_role("button", name="Read the folders again").click()
    card = page.get_by_role("listitem", name="greet")
    await expect(card).to_contain_text("nobody has approved it")
    await card.get_by_role("button", name="Look and approve…").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("nothing outside of its own process")
    await dialog.get_by_role("button", name="Approve").click()
    await expect(card).to_contain_text("Ready")

    # The reason why a folder cannot be approved is told when somebody looks.
    console.refusals.add(422)
    console.refusals.add(409)
    await page.get_by_role("listitem", name="broken").get_by_role("button").click()
    await expect(page.get_by_role("alert")).to_contain_text("front matter")


async def test_a_question_of_a_skill_is_answered_where_it_stands_and_one_of_a_lesson_in_its_proposal(
    console: Console,
) -> None:
    await console.page.goto(console.url)
    shown: list[str] = await console.page.evaluate(
        """async () => {
            const { waitingItems } = await import("/console/static/parts/waiting_items.js");
            const { identity } = await import("/console/static/identity.js");
            identity.set({ user_id: "alice", scopes: ["read", "approve"] });
            const item = (about) => ({
                item_id: "0199aa10-7c00-7000-8000-000000000001", kind: "question", title: "It asks", text: "Which?",
                about, unproved: 0, created_at: "2026-11-23T10:00:00Z", expires_at: null, arguments: null,
            });
            const all = [item("ask-clarifying-question"), item("0199aa10-7c00-7000-8000-000000000002")];
            const element = waitingItems(all, null, () => {});
            return [...element.querySelectorAll("button, a.button")].map((one) => one.textContent);
        }"""
    )
    assert shown == ["Answer…", "Go to Pending Abilities"]


FRONT = """---
name: greet
version: 1.0.0
description: Greets somebody by name.
metadata: {"amber": {"capabilities": ["read"], "timeout_ms": 2000, "permissions": {}, "function_schema": {"name": \
"greet", "parameters": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}}}
---
"""
HANDLER = "async def handle(params, context):\n    return {'success': True}\n"
