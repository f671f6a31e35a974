"""Error codes, their HTTP status, and the error envelope (DOC3 §0C.16B, §0C.28, decisions "Wire rules")."""

from enum import StrEnum
from typing import NamedTuple

from pydantic import ConfigDict, Field

from contracts.base import Contract, Text80, Text200, Text240


class ErrorCode(StrEnum):
    """Stable codes; clients branch on these and never on text."""

    LEARN_SESSION_ALREADY_ACTIVE = "LEARN_SESSION_ALREADY_ACTIVE"
    INVALID_LEARN_STATE_TRANSITION = "INVALID_LEARN_STATE_TRANSITION"
    LEARN_SESSION_NOT_FOUND = "LEARN_SESSION_NOT_FOUND"
    PROPOSAL_NOT_FOUND = "PROPOSAL_NOT_FOUND"
    ABILITY_NOT_FOUND = "ABILITY_NOT_FOUND"
    VALIDATION_IN_PROGRESS = "VALIDATION_IN_PROGRESS"
    VALIDATION_REQUIRED = "VALIDATION_REQUIRED"
    UNPROVED_NOT_ACCEPTED = "UNPROVED_NOT_ACCEPTED"
    INSTALL_IN_PROGRESS = "INSTALL_IN_PROGRESS"
    INSUFFICIENT_TRACES = "INSUFFICIENT_TRACES"
    ADAPTER_UNAVAILABLE = "ADAPTER_UNAVAILABLE"
    INSTALL_LANE_DENIED = "INSTALL_LANE_DENIED"
    BRIDGE_REBUILD_FAILED = "BRIDGE_REBUILD_FAILED"
    TEST_POLICY_VIOLATION = "TEST_POLICY_VIOLATION"
    CHECKPOINT_LINT_FAILED = "CHECKPOINT_LINT_FAILED"
    SESSION_TIMEOUT = "SESSION_TIMEOUT"
    CAPTURE_ALREADY_STOPPED = "CAPTURE_ALREADY_STOPPED"
    QUESTION_NOT_FOUND = "QUESTION_NOT_FOUND"
    OBSERVATION_NOT_FOUND = "OBSERVATION_NOT_FOUND"
    BOUNDARY_INVALID = "BOUNDARY_INVALID"
    REVISION_INVALID = "REVISION_INVALID"
    SKILL_SLUG_TAKEN = "SKILL_SLUG_TAKEN"
    SAGA_NOT_FOUND = "SAGA_NOT_FOUND"
    INCOMPATIBLE_TRACES = "INCOMPATIBLE_TRACES"
    RUN_NOT_ELIGIBLE = "RUN_NOT_ELIGIBLE"
    TRIAL_NOT_POSSIBLE = "TRIAL_NOT_POSSIBLE"
    CONSTRAINT_BROKEN = "CONSTRAINT_BROKEN"
    PROPOSAL_STALE = "PROPOSAL_STALE"
    HAND_EDITED = "HAND_EDITED"
    CATEGORY_LIMIT_REACHED = "CATEGORY_LIMIT_REACHED"
    CATEGORY_TITLE_TAKEN = "CATEGORY_TITLE_TAKEN"
    MCP_SERVER_NOT_FOUND = "MCP_SERVER_NOT_FOUND"
    MCP_TOOL_NOT_FOUND = "MCP_TOOL_NOT_FOUND"
    MCP_AUTH_PROFILE_NOT_FOUND = "MCP_AUTH_PROFILE_NOT_FOUND"
    MCP_DISPATCH_NOT_FOUND = "MCP_DISPATCH_NOT_FOUND"
    MCP_GRANT_NOT_FOUND = "MCP_GRANT_NOT_FOUND"
    MCP_SERVER_NOT_ACTIVE_IN_BUILD = "MCP_SERVER_NOT_ACTIVE_IN_BUILD"
    MCP_SERVER_DISABLED = "MCP_SERVER_DISABLED"
    MCP_SERVER_DELETE_BLOCKED = "MCP_SERVER_DELETE_BLOCKED"
    MCP_SERVER_UNREACHABLE = "MCP_SERVER_UNREACHABLE"
    MCP_ADDRESS_REFUSED = "MCP_ADDRESS_REFUSED"
    MCP_AUTH_CHALLENGE_REQUIRED = "MCP_AUTH_CHALLENGE_REQUIRED"
    MCP_AUTH_PROFILE_IN_USE = "MCP_AUTH_PROFILE_IN_USE"
    MCP_OAUTH_STATE_INVALID = "MCP_OAUTH_STATE_INVALID"
    MCP_OAUTH_CALLBACK_EXPIRED = "MCP_OAUTH_CALLBACK_EXPIRED"
    MCP_OAUTH_REFRESH_NOT_ALLOWED = "MCP_OAUTH_REFRESH_NOT_ALLOWED"
    MCP_OAUTH_TOKEN_EXCHANGE_FAILED = "MCP_OAUTH_TOKEN_EXCHANGE_FAILED"  # noqa: S105
    MCP_OAUTH_DISCOVERY_FAILED = "MCP_OAUTH_DISCOVERY_FAILED"
    MCP_POLICY_BLOCKED = "MCP_POLICY_BLOCKED"
    MCP_ASK_FIRST_REQUIRED = "MCP_ASK_FIRST_REQUIRED"
    MCP_ASK_FIRST_EXPIRED = "MCP_ASK_FIRST_EXPIRED"
    MCP_ASK_FIRST_DECIDED = "MCP_ASK_FIRST_DECIDED"
    MCP_TOOL_CHANGED = "MCP_TOOL_CHANGED"
    MCP_SMOKE_TEST_FAILED = "MCP_SMOKE_TEST_FAILED"
    MCP_CALL_TIMED_OUT = "MCP_CALL_TIMED_OUT"
    MCP_RATE_LIMITED = "MCP_RATE_LIMITED"
    MCP_OUTPUT_TOO_LARGE = "MCP_OUTPUT_TOO_LARGE"
    MCP_OUTPUT_INVALID = "MCP_OUTPUT_INVALID"
    MCP_OUTCOME_UNKNOWN = "MCP_OUTCOME_UNKNOWN"
    MCP_TOOL_REFUSED = "MCP_TOOL_REFUSED"
    M365_FORBIDDEN_AUTH_MODE = "M365_FORBIDDEN_AUTH_MODE"
    M365_SCOPE_MISSING = "M365_SCOPE_MISSING"
    M365_OBO_CHAIN_UNVERIFIED = "M365_OBO_CHAIN_UNVERIFIED"
    M365_INTERACTIVE_REDIRECT_URI_REQUIRED = "M365_INTERACTIVE_REDIRECT_URI_REQUIRED"
    M365_AUTH_EXPIRED = "M365_AUTH_EXPIRED"
    M365_DELEGATED_ONLY_OPERATION = "M365_DELEGATED_ONLY_OPERATION"
    M365_BACKGROUND_ONLY_OPERATION = "M365_BACKGROUND_ONLY_OPERATION"
    ACROBAT_UNAVAILABLE = "ACROBAT_UNAVAILABLE"
    ACROBAT_SOURCE_NOT_FOUND = "ACROBAT_SOURCE_NOT_FOUND"
    ACROBAT_OCR_UNSUPPORTED = "ACROBAT_OCR_UNSUPPORTED"
    ACROBAT_EXTRACTION_FAILED = "ACROBAT_EXTRACTION_FAILED"
    ACROBAT_REDACTION_PREP_REQUIRES_APPROVAL = "ACROBAT_REDACTION_PREP_REQUIRES_APPROVAL"
    SKILL_NOT_FOUND = "SKILL_NOT_FOUND"
    SKILL_INVOCATION_NOT_FOUND = "SKILL_INVOCATION_NOT_FOUND"
    SKILL_MALFORMED = "SKILL_MALFORMED"
    SKILL_QUARANTINED = "SKILL_QUARANTINED"
    VERSION_RETIRED = "VERSION_RETIRED"
    POLICY_DENIED = "POLICY_DENIED"
    BUDGET_EXCEEDED = "BUDGET_EXCEEDED"
    PRECONDITION_UNMET = "PRECONDITION_UNMET"
    CONFIRMATION_REQUIRED = "CONFIRMATION_REQUIRED"
    ISOLATION_UNAVAILABLE = "ISOLATION_UNAVAILABLE"
    INVALID_INPUT = "INVALID_INPUT"
    INVALID_PLATFORM = "INVALID_PLATFORM"
    INVALID_GOALS = "INVALID_GOALS"
    INVALID_PERSONA = "INVALID_PERSONA"
    INVALID_CONTENT = "INVALID_CONTENT"
    INVALID_ADDRESS = "INVALID_ADDRESS"
    INVALID_PROFILE = "INVALID_PROFILE"
    INVALID_TOKEN = "INVALID_TOKEN"  # noqa: S105
    TOKEN_EXPIRED = "TOKEN_EXPIRED"  # noqa: S105
    NOT_FOUND = "NOT_FOUND"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    ROUTE_GONE = "ROUTE_GONE"
    PARTIAL_DEPLOYMENT = "PARTIAL_DEPLOYMENT"
    VALIDATION_FAILED = "VALIDATION_FAILED"
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    IDEMPOTENCY_KEY_REUSED = "IDEMPOTENCY_KEY_REUSED"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    FORBIDDEN = "FORBIDDEN"
    CONFLICT = "CONFLICT"
    TOO_MANY_REQUESTS = "TOO_MANY_REQUESTS"
    TEMPORAL_UNAVAILABLE = "TEMPORAL_UNAVAILABLE"
    STORAGE_FULL = "STORAGE_FULL"
    INTERNAL_ERROR = "INTERNAL_ERROR"


class ErrorRule(NamedTuple):
    """How a code travels over HTTP and whether the same request may succeed later."""

    status: int
    retryable: bool


ERROR_RULES: dict[ErrorCode, ErrorRule] = {
    ErrorCode.LEARN_SESSION_ALREADY_ACTIVE: ErrorRule(409, False),
    ErrorCode.INVALID_LEARN_STATE_TRANSITION: ErrorRule(400, False),
    ErrorCode.LEARN_SESSION_NOT_FOUND: ErrorRule(404, False),
    ErrorCode.PROPOSAL_NOT_FOUND: ErrorRule(404, False),
    ErrorCode.ABILITY_NOT_FOUND: ErrorRule(404, False),
    ErrorCode.VALIDATION_IN_PROGRESS: ErrorRule(409, True),
    ErrorCode.VALIDATION_REQUIRED: ErrorRule(409, False),
    ErrorCode.UNPROVED_NOT_ACCEPTED: ErrorRule(409, False),
    ErrorCode.INSTALL_IN_PROGRESS: ErrorRule(409, True),
    ErrorCode.INSUFFICIENT_TRACES: ErrorRule(400, False),
    ErrorCode.ADAPTER_UNAVAILABLE: ErrorRule(503, True),
    ErrorCode.INSTALL_LANE_DENIED: ErrorRule(403, False),
    ErrorCode.BRIDGE_REBUILD_FAILED: ErrorRule(500, True),
    ErrorCode.TEST_POLICY_VIOLATION: ErrorRule(400, False),
    ErrorCode.CHECKPOINT_LINT_FAILED: ErrorRule(400, False),
    ErrorCode.SESSION_TIMEOUT: ErrorRule(408, False),
    ErrorCode.CAPTURE_ALREADY_STOPPED: ErrorRule(409, False),
    ErrorCode.QUESTION_NOT_FOUND: ErrorRule(404, False),
    ErrorCode.OBSERVATION_NOT_FOUND: ErrorRule(404, False),
    ErrorCode.BOUNDARY_INVALID: ErrorRule(400, False),
    ErrorCode.REVISION_INVALID: ErrorRule(422, False),
    ErrorCode.SKILL_SLUG_TAKEN: ErrorRule(409, False),
    ErrorCode.SAGA_NOT_FOUND: ErrorRule(404, False),
    ErrorCode.INCOMPATIBLE_TRACES: ErrorRule(400, False),
    ErrorCode.RUN_NOT_ELIGIBLE: ErrorRule(409, False),
    ErrorCode.TRIAL_NOT_POSSIBLE: ErrorRule(409, False),
    ErrorCode.CONSTRAINT_BROKEN: ErrorRule(409, False),
    ErrorCode.PROPOSAL_STALE: ErrorRule(409, False),
    ErrorCode.HAND_EDITED: ErrorRule(409, False),
    ErrorCode.CATEGORY_LIMIT_REACHED: ErrorRule(409, False),
    ErrorCode.CATEGORY_TITLE_TAKEN: ErrorRule(409, False),
    ErrorCode.MCP_SERVER_NOT_FOUND: ErrorRule(404, False),
    ErrorCode.MCP_TOOL_NOT_FOUND: ErrorRule(404, False),
    ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND: ErrorRule(404, False),
    ErrorCode.MCP_DISPATCH_NOT_FOUND: ErrorRule(404, False),
    ErrorCode.MCP_GRANT_NOT_FOUND: ErrorRule(404, False),
    ErrorCode.MCP_SERVER_NOT_ACTIVE_IN_BUILD: ErrorRule(409, False),
    ErrorCode.MCP_SERVER_DISABLED: ErrorRule(409, False),
    ErrorCode.MCP_SERVER_DELETE_BLOCKED: ErrorRule(409, False),
    ErrorCode.MCP_SERVER_UNREACHABLE: ErrorRule(502, True),
    ErrorCode.MCP_ADDRESS_REFUSED: ErrorRule(422, False),
    ErrorCode.MCP_AUTH_CHALLENGE_REQUIRED: ErrorRule(409, False),
    ErrorCode.MCP_AUTH_PROFILE_IN_USE: ErrorRule(409, False),
    ErrorCode.MCP_OAUTH_STATE_INVALID: ErrorRule(400, False),
    ErrorCode.MCP_OAUTH_CALLBACK_EXPIRED: ErrorRule(400, False),
    ErrorCode.MCP_OAUTH_REFRESH_NOT_ALLOWED: ErrorRule(409, False),
    ErrorCode.MCP_OAUTH_TOKEN_EXCHANGE_FAILED: ErrorRule(502, False),
    ErrorCode.MCP_OAUTH_DISCOVERY_FAILED: ErrorRule(502, False),
    ErrorCode.MCP_POLICY_BLOCKED: ErrorRule(403, False),
    ErrorCode.MCP_ASK_FIRST_REQUIRED: ErrorRule(409, False),
    ErrorCode.MCP_ASK_FIRST_EXPIRED: ErrorRule(409, False),
    ErrorCode.MCP_ASK_FIRST_DECIDED: ErrorRule(409, False),
    ErrorCode.MCP_TOOL_CHANGED: ErrorRule(409, False),
    ErrorCode.MCP_SMOKE_TEST_FAILED: ErrorRule(502, True),
    ErrorCode.MCP_CALL_TIMED_OUT: ErrorRule(504, False),
    ErrorCode.MCP_RATE_LIMITED: ErrorRule(429, True),
    ErrorCode.MCP_OUTPUT_TOO_LARGE: ErrorRule(502, False),
    ErrorCode.MCP_OUTPUT_INVALID: ErrorRule(502, False),
    ErrorCode.MCP_OUTCOME_UNKNOWN: ErrorRule(409, False),
    ErrorCode.MCP_TOOL_REFUSED: ErrorRule(502, False),
    ErrorCode.M365_FORBIDDEN_AUTH_MODE: ErrorRule(422, False),
    ErrorCode.M365_SCOPE_MISSING: ErrorRule(422, False),
    ErrorCode.M365_OBO_CHAIN_UNVERIFIED: ErrorRule(422, False),
    ErrorCode.M365_INTERACTIVE_REDIRECT_URI_REQUIRED: ErrorRule(422, False),
    ErrorCode.M365_AUTH_EXPIRED: ErrorRule(409, False),
    ErrorCode.M365_DELEGATED_ONLY_OPERATION: ErrorRule(422, False),
    ErrorCode.M365_BACKGROUND_ONLY_OPERATION: ErrorRule(422, False),
    ErrorCode.ACROBAT_UNAVAILABLE: ErrorRule(503, True),
    ErrorCode.ACROBAT_SOURCE_NOT_FOUND: ErrorRule(404, False),
    ErrorCode.ACROBAT_OCR_UNSUPPORTED: ErrorRule(422, False),
    ErrorCode.ACROBAT_EXTRACTION_FAILED: ErrorRule(422, False),
    ErrorCode.ACROBAT_REDACTION_PREP_REQUIRES_APPROVAL: ErrorRule(409, False),
    ErrorCode.SKILL_NOT_FOUND: ErrorRule(404, False),
    ErrorCode.SKILL_INVOCATION_NOT_FOUND: ErrorRule(404, False),
    ErrorCode.SKILL_MALFORMED: ErrorRule(422, False),
    ErrorCode.SKILL_QUARANTINED: ErrorRule(403, False),
    ErrorCode.VERSION_RETIRED: ErrorRule(410, False),
    ErrorCode.POLICY_DENIED: ErrorRule(403, False),
    ErrorCode.BUDGET_EXCEEDED: ErrorRule(429, True),
    ErrorCode.PRECONDITION_UNMET: ErrorRule(409, False),
    ErrorCode.CONFIRMATION_REQUIRED: ErrorRule(409, False),
    ErrorCode.ISOLATION_UNAVAILABLE: ErrorRule(503, False),
    ErrorCode.INVALID_INPUT: ErrorRule(400, False),
    ErrorCode.INVALID_PLATFORM: ErrorRule(400, False),
    ErrorCode.INVALID_GOALS: ErrorRule(422, False),
    ErrorCode.INVALID_PERSONA: ErrorRule(400, False),
    ErrorCode.INVALID_CONTENT: ErrorRule(400, False),
    ErrorCode.INVALID_ADDRESS: ErrorRule(400, False),
    ErrorCode.INVALID_PROFILE: ErrorRule(422, False),
    ErrorCode.INVALID_TOKEN: ErrorRule(401, False),
    ErrorCode.TOKEN_EXPIRED: ErrorRule(401, False),
    ErrorCode.NOT_FOUND: ErrorRule(404, False),
    ErrorCode.METHOD_NOT_ALLOWED: ErrorRule(405, False),
    ErrorCode.ROUTE_GONE: ErrorRule(410, False),
    ErrorCode.PARTIAL_DEPLOYMENT: ErrorRule(409, False),
    ErrorCode.VALIDATION_FAILED: ErrorRule(422, False),
    ErrorCode.PAYLOAD_TOO_LARGE: ErrorRule(413, False),
    ErrorCode.IDEMPOTENCY_KEY_REUSED: ErrorRule(422, False),
    ErrorCode.UNAUTHENTICATED: ErrorRule(401, False),
    ErrorCode.FORBIDDEN: ErrorRule(403, False),
    ErrorCode.CONFLICT: ErrorRule(409, True),
    ErrorCode.TOO_MANY_REQUESTS: ErrorRule(429, True),
    ErrorCode.TEMPORAL_UNAVAILABLE: ErrorRule(503, True),
    ErrorCode.STORAGE_FULL: ErrorRule(507, True),
    ErrorCode.INTERNAL_ERROR: ErrorRule(500, True),
}


class Refusal(Exception):
    """An expected refusal: raised by stores and rules, answered as the envelope, never retried.

    ``extra`` is what the envelope carries beside the four fixed fields (``current_state``, ``allowed`` …), and
    ``retryable=False`` where the same request can never succeed though others of its code may.
    """

    def __init__(self, code: ErrorCode, message: str, **extra: object) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.extra = extra

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return bool(self.extra.get("retryable", ERROR_RULES[self.code].retryable))


class ApiError(Contract):
    """What went wrong, and what to do (DOC3 §0.10C L5098). Extra keys carry what the code promises."""

    model_config = ConfigDict(frozen=True, extra="allow")

    code: Text80
    message: Text240
    retryable: bool
    correlation_id: Text200


class ApiErrorEnvelope(Contract):
    """The only error body of the API."""

    error: ApiError = Field(description="The error, with extra keys where the code promises them.")
