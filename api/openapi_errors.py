"""Which errors every operation can answer, told from what it takes and what it does (DOC3 §0C.16B)."""

from collections.abc import Iterator, Mapping
from typing import Any

from api.openapi_subjects import SUBJECTS
from contracts.errors import ERROR_RULES, ErrorCode

MEANINGS: Mapping[ErrorCode, str] = {
    ErrorCode.LEARN_SESSION_ALREADY_ACTIVE: "You have a session that is not at rest; `active_session_id` is it.",
    ErrorCode.INVALID_LEARN_STATE_TRANSITION: "Not in this state; `current_state`, and what is `allowed` now.",
    ErrorCode.LEARN_SESSION_NOT_FOUND: "There is no such session of yours.",
    ErrorCode.PROPOSAL_NOT_FOUND: "There is no such proposal of yours.",
    ErrorCode.ABILITY_NOT_FOUND: "There is no such ability that you may see.",
    ErrorCode.VALIDATION_IN_PROGRESS: "A validation is running; wait for it to end.",
    ErrorCode.VALIDATION_REQUIRED: "The draft as it stands is not validated; run validate first.",
    ErrorCode.INSTALL_IN_PROGRESS: "An install goes on; watch the events, or repeat with the same key.",
    ErrorCode.INSUFFICIENT_TRACES: "Nothing was captured that a proposal could rest on.",
    ErrorCode.ADAPTER_UNAVAILABLE: "No such recorder can be used now; `adapters` says why, `alternatives` what can.",
    ErrorCode.INSTALL_LANE_DENIED: "The session, or how the ability stands, does not allow this lane.",
    ErrorCode.BRIDGE_REBUILD_FAILED: "The capability bridge could not be rebuilt; everything was rolled back.",
    ErrorCode.TEST_POLICY_VIOLATION: "The rehearsal's bounds do not allow this.",
    ErrorCode.CHECKPOINT_LINT_FAILED: "The draft's checkpoints fail the lint; revise them.",
    ErrorCode.SESSION_TIMEOUT: "The session ended by its deadline; start a new one.",
    ErrorCode.CAPTURE_ALREADY_STOPPED: "The capture was stopped before.",
    ErrorCode.QUESTION_NOT_FOUND: "No such question is open in this session.",
    ErrorCode.OBSERVATION_NOT_FOUND: "The session holds no such observation.",
    ErrorCode.BOUNDARY_INVALID: "The session has no event to mark there.",
    ErrorCode.REVISION_INVALID: "An edited field is wrong; `fields` names it.",
    ErrorCode.SKILL_SLUG_TAKEN: "Another user's skill has this name; revise `proposed_skill_slug`.",
    ErrorCode.SAGA_NOT_FOUND: "There is no such install of yours.",
    ErrorCode.CATEGORY_LIMIT_REACHED: "You have as many categories as there may be; delete one first.",
    ErrorCode.CATEGORY_TITLE_TAKEN: "You have a category of this title.",
    ErrorCode.CONSTRAINT_BROKEN: "The agent did what the coach ruled out; remove `event_ids` and draft again.",
    ErrorCode.INCOMPATIBLE_TRACES: "The demonstrations are not of one task; `share` is what they share.",
    ErrorCode.RUN_NOT_ELIGIBLE: "A chosen run cannot be learned from; `reasons` says why.",
    ErrorCode.PROPOSAL_STALE: "What the proposal improves has moved; `base` says how. Revise it to rebase.",
    ErrorCode.HAND_EDITED: "Installed files were edited by hand; `conflicts` names them.",
    ErrorCode.PARTIAL_DEPLOYMENT: "What it takes is not deployed, or is behind; GET /api/learn/deployment tells.",
    ErrorCode.MCP_SERVER_NOT_FOUND: "There is no such tool server of yours.",
    ErrorCode.MCP_TOOL_NOT_FOUND: "The server has no tool of this name.",
    ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND: "There is no such sign-in of yours.",
    ErrorCode.MCP_DISPATCH_NOT_FOUND: "There is no such tool call of yours.",
    ErrorCode.MCP_ASK_FIRST_DECIDED: "Somebody answered before: `decided_by`, `decided_at`, `decision`.",
    ErrorCode.MCP_ASK_FIRST_EXPIRED: "Nobody answered in time; make the call again to be asked again.",
    ErrorCode.MCP_GRANT_NOT_FOUND: "There is no such standing approval of yours.",
    ErrorCode.MCP_SERVER_NOT_ACTIVE_IN_BUILD: "The server is deferred: it is shown, and cannot be used.",
    ErrorCode.MCP_SERVER_DELETE_BLOCKED: "Calls of the server run or wait; decide or cancel them first.",
    ErrorCode.MCP_ADDRESS_REFUSED: "The address is not https, or is on this machine or an inner network.",
    ErrorCode.MCP_AUTH_PROFILE_IN_USE: "Servers use the sign-in: `blocked_by_server_ids`.",
    ErrorCode.MCP_OAUTH_STATE_INVALID: "No such sign-in is under way, or it was used before; start it again.",
    ErrorCode.MCP_OAUTH_CALLBACK_EXPIRED: "The sign-in took too long; start it again.",
    ErrorCode.MCP_OAUTH_REFRESH_NOT_ALLOWED: "Policy, or the want of a refresh token, does not allow it.",
    ErrorCode.MCP_OAUTH_TOKEN_EXCHANGE_FAILED: "The authorization server gave no token; `auth_error_code` is why.",
    ErrorCode.MCP_OAUTH_DISCOVERY_FAILED: "How to sign in cannot be found out; `auth_error_code` says what is amiss.",
    ErrorCode.MCP_SERVER_UNREACHABLE: "The other server cannot be reached now; repeat later.",
    ErrorCode.M365_FORBIDDEN_AUTH_MODE: "Microsoft 365 is not signed in to in this way.",
    ErrorCode.M365_SCOPE_MISSING: "Scopes are missing; `errors` or `missing_scopes` names them.",
    ErrorCode.M365_OBO_CHAIN_UNVERIFIED: "On-behalf-of needs `verified_obo_chain`.",
    ErrorCode.M365_INTERACTIVE_REDIRECT_URI_REQUIRED: "A connector that people sign in to needs `redirect_uri`.",
    ErrorCode.M365_DELEGATED_ONLY_OPERATION: "It needs a person who is signed in, and no background service.",
    ErrorCode.M365_BACKGROUND_ONLY_OPERATION: "The connector works in the background alone.",
    ErrorCode.MCP_TOOL_CHANGED: "The tool is not what was looked at; `definition_hash` is what it is now.",
    ErrorCode.ACROBAT_UNAVAILABLE: "No document can be worked on now; `reason_code` says why.",
    ErrorCode.ACROBAT_SOURCE_NOT_FOUND: "There is no such document of yours; hand it in again.",
    ErrorCode.ACROBAT_OCR_UNSUPPORTED: "Text in pictures cannot be read here.",
    ErrorCode.NOT_FOUND: "There is nothing of this id.",
    ErrorCode.VALIDATION_FAILED: "The request is wrong; `fields` names each place and problem.",
    ErrorCode.PAYLOAD_TOO_LARGE: "The body is larger than 4 MiB; send smaller batches.",
    ErrorCode.IDEMPOTENCY_KEY_REUSED: "The idempotency key stands for another request; use a new one.",
    ErrorCode.UNAUTHENTICATED: "No access token, or one that does not hold.",
    ErrorCode.FORBIDDEN: "The token lacks `required_scope`.",
    ErrorCode.CONFLICT: "The object changed or is busy; read it again and repeat.",
    ErrorCode.TOO_MANY_REQUESTS: "Too much at once; repeat after `Retry-After` seconds.",
    ErrorCode.TEMPORAL_UNAVAILABLE: "Nobody could carry it out; repeat with the same idempotency key.",
    ErrorCode.STORAGE_FULL: "The disk is full; free space and repeat.",
    ErrorCode.INTERNAL_ERROR: "A fault of the service; its log has the correlation id.",
}
"""What each code that a documented operation answers means to a client."""

_OF_PATH_ID: Mapping[str, ErrorCode] = {
    "session_id": ErrorCode.LEARN_SESSION_NOT_FOUND,
    "proposal_id": ErrorCode.PROPOSAL_NOT_FOUND,
    "saga_id": ErrorCode.SAGA_NOT_FOUND,
    "event_id": ErrorCode.OBSERVATION_NOT_FOUND,
    "ability_id": ErrorCode.ABILITY_NOT_FOUND,
    "adapter_kind": ErrorCode.NOT_FOUND,
    "token_id": ErrorCode.NOT_FOUND,
    "run_id": ErrorCode.NOT_FOUND,
    "workflow_id": ErrorCode.NOT_FOUND,
    **{name: code for subject in SUBJECTS for name, code in subject.PATH_IDS.items()},
}
_NEEDS_NO_SCOPE = frozenset({"me", "tokens_list", "token_revoke"})

_SENDING = (
    ErrorCode.CONFLICT,
    ErrorCode.TOO_MANY_REQUESTS,
    ErrorCode.TEMPORAL_UNAVAILABLE,
    ErrorCode.STORAGE_FULL,
)
_COMMAND = (
    *_SENDING,
    ErrorCode.INVALID_LEARN_STATE_TRANSITION,
    ErrorCode.SESSION_TIMEOUT,
    ErrorCode.INSTALL_IN_PROGRESS,
)
_WHILE_TESTING = (*_COMMAND, ErrorCode.VALIDATION_IN_PROGRESS)
_INSTALL = (
    *_WHILE_TESTING,
    ErrorCode.PROPOSAL_NOT_FOUND,
    ErrorCode.VALIDATION_REQUIRED,
    ErrorCode.CHECKPOINT_LINT_FAILED,
    ErrorCode.INSTALL_LANE_DENIED,
    ErrorCode.SKILL_SLUG_TAKEN,
    ErrorCode.PROPOSAL_STALE,
    ErrorCode.HAND_EDITED,
    ErrorCode.BRIDGE_REBUILD_FAILED,
)
_ABILITY = (
    *_SENDING,
    ErrorCode.INVALID_LEARN_STATE_TRANSITION,
    ErrorCode.INSTALL_IN_PROGRESS,
)
_OF_OPERATION: Mapping[str, tuple[ErrorCode, ...]] = {
    "learn_session_create": (
        *_SENDING,
        ErrorCode.LEARN_SESSION_ALREADY_ACTIVE,
        ErrorCode.LEARN_SESSION_NOT_FOUND,
        ErrorCode.ADAPTER_UNAVAILABLE,
        ErrorCode.ABILITY_NOT_FOUND,
        ErrorCode.RUN_NOT_ELIGIBLE,
        ErrorCode.INCOMPATIBLE_TRACES,
    ),
    "learn_session_delete": _COMMAND,
    "learn_session_start": _COMMAND,
    "learn_session_pause": _COMMAND,
    "learn_session_resume": _COMMAND,
    "learn_session_stop": (*_COMMAND, ErrorCode.CAPTURE_ALREADY_STOPPED),
    "learn_session_cancel": _COMMAND,
    "learn_session_mark_goal": _COMMAND,
    "learn_session_mark_step": _COMMAND,
    "learn_session_trim": (*_COMMAND, ErrorCode.BOUNDARY_INVALID),
    "learn_session_set_test_policy": (*_COMMAND, ErrorCode.TEST_POLICY_VIOLATION),
    "learn_session_answer_questions": (*_COMMAND, ErrorCode.QUESTION_NOT_FOUND),
    "learn_session_generate_proposal": (
        *_COMMAND,
        ErrorCode.INSUFFICIENT_TRACES,
        ErrorCode.INCOMPATIBLE_TRACES,
        ErrorCode.CONSTRAINT_BROKEN,
    ),
    "observation_adapter_heartbeat": (ErrorCode.ADAPTER_UNAVAILABLE, ErrorCode.STORAGE_FULL),
    "learn_observations_ingest": (
        ErrorCode.INVALID_LEARN_STATE_TRANSITION,
        ErrorCode.ADAPTER_UNAVAILABLE,
        ErrorCode.TOO_MANY_REQUESTS,
        ErrorCode.STORAGE_FULL,
    ),
    "learn_observation_remove": (ErrorCode.INVALID_LEARN_STATE_TRANSITION, ErrorCode.STORAGE_FULL),
    "learn_proposal_revise": (
        *_WHILE_TESTING,
        ErrorCode.REVISION_INVALID,
        ErrorCode.ABILITY_NOT_FOUND,
        ErrorCode.HAND_EDITED,
    ),
    "learn_proposal_validate": (*_WHILE_TESTING, ErrorCode.CHECKPOINT_LINT_FAILED),
    "learn_proposal_request_more_tests": (*_WHILE_TESTING, ErrorCode.CHECKPOINT_LINT_FAILED),
    "learn_proposal_install": (*_INSTALL, ErrorCode.PARTIAL_DEPLOYMENT),
    "learn_proposal_approve": (*_INSTALL, ErrorCode.PARTIAL_DEPLOYMENT),
    "learn_proposal_reject": _COMMAND,
    "learn_runtime_current": (ErrorCode.LEARN_SESSION_NOT_FOUND,),
    "ability_explain_match": (ErrorCode.ABILITY_NOT_FOUND,),
    "ability_activate": _ABILITY,
    "ability_deactivate": _ABILITY,
    "ability_quarantine": _ABILITY,
    "ability_unquarantine": (*_ABILITY, ErrorCode.VALIDATION_REQUIRED),
    "ability_promote_shared": (*_ABILITY, ErrorCode.INSTALL_LANE_DENIED, ErrorCode.PARTIAL_DEPLOYMENT),
    "ability_demote_private": (*_ABILITY, ErrorCode.INSTALL_LANE_DENIED),
    "ability_archive": _ABILITY,
    "ability_rollback": (*_ABILITY, ErrorCode.NOT_FOUND, ErrorCode.VALIDATION_REQUIRED),
    "maintenance_run_start": _SENDING,
    "token_create": (ErrorCode.STORAGE_FULL,),
    "token_revoke": (ErrorCode.STORAGE_FULL,),
    "workflow_link": (
        ErrorCode.TEMPORAL_UNAVAILABLE,
        ErrorCode.LEARN_SESSION_NOT_FOUND,
        ErrorCode.PROPOSAL_NOT_FOUND,
        ErrorCode.SAGA_NOT_FOUND,
        ErrorCode.ABILITY_NOT_FOUND,
    ),
    **{name: codes for subject in SUBJECTS for name, codes in subject.ERRORS.items()},
}


def errors_of(operation: Mapping[str, Any]) -> dict[int, list[ErrorCode]]:
    """The codes that an operation of the OpenAPI document can answer, by status, in the table's order."""
    codes = set(_errors(operation))
    by_status: dict[int, list[ErrorCode]] = {}
    for code in ErrorCode:
        if code in codes:
            by_status.setdefault(ERROR_RULES[code].status, []).append(code)
    return dict(sorted(by_status.items()))


def _errors(operation: Mapping[str, Any]) -> Iterator[ErrorCode]:
    name: str = operation["operationId"]
    parameters: list[Mapping[str, Any]] = operation.get("parameters", [])
    yield ErrorCode.INTERNAL_ERROR
    if operation.get("security"):
        yield ErrorCode.UNAUTHENTICATED
        if name not in _NEEDS_NO_SCOPE:
            yield ErrorCode.FORBIDDEN
    if "requestBody" in operation:
        yield ErrorCode.PAYLOAD_TOO_LARGE
    if parameters or "requestBody" in operation:
        yield ErrorCode.VALIDATION_FAILED
    for parameter in parameters:
        if parameter["in"] == "path":
            yield _OF_PATH_ID[parameter["name"]]
        elif parameter["name"] == "idempotency-key":
            yield ErrorCode.IDEMPOTENCY_KEY_REUSED
    yield from _OF_OPERATION.get(name, ())
