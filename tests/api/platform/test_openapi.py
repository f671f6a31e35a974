"""The document that describes the API: stable, complete, and true."""

import json
import warnings
from typing import Any

import pytest
from fastapi.routing import iter_route_contexts
from pydantic import BaseModel, TypeAdapter

from api.app import create_app
from api.platform.openapi import examples
from api.platform.openapi_errors import MEANINGS
from config.settings import Settings
from contracts.errors import ERROR_RULES, ApiErrorEnvelope, ErrorCode
from tests.api.route_table import ANY_SCOPE, KEYED, OPEN, SCOPES
from tests.api.world import ROUTES, document, operation_of
from tests.fixtures.stack import Stack

# A client generated from an earlier document breaks when one of these is renamed or gone: add, never change.
OPERATION_IDS = [
    "ability_activate",
    "ability_archive",
    "ability_availability",
    "ability_availability_one",
    "ability_catalog",
    "ability_checkpoint_receipts",
    "ability_deactivate",
    "ability_demote_private",
    "ability_detail",
    "ability_explain_match",
    "ability_lookup",
    "ability_outcomes",
    "ability_promote_shared",
    "ability_quarantine",
    "ability_rollback",
    "ability_trial",
    "ability_trial_folder",
    "ability_trial_remove",
    "ability_trial_result",
    "ability_trial_start",
    "ability_unquarantine",
    "ability_versions",
    "acrobat_extract_tables",
    "acrobat_extract_text",
    "acrobat_forget",
    "acrobat_health",
    "acrobat_ocr",
    "acrobat_output",
    "acrobat_redaction_prep",
    "acrobat_source_upload",
    "agent_create",
    "agent_list",
    "bridge_verify_checkpoint",
    "capability_bridge",
    "capability_explain",
    "capability_health",
    "capability_reprobe",
    "capability_stats",
    "category_assign",
    "category_change",
    "category_create",
    "category_delete",
    "category_item_remove",
    "category_items",
    "category_list",
    "configuration_current",
    "configuration_intent",
    "dispatch_checkpoint_progress",
    "dispatch_checkpoint_receipts",
    "healthz",
    "inbox_answer",
    "inbox_list",
    "learn_deployment",
    "learn_history",
    "learn_install_saga",
    "learn_observation_remove",
    "learn_observations_ingest",
    "learn_observations_list",
    "learn_proposal_approve",
    "learn_proposal_detail",
    "learn_proposal_diff",
    "learn_proposal_files",
    "learn_proposal_graph",
    "learn_proposal_install",
    "learn_proposal_list",
    "learn_proposal_reject",
    "learn_proposal_request_adapter",
    "learn_proposal_request_more_tests",
    "learn_proposal_revise",
    "learn_proposal_rounds",
    "learn_proposal_validate",
    "learn_proposal_validation_runs",
    "learn_receipts",
    "learn_recent_runs",
    "learn_reopen",
    "learn_runtime_current",
    "learn_session_account",
    "learn_session_answer_questions",
    "learn_session_cancel",
    "learn_session_checkpoint_progress",
    "learn_session_checkpoint_receipts",
    "learn_session_create",
    "learn_session_delete",
    "learn_session_detail",
    "learn_session_events",
    "learn_session_generate_proposal",
    "learn_session_list",
    "learn_session_mark_goal",
    "learn_session_mark_step",
    "learn_session_observation_scope",
    "learn_session_pause",
    "learn_session_practice",
    "learn_session_practice_progress",
    "learn_session_resume",
    "learn_session_set_test_policy",
    "learn_session_start",
    "learn_session_stop",
    "learn_session_trim",
    "learn_starting_state_keep",
    "learn_starting_state_remove",
    "learn_starting_states_list",
    "maintenance_run_detail",
    "maintenance_run_start",
    "maintenance_runs_list",
    "mcp_ask_first_approve",
    "mcp_ask_first_deny",
    "mcp_ask_first_pending",
    "mcp_auth_callback",
    "mcp_auth_challenge_respond",
    "mcp_auth_profile_create",
    "mcp_auth_profile_delete",
    "mcp_auth_profile_list",
    "mcp_auth_profile_patch",
    "mcp_auth_profile_secret",
    "mcp_auth_refresh",
    "mcp_auth_revoke",
    "mcp_auth_start",
    "mcp_auth_status",
    "mcp_dispatch_cancel",
    "mcp_dispatch_create",
    "mcp_dispatch_get",
    "mcp_dispatch_list",
    "mcp_grant_list",
    "mcp_grant_revoke",
    "mcp_policy",
    "mcp_policy_preview",
    "mcp_policy_runtimes",
    "mcp_policy_runtimes_replace",
    "mcp_policy_update",
    "mcp_project_resolve",
    "mcp_receipt_list",
    "mcp_route_explain",
    "mcp_server_delete",
    "mcp_server_health",
    "mcp_server_list",
    "mcp_server_patch",
    "mcp_server_register",
    "mcp_server_smoke_test",
    "mcp_tool_list",
    "mcp_tool_review",
    "me",
    "memory_check_in_cancel",
    "memory_check_ins",
    "memory_erase",
    "memory_facts",
    "memory_goal_move",
    "memory_goals",
    "memory_list",
    "metrics",
    "mining_candidate_accept",
    "mining_candidate_detail",
    "mining_candidate_dismiss",
    "mining_candidates_list",
    "mining_run_detail",
    "mining_scan",
    "mining_settings",
    "mining_settings_replace",
    "observation_adapter_heartbeat",
    "observation_adapters_list",
    "readyz",
    "skill_approval_create",
    "skill_approval_revoke",
    "skill_approve",
    "skill_find",
    "skill_get",
    "skill_import_approve",
    "skill_import_create",
    "skill_import_detail",
    "skill_import_discard",
    "skill_import_install_private",
    "skill_import_list",
    "skill_import_reject",
    "skill_import_retry",
    "skill_import_scan",
    "skill_import_stage",
    "skill_import_upload_delete",
    "skill_pack_delete",
    "skill_pack_detail",
    "skill_pack_install",
    "skill_pack_install_cancel",
    "skill_pack_install_detail",
    "skill_pack_list",
    "skill_pack_put",
    "skill_invocation_cancel",
    "skill_invocation_confirm",
    "skill_invocation_folder",
    "skill_invocation_get",
    "skill_invocation_list",
    "skill_invoke",
    "skill_list",
    "skill_media",
    "skill_openai_tools",
    "skill_policy_get",
    "skill_policy_put",
    "skill_register",
    "skill_reload",
    "skill_tool_register",
    "skill_trigger_test",
    "token_create",
    "token_revoke",
    "tokens_list",
    "wallet_create",
    "wallet_fund",
    "wallet_get",
    "wallet_list",
    "workflow_link",
]


def test_no_operation_was_renamed_or_lost() -> None:
    assert sorted(ROUTES) == sorted(OPERATION_IDS)


def test_every_route_of_the_api_is_in_the_document() -> None:
    documented = {
        operation["operationId"] for path in document()["paths"].values() for operation in path.values()
    }
    assert documented == set(ROUTES)


@pytest.mark.thorough
def test_making_the_document_warns_of_nothing_and_is_repeatable() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = create_app(Settings()).openapi()
    assert again == document()
    assert json.loads(json.dumps(again)) == document()


@pytest.mark.parametrize("name", sorted(ROUTES))
def test_every_operation_says_what_it_does_and_answers(name: str) -> None:
    operation = operation_of(ROUTES[name])
    assert operation["summary"]
    assert operation["description"]
    (tag,) = operation["tags"]
    assert tag in {one["name"] for one in document()["tags"]}
    successes = [status for status in operation["responses"] if status.startswith("2")]
    assert successes
    for success in successes:
        contents = operation["responses"][success]["content"]
        assert len(contents) == (2 if name == "mcp_auth_callback" else 1)
        assert all(content["schema"] for content in contents.values())


@pytest.mark.parametrize("name", sorted(ROUTES))
def test_every_error_of_an_operation_is_the_envelope_with_its_codes(name: str) -> None:
    responses = operation_of(ROUTES[name])["responses"]
    expected = {"500"}
    if name not in OPEN:
        expected.add("401")
    if name in SCOPES or name == "token_create":
        expected.add("403")
    if "requestBody" in operation_of(ROUTES[name]):
        expected |= {"413", "422"}
    if "{" in ROUTES[name].path:
        expected.add("404")
    assert expected <= set(responses)
    assert name in SCOPES or name in ANY_SCOPE or name in OPEN
    for status, response in responses.items():
        if status.startswith("2") or name == "readyz":
            continue
        content = response["content"]["application/json"]
        assert content["schema"] == {"$ref": "#/components/schemas/ApiErrorEnvelope"}
        assert content["examples"]
        for code in content["examples"]:
            assert ERROR_RULES[ErrorCode(code)].status == int(status)
            assert f"`{code}`" in response["description"]


def test_the_examples_of_errors_are_envelopes() -> None:
    examples = document()["components"]["examples"]
    assert set(examples) == {code.value for code in MEANINGS}
    for code, example in examples.items():
        assert ApiErrorEnvelope.model_validate(example["value"]).error.code == code


def test_nothing_of_the_frameworks_own_error_shape_is_left() -> None:
    assert "HTTPValidationError" not in json.dumps(document())
    assert "application/problem+json" not in json.dumps(document())


def endpoint_models() -> dict[str, tuple[Any, Any]]:
    """The type of body and of answer that every route declares."""
    found: dict[str, tuple[Any, Any]] = {}
    for context in iter_route_contexts(create_app(Settings()).routes):
        name = getattr(context, "operation_id", None)
        if name is not None:
            body = context.body_field
            found[name] = (body.field_info.annotation if body else None, context.response_model)
    return found


def test_every_body_has_a_valid_example() -> None:
    bodies = {name: body for name, (body, _) in endpoint_models().items() if body is not None}
    assert set(examples().requests) == set(bodies)
    for name, body in bodies.items():
        example = operation_of(ROUTES[name])["requestBody"]["content"]["application/json"]["example"]
        TypeAdapter(body).validate_python(example)


def test_the_page_that_a_sign_in_ends_with_is_in_the_document() -> None:
    answer = operation_of(ROUTES["mcp_auth_callback"])["responses"]["200"]
    assert set(answer["content"]) == {"application/json", "text/html"}


def test_the_pages_that_refuse_a_sign_in_are_in_the_document() -> None:
    responses = operation_of(ROUTES["mcp_auth_callback"])["responses"]
    pages = {status for status, response in responses.items() if "text/html" in response["content"]}
    assert set(responses) - pages == {"500"}
    elsewhere = [
        name
        for name, route in ROUTES.items()
        if "text/html" in json.dumps(operation_of(route)) and name != "mcp_auth_callback"
    ]
    assert elsewhere == []


def test_every_response_has_a_valid_and_complete_example() -> None:
    answers = [answer for _, answer in endpoint_models().values() if isinstance(answer, type)]
    models = {answer.__name__: answer for answer in answers if issubclass(answer, BaseModel)}
    assert set(examples().responses) == set(models)
    for name, model in models.items():
        example = examples().responses[name]
        assert model.model_validate_json(json.dumps(example)).model_dump(mode="json") == example, name


def test_tokens_are_a_bearer_scheme() -> None:
    assert document()["components"]["securitySchemes"]["bearer"]["type"] == "http"
    assert document()["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    for name, operation in ((name, operation_of(route)) for name, route in ROUTES.items()):
        assert operation.get("security", []) == ([] if name in OPEN else [{"bearer": []}]), name


def test_the_idempotency_key_is_documented_where_it_counts() -> None:
    for name, operation in ((name, operation_of(route)) for name, route in ROUTES.items()):
        headers = {p["name"] for p in operation.get("parameters", []) if p["in"] == "header"}
        assert ("idempotency-key" in headers) is (name in KEYED), name


@pytest.mark.anyio
async def test_the_document_is_served_to_everybody(shared: Stack) -> None:
    response = await shared.http.get("/openapi.json")
    assert response.status_code == 200
    assert response.json() == json.loads(json.dumps(document()))
