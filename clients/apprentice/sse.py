"""Server-sent events: decoder, and a follower that reconnects with the last id seen.

The wire format is WHATWG HTML "Server-sent events"; what the service puts on it is DOC3 §0C.16C and
decisions "Wire rules" (``id`` is the journal sequence, ``:keepalive`` every 30 s, one ``reset`` event when
an id is older than what is kept).
"""

import codecs
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import httpx

from contracts.backoff import Backoff

RESET_EVENT = "reset"
"""Sent once when the asked-for id is no longer kept: read the object anew, then go on."""

KEEPALIVE_SECONDS = 30.0
SILENCE_LIMIT_SECONDS = 2.5 * KEEPALIVE_SECONDS
"""A connection that is silent for longer than this is taken for dead."""

MAX_EVENT_CHARACTERS = 4 * 1024 * 1024


@dataclass(frozen=True)
class ServerSentEvent:
    """One dispatched event; ``id`` is the last id seen on the stream, empty when there was none."""

    event: str
    data: str
    id: str = ""


class EventTooLong(Exception):
    """A single event passed 4 Mi characters; no event of the service comes near that."""


@dataclass
class SseDecoder:
    """Turns bytes, cut anywhere, into events. Only CR, LF and CRLF end a line, as the format says."""

    last_id: str = ""
    _text: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8-sig")("replace")
    )
    _line: str = ""
    _after_cr: bool = False
    _event: str = ""
    _data: list[str] = field(default_factory=list[str])
    _size: int = 0

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        """Yield the events that ``chunk`` completes.

        Raises:
            EventTooLong: the event being read has passed the limit.
        """
        text = self._text.decode(chunk)
        if self._after_cr and text:
            text = text.removeprefix("\n")
            self._after_cr = False
        if text.endswith("\r"):
            self._after_cr = True
        lines = (self._line + text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._line = lines.pop()
        self._limit(len(self._line))
        for line in lines:
            event = self._take(line)
            if event is not None:
                yield event

    def _take(self, line: str) -> ServerSentEvent | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._size += len(value) + 1
            self._limit(0)
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self.last_id = value
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        name, data = self._event, self._data
        self._event, self._data, self._size = "", [], 0
        if not data:
            return None
        return ServerSentEvent(event=name or "message", data="\n".join(data), id=self.last_id)

    def _limit(self, pending: int) -> None:
        if self._size + pending > MAX_EVENT_CHARACTERS:
            raise EventTooLong(f"an event on the stream is longer than {MAX_EVENT_CHARACTERS} characters")


Opener = Callable[[str], "StreamContext"]
"""Opens the stream after the given id (empty: from the beginning) and has already refused what is no 200."""


class StreamContext:
    """An open stream as a context manager; closes the connection however the reader leaves."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    def __enter__(self) -> Iterator[bytes]:
        return self._response.iter_bytes()

    def __exit__(self, *exc: object) -> None:
        self._response.close()


RECONNECT_BACKOFF = Backoff(first=0.25, cap=5.0)
"""Seconds before a dropped stream is opened again."""


@dataclass(frozen=True)
class Reconnect:
    """How a follower behaves when a connection ends: at most ``attempts`` in a row without one event."""

    attempts: int = 8
    backoff: Backoff = RECONNECT_BACKOFF
    sleep: Callable[[float], None] = time.sleep


def follow(
    open_stream: Opener,
    *,
    is_over: Callable[[], bool],
    last_event_id: str = "",
    reconnect: Reconnect | None = None,
) -> Iterator[ServerSentEvent]:
    """Yield a stream's events without gap or repeat until the object behind it is at rest.

    A connection that ends, for whatever reason, is opened again with the last id seen, unless ``is_over``
    says that nothing more will come. What ``open_stream`` and ``is_over`` raise passes through.

    Raises:
        httpx.TransportError: the connection ended ``reconnect.attempts`` times in a row without an event.
    """
    policy = reconnect or Reconnect()
    seen, failures = last_event_id, 0
    while True:
        decoder = SseDecoder(last_id=seen)
        failure: httpx.TransportError | None = None
        try:
            with open_stream(seen) as chunks:
                for chunk in chunks:
                    for event in decoder.feed(chunk):
                        failures = 0
                        seen = "" if event.event == RESET_EVENT else event.id
                        yield event
        except httpx.TransportError as error:
            failure = error
        if is_over():
            return
        failures += 1
        if failures >= policy.attempts:
            raise failure or httpx.RemoteProtocolError("the event stream keeps closing without an event")
        policy.sleep(policy.backoff.delay(failures))
