"""The work of a validation run: what its workflow and its checks are given and answer."""

from pydantic import Field

from contracts.base import Contract, Sha256, Text240, Uuid
from contracts.learning.test_policy import TestPolicy
from contracts.learning.validation import OverallResult, SafetyClass, ValidationRunKind


class ValidationRunInput(Contract):
    """Which checks to run over which draft."""

    validation_run_id: Uuid
    proposal_id: Uuid
    learn_session_id: Uuid
    owner_user_id: str
    content_hash: Sha256
    checks: tuple[ValidationRunKind, ...]
    test_policy: TestPolicy | None = None
    correlation_id: str


class ValidationRunOutput(Contract):
    """What the run found. A safety failure quarantines the proposal; any other sends it back to drafting."""

    overall_result: OverallResult
    passed_checks: tuple[ValidationRunKind, ...]
    failed_summary: Text240 | None = None
    safety_failure: Text240 | None = None
    safety_class: SafetyClass = SafetyClass.LOW
    not_applicable: tuple[ValidationRunKind, ...] = ()
    not_applicable_reason: Text240 | None = None


class CheckInput(Contract):
    """One check of a run."""

    run: ValidationRunInput
    check: ValidationRunKind


class CheckOutput(Contract):
    """One check's outcome; its step results are in the store."""

    check: ValidationRunKind
    passed: bool
    steps: int
    failed_summary: Text240 | None = None
    safety_failure: Text240 | None = None
    safety_class: SafetyClass = SafetyClass.LOW
    not_applicable: Text240 | None = Field(
        default=None, description="Why the check cannot apply to this draft."
    )
