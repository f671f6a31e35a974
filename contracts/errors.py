"""The error vocabulary: one envelope, one table of codes (DOC3 §0C.16B, §0C.28, decisions "Wire rules")."""

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
    CONSTRAINT_BROKEN = "CONSTRAINT_BROKEN"
    PROPOSAL_STALE = "PROPOSAL_STALE"
    HAND_EDITED = "HAND_EDITED"
    CATEGORY_LIMIT_REACHED = "CATEGORY_LIMIT_REACHED"
    CATEGORY_TITLE_TAKEN = "CATEGORY_TITLE_TAKEN"
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
    ErrorCode.CONSTRAINT_BROKEN: ErrorRule(409, False),
    ErrorCode.PROPOSAL_STALE: ErrorRule(409, False),
    ErrorCode.HAND_EDITED: ErrorRule(409, False),
    ErrorCode.CATEGORY_LIMIT_REACHED: ErrorRule(409, False),
    ErrorCode.CATEGORY_TITLE_TAKEN: ErrorRule(409, False),
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

    ``extra`` is what the envelope carries beside the four fixed fields (``current_state``, ``allowed`` …).
    """

    def __init__(self, code: ErrorCode, message: str, **extra: object) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.extra = extra


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
