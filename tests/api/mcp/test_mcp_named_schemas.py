"""Every route of tool servers that the documents name takes and answers the schemas they name (DOC3 L2360-2395)."""

import re
from typing import Any

import pytest

from tests.api.world import document

PARAMETER = re.compile(r"\{\w+\}")

# Route, request, response; a request of None takes no body. The documents' spellings without "Schema".
NAMED: tuple[tuple[str, str | None, str], ...] = (
    ("GET /servers", None, "MCPServerListResponse"),
    ("POST /servers/register", "MCPServerCreateRequest", "MCPServerMutationResponse"),
    ("PATCH /servers/{server_id}", "MCPServerPatchRequest", "MCPServerMutationResponse"),
    ("DELETE /servers/{server_id}", None, "MCPServerDeleteResponse"),
    ("GET /servers/{server_id}/health", None, "MCPConnectionHealth"),
    ("GET /servers/{server_id}/auth/status", None, "MCPServerAuthStatus"),
    ("POST /servers/{server_id}/auth/start", "MCPAuthStartRequest", "MCPAuthStartResponse"),
    ("GET /servers/{server_id}/auth/callback", None, "MCPServerAuthStatus"),
    ("POST /servers/{server_id}/auth/refresh", "MCPAuthRefreshRequest", "MCPServerAuthStatus"),
    ("POST /servers/{server_id}/auth/revoke", "MCPAuthRevokeRequest", "MCPAuthRevokeResponse"),
    ("POST /servers/{server_id}/smoke-test", "MCPSmokeTestRequest", "MCPSmokeTestResponse"),
    ("GET /auth-profiles", None, "MCPAuthProfileListResponse"),
    ("POST /auth-profiles", "MCPAuthProfileCreateRequest", "MCPAuthProfile"),
    ("PATCH /auth-profiles/{auth_profile_id}", "MCPAuthProfilePatchRequest", "MCPAuthProfile"),
    ("DELETE /auth-profiles/{auth_profile_id}", None, "MCPAuthProfileDeleteResponse"),
    ("POST /policy/update", "MCPPolicyUpdateRequest", "MCPEffectivePolicy"),
    ("GET /receipts", None, "MCPReceiptListResponse"),
    ("GET /ask-first/pending", None, "MCPAskFirstPendingListResponse"),
    ("POST /ask-first/{dispatch_id}/approve", "MCPAskFirstDecisionRequest", "MCPAskFirstDecisionResponse"),
    ("POST /ask-first/{dispatch_id}/deny", "MCPAskFirstDecisionRequest", "MCPAskFirstDecisionResponse"),
    (
        "POST /auth/challenge/respond",
        "MCPAuthChallengeRespondRequest",
        "MCPAuthChallengeRespondResponse",
    ),
)

CALLBACK_QUERY = {"code", "state", "error", "error_description", "session_state"}
"""All of ``MCPAuthCallbackQuery`` but the address for errors, which nobody follows."""


def operation(route: str) -> dict[str, Any]:
    method, path = route.split(" ")
    # What a parameter is called in a path is no part of the path.
    paths = {PARAMETER.sub("{}", known): found for known, found in document()["paths"].items()}
    wanted = PARAMETER.sub("{}", f"/api/mcp{path}")
    assert wanted in paths, f"{route} is not there"
    return paths[wanted][method.lower()]


def name_of(content: dict[str, Any]) -> str:
    reference: str = content["application/json"]["schema"]["$ref"]
    # What is taken and what is answered may differ in what has to be there; it is one schema all the same.
    return reference.rpartition("/")[2].removesuffix("-Input").removesuffix("-Output")


@pytest.mark.acceptance("mcp_named_responses_consistent")
@pytest.mark.parametrize(("route", "request_name", "response_name"), NAMED, ids=lambda value: str(value))
def test_a_route_takes_and_answers_the_schemas_of_its_name(
    route: str, request_name: str | None, response_name: str
) -> None:
    found = operation(route)
    taken = found.get("requestBody")
    assert (None if taken is None else name_of(taken["content"])) == request_name
    answers = {
        name_of(answer["content"])
        for status, answer in found["responses"].items()
        if status.startswith("2") and "application/json" in answer.get("content", {})
    }
    assert answers == {response_name}


@pytest.mark.acceptance("mcp_named_responses_consistent")
def test_the_callback_of_a_sign_in_takes_what_authorization_servers_send() -> None:
    parameters = operation("GET /servers/{server_id}/auth/callback").get("parameters", [])
    assert {one["name"] for one in parameters if one["in"] == "query"} >= CALLBACK_QUERY


@pytest.mark.acceptance("mcp_named_responses_consistent")
def test_a_name_stands_for_one_schema_and_every_answer_says_its_version() -> None:
    schemas: dict[str, Any] = document()["components"]["schemas"]
    for _, request_name, response_name in NAMED:
        for name in filter(None, (request_name, response_name)):
            found = [one for one in schemas if one.removesuffix("-Input").removesuffix("-Output") == name]
            assert found, name
            assert all("schema_version" in schemas[one]["properties"] for one in found), name
