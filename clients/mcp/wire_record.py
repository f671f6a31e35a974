"""Record of what was sent to a tool server and how HTTP answered, for one conversation."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, cast

import httpx2

from clients.mcp.address_guard import AddressRefused
from clients.platform.retry_after import retry_after_seconds
from domain.mcp.tool_definitions import LeftOut

ENVELOPE_BYTES = 64 * 1024
"""What may stand around an answer: the protocol's envelope, events, progress."""

CALL = "tools/call"

_AT_ONCE = frozenset({401, 403, 429})
# Raised before a byte of the request is written.
_NEVER_CONNECTED = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
)


@dataclass(frozen=True)
class HttpRefusal:
    """An HTTP status of 400 or more, and what its headers say."""

    status: int
    retry_after_ms: int | None = None
    www_authenticate: str | None = None


@dataclass(frozen=True)
class AnswerHead:
    """How HTTP answered the call itself."""

    status: int
    content_type: str

    @property
    def may_hold_an_answer(self) -> bool:
        """Whether the protocol could have answered in it; where it could not, nobody knows what became of the call."""
        if self.status in (202, 301, 302, 303):
            return False
        kind = self.content_type.partition(";")[0].strip().lower()
        return not self.is_good or kind in ("application/json", "text/event-stream")

    @property
    def is_good(self) -> bool:
        """Whether the server says that it did as it was asked."""
        return 200 <= self.status < 300


@dataclass
class WireRecord:
    """Filled by the transport while the conversation goes on.

    ``end`` is called once something is known that decides the outcome, so that nobody waits any longer.
    """

    body_limit: int
    end: Callable[[], None] = lambda: None
    calling: bool = False
    sent: bool = False
    refusal: HttpRefusal | None = None
    address_refused: str | None = None
    too_large: bool = False
    compressed: bool = False
    call_answer: AnswerHead | None = None
    exit_status: int | None = None
    gone: bool = False
    """The program has ended, and with it all that it started."""

    revision: str | None = None
    """The protocol's, once it is agreed."""

    unreadable: list[LeftOut] = field(default_factory=list["LeftOut"])
    """The tools of a listing that are not of the protocol."""

    turn: int = 0
    """Which exchange this is about: what comes in late of an earlier one says nothing of it."""

    def begin(self, body_limit: int) -> None:
        """Another exchange begins, of which nothing is known yet."""
        self.turn += 1
        self.body_limit = body_limit
        self.calling = self.sent = False
        self.refusal = self.address_refused = self.call_answer = None
        self.too_large = self.compressed = False

    def count(self, read: int) -> None:
        """Ends the conversation where one answer has more bytes than may be read."""
        if read > self.body_limit + ENVELOPE_BYTES:
            self.too_large = True
            self.end()


class RecordingTransport(httpx2.AsyncBaseTransport):
    """Passes requests on to another transport and writes down how it went."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, record: WireRecord) -> None:
        self._inner = inner
        self._record = record

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer, whose body is counted while it is read."""
        record, turn = self._record, self._record.turn
        is_call = record.calling and _method_of(request) == CALL
        if is_call:
            record.sent = True
        try:
            response = await self._inner.handle_async_request(request)
        except _NEVER_CONNECTED as error:
            if record.turn == turn:
                if is_call:
                    record.sent = False
                if isinstance(error, AddressRefused) and not record.sent:
                    record.address_refused = str(error)
            raise
        # Once the call is out, only its own answer says what became of it.
        decides = request.method == "POST" and is_call >= record.calling and record.turn == turn
        if decides:
            self._note(response, is_call)
        return httpx2.Response(
            status_code=response.status_code,
            headers=response.headers,
            stream=_Counted(
                cast("httpx2.AsyncByteStream", response.stream), record, turn if decides else None
            ),
            extensions=response.extensions,
        )

    def _note(self, response: httpx2.Response, is_call: bool) -> None:
        record, status = self._record, response.status_code
        if is_call:
            record.call_answer = AnswerHead(status, response.headers.get("content-type", ""))
        if response.headers.get("content-encoding", "identity") != "identity":
            # Never asked for; unpacking it could fill the memory.
            record.compressed = True
            record.end()
        if status >= 400:
            asked = retry_after_seconds(response.headers.get("retry-after", ""))
            record.refusal = HttpRefusal(
                status,
                None if asked is None else int(asked * 1_000),
                response.headers.get("www-authenticate", "")[:1000] or None,
            )
            if status in _AT_ONCE or (is_call and status >= 500):
                record.end()

    async def aclose(self) -> None:
        """Closes the other transport."""
        await self._inner.aclose()


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, record: WireRecord, decides_turn: int | None) -> None:
        """``decides_turn`` is the exchange that this is the answer of, if it is the one that counts."""
        self._inner = inner
        self._record = record
        self._decides_turn = decides_turn

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for part in self._inner:
            read += len(part)
            if self._decides_turn == self._record.turn:
                self._record.count(read)
            if read > self._record.body_limit + ENVELOPE_BYTES:
                raise httpx2.ReadError("the answer is too large")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()


def _method_of(request: httpx2.Request) -> str | None:
    try:
        message: Any = json.loads(request.content)
        return message["method"]
    except (ValueError, KeyError, TypeError, RecursionError, httpx2.RequestNotRead):
        return None
