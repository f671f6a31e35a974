"""How our own HTTP API is called: authentication, idempotent retries, and errors as types.

Every failure is one of::

    ApiFailure
     ├── ApiRefusal         the service answered with its error envelope
     ├── ApiUnreachable     nobody answered, or nobody that is ready
     └── ApiAnswerUnreadable  an answer that is not in the service's contract
"""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx
from pydantic import BaseModel, ValidationError

from clients.apprentice.sse import SILENCE_LIMIT_SECONDS, StreamContext
from clients.platform.retry_after import retry_after_seconds
from contracts.backoff import Backoff
from contracts.errors import ApiErrorEnvelope, ErrorCode
from contracts.plain_problems import problem_sentence

M = TypeVar("M", bound=BaseModel)

IDEMPOTENCY_HEADER = "Idempotency-Key"
CORRELATION_HEADER = "X-Correlation-Id"

ANSWER_WITHIN_SECONDS = 290.0
"""How long an answer may take; a draft is the slowest, where its demonstration is replayed and a model words it."""

_NOT_READY = 503

RETRIED_STATUS = frozenset({429, _NOT_READY})
"""Answers after which the same request may simply be sent again."""

WAIT_FOR_A_PERSON = frozenset({ErrorCode.ADAPTER_UNAVAILABLE, ErrorCode.ACROBAT_UNAVAILABLE})
"""Of those, the ones that seconds do not change: somebody has to start or install something first."""


class ApiFailure(Exception):
    """Whatever can go wrong between a client and the service."""


class ApiRefusal(ApiFailure):
    """The service refused. ``code`` is stable; ``extra`` holds the envelope's further keys."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int,
        retryable: bool,
        correlation_id: str,
        extra: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.retryable = retryable
        self.correlation_id = correlation_id
        self.extra: dict[str, object] = dict(extra or {})


class ApiUnreachable(ApiFailure):
    """No connection to the service; the message says what to do."""

    def __init__(self, base_url: str, cause: str) -> None:
        super().__init__(
            f"no answer from {base_url} ({cause}). Start the service with `apprentice up`, "
            "or name another one with --api-url or APPRENTICE_API_URL."
        )
        self.base_url = base_url
        self.cause = cause


class ApiAnswerUnreadable(ApiFailure):
    """An answer that the contracts do not describe: another program, or another version, is listening."""

    def __init__(self, base_url: str, what: str) -> None:
        super().__init__(f"{base_url} answered something that is not in the API's contract: {what}")


REQUEST_BACKOFF = Backoff(first=0.2, cap=10.0, jitter=0.5)
"""Seconds before a request is sent again."""


@dataclass(frozen=True)
class RetryPolicy:
    """How often a request is sent in all, and how long between; ``Retry-After`` wins, up to the cap."""

    attempts: int = 5
    backoff: Backoff = REQUEST_BACKOFF
    sleep: Callable[[float], None] = time.sleep

    def pause(self, attempt: int, retry_after: str | None) -> None:
        """Wait after attempt number ``attempt`` (from 1)."""
        delay = retry_after_seconds(retry_after or "")
        if delay is None:
            delay = self.backoff.delay(attempt, random.random())  # noqa: S311
        self.sleep(min(delay, self.backoff.cap))


class ApiTransport:
    """Sends requests to one service as one caller.

    Every write carries an ``Idempotency-Key`` that stays the same over its retries, so a write whose answer
    was lost is never applied twice (decisions "Wire rules").
    """

    def __init__(
        self,
        base_url: str,
        token: str | None,
        *,
        transport: httpx.BaseTransport | None = None,
        retry: RetryPolicy | None = None,
        timeout_seconds: float = ANSWER_WITHIN_SECONDS,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.last_body = ""
        """The body of the newest answer as it was received."""
        self._retry = retry or RetryPolicy()
        self._client = httpx.Client(
            base_url=self.base_url,
            transport=transport,
            timeout=httpx.Timeout(timeout_seconds, connect=5.0),
            headers={"Authorization": f"Bearer {token}"} if token else {},
            # A proxy from the environment has no business between a command line and its own service.
            trust_env=False,
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(self, path: str, answer: type[M], *, retried: bool = True, **query: str | int | None) -> M:
        """Read ``path``; see :meth:`send` for what is raised."""
        params = {key: value for key, value in query.items() if value is not None}
        return self._parse(self.send("GET", path, retried=retried, params=params), answer)

    def write(
        self,
        method: str,
        path: str,
        answer: type[M],
        body: BaseModel | None = None,
        key: str | None = None,
        *,
        retried: bool = True,
        with_nulls: bool = False,
        wait_seconds: int = 0,
    ) -> M:
        """Send a command; ``key`` is the idempotency key, a fresh one when left out.

        ``with_nulls`` sends the fields that were set to None too: where null is not the same as left out.
        ``wait_seconds`` asks the service to answer when it is done, if that is so soon (RFC 7240).
        """
        headers = {IDEMPOTENCY_HEADER: key or str(uuid4())}
        if wait_seconds:
            headers["Prefer"] = f"wait={wait_seconds}"
        payload = (
            None
            if body is None
            else body.model_dump(mode="json", exclude_none=not with_nulls, exclude_unset=with_nulls)
        )
        return self._parse(self.send(method, path, retried=retried, json=payload, headers=headers), answer)

    def download(self, path: str) -> bytes:
        """Read a binary body, such as an archive; see :meth:`send` for what is raised."""
        return self.send("GET", path, is_text=False).content

    def send(
        self, method: str, path: str, *, retried: bool = True, is_text: bool = True, **request: Any
    ) -> httpx.Response:
        """Send one request; with ``retried`` again while that is safe and may help.

        Raises:
            ApiRefusal: the service answered with an error.
            ApiUnreachable: there was no answer in any attempt.
            ApiAnswerUnreadable: an error that is no envelope.
        """
        headers = {CORRELATION_HEADER: str(uuid4()), **request.pop("headers", {})}
        built = self._client.build_request(method, path, headers=headers, **request)
        attempts = self._retry.attempts if retried else 1
        for attempt in range(1, attempts + 1):
            last = attempt == attempts
            try:
                response = self._client.send(built)
            except httpx.TransportError as error:
                if last:
                    raise ApiUnreachable(self.base_url, describe(error)) from error
                self._retry.pause(attempt, None)
                continue
            if not last and _is_soon_over(response):
                self._retry.pause(attempt, response.headers.get("Retry-After"))
                continue
            self.last_body = response.text if is_text or response.is_error else ""
            self._refuse(response)
            return response
        raise AssertionError("a retry policy has at least one attempt")

    def open_events(
        self, path: str, last_event_id: str, *, silence_limit_seconds: float = SILENCE_LIMIT_SECONDS
    ) -> StreamContext:
        """Open an event stream after ``last_event_id``; a silence longer than the limit ends it.

        Raises:
            httpx.TransportError: no connection; the follower decides whether to try again.
            ApiRefusal: the service refused the stream.
        """
        headers = {CORRELATION_HEADER: str(uuid4()), "Accept": "text/event-stream"}
        if last_event_id:
            headers["Last-Event-ID"] = last_event_id
        timeout = httpx.Timeout(silence_limit_seconds, connect=5.0)
        request = self._client.build_request("GET", path, headers=headers, timeout=timeout)
        response = self._client.send(request, stream=True)
        if response.status_code == _NOT_READY:
            response.close()
            raise httpx.ConnectError("the service is not ready", request=request)
        if response.is_error:
            response.read()
            response.close()
            self._refuse(response)
        return StreamContext(response)

    def _refuse(self, response: httpx.Response) -> None:
        if not response.is_error:
            return
        try:
            error = ApiErrorEnvelope.model_validate_json(response.content).error
        except ValidationError as cause:
            raise ApiAnswerUnreadable(
                self.base_url, f"HTTP {response.status_code} without an error"
            ) from cause
        raise ApiRefusal(
            error.code,
            error.message,
            status=response.status_code,
            retryable=error.retryable,
            correlation_id=error.correlation_id,
            extra=error.model_extra,
        )

    def _parse(self, response: httpx.Response, answer: type[M]) -> M:
        """Read an answer tolerantly: a newer service may say more than this client knows."""
        try:
            return answer.model_validate_json(response.content, extra="ignore")
        except ValidationError as cause:
            wrong = problem_sentence(cause, whole="the body")
            raise ApiAnswerUnreadable(self.base_url, f"{answer.__name__}, {wrong}") from cause


class ApiRoutes:
    """Routes of one subject. Every method may raise the errors of ``clients.apprentice.transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http


def describe(error: httpx.TransportError) -> str:
    """Say in a few words how a connection failed."""
    if isinstance(error, httpx.ConnectError):
        return "connection refused" if "refused" in str(error).lower() else f"cannot connect: {error}"
    if isinstance(error, httpx.TimeoutException):
        return "no answer in time"
    return str(error) or type(error).__name__


def path_part(value: str) -> str:
    """Quote an id for use as one part of a path."""
    return quote(value, safe="")


def _is_soon_over(response: httpx.Response) -> bool:
    """Whether the same request may be answered better in a moment."""
    if response.status_code not in RETRIED_STATUS:
        return False
    try:
        return ApiErrorEnvelope.model_validate_json(response.content).error.code not in WAIT_FOR_A_PERSON
    except ValidationError:
        return True
