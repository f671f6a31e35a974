"""Table of every route: the scope it needs, and a body that it accepts."""

from collections.abc import Mapping
from typing import Any

from api.platform.openapi import examples
from tests.api.world import ROUTES, Ids, Route

REQUESTS = examples().requests

OPEN = frozenset({"healthz", "readyz", "metrics", "mcp_auth_callback"})
"""Answered without a token."""

ANY_SCOPE = frozenset({"me", "tokens_list", "token_revoke", "token_create"})
"""Answered to every token that holds."""

SCOPES: Mapping[str, str] = {
    "learn_session_create": "learn",
    "learn_session_list": "read",
    "learn_session_detail": "read",
    "learn_session_observation_scope": "read",
    "learn_session_checkpoint_receipts": "read",
    "learn_session_delete": "learn",
    "learn_session_start": "learn",
    "learn_session_pause": "learn",
    "learn_session_resume": "learn",
    "learn_session_stop": "learn",
    "learn_session_cancel": "learn",
    "learn_session_mark_goal": "learn",
    "learn_session_mark_step": "learn",
    "learn_session_trim": "learn",
    "learn_session_set_test_policy": "learn",
    "learn_session_answer_questions": "learn",
    "learn_session_generate_proposal": "learn",
    "learn_observations_ingest": "observe",
    "learn_observations_list": "read",
    "learn_starting_state_keep": "observe",
    "learn_starting_states_list": "read",
    "learn_starting_state_remove": "learn",
    "learn_observation_remove": "learn",
    "observation_adapters_list": "read",
    "observation_adapter_heartbeat": "observe",
    "learn_session_practice": "learn",
    "learn_session_practice_progress": "read",
    "learn_session_events": "read",
    "learn_proposal_list": "read",
    "learn_proposal_detail": "read",
    "learn_proposal_files": "read",
    "learn_proposal_graph": "read",
    "learn_proposal_rounds": "read",
    "learn_proposal_diff": "read",
    "learn_proposal_validation_runs": "read",
    "learn_install_saga": "read",
    "learn_proposal_revise": "learn",
    "learn_proposal_validate": "learn",
    "learn_proposal_request_more_tests": "learn",
    "learn_proposal_install": "install",
    "learn_proposal_approve": "approve",
    "learn_proposal_reject": "approve",
    "ability_availability": "read",
    "ability_catalog": "read",
    "ability_lookup": "read",
    "ability_explain_match": "read",
    "ability_detail": "read",
    "ability_availability_one": "read",
    "ability_versions": "read",
    "acrobat_health": "read",
    "acrobat_source_upload": "call",
    "acrobat_extract_text": "call",
    "acrobat_extract_tables": "call",
    "acrobat_ocr": "call",
    "acrobat_redaction_prep": "call",
    "acrobat_output": "read",
    "acrobat_forget": "call",
    "ability_outcomes": "read",
    "ability_trial_folder": "install",
    "ability_trial_start": "install",
    "ability_trial": "install",
    "ability_trial_result": "install",
    "ability_trial_remove": "install",
    "ability_activate": "install",
    "ability_deactivate": "install",
    "ability_quarantine": "install",
    "ability_unquarantine": "approve",
    "ability_promote_shared": "approve",
    "ability_demote_private": "install",
    "ability_archive": "install",
    "ability_rollback": "install",
    "ability_checkpoint_receipts": "read",
    "bridge_verify_checkpoint": "observe",
    "dispatch_checkpoint_receipts": "read",
    "dispatch_checkpoint_progress": "read",
    "learn_session_checkpoint_progress": "read",
    "capability_bridge": "read",
    "capability_explain": "read",
    "capability_health": "read",
    "capability_stats": "read",
    "capability_reprobe": "approve",
    "category_list": "read",
    "category_create": "learn",
    "category_change": "learn",
    "category_delete": "learn",
    "category_assign": "learn",
    "category_item_remove": "learn",
    "category_items": "read",
    "configuration_intent": "learn",
    "configuration_current": "read",
    "inbox_list": "read",
    "learn_session_account": "read",
    "learn_reopen": "read",
    "learn_deployment": "read",
    "learn_history": "read",
    "learn_receipts": "read",
    "learn_runtime_current": "read",
    "learn_recent_runs": "read",
    "maintenance_runs_list": "admin",
    "maintenance_run_detail": "admin",
    "maintenance_run_start": "admin",
    "mcp_server_list": "read",
    "mcp_server_register": "install",
    "mcp_server_patch": "install",
    "mcp_server_delete": "install",
    "mcp_tool_list": "read",
    "mcp_tool_review": "install",
    "mcp_receipt_list": "read",
    "mcp_dispatch_create": "call",
    "mcp_dispatch_list": "read",
    "mcp_dispatch_get": "read",
    "mcp_dispatch_cancel": "call",
    "mcp_ask_first_pending": "read",
    "mcp_ask_first_approve": "approve",
    "mcp_ask_first_deny": "approve",
    "mcp_grant_list": "read",
    "mcp_grant_revoke": "approve",
    "mcp_policy": "read",
    "mcp_project_resolve": "read",
    "mcp_route_explain": "read",
    "mcp_policy_preview": "read",
    "mcp_policy_runtimes": "read",
    "mcp_policy_runtimes_replace": "approve",
    "mcp_policy_update": "approve",
    "mcp_server_health": "read",
    "mcp_server_smoke_test": "install",
    "mcp_auth_status": "read",
    "mcp_auth_start": "install",
    "mcp_auth_refresh": "install",
    "mcp_auth_revoke": "install",
    "mcp_auth_challenge_respond": "install",
    "mcp_auth_profile_list": "read",
    "mcp_auth_profile_create": "install",
    "mcp_auth_profile_patch": "install",
    "mcp_auth_profile_delete": "install",
    "mcp_auth_profile_secret": "install",
    "mining_settings": "read",
    "mining_settings_replace": "learn",
    "mining_scan": "learn",
    "mining_run_detail": "read",
    "mining_candidates_list": "read",
    "mining_candidate_detail": "read",
    "mining_candidate_accept": "learn",
    "mining_candidate_dismiss": "learn",
    "workflow_link": "read",
    "skill_list": "read",
    "skill_get": "read",
    "skill_openai_tools": "read",
    "skill_find": "read",
    "skill_reload": "admin",
    "skill_register": "admin",
    "skill_tool_register": "admin",
    "skill_approve": "approve",
    "skill_invoke": "read",
    "skill_invocation_list": "read",
    "skill_invocation_get": "read",
    "skill_invocation_confirm": "approve",
    "skill_invocation_cancel": "read",
    "skill_policy_get": "read",
    "skill_policy_put": "admin",
    "memory_list": "read",
    "memory_facts": "read",
    "memory_check_ins": "read",
    "memory_check_in_cancel": "call",
    "memory_erase": "approve",
    "memory_goals": "read",
    "memory_goal_move": "approve",
    "inbox_answer": "approve",
    "wallet_list": "admin",
    "wallet_create": "admin",
    "wallet_get": "admin",
    "wallet_fund": "admin",
    "skill_approval_create": "approve",
    "skill_approval_revoke": "approve",
    "agent_list": "admin",
    "agent_create": "admin",
    "skill_import_create": "learn",
    "skill_import_upload_delete": "learn",
    "skill_import_scan": "learn",
    "skill_import_stage": "learn",
    "skill_import_approve": "approve",
    "skill_import_reject": "approve",
    "skill_import_install_private": "install",
    "skill_import_discard": "learn",
    "skill_import_retry": "learn",
    "skill_trigger_test": "read",
    "skill_import_list": "read",
    "skill_import_detail": "read",
    "skill_pack_list": "read",
    "skill_pack_put": "learn",
    "skill_pack_detail": "read",
    "skill_pack_delete": "learn",
    "skill_pack_install": "install",
    "skill_pack_install_detail": "read",
    "skill_pack_install_cancel": "install",
}

PAGED = frozenset(
    {
        "tokens_list",
        "category_list",
        "mcp_server_list",
        "mcp_auth_profile_list",
        "mcp_ask_first_pending",
        "mcp_grant_list",
        "ability_versions",
        "ability_catalog",
        "learn_session_list",
        "learn_session_checkpoint_receipts",
        "learn_observations_list",
        "learn_starting_states_list",
        "learn_proposal_list",
        "learn_proposal_validation_runs",
        "category_items",
        "ability_checkpoint_receipts",
        "dispatch_checkpoint_receipts",
        "learn_history",
        "learn_receipts",
        "learn_recent_runs",
        "maintenance_runs_list",
        "mining_candidates_list",
        "mcp_dispatch_list",
        "mcp_policy",
        "inbox_list",
        "skill_list",
        "skill_invocation_list",
        "wallet_list",
        "agent_list",
        "memory_list",
        "memory_facts",
        "memory_check_ins",
        "memory_goals",
        "skill_import_list",
    }
)

FILTERS: Mapping[str, tuple[str, ...]] = {
    "learn_session_list": ("state",),
    "learn_proposal_list": ("state",),
    "learn_proposal_files": ("revision",),
    "learn_receipts": ("learn_session_id", "event_kind"),
    "mining_candidates_list": ("state",),
    "configuration_current": ("target",),
    "mcp_dispatch_list": ("status",),
    "mcp_grant_list": ("include_past", "sort", "scope"),
    "tokens_list": ("sort",),
    "category_list": ("sort",),
    "mcp_server_list": ("sort", "provider", "transport", "enabled"),
    "mcp_auth_profile_list": ("sort", "provider", "auth_mode", "status"),
    "mcp_ask_first_pending": ("sort", "status"),
    "ability_versions": ("sort", "install_lane", "current"),
    "ability_catalog": ("sort", "source", "install_lane", "enabled", "usable_now"),
    "learn_session_events": ("last_event_id",),
    "mcp_receipt_list": ("cursor", "limit"),
    "inbox_list": ("kind",),
    "skill_list": ("state", "category"),
    "memory_list": ("kind",),
    "memory_goals": ("state",),
    "skill_invocation_list": ("status",),
    "skill_import_list": ("stage_state",),
}

FREE_TEXT: Mapping[str, tuple[str, ...]] = {
    "mcp_auth_callback": ("state", "code", "error", "error_description", "session_state", "iss", "agreed"),
    "learn_session_list": ("q",),
    "learn_proposal_list": ("q",),
    "learn_history": ("q",),
    "mcp_dispatch_list": ("server_id", "tool_name"),
    "tokens_list": ("q", "user_id", "runtime"),
    "category_list": ("q", "color"),
    "mcp_server_list": ("q",),
    "mcp_auth_profile_list": ("q",),
    "mcp_ask_first_pending": ("q", "server_id", "tool_name"),
    "mcp_grant_list": ("q", "server_id", "tool_name"),
    "ability_versions": ("q",),
    "ability_catalog": ("q", "family"),
    "skill_list": ("tag",),
    "memory_facts": ("subject",),
    "skill_invocation_list": ("skill",),
}
"""Query parameters that others make up; whatever they say, they are only compared."""

WITH_BODY = sorted(REQUESTS)

UNKEYED = frozenset(
    {
        "ability_lookup",
        "skill_find",
        "ability_explain_match",
        "skill_trigger_test",
        "learn_reopen",
        "configuration_intent",
        "mcp_policy_preview",
        "mcp_project_resolve",
        "mcp_route_explain",
        "capability_explain",
        "mcp_auth_profile_secret",
        "token_create",
        "observation_adapter_heartbeat",
    }
)
"""They change nothing, answer a secret once, or say the same however often they are said."""

KEYED = frozenset(
    {name for name in WITH_BODY if name not in UNKEYED}
    | {"learn_session_delete", "learn_observation_remove", "category_delete", "category_item_remove"}
    | {"mcp_grant_revoke", "acrobat_forget", "learn_starting_state_remove", "ability_trial_remove"}
    | {"mcp_server_delete", "mcp_auth_profile_delete", "skill_approval_revoke", "memory_erase"}
    | {"skill_import_create", "skill_import_upload_delete", "skill_pack_delete"}
)
"""The writes that take an ``Idempotency-Key``."""


_ABOUT: Mapping[str, Mapping[str, str]] = {
    "configuration_intent": {"capability_id": "ability_id"},
    "learn_reopen": {"learn_session_id": "session_id", "proposal_id": "proposal_id"},
    "category_assign": {"item_id": "ability_id"},
    "bridge_verify_checkpoint": {"learn_session_id": "session_id"},
    "capability_reprobe": {"capability_id": "ability_id"},
    "capability_explain": {"capability_id": "ability_id"},
    "mcp_server_smoke_test": {"server_id": "server_id"},
    "mcp_dispatch_create": {"server_id": "server_id"},
    "mcp_auth_start": {"server_id": "server_id"},
    "mcp_auth_refresh": {"server_id": "server_id"},
    "mcp_auth_revoke": {"server_id": "server_id"},
    "ability_explain_match": {"ability_id": "ability_id"},
    "skill_trigger_test": {"import_id": "import_id"},
    "skill_import_scan": {"temp_artifact_ref": "temp_artifact_ref"},
    **{
        f"skill_import_{command}": {"import_id": "import_id"}
        for command in ("stage", "approve", "reject", "install_private", "discard", "retry")
    },
}
"""The fields of a body that name an object, by what ``Ids`` calls it."""


def good_body(route: Route, ids: Ids) -> dict[str, Any] | None:
    """A body of this route that is right, about the objects of ``ids``."""
    if route.operation_id not in REQUESTS:
        return None
    about = {field: getattr(ids, name) for field, name in _ABOUT.get(route.operation_id, {}).items()}
    body = {**REQUESTS[route.operation_id], **about}
    if route.operation_id == "learn_observations_ingest":
        body["events"] = [{**event, "learn_session_id": ids.session_id} for event in body["events"]]
    if route.operation_id == "mcp_server_register":
        body["enabled"] = False  # it would be connected to
    return body


def with_path_id() -> list[str]:
    """The routes by which a caller addresses one object."""
    return sorted(name for name, route in ROUTES.items() if "{" in route.path and name not in OPEN)
