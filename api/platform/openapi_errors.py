"""Error codes of every operation in the OpenAPI document, and their meanings (DOC3 §0C.16B).

Codes that follow from an operation's parameters, body and security are derived; all others are listed by operation.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from contracts.errors import ERROR_RULES
from contracts.errors import ErrorCode as E

MEANINGS: Mapping[E, str] = {
    E.LEARN_SESSION_ALREADY_ACTIVE: "You have a session that is not at rest; `active_session_id` is it.",
    E.INVALID_LEARN_STATE_TRANSITION: "Not in this state; `current_state`, and what is `allowed` now.",
    E.LEARN_SESSION_NOT_FOUND: "There is no such session of yours.",
    E.PROPOSAL_NOT_FOUND: "There is no such proposal of yours.",
    E.ABILITY_NOT_FOUND: "There is no such ability that you may see.",
    E.VALIDATION_IN_PROGRESS: "A validation is running; wait for it to end.",
    E.VALIDATION_REQUIRED: "The draft as it stands is not validated; run validate first.",
    E.INSTALL_IN_PROGRESS: "An install goes on; watch the events, or repeat with the same key.",
    E.INSUFFICIENT_TRACES: "Nothing was captured that a proposal could rest on.",
    E.ADAPTER_UNAVAILABLE: "No such recorder can be used now; `adapters` says why, `alternatives` what can.",
    E.INSTALL_LANE_DENIED: "The session, or how the ability stands, does not allow this lane.",
    E.BRIDGE_REBUILD_FAILED: "The capability bridge could not be rebuilt; everything was rolled back.",
    E.TEST_POLICY_VIOLATION: "The rehearsal's bounds do not allow this.",
    E.CHECKPOINT_LINT_FAILED: "The draft's checkpoints fail the lint; revise them.",
    E.SESSION_TIMEOUT: "The session ended by its deadline; start a new one.",
    E.CAPTURE_ALREADY_STOPPED: "The capture was stopped before.",
    E.QUESTION_NOT_FOUND: "No such question is open in this session.",
    E.OBSERVATION_NOT_FOUND: "The session holds no such observation.",
    E.BOUNDARY_INVALID: "The session has no event to mark there.",
    E.REVISION_INVALID: "An edited field is wrong; `fields` names it.",
    E.SKILL_SLUG_TAKEN: "The skill name is not free; revise `proposed_skill_slug`.",
    E.SAGA_NOT_FOUND: "There is no such install of yours.",
    E.CATEGORY_LIMIT_REACHED: "You have as many categories as there may be; delete one first.",
    E.CATEGORY_TITLE_TAKEN: "You have a category of this title.",
    E.CONSTRAINT_BROKEN: "The agent did what the coach ruled out; remove `event_ids` and draft again.",
    E.INCOMPATIBLE_TRACES: "The demonstrations are not of one task; `share` is what they share.",
    E.RUN_NOT_ELIGIBLE: "A chosen run cannot be learned from; `reasons` says why.",
    E.TRIAL_NOT_POSSIBLE: "The method cannot be tried in a sandbox; `step` and `command` say which step.",
    E.PROPOSAL_STALE: "What the proposal improves has moved; `base` says how. Revise it to rebase.",
    E.UNPROVED_NOT_ACCEPTED: "`unproved` lists what was not proved here; read it, then send `accept_unproved`.",
    E.HAND_EDITED: "Installed files were edited by hand; `conflicts` names them.",
    E.PARTIAL_DEPLOYMENT: "What it takes is not deployed, or is behind; GET /api/learn/deployment tells.",
    E.MCP_SERVER_NOT_FOUND: "There is no such tool server of yours.",
    E.MCP_TOOL_NOT_FOUND: "The server has no tool of this name.",
    E.MCP_AUTH_PROFILE_NOT_FOUND: "There is no such sign-in of yours.",
    E.MCP_DISPATCH_NOT_FOUND: "There is no such tool call of yours.",
    E.MCP_ASK_FIRST_DECIDED: "Somebody answered before: `decided_by`, `decided_at`, `decision`.",
    E.MCP_ASK_FIRST_EXPIRED: "Nobody answered in time; make the call again to be asked again.",
    E.MCP_GRANT_NOT_FOUND: "There is no such standing approval of yours.",
    E.MCP_SERVER_NOT_ACTIVE_IN_BUILD: "The server is deferred: it is shown, and cannot be used.",
    E.MCP_SERVER_DELETE_BLOCKED: "Calls of the server run or wait; decide or cancel them first.",
    E.MCP_ADDRESS_REFUSED: "The address is not https, or is on this machine or an inner network.",
    E.MCP_AUTH_PROFILE_IN_USE: "Servers use the sign-in: `blocked_by_server_ids`.",
    E.MCP_OAUTH_STATE_INVALID: "No such sign-in is under way, or it was used before; start it again.",
    E.MCP_OAUTH_CALLBACK_EXPIRED: "The sign-in took too long; start it again.",
    E.MCP_OAUTH_REFRESH_NOT_ALLOWED: "Policy, or the want of a refresh token, does not allow it.",
    E.MCP_OAUTH_TOKEN_EXCHANGE_FAILED: "The authorization server gave no token; `auth_error_code` is why.",
    E.MCP_OAUTH_DISCOVERY_FAILED: "How to sign in cannot be found out; `auth_error_code` says what is amiss.",
    E.MCP_SERVER_UNREACHABLE: "The other server cannot be reached now; repeat later.",
    E.M365_FORBIDDEN_AUTH_MODE: "Microsoft 365 is not signed in to in this way.",
    E.M365_SCOPE_MISSING: "Scopes are missing; `errors` or `missing_scopes` names them.",
    E.M365_OBO_CHAIN_UNVERIFIED: "On-behalf-of needs `verified_obo_chain`.",
    E.M365_INTERACTIVE_REDIRECT_URI_REQUIRED: "A connector that people sign in to needs `redirect_uri`.",
    E.M365_DELEGATED_ONLY_OPERATION: "It needs a person who is signed in, and no background service.",
    E.M365_BACKGROUND_ONLY_OPERATION: "The connector works in the background alone.",
    E.MCP_TOOL_CHANGED: "The tool is not what was looked at; `definition_hash` is what it is now.",
    E.ACROBAT_UNAVAILABLE: "No document can be worked on now; `reason_code` says why.",
    E.ACROBAT_SOURCE_NOT_FOUND: "There is no such document of yours; hand it in again.",
    E.ACROBAT_OCR_UNSUPPORTED: "Text in pictures cannot be read here.",
    E.SKILL_NOT_FOUND: "There is no skill of this name; `apprentice skills list` names those there are.",
    E.SKILL_INVOCATION_NOT_FOUND: "There is no such invocation of yours.",
    E.SKILL_MALFORMED: "The skill's folder cannot be read; `reason` says what of it is wrong.",
    E.SKILL_QUARANTINED: "The skill failed too often; see its health before it is used again.",
    E.VERSION_RETIRED: "This version is not served any more; `served` names those that are.",
    E.POLICY_DENIED: "A rule forbids it; `rule_id` and `reason` say which.",
    E.BUDGET_EXCEEDED: "The budget of this skill is used up; repeat after `Retry-After` seconds.",
    E.PRECONDITION_UNMET: "Something that the skill needs is not there; `precondition` names it.",
    E.CONFIRMATION_REQUIRED: "A person with the scope `approve` has to confirm it.",
    E.ISOLATION_UNAVAILABLE: "This host cannot isolate the skill as it demands; `missing` says what it lacks.",
    E.SKILL_IMPORT_FILE_TOO_LARGE: "The upload is larger than `limit_bytes`; leave out what the skill does not need.",
    E.SKILL_IMPORT_UNSUPPORTED_MIME: "The part `bundle` has another media type than those of `accepted`.",
    E.SKILL_IMPORT_UNSUPPORTED_EXTENSION: "The file's name ends otherwise than those of `accepted`.",
    E.SKILL_IMPORT_ARCHIVE_REQUIRED: "There is no ZIP archive in a part named `bundle`.",
    E.SKILL_IMPORT_UPLOAD_EXPIRED: "The upload is gone after 24 hours, or deleted; upload the bundle again.",
    E.SKILL_IMPORT_UPLOAD_NOT_FOUND: "There is no such upload of yours.",
    E.SKILL_IMPORT_UPLOAD_IN_USE: "`import_id` is at work on it; delete it when that has ended.",
    E.SKILL_IMPORT_NOT_FOUND: "There is no such import of yours.",
    E.INVALID_SKILL_IMPORT_TRANSITION: "Not in this state; `current_state`, and what is `allowed` now.",
    E.SKILL_IMPORT_INCOMPATIBLE: "The report names errors; mend the bundle and upload it again.",
    E.SKILL_IMPORT_OVERRIDE_REQUIRED: "Go on in spite of `codes` with an `override_reason`; it needs `override_scope`.",
    E.SKILL_IMPORT_NEEDS_ADAPTER: "The bundle needs an adapter; its report says for what.",
    E.SKILL_DEPENDENCY_MISSING: "`skills` names what has to be installed first; a pack installs it along.",
    E.SKILL_PACK_NOT_FOUND: "There is no such pack of yours.",
    E.SKILL_PACK_INSTALL_NOT_FOUND: "There is no such install of a pack of yours.",
    E.SKILL_PACK_LIMIT_REACHED: "You have as many packs as there may be (`limit`); delete one first.",
    E.SKILL_PACK_TOO_LARGE: "The pack has more skills than `limit`; divide it.",
    E.SKILL_PACK_MEMBER_UNAVAILABLE: "`skills` are neither installed nor imported and staged; import them first.",
    E.SKILL_PACK_DEPENDENCY_CYCLE: "`skills` depend on one another; change what one of them depends on.",
    E.INVALID_INPUT: "The input does not fit the skill's schema; `fields` names each place and problem.",
    E.INVALID_PLATFORM: "The skill does not know this platform; `fields` names it.",
    E.INVALID_GOALS: "A goal is empty; `fields` names it.",
    E.INVALID_PERSONA: "The persona is wrong; `fields` names each place and problem.",
    E.INVALID_CONTENT: "The content lacks what it needs; `fields` names it.",
    E.INVALID_ADDRESS: "No wallet address: 0x and 40 hexadecimal digits.",
    E.INVALID_PROFILE: "The profile is wrong; `fields` names each place and problem.",
    E.INVALID_TOKEN: "The approval token is not one for exactly this content and platform.",
    E.TOKEN_EXPIRED: "The approval token is too old; ask a reviewer for a new one.",
    E.NOT_FOUND: "There is nothing of this id.",
    E.VALIDATION_FAILED: "The request is wrong; `fields` names each place and problem.",
    E.PAYLOAD_TOO_LARGE: "The body is larger than 4 MiB; send smaller batches.",
    E.IDEMPOTENCY_KEY_REUSED: "The idempotency key stands for another request; use a new one.",
    E.UNAUTHENTICATED: "No access token, or one that does not hold.",
    E.FORBIDDEN: "The token lacks `required_scope`.",
    E.CONFLICT: "The object changed or is busy; read it again and repeat.",
    E.TOO_MANY_REQUESTS: "Too much at once; repeat after `Retry-After` seconds.",
    E.TEMPORAL_UNAVAILABLE: "Nobody could carry it out; repeat with the same idempotency key.",
    E.STORAGE_FULL: "The disk is full; free space and repeat.",
    E.INTERNAL_ERROR: "A fault of the service; its log has the correlation id.",
}
"""What each code that a documented operation answers means to a client."""

_OF_PATH_ID: Mapping[str, E] = {
    "session_id": E.LEARN_SESSION_NOT_FOUND,
    "proposal_id": E.PROPOSAL_NOT_FOUND,
    "saga_id": E.SAGA_NOT_FOUND,
    "event_id": E.OBSERVATION_NOT_FOUND,
    "ability_id": E.ABILITY_NOT_FOUND,
    "mcp_dispatch_id": E.MCP_DISPATCH_NOT_FOUND,
    "grant_id": E.MCP_GRANT_NOT_FOUND,
    "server_id": E.MCP_SERVER_NOT_FOUND,
    "tool_name": E.MCP_TOOL_NOT_FOUND,
    "auth_profile_id": E.MCP_AUTH_PROFILE_NOT_FOUND,
    "name": E.SKILL_NOT_FOUND,
    "invocation_id": E.SKILL_INVOCATION_NOT_FOUND,
    "import_id": E.SKILL_IMPORT_NOT_FOUND,
    "temp_artifact_ref": E.SKILL_IMPORT_UPLOAD_NOT_FOUND,
    "pack_id": E.SKILL_PACK_NOT_FOUND,
    "pack_install_id": E.SKILL_PACK_INSTALL_NOT_FOUND,
}
"""The code for a path parameter that names nothing; ``NOT_FOUND`` for every other."""

_NEEDS_NO_SCOPE = frozenset({"me", "tokens_list", "token_revoke"})

_Codes = tuple[E, ...]
_STORE: _Codes = (E.STORAGE_FULL,)
_START: _Codes = (*_STORE, E.TEMPORAL_UNAVAILABLE)
_SENDING: _Codes = (*_START, E.CONFLICT, E.TOO_MANY_REQUESTS)
_ABILITY: _Codes = (*_SENDING, E.INVALID_LEARN_STATE_TRANSITION, E.INSTALL_IN_PROGRESS)
_COMMAND: _Codes = (*_ABILITY, E.SESSION_TIMEOUT)
_WHILE_TESTING: _Codes = (*_COMMAND, E.VALIDATION_IN_PROGRESS)
_VALIDATE: _Codes = (*_WHILE_TESTING, E.CHECKPOINT_LINT_FAILED)
_INSTALL: _Codes = (
    *_VALIDATE,
    E.PROPOSAL_NOT_FOUND,
    E.VALIDATION_REQUIRED,
    E.INSTALL_LANE_DENIED,
    E.SKILL_SLUG_TAKEN,
    E.PROPOSAL_STALE,
    E.UNPROVED_NOT_ACCEPTED,
    E.HAND_EDITED,
    E.BRIDGE_REBUILD_FAILED,
    E.PARTIAL_DEPLOYMENT,
)
_DEFERRED: _Codes = (E.MCP_SERVER_NOT_ACTIVE_IN_BUILD,)
_POLICY: _Codes = (*_DEFERRED, E.MCP_SERVER_NOT_FOUND, E.MCP_GRANT_NOT_FOUND)
_REGISTER: _Codes = (
    *_STORE,
    *_DEFERRED,
    E.M365_FORBIDDEN_AUTH_MODE,
    E.M365_INTERACTIVE_REDIRECT_URI_REQUIRED,
    E.M365_OBO_CHAIN_UNVERIFIED,
    E.M365_DELEGATED_ONLY_OPERATION,
    E.M365_SCOPE_MISSING,
    E.MCP_ADDRESS_REFUSED,
    E.MCP_AUTH_PROFILE_NOT_FOUND,
)
_ANSWER: _Codes = (*_SENDING, E.MCP_ASK_FIRST_DECIDED, E.MCP_ASK_FIRST_EXPIRED)
_SIGN_IN: _Codes = (
    *_SENDING,
    *_DEFERRED,
    E.MCP_AUTH_PROFILE_NOT_FOUND,
    E.MCP_SERVER_UNREACHABLE,
    E.MCP_ADDRESS_REFUSED,
    E.MCP_OAUTH_DISCOVERY_FAILED,
)
_ACROBAT: _Codes = (
    *_SENDING,
    E.ACROBAT_UNAVAILABLE,
    E.ACROBAT_SOURCE_NOT_FOUND,
    E.MCP_SERVER_NOT_FOUND,
    E.MCP_TOOL_NOT_FOUND,
)
_GATE: _Codes = (
    *_START,
    E.FORBIDDEN,
    E.SKILL_QUARANTINED,
    E.VERSION_RETIRED,
    E.INVALID_INPUT,
    E.INVALID_PLATFORM,
    E.INVALID_GOALS,
    E.INVALID_PERSONA,
    E.INVALID_CONTENT,
    E.INVALID_ADDRESS,
    E.INVALID_PROFILE,
    E.INVALID_TOKEN,
    E.POLICY_DENIED,
    E.BUDGET_EXCEEDED,
    E.PRECONDITION_UNMET,
)
_IMPORT: _Codes = (*_SENDING, E.SKILL_IMPORT_NOT_FOUND, E.INVALID_SKILL_IMPORT_TRANSITION)
_OF_OPERATION: Mapping[str, _Codes] = {
    "skill_import_create": (
        *_STORE,
        E.TOO_MANY_REQUESTS,
        E.SKILL_IMPORT_FILE_TOO_LARGE,
        E.SKILL_IMPORT_UNSUPPORTED_MIME,
        E.SKILL_IMPORT_UNSUPPORTED_EXTENSION,
        E.SKILL_IMPORT_ARCHIVE_REQUIRED,
    ),
    "skill_import_upload_delete": (*_STORE, E.SKILL_IMPORT_UPLOAD_IN_USE),
    "skill_import_scan": (*_SENDING, E.SKILL_IMPORT_UPLOAD_NOT_FOUND, E.SKILL_IMPORT_UPLOAD_EXPIRED),
    "skill_import_stage": (
        *_IMPORT,
        E.SKILL_IMPORT_UPLOAD_EXPIRED,
        E.SKILL_IMPORT_INCOMPATIBLE,
        E.SKILL_IMPORT_NEEDS_ADAPTER,
    ),
    "skill_trigger_test": (
        E.ABILITY_NOT_FOUND,
        E.SKILL_IMPORT_NOT_FOUND,
        E.INVALID_SKILL_IMPORT_TRANSITION,
    ),
    "skill_import_approve": (*_IMPORT, E.SKILL_IMPORT_OVERRIDE_REQUIRED),
    "skill_import_reject": _IMPORT,
    "skill_import_install_private": (
        *_IMPORT,
        E.SKILL_IMPORT_OVERRIDE_REQUIRED,
        E.UNPROVED_NOT_ACCEPTED,
        E.PARTIAL_DEPLOYMENT,
    ),
    "skill_import_discard": _IMPORT,
    "skill_import_retry": (*_IMPORT, E.SKILL_IMPORT_UPLOAD_EXPIRED, E.PARTIAL_DEPLOYMENT),
    "skill_pack_put": (*_STORE, E.CONFLICT, E.SKILL_PACK_LIMIT_REACHED),
    "skill_pack_delete": _STORE,
    "skill_invoke": _GATE,
    "skill_invocation_confirm": _SENDING,
    "skill_invocation_cancel": _SENDING,
    "skill_reload": _SENDING,
    "skill_register": (*_SENDING, E.SKILL_MALFORMED),
    "skill_tool_register": (*_SENDING, E.SKILL_MALFORMED),
    "skill_approve": (*_SENDING, E.SKILL_MALFORMED),
    "skill_policy_put": (*_STORE, E.CONFLICT),
    "memory_erase": (*_STORE, E.NOT_FOUND),
    "memory_check_in_cancel": (*_STORE, E.NOT_FOUND, E.CONFLICT),
    "memory_goal_move": (*_STORE, E.NOT_FOUND, E.CONFLICT),
    "inbox_answer": (*_STORE, E.NOT_FOUND, E.CONFLICT),
    "wallet_create": (*_STORE, E.CONFLICT),
    "wallet_get": (E.NOT_FOUND,),
    "skill_approval_create": _STORE,
    "skill_approval_revoke": (*_STORE, E.NOT_FOUND),
    "agent_create": (*_STORE, E.NOT_FOUND),
    "wallet_fund": (*_STORE, E.NOT_FOUND),
    "learn_session_create": (
        *_SENDING,
        E.LEARN_SESSION_ALREADY_ACTIVE,
        E.LEARN_SESSION_NOT_FOUND,
        E.ADAPTER_UNAVAILABLE,
        E.ABILITY_NOT_FOUND,
        E.RUN_NOT_ELIGIBLE,
        E.INCOMPATIBLE_TRACES,
    ),
    "learn_session_delete": _COMMAND,
    "learn_session_start": _COMMAND,
    "learn_session_pause": _COMMAND,
    "learn_session_resume": _COMMAND,
    "learn_session_stop": (*_COMMAND, E.CAPTURE_ALREADY_STOPPED),
    "learn_session_cancel": _COMMAND,
    "learn_session_mark_goal": _COMMAND,
    "learn_session_mark_step": _COMMAND,
    "learn_session_trim": (*_COMMAND, E.BOUNDARY_INVALID),
    "learn_session_set_test_policy": (*_COMMAND, E.TEST_POLICY_VIOLATION),
    "learn_session_answer_questions": (*_COMMAND, E.QUESTION_NOT_FOUND),
    "learn_session_generate_proposal": (
        *_COMMAND,
        E.INSUFFICIENT_TRACES,
        E.INCOMPATIBLE_TRACES,
        E.CONSTRAINT_BROKEN,
    ),
    "observation_adapter_heartbeat": (*_STORE, E.ADAPTER_UNAVAILABLE),
    "learn_observations_ingest": (
        *_STORE,
        E.INVALID_LEARN_STATE_TRANSITION,
        E.ADAPTER_UNAVAILABLE,
        E.TOO_MANY_REQUESTS,
    ),
    "learn_observation_remove": (*_STORE, E.INVALID_LEARN_STATE_TRANSITION),
    "learn_starting_state_keep": (*_STORE, E.INVALID_LEARN_STATE_TRANSITION, E.TOO_MANY_REQUESTS),
    "learn_starting_state_remove": _STORE,
    "learn_session_practice": (
        *_START,
        E.CONFLICT,
        E.INVALID_LEARN_STATE_TRANSITION,
        E.TEST_POLICY_VIOLATION,
        E.ADAPTER_UNAVAILABLE,
    ),
    "learn_session_practice_progress": (E.NOT_FOUND,),
    "learn_proposal_files": (E.NOT_FOUND,),
    "learn_proposal_graph": (E.FORBIDDEN,),
    "learn_proposal_revise": (
        *_WHILE_TESTING,
        E.REVISION_INVALID,
        E.ABILITY_NOT_FOUND,
        E.HAND_EDITED,
    ),
    "learn_proposal_validate": _VALIDATE,
    "learn_proposal_request_more_tests": _VALIDATE,
    "learn_proposal_install": _INSTALL,
    "learn_proposal_approve": _INSTALL,
    "learn_proposal_reject": _COMMAND,
    "learn_runtime_current": (E.LEARN_SESSION_NOT_FOUND,),
    "learn_reopen": (
        E.LEARN_SESSION_NOT_FOUND,
        E.PROPOSAL_NOT_FOUND,
        E.NOT_FOUND,
        E.ABILITY_NOT_FOUND,
    ),
    "bridge_verify_checkpoint": (*_STORE, E.LEARN_SESSION_NOT_FOUND, E.ABILITY_NOT_FOUND),
    "mining_settings_replace": _STORE,
    "mining_scan": _START,
    "mining_candidate_accept": (
        *_START,
        E.CONFLICT,
        E.LEARN_SESSION_ALREADY_ACTIVE,
        E.INSUFFICIENT_TRACES,
        E.PARTIAL_DEPLOYMENT,
    ),
    "mining_candidate_dismiss": (*_STORE, E.CONFLICT),
    "ability_explain_match": (E.ABILITY_NOT_FOUND,),
    "ability_activate": _ABILITY,
    "ability_deactivate": _ABILITY,
    "ability_quarantine": _ABILITY,
    "ability_unquarantine": (*_ABILITY, E.VALIDATION_REQUIRED),
    "ability_promote_shared": (*_ABILITY, E.INSTALL_LANE_DENIED, E.PARTIAL_DEPLOYMENT),
    "ability_demote_private": (*_ABILITY, E.INSTALL_LANE_DENIED),
    "ability_archive": _ABILITY,
    "ability_rollback": (*_ABILITY, E.NOT_FOUND, E.VALIDATION_REQUIRED),
    "category_create": (*_STORE, E.CATEGORY_LIMIT_REACHED, E.CATEGORY_TITLE_TAKEN),
    "category_change": (*_STORE, E.CATEGORY_TITLE_TAKEN),
    "category_delete": _STORE,
    "category_assign": (*_STORE, E.ABILITY_NOT_FOUND, E.PROPOSAL_NOT_FOUND, E.MCP_SERVER_NOT_FOUND),
    "category_item_remove": _STORE,
    "capability_explain": (E.NOT_FOUND, E.CONFLICT),
    "capability_reprobe": (*_START, E.NOT_FOUND, E.CONFLICT),
    "configuration_intent": (
        *_STORE,
        E.ABILITY_NOT_FOUND,
        E.PARTIAL_DEPLOYMENT,
        E.IDEMPOTENCY_KEY_REUSED,
    ),
    "mcp_server_register": _REGISTER,
    "mcp_server_patch": _REGISTER,
    "mcp_server_delete": (*_STORE, *_DEFERRED, E.MCP_SERVER_DELETE_BLOCKED),
    "mcp_server_health": _DEFERRED,
    "mcp_server_smoke_test": (*_SENDING, *_DEFERRED),
    "mcp_tool_list": _DEFERRED,
    "mcp_tool_review": (*_STORE, *_DEFERRED, E.MCP_TOOL_CHANGED),
    "mcp_policy_update": (*_STORE, *_POLICY),
    "mcp_policy_preview": _POLICY,
    "mcp_policy_runtimes_replace": _STORE,
    "mcp_grant_revoke": _STORE,
    "mcp_route_explain": (E.NOT_FOUND,),
    "mcp_dispatch_create": (
        *_START,
        *_DEFERRED,
        E.TOO_MANY_REQUESTS,
        E.MCP_SERVER_NOT_FOUND,
        E.MCP_TOOL_NOT_FOUND,
        E.ABILITY_NOT_FOUND,
        E.M365_SCOPE_MISSING,
        E.M365_FORBIDDEN_AUTH_MODE,
        E.M365_DELEGATED_ONLY_OPERATION,
        E.M365_BACKGROUND_ONLY_OPERATION,
        E.PARTIAL_DEPLOYMENT,
    ),
    "mcp_dispatch_cancel": _SENDING,
    "mcp_ask_first_approve": (*_ANSWER, E.PARTIAL_DEPLOYMENT),
    "mcp_ask_first_deny": _ANSWER,
    "mcp_auth_status": (*_DEFERRED, E.MCP_AUTH_PROFILE_NOT_FOUND),
    "mcp_auth_start": (*_SIGN_IN, E.MCP_OAUTH_CALLBACK_EXPIRED),
    "mcp_auth_callback": (
        *_SIGN_IN,
        E.MCP_OAUTH_STATE_INVALID,
        E.MCP_OAUTH_CALLBACK_EXPIRED,
        E.MCP_OAUTH_TOKEN_EXCHANGE_FAILED,
    ),
    "mcp_auth_refresh": (
        *_SIGN_IN,
        E.MCP_OAUTH_REFRESH_NOT_ALLOWED,
        E.MCP_OAUTH_TOKEN_EXCHANGE_FAILED,
    ),
    "mcp_auth_revoke": _SIGN_IN,
    "mcp_auth_challenge_respond": (
        *_STORE,
        E.NOT_FOUND,
        E.MCP_SERVER_NOT_FOUND,
        E.MCP_AUTH_PROFILE_NOT_FOUND,
    ),
    "mcp_auth_profile_create": (*_STORE, E.M365_FORBIDDEN_AUTH_MODE),
    "mcp_auth_profile_patch": _SENDING,
    "mcp_auth_profile_delete": (*_SENDING, E.MCP_AUTH_PROFILE_IN_USE),
    "mcp_auth_profile_secret": (*_STORE, E.CONFLICT),
    "acrobat_source_upload": _STORE,
    "ability_trial_folder": (*_STORE, E.PAYLOAD_TOO_LARGE, E.VALIDATION_FAILED),
    "ability_trial_start": (*_START, E.NOT_FOUND, E.TOO_MANY_REQUESTS, E.TRIAL_NOT_POSSIBLE),
    "ability_trial_result": (E.CONFLICT,),
    "acrobat_extract_text": _ACROBAT,
    "acrobat_extract_tables": _ACROBAT,
    "acrobat_ocr": (*_ACROBAT, E.ACROBAT_OCR_UNSUPPORTED),
    "acrobat_redaction_prep": _ACROBAT,
    "maintenance_run_start": _SENDING,
    "token_create": _STORE,
    "token_revoke": _STORE,
    "workflow_link": (
        E.TEMPORAL_UNAVAILABLE,
        E.LEARN_SESSION_NOT_FOUND,
        E.PROPOSAL_NOT_FOUND,
        E.SAGA_NOT_FOUND,
        E.ABILITY_NOT_FOUND,
    ),
}
"""The codes of an operation beyond those that follow from its parameters, body and security."""


def errors_of(operation: Mapping[str, Any]) -> dict[int, list[E]]:
    """The codes that an operation of the OpenAPI document can answer, by status, in the table's order."""
    codes = set(_errors(operation))
    by_status: dict[int, list[E]] = {}
    for code in E:
        if code in codes:
            by_status.setdefault(ERROR_RULES[code].status, []).append(code)
    return dict(sorted(by_status.items()))


def _errors(operation: Mapping[str, Any]) -> Iterator[E]:
    name: str = operation["operationId"]
    parameters: list[Mapping[str, Any]] = operation.get("parameters", [])
    yield E.INTERNAL_ERROR
    if operation.get("security"):
        yield E.UNAUTHENTICATED
        if name not in _NEEDS_NO_SCOPE:
            yield E.FORBIDDEN
    if "requestBody" in operation:
        yield E.PAYLOAD_TOO_LARGE
    if parameters or "requestBody" in operation:
        yield E.VALIDATION_FAILED
    for parameter in parameters:
        if parameter["in"] == "path":
            yield _OF_PATH_ID.get(parameter["name"], E.NOT_FOUND)
        elif parameter["name"] == "idempotency-key":
            yield E.IDEMPOTENCY_KEY_REUSED
    yield from _OF_OPERATION.get(name, ())
