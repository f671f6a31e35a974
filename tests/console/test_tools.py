"""Approvals and connectors in a real browser: what waits is seen as it would run, and decided there."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.async_api import Page, expect
from sqlalchemy import update

from clients.documents.reading_order import DocumentLibraries
from contracts.base import rfc3339
from contracts.mcp.dispatch_work import DispatchRecord
from domain.documents.acrobat import tool_definitions
from stores.mcp.mcp_tables import mcp_dispatches
from stores.platform.canonical import canonical_json
from stores.platform.tables import capabilities
from tests.console.conftest import PATIENCE_MS, Console
from tests.fixtures.installed import install, manifest
from tests.fixtures.learner import Learner
from tests.fixtures.pdf_documents import written
from tests.fixtures.stack import EVERYDAY_SCOPES, Stack

pytestmark = pytest.mark.anyio
expect.set_options(timeout=PATIENCE_MS)

MAIL = "jane.doe@example.org"


@dataclass(frozen=True)
class Desk:
    """A person with a document, and an agent that asks for calls about it."""

    stack: Stack
    console: Console
    person: Learner
    server_id: str
    source_ref: str

    @property
    def page(self) -> Page:
        return self.console.page

    async def asks(self, tool: str = "redaction_prep", **more: Any) -> str:
        """An agent's call of a tool; its id."""
        arguments = {"source_ref_kind": "temp_artifact_ref", "source_ref": self.source_ref, **more}
        body = {
            "server_id": self.server_id,
            "tool_name": tool,
            "arguments": arguments,
            "runtime": "openclaw",
            "turn_ref": "turn-7",
            "session_ref": "session-3",
            "wait_ms": 5_000,
        }
        return str((await self.person.ok("POST", "/api/mcp/dispatches", body))["dispatch_id"])

    async def decides(self, mode: str, **target: str) -> None:
        """The person's policy."""
        body = {"target": {"server_id": self.server_id, **target}, "decision": {"mode": mode}}
        await self.person.ok("POST", "/api/mcp/policy/update", body)

    async def call(self, dispatch_id: str) -> dict[str, Any]:
        return await self.person.ok("GET", f"/api/mcp/dispatches/{dispatch_id}")

    async def opens(self, view: str) -> None:
        await self.console.sign_in(self.person.secret)
        await self.console.open(view)

    def changes_a_tool(self, name: str, says: str = "It now does more.") -> None:
        """The server says something else of a tool than a person has looked at."""
        changed = tuple(
            one.changed(description=f"{one.description} {says}") if one.tool_name == name else one
            for one in tool_definitions()
        )
        self.stack.services.mcp.tools.take_in(
            self.server_id,
            self.person.user,
            changed,
            datetime.now(UTC),
            "0199aa10-7c00-7000-8000-0000000000c1",
        )


@pytest.fixture
async def desk(stack: Stack, console: Console) -> Desk:
    person = stack.learner("alice", (*EVERYDAY_SCOPES, "call"))
    head = {"authorization": f"Bearer {person.secret}", "content-type": "application/pdf"}
    content = written([f"Write to {MAIL}"])
    answer = await person.http.post("/api/adapters/acrobat/sources", content=content, headers=head)
    ref = answer.json()["temp_artifact_ref"]
    body = {"source_ref_kind": "temp_artifact_ref", "source_ref": ref}
    await person.ok("POST", "/api/adapters/acrobat/extract-text", body)
    server = stack.services.mcp.acrobat_servers.find(person.user)
    assert server is not None
    return Desk(stack, console, person, server.server_id, ref)


async def test_with_nothing_waiting_the_page_says_what_to_do_next(desk: Desk) -> None:
    await desk.opens("approvals")
    await expect(desk.page.get_by_text("Nothing waits for you")).to_be_visible()
    await desk.page.get_by_role("link", name="Go to Connectors").click()
    await expect(desk.page.get_by_role("heading", level=1, name="Connectors")).to_be_visible()


async def test_a_tool_that_nobody_looked_at_is_shown_with_its_unseen_characters_where_it_is_decided_on(
    desk: Desk,
) -> None:
    desk.changes_a_tool("redaction_prep", says="\u202eylno sdaeR")
    await desk.asks()
    await desk.opens("approvals")
    card = desk.page.locator(".waiting-call")
    await expect(card.get_by_text("It says of itself:")).to_contain_text(r"\u202eylno sdaeR")
    await card.get_by_text("What it takes").click()
    await expect(card.get_by_label("What redaction_prep takes")).to_contain_text("source_ref_kind")
    await desk.console.open(f"connectors/{desk.server_id}")
    tools = desk.page.get_by_role("region", name="Tools")
    await expect(tools.locator(".tool-says").filter(has_text="ylno sdaeR")).to_contain_text(
        r"\u202eylno sdaeR"
    )


@pytest.mark.everyday
async def test_a_call_appears_by_itself_with_what_would_run_and_is_approved_once(desk: Desk) -> None:
    page = desk.page
    await desk.opens("approvals")
    await expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    dispatch_id = await desk.asks(pattern_set=["email"])
    card = page.get_by_role("region", name="Prepare redaction at Acrobat (PDF)")
    await expect(card).to_contain_text("Expires in")
    await expect(card).to_contain_text("openclaw for alice")
    await expect(card.get_by_label("Arguments that will run")).to_contain_text(desk.source_ref)
    await expect(card).to_contain_text("A person is asked about redaction_prep each time")
    await expect(page).to_have_title("(1) Approvals · Tools")
    await card.get_by_role("button", name="Approve once").click()
    await expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    decided = page.get_by_role("region", name="Decided lately")
    await expect(decided).to_contain_text("Approved once")
    await expect(decided).to_contain_text("By alice")
    await expect(decided).to_contain_text("The tool has answered.")
    await expect(decided).to_contain_text("With the permission of you, on this machine · alice")
    assert (await desk.call(dispatch_id))["status"] == "completed"


async def test_what_cannot_be_seen_in_the_arguments_is_spelled_out_and_sent_as_it_was(desk: Desk) -> None:
    page = desk.page
    hidden = ["em\u200bail", "s\u202esn", "a\U000e0041b"]
    dispatch_id = await desk.asks(pattern_set=hidden)
    await desk.opens("approvals")
    shown = page.get_by_label("Arguments that will run")
    for spelled in ("em\\u200bail", "s\\u202esn", "a\\udb40\\udc41b"):
        await expect(shown).to_contain_text(spelled)
    await page.get_by_role("button", name="Edit, then approve…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Approve these once").click()
    await expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    assert (await desk.call(dispatch_id))["arguments"]["pattern_set"] == hidden


async def test_other_arguments_are_sent_when_they_are_edited_and_nonsense_is_refused(desk: Desk) -> None:
    page = desk.page
    dispatch_id = await desk.asks(pattern_set=["email", "ssn"])
    await desk.opens("approvals")
    await page.get_by_role("button", name="Edit, then approve…").click()
    dialog = page.get_by_role("dialog")
    box = dialog.get_by_label("Arguments as JSON")
    await expect(box).to_have_value(re.compile(desk.source_ref))
    await box.fill("{not json")
    await dialog.get_by_role("button", name="Approve these once").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("no JSON")
    edited = {"source_ref_kind": "temp_artifact_ref", "source_ref": desk.source_ref, "pattern_set": ["ssn"]}
    await box.fill(canonical_json(edited))
    await dialog.get_by_role("button", name="Approve these once").click()
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_role("region", name="Decided lately")).to_contain_text(
        "with other arguments than asked for"
    )
    call = await desk.call(dispatch_id)
    assert call["arguments"] == edited
    assert call["ask_first"]["edited_from_digest"]


async def test_a_call_is_denied_by_the_keyboard_and_the_reason_is_kept(desk: Desk) -> None:
    page = desk.page
    dispatch_id = await desk.asks()
    await desk.opens("approvals")
    deny = page.get_by_role("button", name="Deny…")
    await deny.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog").get_by_label("Reason")).to_be_focused()
    await page.keyboard.type("Not this document")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("region", name="Decided lately")).to_contain_text(
        "denied the call (Not this document)"
    )
    assert (await desk.call(dispatch_id))["status"] == "denied"


async def test_an_approval_for_the_session_is_a_standing_one_that_can_be_revoked(desk: Desk) -> None:
    page = desk.page
    await desk.decides("ask_first", target_kind="tool", tool_name="extract_text")
    await desk.asks("extract_text")
    await desk.opens("approvals")
    await page.get_by_role("button", name="For the session").click()
    await expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    assert (await desk.call(await desk.asks("extract_text")))["status"] == "completed"
    await desk.console.open("connectors")
    grants = page.get_by_role("region", name="Standing approvals")
    await expect(grants).to_contain_text("extract_text at Acrobat (PDF), for the session")
    await grants.get_by_role("button", name="Revoke").click()
    await expect(grants).to_contain_text("No standing approval")
    assert (await desk.call(await desk.asks("extract_text")))["status"] == "pending_approval"


async def test_a_call_whose_time_ran_out_is_shown_as_expired_and_takes_no_answer(desk: Desk) -> None:
    page = desk.page
    dispatch_id = await desk.asks()
    with desk.stack.database.write() as connection:
        body = connection.scalar(
            mcp_dispatches.select()
            .with_only_columns(mcp_dispatches.c.body)
            .where(mcp_dispatches.c.dispatch_id == dispatch_id)
        )
        record = DispatchRecord.model_validate_json(body)
        assert record.ask_first is not None
        past = datetime.now(UTC) - timedelta(seconds=1)
        over = record.changed(ask_first=record.ask_first.changed(expires_at=past))
        connection.execute(
            update(mcp_dispatches)
            .where(mcp_dispatches.c.dispatch_id == dispatch_id)
            .values(body=canonical_json(over), expires_at=rfc3339(past))
        )
    await desk.opens("approvals")
    decided = page.get_by_role("region", name="Decided lately")
    await expect(decided).to_contain_text("Expired")
    await expect(decided).to_contain_text("nothing was sent")
    await expect(page.get_by_role("button", name="Approve once")).to_have_count(0)


async def test_a_changed_definition_is_warned_of_where_it_counts_and_can_be_looked_at(desk: Desk) -> None:
    page = desk.page
    desk.changes_a_tool("redaction_prep")
    await desk.asks()
    await desk.opens("approvals")
    card = page.get_by_role("region", name="Prepare redaction at Acrobat (PDF)")
    await expect(card).to_contain_text("Changed since it was looked at")
    await card.get_by_text("What changed").first.click()
    await expect(card.get_by_label("What changed")).to_contain_text("It now does more.")
    await desk.console.open(f"connectors/{desk.server_id}")
    tools = page.get_by_role("region", name="Tools")
    await expect(tools).to_contain_text("Changed since it was looked at")
    await tools.get_by_role("button", name="Mark as looked at…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Pin it").click()
    await expect(tools.get_by_role("button", name="Mark as looked at…")).to_have_count(0)
    await expect(tools).not_to_contain_text("Changed since it was looked at")


async def test_a_call_whose_tool_has_changed_since_is_shown_with_what_it_is_now_and_sent_to_that(
    desk: Desk,
) -> None:
    dispatch_id = await desk.asks()
    desk.changes_a_tool("redaction_prep")
    await desk.opens("approvals")
    card = desk.page.get_by_role("region", name="Prepare redaction at Acrobat (PDF)")
    await expect(card).to_contain_text("Changed since this call was asked for")
    await expect(card.get_by_text("It says of itself:")).to_contain_text("It now does more.")
    asked_with = (await desk.call(dispatch_id))["ask_first"]["tool_definition_hash"]
    await card.get_by_role("button", name="Approve once").click()
    await expect(desk.page.get_by_role("region", name="Decided lately")).to_contain_text("Approved once")
    approved = (await desk.call(dispatch_id))["ask_first"]
    assert (approved["status"], approved["tool_definition_hash"] == asked_with) == ("approved_once", False)


@pytest.mark.thorough
@pytest.mark.acceptance("acrobat_health_blocks_buttons")
async def test_a_connector_offers_what_the_service_says_and_shows_where_its_policy_comes_from(
    desk: Desk,
) -> None:
    page = desk.page
    await desk.opens("connectors")
    card = page.get_by_role("list", name="Connectors").get_by_role("listitem")
    await expect(card).to_contain_text("Acrobat (PDF)")
    await expect(page.get_by_role("region", name="Deferred connectors")).to_contain_text("Gmail")
    await card.get_by_role("link", name="Acrobat (PDF)").click()
    policy = page.get_by_role("region", name="Policy")
    await expect(policy).to_contain_text("by default")
    await policy.get_by_role("button", name="Ask first").click()
    await expect(policy).to_contain_text("decided here")
    await expect(policy.get_by_role("button", name="Ask first")).to_have_attribute("aria-pressed", "true")
    tool = page.get_by_role("region", name="Tools").get_by_role("listitem").filter(has_text="extract_text")
    await expect(tool).to_contain_text("inherited from its server")
    await desk.person.ok("PATCH", f"/api/mcp/servers/{desk.server_id}", {"enabled": False})
    await expect(page.get_by_role("region", name="Where it stands")).to_contain_text("Switched off")
    await expect(page.get_by_role("button", name="Test it")).to_have_count(0)
    await page.get_by_role("link", name="All connectors").click()
    documents = page.get_by_role("region", name="PDF documents")
    await expect(documents).to_contain_text("Switched off")
    await expect(documents.get_by_text("not available")).to_have_count(4)


async def test_a_connector_names_the_skills_that_are_bound_to_it(desk: Desk) -> None:
    name = install(desk.stack.database)
    bound = manifest(name).changed(required_runtime_caps=(f"mcp_server:{desk.server_id}",))
    with desk.stack.database.write() as connection:
        changed = update(capabilities).where(capabilities.c.capability_id == name)
        connection.execute(changed.values(manifest=canonical_json(bound)))
    await desk.opens("connectors")
    card = desk.page.get_by_role("list", name="Connectors").get_by_role("listitem").first
    await expect(card.get_by_role("link", name="Report")).to_have_attribute("href", f"#/skills/{name}")


@pytest.mark.acceptance("acrobat_health_blocks_buttons")
async def test_what_cannot_be_done_with_documents_here_is_shown_with_what_to_do(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = desk.page.get_by_role("region", name="PDF documents")
    await desk.opens("connectors")
    await expect(documents.get_by_role("heading")).to_contain_text("Healthy")
    await expect(documents.get_by_role("listitem")).to_have_count(4)
    await expect(documents.get_by_text("not available")).to_have_count(0)

    without_ocr = DocumentLibraries(reading=True, recognition=False, confinement=True)
    monkeypatch.setattr("api.documents.acrobat.document_libraries", lambda: without_ocr)
    await expect(documents.get_by_role("heading")).to_contain_text("Degraded")
    await expect(documents.get_by_text("not available")).to_have_text(
        ["Read text in pictures: not available"]
    )
    await expect(documents).to_contain_text("Install the extra ocr")

    without_any = DocumentLibraries(reading=False, recognition=False, confinement=True)
    monkeypatch.setattr("api.documents.acrobat.document_libraries", lambda: without_any)
    await expect(documents.get_by_role("heading")).to_contain_text("Not available")
    await expect(documents.get_by_text("not available", exact=False)).to_have_count(5)
    await expect(documents).to_contain_text("Install pdfplumber")


async def test_a_link_in_a_notification_leads_to_its_call_while_it_waits_and_afterwards(desk: Desk) -> None:
    page = desk.page
    dispatch_id = await desk.asks()
    await desk.asks(pattern_set=["ssn"])
    await desk.console.sign_in(desk.person.secret)
    await page.goto(f"{desk.console.url}#ask-first/{dispatch_id}")
    await expect(page.locator(f"#call-{dispatch_id}")).to_be_focused()
    approve = f"/api/mcp/ask-first/{dispatch_id}/approve"
    await desk.person.ok("POST", approve, {"decision": "approve_once"})
    answered = page.get_by_role("region", name="It has been answered")
    await expect(answered).to_contain_text("Approved once")
    await expect(page.get_by_role("button", name="Approve once")).to_have_count(1)


async def test_a_token_that_may_not_decide_sees_the_call_and_why_the_buttons_are_off(desk: Desk) -> None:
    await desk.asks()
    reader = desk.stack.learner("alice", ("read",))
    await desk.console.sign_in(reader.secret)
    await desk.console.open("approvals")
    await expect(desk.page.get_by_role("button", name="Approve once")).to_be_disabled()
    await expect(desk.page.get_by_text("Your token lacks approve")).to_be_visible()


async def test_a_tools_words_are_shown_as_text_and_never_run(desk: Desk) -> None:
    attack = "<img src=x onerror=alert(1)>"
    await desk.asks(pattern_set=[attack])
    await desk.opens("approvals")
    await expect(desk.page.get_by_label("Arguments that will run")).to_contain_text(attack)
    assert await desk.page.locator("main img").count() == 0


async def test_nothing_of_tools_is_cut_off_on_a_narrow_screen(desk: Desk) -> None:
    page = desk.page
    await desk.asks(pattern_set=["x" * 100])
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.emulate_media(color_scheme="dark")
    await desk.opens("approvals")
    for view in ("approvals", "connectors", f"connectors/{desk.server_id}"):
        await desk.console.open(view)
        await expect(page.locator(".loading")).to_have_count(0)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
