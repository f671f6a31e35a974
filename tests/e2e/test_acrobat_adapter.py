"""Documents are worked on through the gateway: policy, approval and receipts hold for them as for any tool."""

import json
from typing import Any
from uuid import uuid4

import anyio
import httpx
import pytest
from sqlalchemy import select

from clients.documents.reading_order import DocumentLibraries
from stores.mcp.dispatch.rows import USES
from stores.platform.tables import journal
from tests.fixtures.learner import Learner
from tests.fixtures.pdf_documents import pictured, with_table, written
from tests.fixtures.stack import EVERYDAY_SCOPES, Stack

pytestmark = pytest.mark.anyio

ROOT = "/api/adapters/acrobat"
REQUIRES_APPROVAL = "ACROBAT_REDACTION_PREP_REQUIRES_APPROVAL"


@pytest.fixture
def alice(stack: Stack) -> Learner:
    return stack.learner("alice", (*EVERYDAY_SCOPES, "call"))


async def hand_in(person: Learner, content: bytes) -> httpx.Response:
    head = {"authorization": f"Bearer {person.secret}", "content-type": "application/pdf"}
    return await person.http.post(f"{ROOT}/sources", content=content, headers=head)


async def source_of(person: Learner, content: bytes) -> dict[str, Any]:
    answer = await hand_in(person, content)
    assert answer.status_code == 201, answer.text
    return {"source_ref_kind": "temp_artifact_ref", "source_ref": answer.json()["temp_artifact_ref"]}


async def output_of(person: Learner, operation: dict[str, Any]) -> dict[str, Any]:
    digest = operation["output_ref"].rpartition("/")[2]
    return await person.ok("GET", f"{ROOT}/outputs/{digest}")


async def server_of(person: Learner) -> dict[str, Any]:
    listed = (await person.ok("GET", "/api/mcp/servers"))["servers"]
    (server,) = [
        one["registry"]
        for one in listed
        if one["registry"]["provider"] == "acrobat" and one["registry"]["active_build_surface"]
    ]
    return server


async def decide_policy(person: Learner, mode: str, **target: str) -> None:
    await person.ok("POST", "/api/mcp/policy/update", {"target": target, "decision": {"mode": mode}})


@pytest.mark.acceptance("9.15-2")
async def test_the_receipt_of_a_local_use_shows_a_local_surface_and_no_tool_server(
    alice: Learner, stack: Stack
) -> None:
    source = await source_of(alice, written(["Hello"]))
    operation = await alice.ok("POST", f"{ROOT}/extract-text", source)
    with stack.database.read() as connection:
        found = connection.scalars(select(journal.c.document).where(journal.c.stream == USES))
        (use,) = [json.loads(document) for document in found]
    assert use["dispatch_id"] == operation["operation_id"]
    assert (use["route_surface"], use["tool_name"]) == ("python_wrapper", "extract_text")
    assert use["operation_id"] == operation["operation_id"]
    assert "connector_server_id" not in use
    assert use["identity_asserted_kind"] == "local_user"


async def test_text_is_extracted_as_a_call_of_a_registered_server_with_a_receipt(alice: Learner) -> None:
    source = await source_of(alice, written(["Hello"], ["World"]))
    operation = await alice.ok("POST", f"{ROOT}/extract-text", {**source, "page_range": "2"})
    assert (operation["status"], operation["capability"]) == ("ok", "extract_text")
    output = await output_of(alice, operation)
    assert [page["text"] for page in output["text"]] == ["World"]
    assert (output["page_count"], output["pages_read"]) == (2, [2])
    server = await server_of(alice)
    assert server["transport"] == "local_bridge"
    assert set(server["supported_tools"]) == {"extract_text", "extract_tables", "ocr", "redaction_prep"}
    call = await alice.ok("GET", f"/api/mcp/dispatches/{operation['operation_id']}")
    assert (call["server_id"], call["tool_name"], call["status"]) == (
        server["server_id"],
        "extract_text",
        "completed",
    )
    receipts = (await alice.ok("GET", "/api/mcp/receipts"))["receipts"]
    told = next(one for one in receipts if one["receipt_id"] == operation["receipt_id"])
    assert (told["dispatch_id"], told["receipt_kind"]) == (operation["operation_id"], "dispatch")


async def test_tables_are_extracted_and_recognised_text_too(alice: Learner) -> None:
    rows = [["Name", "Sum"], ["Rent", "1200"]]
    operation = await alice.ok("POST", f"{ROOT}/extract-tables", await source_of(alice, with_table(rows)))
    assert (await output_of(alice, operation))["tables"][0]["rows"] == rows
    operation = await alice.ok("POST", f"{ROOT}/ocr", await source_of(alice, pictured("Total 4711")))
    assert (await output_of(alice, operation))["text"][0]["text"] == "Total 4711"


async def test_a_page_without_text_makes_the_operation_degraded_and_says_why(alice: Learner) -> None:
    operation = await alice.ok("POST", f"{ROOT}/extract-text", await source_of(alice, pictured("Total")))
    assert (operation["status"], operation["warning_codes"]) == ("degraded", ["PAGE_WITHOUT_TEXT"])
    assert operation["output_ref"]


async def test_what_cannot_be_read_is_failed_with_what_and_where(alice: Learner) -> None:
    locked = await source_of(alice, written(["secret"], password="open sesame"))
    operation = await alice.ok("POST", f"{ROOT}/extract-text", locked)
    assert (operation["status"], operation["error_code"]) == ("failed", "ACROBAT_EXTRACTION_FAILED")
    assert "password" in operation["error_message"]
    beyond = {**await source_of(alice, written(["one"])), "page_range": "7"}
    operation = await alice.ok("POST", f"{ROOT}/extract-text", beyond)
    assert operation["status"] == "failed"
    assert "ends on page 1" in operation["error_message"]


@pytest.mark.parametrize("ref", ["/etc/passwd", "temp-artifact/" + "0" * 64])
async def test_a_path_or_an_unknown_reference_is_no_source_and_makes_no_call(
    alice: Learner, ref: str
) -> None:
    body = {"source_ref_kind": "temp_artifact_ref", "source_ref": ref}
    status, error = await alice.refused("POST", f"{ROOT}/extract-text", body)
    assert (status, error["code"]) == (404, "ACROBAT_SOURCE_NOT_FOUND")
    assert (await alice.ok("GET", "/api/mcp/dispatches"))["dispatches"] == []


async def test_another_users_document_and_output_are_not_there(stack: Stack, alice: Learner) -> None:
    source = await source_of(alice, written(["mine"]))
    operation = await alice.ok("POST", f"{ROOT}/extract-text", source)
    mallory = stack.learner("mallory", (*EVERYDAY_SCOPES, "call"))
    assert (await mallory.refused("POST", f"{ROOT}/extract-text", source))[0] == 404
    digest = operation["output_ref"].rpartition("/")[2]
    assert (await mallory.refused("GET", f"{ROOT}/outputs/{digest}"))[0] == 404


async def test_only_documents_of_a_bearable_size_are_taken(alice: Learner) -> None:
    assert (await hand_in(alice, b"hello")).json()["error"]["code"] == "VALIDATION_FAILED"
    assert (await hand_in(alice, b"")).json()["error"]["code"] == "VALIDATION_FAILED"
    large = await hand_in(alice, b"%PDF-1.7" + bytes(32 << 20))
    assert (large.status_code, large.json()["error"]["code"]) == (413, "PAYLOAD_TOO_LARGE")
    binary = await hand_in(alice, b"%PDF-1.7\n\x00\xff\xfe" + bytes(5 << 20))
    assert binary.status_code == 201
    again = await hand_in(alice, b"%PDF-1.7\n\x00\xff\xfe" + bytes(5 << 20))
    assert again.json()["temp_artifact_ref"] == binary.json()["temp_artifact_ref"]


@pytest.mark.thorough
@pytest.mark.acceptance("acrobat_redaction_prep_ask_first")
async def test_redaction_preparation_waits_for_a_person_whatever_policy_says(alice: Learner) -> None:
    source = await source_of(alice, written(["Write to jane.doe@example.org"]))
    await alice.ok("POST", f"{ROOT}/extract-text", source)
    server_id = (await server_of(alice))["server_id"]
    await decide_policy(alice, "enabled", target_kind="tool", server_id=server_id, tool_name="redaction_prep")
    asked = {**source, "pattern_set": ["email"], "client_request_id": str(uuid4())}
    waiting = await alice.ok("POST", f"{ROOT}/redaction-prep", asked)
    assert (waiting["status"], waiting["error_code"]) == ("blocked", REQUIRES_APPROVAL)
    assert waiting["operation_id"] in waiting["next_action"]
    assert waiting["output_ref"] is None
    pending = (await alice.ok("GET", "/api/mcp/ask-first/pending"))["dispatches"]
    assert [one["dispatch_id"] for one in pending] == [waiting["operation_id"]]

    approve = f"/api/mcp/ask-first/{waiting['operation_id']}/approve"
    await alice.ok("POST", approve, {"decision": "approve_once"})
    done = await alice.ok("POST", f"{ROOT}/redaction-prep", asked)
    assert (done["operation_id"], done["status"]) == (waiting["operation_id"], "ok")
    bundle = await output_of(alice, done)
    assert [one["kind"] for one in bundle["candidates"]] == ["email"]
    assert "jane.doe" not in str(bundle)


async def test_a_forgotten_document_is_read_by_no_call_that_waited_for_its_approval(alice: Learner) -> None:
    source = await source_of(alice, written(["Call +49 30 1234567"]))
    asked = {**source, "client_request_id": "mine"}
    waiting = await alice.ok("POST", f"{ROOT}/redaction-prep", asked)
    await alice.ok("DELETE", f"{ROOT}/artifacts/{source['source_ref'].rpartition('/')[2]}")
    approve = f"/api/mcp/ask-first/{waiting['operation_id']}/approve"
    await alice.ok("POST", approve, {"decision": "approve_once"})
    with anyio.fail_after(30):
        while (call := await alice.ok("GET", f"/api/mcp/dispatches/{waiting['operation_id']}"))[
            "status"
        ] == "running":
            await anyio.sleep(0.02)
    assert (call["status"], call["is_error"]) == ("completed", True)
    told = await alice.ok("POST", f"{ROOT}/redaction-prep", asked)
    assert (told["operation_id"], told["status"]) == (waiting["operation_id"], "failed")
    assert told["error_code"] == "ACROBAT_SOURCE_NOT_FOUND"
    anew = await alice.call("POST", f"{ROOT}/redaction-prep", {**asked, "client_request_id": "another"})
    assert (anew.status_code, anew.json()["error"]["code"]) == (404, "ACROBAT_SOURCE_NOT_FOUND")


@pytest.mark.acceptance("acrobat_redaction_prep_ask_first")
async def test_each_redaction_preparation_is_decided_for_itself(alice: Learner) -> None:
    source = await source_of(alice, written(["Call +49 30 1234567"]))
    first = await alice.ok("POST", f"{ROOT}/redaction-prep", {**source, "client_request_id": "one"})
    call = f"/api/mcp/ask-first/{first['operation_id']}"
    await alice.ok("POST", f"{call}/approve", {"decision": "approve_once"})
    second = await alice.ok("POST", f"{ROOT}/redaction-prep", {**source, "client_request_id": "two"})
    assert (second["status"], second["error_code"]) == ("blocked", REQUIRES_APPROVAL)
    call = f"/api/mcp/ask-first/{second['operation_id']}"
    await alice.ok("POST", f"{call}/deny", {"decision": "deny", "reason": "not this one"})
    denied = await alice.ok("POST", f"{ROOT}/redaction-prep", {**source, "client_request_id": "two"})
    assert (denied["status"], denied["error_code"]) == ("blocked", REQUIRES_APPROVAL)
    assert "denied" in denied["error_message"]


async def test_policy_asks_about_and_blocks_other_operations_as_it_does_for_every_tool(
    alice: Learner,
) -> None:
    source = await source_of(alice, written(["Hello"]))
    await decide_policy(alice, "ask_first", target_kind="provider", provider="acrobat")
    asked = await alice.ok("POST", f"{ROOT}/extract-text", source)
    assert (asked["status"], asked["error_code"]) == ("blocked", "MCP_ASK_FIRST_REQUIRED")
    await decide_policy(alice, "disabled", target_kind="provider", provider="acrobat")
    blocked = await alice.ok("POST", f"{ROOT}/extract-text", source)
    assert (blocked["status"], blocked["error_code"]) == ("blocked", "MCP_POLICY_BLOCKED")


async def test_a_confidential_document_is_asked_about_before_it_is_read(alice: Learner) -> None:
    source = await source_of(alice, written(["Hello"]))
    asked = await alice.ok("POST", f"{ROOT}/extract-text", {**source, "data_class": "privileged"})
    assert (asked["status"], asked["error_code"]) == ("blocked", "MCP_ASK_FIRST_REQUIRED")
    assert (await alice.ok("POST", f"{ROOT}/extract-text", source))["status"] == "ok"


@pytest.mark.acceptance("acrobat_health_blocks_buttons")
async def test_a_server_that_is_switched_off_is_shown_disabled_and_offers_nothing(alice: Learner) -> None:
    health = await alice.ok("GET", f"{ROOT}/health")
    assert len(health["supported_capabilities"]) == 4
    source = await source_of(alice, written(["Hello"]))
    await alice.ok("POST", f"{ROOT}/extract-text", source)
    server_id = (await server_of(alice))["server_id"]
    await alice.ok("PATCH", f"/api/mcp/servers/{server_id}", {"enabled": False})
    health = await alice.ok("GET", f"{ROOT}/health")
    assert (health["adapter_state"], health["supported_capabilities"]) == ("disabled", [])
    assert health["next_action"]
    status, error = await alice.refused("POST", f"{ROOT}/extract-text", source)
    assert (status, error["code"]) == (503, "ACROBAT_UNAVAILABLE")
    await alice.ok("PATCH", f"/api/mcp/servers/{server_id}", {"enabled": True})
    assert (await alice.ok("POST", f"{ROOT}/extract-text", source))["status"] == "ok"


@pytest.mark.acceptance("acrobat_health_blocks_buttons")
@pytest.mark.parametrize(
    ("installed", "state", "route", "code"),
    [
        (DocumentLibraries(False, False, True), "missing", "extract-text", "ACROBAT_UNAVAILABLE"),
        (DocumentLibraries(True, False, True), "degraded", "ocr", "ACROBAT_OCR_UNSUPPORTED"),
    ],
)
async def test_what_is_not_installed_is_shown_and_refused(
    alice: Learner,
    monkeypatch: pytest.MonkeyPatch,
    installed: DocumentLibraries,
    state: str,
    route: str,
    code: str,
) -> None:
    source = await source_of(alice, written(["Hello"]))
    monkeypatch.setattr("api.documents.acrobat.document_libraries", lambda: installed)
    health = await alice.ok("GET", f"{ROOT}/health")
    assert health["adapter_state"] == state
    assert "ocr" not in health["supported_capabilities"]
    assert health["reason_code"]
    assert health["next_action"]
    _, error = await alice.refused("POST", f"{ROOT}/{route}", source)
    assert error["code"] == code
