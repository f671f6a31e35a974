"""Whether the same request may succeed later is said by the code, or by the refusal where its code has both kinds."""

import json
from datetime import UTC, datetime

import pytest
from fastapi import Request

from api.platform.errors import error_response
from contracts.errors import ERROR_RULES, ErrorCode, Refusal
from contracts.learning.observation import ObservationAdapterKind as Kind
from contracts.mcp.dispatch import AskFirstStatus, decided_by
from domain.learning.adapters import adapters_unavailable, refuse_unavailable


def test_an_adapter_of_a_later_release_is_no_reason_to_try_again() -> None:
    with pytest.raises(Refusal) as refusal:
        refuse_unavailable([Kind.MIDI], ())
    assert refusal.value.retryable is False


def test_an_adapter_that_is_switched_off_is_no_reason_to_try_again() -> None:
    with pytest.raises(Refusal) as refusal:
        refuse_unavailable([Kind.TERMINAL_COMMAND], [Kind.TERMINAL_COMMAND])
    assert refusal.value.retryable is False


def test_an_adapter_that_fails_at_the_moment_may_work_later() -> None:
    assert adapters_unavailable({Kind.TERMINAL_COMMAND: "it reported an error"}, ()).retryable


def test_an_authorization_server_without_pkce_is_no_reason_to_try_again() -> None:
    assert ERROR_RULES[ErrorCode.MCP_OAUTH_DISCOVERY_FAILED].retryable is False


def test_what_a_refusal_says_itself_reaches_the_client_and_no_time_to_come_again() -> None:
    request = Request({"type": "http", "headers": [], "state": {}})
    answer = error_response(request, ErrorCode.ADAPTER_UNAVAILABLE, "No.", retryable=False)
    assert json.loads(bytes(answer.body))["error"]["retryable"] is False
    assert "retry-after" not in answer.headers


def test_an_answer_after_policy_decided_is_told_that_policy_did() -> None:
    late = decided_by(None, datetime(2026, 3, 1, tzinfo=UTC), AskFirstStatus.DENIED)
    assert late.message == "The call was denied by policy before you answered."
