"""A project's documents through the connector that its sources are bound to: the way is told, taken and on record."""

from typing import Any

import pytest

from stores.platform.journal.journal import TRACES, JournalFilter, read_entries
from tests.e2e.test_route_explaining import add_server, bind, binding, decide, way
from tests.fixtures.m365_office import Office, office, running_m365_server
from tests.fixtures.tool_calls import use_receipts

pytestmark = pytest.mark.anyio

__all__ = ["office", "running_m365_server"]

PROJECT = "harbour-bridge"
DOCUMENTS = {"project_id": PROJECT, "action_class": "read"}


@pytest.fixture
async def bound(office: Office) -> Office:
    """A project whose documents are at SharePoint and OneDrive, a healthy connector to them, and another server."""
    await office.register()
    await add_server(office.stack, office.alice, "Archive", "sharepoint_list_documents")
    sources = {"sharepoint_refs": ["site-legal"], "onedrive_refs": ["drive-1"]}
    await bind(office.stack.learner("alice", ("learn",)), binding(PROJECT, **sources))
    return office


async def lists_documents(office: Office) -> dict[str, Any]:
    """An agent's call for the project's documents, by the connector of the way."""
    body = {**office.asking("sharepoint_list_documents", site_ref="site-legal"), "project_id": PROJECT}
    return await office.alice.ok("POST", "/api/mcp/dispatches", body)


@pytest.mark.acceptance("9.12-1")
async def test_a_project_goes_to_the_healthy_connector_that_it_is_bound_to_and_the_use_is_on_record(
    bound: Office,
) -> None:
    await decide(bound.alice, bound.server_id, "enabled")
    found = await way(bound.alice, **DOCUMENTS)
    assert (found["decision"], found["server_id"]) == ("allow", bound.server_id)
    assert "of the project" in found["score_breakdown"][0]["reasons"]
    call = await lists_documents(bound)
    assert call["status"] == "completed"
    (use,) = [one for one in use_receipts(bound.stack) if one["dispatch_id"] == call["dispatch_id"]]
    with bound.stack.database.read() as connection:
        kept = [one.document for one in read_entries(connection, JournalFilter(streams=(TRACES,)))]
    (trace,) = [one for one in kept if one["trace_id"] == use["route_trace_id"]]
    assert (trace["capability_id"], trace["goal"]) == (use["capability_id"], use["tool_name"])
    assert (trace["surfaces_attempted"], trace["success"]) == ([use["route_surface"]], True)
    assert use["operation_id"] == call["dispatch_id"]
    assert (use["route_surface"], use["connector_server_id"]) == ("mcp_connector", bound.server_id)
    assert (use["project_id"], use["result"], use["approval_state"]) == (PROJECT, "success", "not_needed")


@pytest.mark.acceptance("9.12-2")
async def test_with_its_provider_forbidden_a_project_goes_elsewhere_or_is_told_why_not(bound: Office) -> None:
    target = {"target_kind": "provider", "provider": "m365"}
    body = {"target": target, "decision": {"mode": "disabled"}}
    await bound.alice.ok("POST", "/api/mcp/policy/update", body)
    found = await way(bound.alice, **DOCUMENTS)
    assert (found["decision"], found["server_id"] != bound.server_id) == ("allow", True)
    alone = await way(bound.alice, **DOCUMENTS, provider="m365")
    assert (alone["decision"], alone.get("server_id")) == ("deny", None)
    why = next(one["why"] for one in alone["left_out"] if one["server_id"] == bound.server_id)
    assert why.startswith("Policy forbids it.")
    call = await lists_documents(bound)
    assert (call["status"], call["verdict"]["reason_code"]) == ("blocked", "provider_disabled")


async def test_the_preferred_kind_of_a_projects_documents_is_the_one_that_is_looked_for(
    office: Office,
) -> None:
    await office.register()
    person = office.stack.learner("alice", ("learn",))

    async def latest(**said: str) -> Any:
        found = await office.ask("project_get_latest_document", project_id="matter-7", **said)
        return found["m365"]["result"]["document_ref"]

    assert await latest() == "doc-2"
    await bind(person, binding("matter-7", preferred_doc_types=["contract", "memo"]))
    assert await latest() is None
    assert await latest(document_role="memo") == "doc-2"
    await bind(person, binding("matter-7", preferred_doc_types=["memo"]))
    assert await latest() == "doc-2"
