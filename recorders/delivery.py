"""Delivers a spool's events to the ingest route in a background thread, with retries.

An event leaves the spool only when the API has confirmed it, and event ids make a repeated request harmless
(routes.md, ingest), so nothing is lost and nothing counts twice.
"""

import threading
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from pathlib import Path
from random import SystemRandom
from types import TracebackType
from urllib.parse import urlsplit

import httpx
from pydantic import ValidationError

from contracts.backoff import Backoff
from contracts.errors import ApiError, ApiErrorEnvelope, ErrorCode
from contracts.learning.observation import (
    IngestObservationsRequest,
    IngestObservationsResponse,
    ObservedActionEvent,
)
from recorders.spool import Spool, SpoolBatch

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
    if response.is_success:
        try:
            counts = IngestObservationsResponse.model_validate_json(response.content)
        except ValidationError:
            return Answer(Verdict.RETRY, reason="the answer is not the ingest route's")
        return Answer(Verdict.CONFIRMED, counts=counts)
    return judge_refusal(response)


def judge_refusal(response: httpx.Response) -> Answer:
    """The verdict on a response that is no success."""
    status = response.status_code
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


BATCH_SIZE = 100
"""Events a request; the route takes up to 500."""

BEHIND_AFTER_S = 10.0
"""Seconds that events have waited without a confirmation when delivery counts as behind."""


DELIVERY_BACKOFF = Backoff(first=0.5, cap=30.0, jitter=0.9)
"""Seconds between attempts; ``Retry-After`` wins."""


class DeliveryState(StrEnum):
    """How delivery fares: ``held`` waits for a paused session, ``stopped`` will not go on in this run."""

    FLOWING = "flowing"
    BEHIND = "behind"
    HELD = "held"
    STOPPED = "stopped"


@dataclass(frozen=True)
class DeliveryReport:
    """What was delivered since the start (counts of events), and what was not and why.

    ``pending`` events are still to be delivered; ``kept`` ones belong to earlier sessions that refused them, and
    stay in the spool.
    """

    state: DeliveryState = DeliveryState.FLOWING
    accepted: int = 0
    duplicate: int = 0
    dropped_off_target: int = 0
    dropped_not_meaningful: int = 0
    unreadable: int = 0
    retries: int = 0
    pending: int = 0
    kept: int = 0
    reason: str | None = None

    @property
    def delivered(self) -> int:
        """Events that the API has confirmed, whatever it decided about them."""
        return self.accepted + self.duplicate + self.dropped_off_target + self.dropped_not_meaningful

    @property
    def taken(self) -> int:
        """Events that the session has now."""
        return self.accepted + self.duplicate

    def text(self, spool_folder: Path) -> str:
        """How many were delivered and became nothing or wait in ``spool_folder``, for the person who recorded."""
        said = f"{self.delivered} delivered"
        if self.dropped_off_target:
            said += (
                f", {self.dropped_off_target} of them not kept: the session does not watch that application"
            )
        if self.pending:
            said += f"; {self.pending} wait in {spool_folder} for the next recording"
        return said

    @property
    def complete(self) -> bool:
        """Whether nothing waits any more."""
        return self.pending == 0


class Delivery:
    """The delivering thread of one spool: ``start`` it, ``notify`` it after each append, ``close`` it.

    A refusal that waiting cannot heal ends delivery for its session (gone, no longer capturing) or altogether
    (the token is refused); the events stay in the spool, and the report says why. A paused session holds
    delivery back until it captures again.
    """

    def __init__(
        self,
        spool: Spool,
        target: IngestTarget,
        learn_session_id: str,
        *,
        backoff: Backoff = DELIVERY_BACKOFF,
    ) -> None:
        self._spool = spool
        self._target = target
        self._session = learn_session_id
        self._backoff = backoff
        self._condition = threading.Condition()
        self._report = DeliveryReport()
        self._refused: frozenset[str] = frozenset()
        self._token_refused = False
        self._failures = 0
        self._has_news = True
        self._is_idle = False
        self._is_held_back = False
        self._hurry = False
        self._closing = False
        self._waiting_since: float | None = None
        self._thread = threading.Thread(target=self._run, name="observation-delivery", daemon=True)

    def start(self) -> None:
        """Begins with what earlier runs left behind."""
        self._thread.start()

    def notify(self) -> None:
        """Tells the thread that the spool has new events."""
        with self._condition:
            self._has_news = True
            self._is_idle = False
            self._waiting_since = self._waiting_since or time.monotonic()
            self._condition.notify_all()

    def report(self) -> DeliveryReport:
        """How delivery stands now."""
        with self._condition:
            report = self._report
            since = self._waiting_since
            others = self._refused - {self._session}
        is_late = since is not None and time.monotonic() - since > BEHIND_AFTER_S
        if report.state is DeliveryState.FLOWING and is_late:
            report = replace(report, state=DeliveryState.BEHIND)
        pending = self._spool.pending(skip_sessions=others)
        return replace(report, pending=pending, kept=self._spool.pending() - pending)

    def flush(self, timeout: float, *, while_held: bool = True) -> DeliveryReport:
        """Waits up to ``timeout`` seconds until all is delivered or refused; cuts a wait under way short.

        Unless ``while_held`` it does not wait for a paused session to go on either.
        """
        with self._condition:
            self._hurry = True
            self._is_held_back = False
            self._condition.notify_all()
            self._condition.wait_for(
                lambda: (
                    self._is_idle or (self._is_held_back and not while_held) or not self._thread.is_alive()
                ),
                timeout,
            )
        return self.report()

    def close(self, timeout: float, *, while_held: bool = True) -> DeliveryReport:
        """Flushes and ends the thread; the answer to a request under way is waited for and kept."""
        self.flush(timeout, while_held=while_held)
        with self._condition:
            self._closing = True
            self._condition.notify_all()
        self._thread.join(self._target.timeout_s + 5)
        return self.report()

    def _run(self) -> None:
        with IngestClient(self._target) as client:
            while (batch := self._await_batch()) is not None:
                events = batch.events
                answer = client.post(batch.learn_session_id, events) if events else Answer(Verdict.CONFIRMED)
                self._settle(batch, answer)

    def _await_batch(self) -> SpoolBatch | None:
        """The next batch, whenever there is one; ``None`` when the thread is to end."""
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._has_news or self._closing)
                if self._closing:
                    return None
                self._has_news = False
            batch = None
            if not self._token_refused:
                batch = self._spool.next_batch(BATCH_SIZE, skip_sessions=self._refused)
            with self._condition:
                if batch is not None:
                    self._has_news = True
                    self._waiting_since = self._waiting_since or time.monotonic()
                    return batch
                if not self._has_news:
                    self._is_idle = True
                    self._waiting_since = None
                    self._condition.notify_all()

    def _settle(self, batch: SpoolBatch, answer: Answer) -> None:
        match answer.verdict:
            case Verdict.CONFIRMED:
                self._confirm(batch, answer)
            case Verdict.RETRY:
                self._wait(answer, DeliveryState.FLOWING)
            case Verdict.SESSION_PAUSED if batch.learn_session_id == self._session:
                self._wait(answer, DeliveryState.HELD)
            case Verdict.SESSION_REFUSED | Verdict.SESSION_PAUSED:
                self._refused |= {batch.learn_session_id}
                if batch.learn_session_id == self._session:
                    self._change(state=DeliveryState.STOPPED, reason=answer.reason)
            case Verdict.TOKEN_REFUSED:
                self._token_refused = True
                self._change(state=DeliveryState.STOPPED, reason=answer.reason)

    def _confirm(self, batch: SpoolBatch, answer: Answer) -> None:
        try:
            self._spool.confirm(batch)
        except OSError as error:
            # Sending the batch again is harmless; forgetting that it was sent is not worth stopping for.
            trouble = Answer(Verdict.RETRY, reason=f"the spool cannot be updated ({error})")
            self._wait(trouble, DeliveryState.FLOWING)
            return
        self._failures = 0
        counts = answer.counts
        with self._condition:
            self._waiting_since = time.monotonic()
            report = self._report
            is_stopped = report.state is DeliveryState.STOPPED
            self._report = replace(
                report,
                state=report.state if is_stopped else DeliveryState.FLOWING,
                reason=report.reason if is_stopped else None,
                accepted=report.accepted + (counts.accepted if counts else 0),
                duplicate=report.duplicate + (counts.duplicate if counts else 0),
                dropped_off_target=report.dropped_off_target + (counts.dropped_off_target if counts else 0),
                dropped_not_meaningful=report.dropped_not_meaningful
                + (counts.dropped_not_meaningful if counts else 0),
                unreadable=report.unreadable + batch.unreadable,
            )

    def _wait(self, answer: Answer, state: DeliveryState) -> None:
        self._failures += 1
        with self._condition:
            report = self._report
            if report.state is not DeliveryState.STOPPED:
                report = replace(report, state=state, reason=answer.reason)
            self._report = replace(report, retries=report.retries + 1)
            if state is DeliveryState.HELD:
                self._is_held_back = True
                self._condition.notify_all()
            asked = answer.retry_after_s
            seconds = self._backoff.delay(self._failures, SystemRandom().random()) if asked is None else asked
            self._condition.wait_for(lambda: self._closing or (self._hurry and asked is None), seconds)
            self._hurry = False

    def _change(self, *, state: DeliveryState, reason: str | None) -> None:
        with self._condition:
            self._report = replace(self._report, state=state, reason=reason)
