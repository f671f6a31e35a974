"""One request to the ingest route, and what its answer means for the events that were sent."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from types import TracebackType
from urllib.parse import urlsplit

import httpx
from pydantic import ValidationError

from contracts.errors import ApiError, ApiErrorEnvelope, ErrorCode
from contracts.learning.observation import (
    IngestObservationsRequest,
    IngestObservationsResponse,
    ObservedActionEvent,
)

LONGEST_RETRY_AFTER_S = 300.0
"""A server that asks for more than this is asked again after it."""

_TRY_AGAIN = frozenset({408, 425, 429})


class Verdict(StrEnum):
    """What an answer means for the events sent."""

    CONFIRMED = "confirmed"
    RETRY = "retry"
    SESSION_PAUSED = "session_paused"
    SESSION_REFUSED = "session_refused"
    TOKEN_REFUSED = "token_refused"  # noqa: S105 - a verdict, not a token


@dataclass(frozen=True)
class Answer:
    """The verdict on one request, with the route's counts when it confirmed, otherwise the reason."""

    verdict: Verdict
    counts: IngestObservationsResponse | None = None
    reason: str | None = None
    retry_after_s: float | None = None


@dataclass(frozen=True)
class IngestTarget:
    """Where events go: the API's address and a bearer token with the ``observe`` scope.

    Raises:
        ValueError: the address is no http(s) address, or the token cannot stand in a header.
    """

    api_url: str
    token: str = field(repr=False)
    timeout_s: float = 10.0

    def __post_init__(self) -> None:
        parts = urlsplit(self.api_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"api_url {self.api_url!r} is no address: expected http://host:port")
        if not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise ValueError("the access token holds characters that no token has: copy it again")


class IngestClient:
    """Posts batches of one recorder; keeps its connection open between them."""

    def __init__(self, target: IngestTarget) -> None:
        # A loopback address is never reached through a proxy.
        is_local = urlsplit(target.api_url).hostname in ("127.0.0.1", "localhost", "::1")
        self._http = httpx.Client(
            base_url=target.api_url.rstrip("/"),
            headers={"Authorization": f"Bearer {target.token}", "Content-Type": "application/json"},
            timeout=target.timeout_s,
            trust_env=not is_local,
        )

    def __enter__(self) -> "IngestClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def post(self, learn_session_id: str, events: tuple[ObservedActionEvent, ...]) -> Answer:
        """Sends ``events``; whatever goes wrong is in the answer."""
        request = IngestObservationsRequest(events=events)
        try:
            response = self._http.post(
                f"/api/learn/sessions/{learn_session_id}/observations",
                content=request.model_dump_json(exclude_none=True),
            )
        except httpx.HTTPError as error:
            return Answer(Verdict.RETRY, reason=f"the API does not answer ({type(error).__name__})")
        return judge(response)


def judge(response: httpx.Response) -> Answer:
    """The verdict on a response; the envelope's ``retryable`` decides where the status leaves it open."""
    status = response.status_code
    if response.is_success:
        try:
            counts = IngestObservationsResponse.model_validate_json(response.content)
        except ValidationError:
            return Answer(Verdict.RETRY, reason="the answer is not the ingest route's")
        return Answer(Verdict.CONFIRMED, counts=counts)
    error = _error_in(response)
    reason = f"{error.code}: {error.message}" if error else f"HTTP {status} from {response.url.host}"
    if status in (401, 403):
        return Answer(Verdict.TOKEN_REFUSED, reason=reason)
    if error is not None and (error.model_extra or {}).get("current_state") == "paused":
        return Answer(Verdict.SESSION_PAUSED, reason=reason)
    if error is not None and error.code == ErrorCode.ADAPTER_UNAVAILABLE:
        # Waiting does not bring an adapter; what was seen stays in the spool for when it is there.
        return Answer(Verdict.SESSION_REFUSED, reason=reason)
    may_try_again = error.retryable if error is not None else status in _TRY_AGAIN
    if status >= 500 or status == 429 or may_try_again:
        return Answer(Verdict.RETRY, reason=reason, retry_after_s=_retry_after(response))
    return Answer(Verdict.SESSION_REFUSED, reason=reason)


def _error_in(response: httpx.Response) -> ApiError | None:
    try:
        return ApiErrorEnvelope.model_validate_json(response.content).error
    except ValidationError:
        return None


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds from the ``Retry-After`` header, which holds a number or a date."""
    value = response.headers.get("Retry-After", "").strip()
    if not value:
        return None
    if value.isdigit():
        return min(float(value), LONGEST_RETRY_AFTER_S)
    try:
        wait = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None
    return min(max(wait, 0.0), LONGEST_RETRY_AFTER_S)
