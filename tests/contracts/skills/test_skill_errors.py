"""Error codes of skills: what the API answers and what an invocation shows agree (skill_rows.md section 2)."""

import pytest

from contracts.errors import ERROR_RULES, ErrorCode
from contracts.skills.errors import SKILL_ERRORS

SHARED = sorted(code for code in ErrorCode if code.value in SKILL_ERRORS)


@pytest.mark.parametrize("code", SHARED)
def test_a_code_of_a_skill_has_the_same_status_at_the_gate_and_in_an_outcome(code: ErrorCode) -> None:
    """O-2, X-32."""
    assert ERROR_RULES[code].status == SKILL_ERRORS[code].http_status


def test_what_the_gate_refuses_is_known_to_the_api() -> None:
    """O-2, O-7: each check of the gate has a code in both tables."""
    refused_at_the_gate = {
        "SKILL_NOT_FOUND",
        "SKILL_QUARANTINED",
        "VERSION_RETIRED",
        "POLICY_DENIED",
        "BUDGET_EXCEEDED",
        "PRECONDITION_UNMET",
        "CONFIRMATION_REQUIRED",
        "ISOLATION_UNAVAILABLE",
        "IDEMPOTENCY_KEY_REUSED",
    }
    assert refused_at_the_gate <= {code.value for code in SHARED}


def test_every_code_for_a_wrong_input_is_known_to_the_api() -> None:
    """X-32: an input is refused under the code that the document of its skill names."""
    wrong_input = {code for code in SKILL_ERRORS if code.startswith("INVALID_")}
    assert wrong_input - {"INVALID_STATE_TRANSITION"} <= {code.value for code in SHARED}


@pytest.mark.acceptance("AI-13")
def test_only_a_spent_budget_may_be_asked_for_again_unchanged() -> None:
    """Of the gate's refusals the budget alone is renewed by waiting."""
    later = {code for code in SHARED if ERROR_RULES[code].retryable}
    assert later == {ErrorCode.BUDGET_EXCEEDED}
