from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from recorders.delivery import LONGEST_RETRY_AFTER_S, Verdict, judge


def a_response(status: int, headers: dict[str, str] | None = None, **error: object) -> httpx.Response:
    body = {"code": "X", "message": "no", "retryable": False, "correlation_id": "c"} | error
    content = {"json": {"error": body}} if error else {"content": b"<html>"}
    request = httpx.Request("POST", "http://127.0.0.1/x")
    return httpx.Response(status, headers=headers, request=request, **content)


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        (a_response(503), Verdict.RETRY),
        (a_response(507, retryable=False), Verdict.RETRY),
        (a_response(429, retryable=False), Verdict.RETRY),
        (a_response(503, code="ADAPTER_UNAVAILABLE", retryable=True), Verdict.SESSION_REFUSED),
        (a_response(408), Verdict.RETRY),
        (a_response(408, code="SESSION_TIMEOUT"), Verdict.SESSION_REFUSED),
        (a_response(409, retryable=True), Verdict.RETRY),
        (a_response(409, retryable=False), Verdict.SESSION_REFUSED),
        (a_response(404), Verdict.SESSION_REFUSED),
        (a_response(301), Verdict.SESSION_REFUSED),
        (a_response(400, current_state="paused"), Verdict.SESSION_PAUSED),
        (a_response(400, current_state="stopped"), Verdict.SESSION_REFUSED),
        (a_response(401, retryable=True), Verdict.TOKEN_REFUSED),
        (a_response(200), Verdict.RETRY),
    ],
)
def test_an_answer_is_judged_by_its_status_and_its_envelope(
    response: httpx.Response, verdict: Verdict
) -> None:
    assert judge(response).verdict is verdict


def test_a_reason_names_the_code_and_the_message() -> None:
    assert judge(a_response(409, code="CAPTURE_ALREADY_STOPPED", message="it is over")).reason == (
        "CAPTURE_ALREADY_STOPPED: it is over"
    )


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("99999", LONGEST_RETRY_AFTER_S),
        ("soon", None),
        ("", None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
    ],
)
def test_retry_after_is_read_as_seconds_within_reason(header: str, seconds: float | None) -> None:
    assert judge(a_response(503, {"Retry-After": header})).retry_after_s == seconds


def test_retry_after_may_be_a_date() -> None:
    later = datetime.now(UTC) + timedelta(seconds=120)
    wait = judge(a_response(503, {"Retry-After": format_datetime(later, usegmt=True)})).retry_after_s
    assert wait is not None
    assert 60 < wait <= 120
