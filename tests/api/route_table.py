"""What the tests know of every route: the scope it needs, and a body that would be accepted."""

from collections.abc import Mapping
from typing import Any

from api.openapi_examples import REQUESTS
from tests.api.world import ROUTES, Ids, Route

OPEN = frozenset({"healthz", "readyz", "metrics"})
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
    "learn_observation_remove": "learn",
    "observation_adapters_list": "read",
    "observation_adapter_heartbeat": "observe",
    "learn_session_practice": "learn",
    "learn_session_practice_progress": "read",
    "learn_session_events": "read",
    "learn_proposal_list": "read",
    "learn_proposal_detail": "read",
    "learn_proposal_files": "read",
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
    "ability_outcomes": "read",
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
    "mining_settings": "read",
    "mining_settings_replace": "learn",
    "mining_scan": "learn",
    "mining_run_detail": "read",
    "mining_candidates_list": "read",
    "mining_candidate_detail": "read",
    "mining_candidate_accept": "learn",
    "mining_candidate_dismiss": "learn",
    "workflow_link": "read",
}

PAGED = frozenset(
    {
        "learn_session_list",
        "learn_session_checkpoint_receipts",
        "learn_observations_list",
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
    }
)

FILTERS: Mapping[str, tuple[str, ...]] = {
    "learn_session_list": ("state",),
    "learn_proposal_list": ("state",),
    "learn_receipts": ("learn_session_id", "event_kind"),
    "mining_candidates_list": ("state",),
    "configuration_current": ("target",),
    "learn_session_events": ("last_event_id",),
}

WITH_BODY = sorted(REQUESTS)

UNKEYED = frozenset(
    {
        "ability_lookup",
        "ability_explain_match",
        "learn_reopen",
        "configuration_intent",
        "token_create",
        "observation_adapter_heartbeat",
    }
)
"""They change nothing, answer a secret once, or say the same however often they are said."""

KEYED = frozenset(
    {name for name in WITH_BODY if name not in UNKEYED}
    | {"learn_session_delete", "learn_observation_remove", "category_delete", "category_item_remove"}
)
"""The writes that take an ``Idempotency-Key``."""


def good_body(route: Route, ids: Ids) -> dict[str, Any] | None:
    """A body of this route that is right, about the objects of ``ids``."""
    if route.operation_id not in REQUESTS:
        return None
    body = dict(REQUESTS[route.operation_id])
    if route.operation_id == "learn_observations_ingest":
        body["events"] = [{**event, "learn_session_id": ids.session_id} for event in body["events"]]
    if route.operation_id == "configuration_intent":
        body["capability_id"] = ids.ability_id
    if route.operation_id == "learn_reopen":
        body |= {"learn_session_id": ids.session_id, "proposal_id": ids.proposal_id}
    if route.operation_id == "category_assign":
        body["item_id"] = ids.ability_id
    if route.operation_id == "bridge_verify_checkpoint":
        body["learn_session_id"] = ids.session_id
    if route.operation_id == "capability_reprobe":
        body["capability_id"] = ids.ability_id
    if route.operation_id == "ability_explain_match":
        body["ability_id"] = ids.ability_id
    return body


def with_path_id() -> list[str]:
    """The routes that address one object."""
    return sorted(name for name, route in ROUTES.items() if "{" in route.path)
