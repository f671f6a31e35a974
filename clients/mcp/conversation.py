"""One MCP connection to a tool server over streamable HTTP or a local program, as far as the operator allows it.

It runs in its own task: what opens a connection or a program has to close it, and a stateful conversation outlasts
the call it was opened for.
"""

import asyncio
import math
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED, ToolListChangedNotification
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from clients.mcp.address_guard import CONNECT_WITHIN_SECONDS, GuardedTransport, Resolve
from clients.mcp.call_failures import ToolCallFailed, failed, failure_of
from clients.mcp.listing import MAX_LISTING_BYTES, Discovery, ReadableListings, listed
from clients.mcp.local_program import ProgramGrounds, local_program
from clients.mcp.wire_record import RecordingTransport, WireRecord
from contracts.mcp.provider import MCPTransport
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import ToolFailureKind

CLOSE_WITHIN_SECONDS = 2.0
"""How long an answer that is there may wait for the conversation's end."""

LISTED_FOR_SECONDS = 60.0
"""How long what a server listed counts in a conversation that goes on, unless it says that it has changed."""

_T = TypeVar("_T")
Converse = Callable[[Client, WireRecord], Awaitable[_T]]
Opened = Callable[[WireRecord], AbstractAsyncContextManager[Any]]


class OfTheCaller(Exception):
    """What the caller's own code raised in a conversation, on its way out."""

    def __init__(self, raised: Exception) -> None:
        super().__init__()
        self.raised = raised


@dataclass(frozen=True)
class Bounds:
    """What an exchange may take, from now on: time for everything, and bytes for one answer."""

    within_ms: int
    body_limit: int
    since: float = field(default_factory=anyio.current_time)

    @property
    def until(self) -> float:
        """By the clock of the event loop."""
        return self.since + self.within_ms / 1000


@dataclass
class _Exchange(Generic[_T]):
    """What is asked and what came of it."""

    converse: Converse[_T]
    bounds: Bounds
    answers: tuple[_T, ...] = ()
    error: BaseException | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.scope = anyio.CancelScope(deadline=self.bounds.until)


class Conversation:
    """Takes exchanges one at a time, until it is closed or one of them ends it."""

    def __init__(self, opened: Opened) -> None:
        """``opened`` is the way to the server, which is gone when the first exchange begins."""
        self._record = WireRecord(0, end=self.cut)
        self._opened = opened
        self._scope = anyio.CancelScope()
        self._turns: asyncio.Queue[_Exchange[Any] | None] = asyncio.Queue()
        self._under_way: _Exchange[Any] | None = None
        self._is_open = self._is_closing = self._is_spoilt = False
        self._has_session = self._was_called = False
        self._listing: Discovery | None = None
        self._listed_at = -math.inf
        self._list_changes = 0
        # Not in the context of the call that happens to be the first.
        self._task = asyncio.create_task(self._live(), context=Context())
        self._task.add_done_callback(lambda _: self._finish())

    @property
    def is_at_rest(self) -> bool:
        """Whether it could take another exchange."""
        over = self._is_closing or self._is_spoilt or self._record.gone or self._scope.cancel_called
        return self._is_open and self._under_way is None and not over and not self._task.done()

    @property
    def has_session(self) -> bool:
        """Whether the protocol's revision gives it one, so that the server may remember what was said in it."""
        return self._has_session

    @property
    def was_called(self) -> bool:
        """Whether a call ever went out in it, so that there may be something to remember."""
        return self._was_called

    async def ask(self, converse: Converse[_T], bounds: Bounds) -> _T:
        """What ``converse`` returns.

        Cancelling ends the exchange, and with it the conversation where a call is out.

        Raises:
            ToolCallFailed: nothing was returned.
        """
        exchange = _Exchange(converse, bounds)
        self._record.begin(bounds.body_limit)
        self._under_way = exchange
        self._turns.put_nowait(exchange)
        if self._task.done():
            self._finish()
        try:
            await exchange.over.wait()
        except asyncio.CancelledError:
            (exchange.scope if self._is_open else self._scope).cancel()
            with anyio.CancelScope(shield=True):
                await exchange.over.wait()
            raise
        if exchange.answers:
            return exchange.answers[0]
        raise await self._failure(exchange)

    async def tools(self, bounds: Bounds) -> Discovery:
        """What the server lists: asked once, again after a while, and once it says that this has changed.

        Raises:
            ToolCallFailed: it did not list them; nothing was called.
        """
        now = anyio.current_time()
        if self._listing is None or now - self._listed_at > LISTED_FOR_SECONDS:
            changes = self._list_changes
            found = await self.ask(listed, replace(bounds, body_limit=MAX_LISTING_BYTES))
            if changes != self._list_changes:
                return found
            self._listing, self._listed_at = found, now
        return self._listing

    async def close(self) -> None:
        """Ends it and waits for that; not for long where the other side does not hear."""
        self._is_closing = True
        self._turns.put_nowait(None)
        with anyio.CancelScope(shield=True):
            await asyncio.wait([self._task])

    def cut(self) -> None:
        """Ends it without a word to the other side."""
        self._scope.cancel()

    async def _failure(self, exchange: _Exchange[Any]) -> Exception:
        """Why nothing was returned. Unless it was answered the conversation is closed, which may say more."""
        error = exchange.error
        if isinstance(error, OfTheCaller):
            return error.raised
        if isinstance(error, ToolCallFailed):
            return error
        if not isinstance(error, MCPError) or error.code == CONNECTION_CLOSED:
            await self.close()
        return ToolCallFailed(failure_of(self._record, error, exchange.bounds.within_ms))

    async def _live(self) -> None:
        error: BaseException | None = None
        try:
            with self._scope:
                try:
                    await self._converse()
                except (Exception, BaseExceptionGroup) as raised:
                    error = raised
        finally:
            self._is_open = False
            self._finish(error)

    async def _converse(self) -> None:
        turn = await self._turns.get()
        if turn is None:
            return
        self._scope.deadline = turn.bounds.until
        async with Client(self._way(), cache=None, message_handler=self._heard) as client:
            self._scope.deadline = math.inf
            self._record.revision = client.protocol_version
            self._is_open = True
            self._has_session = client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
            while turn is not None:
                await self._take(turn, client)
                turn = await self._turns.get()
            self._scope.deadline = anyio.current_time() + CLOSE_WITHIN_SECONDS
            if self._is_spoilt and self._has_session:
                await self._until_cancellation_is_sent(client)

    @asynccontextmanager
    async def _way(self) -> AsyncGenerator[Any]:
        async with self._opened(self._record) as (read, write):
            yield ReadableListings(read, self._record), write

    async def _heard(self, message: object) -> None:
        """What the server says unasked."""
        if isinstance(message, ToolListChangedNotification):
            self._list_changes += 1
            self._listing = None

    async def _until_cancellation_is_sent(self, client: Client) -> None:
        """Closing drops what the transport still has to send; it sends in order, so a ping's answer comes after."""
        with anyio.move_on_after(CLOSE_WITHIN_SECONDS / 2), suppress(Exception):
            await client.session.send_ping()

    async def _take(self, turn: _Exchange[Any], client: Client) -> None:
        """One exchange. The server is notified of a cancellation, and may go on all the same."""
        with turn.scope:
            try:
                turn.answers = (await turn.converse(client, self._record),)
            except Exception as raised:
                turn.error = raised
        self._is_spoilt = turn.scope.cancelled_caught and self._record.calling
        self._was_called = self._was_called or self._record.sent
        self._finish()

    def _finish(self, error: BaseException | None = None) -> None:
        """Wakes the waiters of the exchange under way when it is over."""
        exchange, self._under_way = self._under_way, None
        if exchange is not None:
            exchange.error = exchange.error or error
            exchange.over.set()


class Transports:
    """Opens what conversations are held over."""

    def __init__(
        self,
        *,
        allow_private: bool,
        local_programs: Collection[str],
        local_environment: Collection[str],
        environ: Mapping[str, str],
        tls: ssl.SSLContext | None,
        resolve: Resolve,
        grounds: ProgramGrounds,
    ) -> None:
        self._grounds = grounds
        self._allow_private = allow_private
        self._local_programs = frozenset(local_programs)
        self._local_environment = frozenset(local_environment)
        self._environ = environ
        self._tls = tls
        self._resolve = resolve

    def to(
        self, server: MCPServerRegistryEntry, bearer: str | None, record: WireRecord
    ) -> AbstractAsyncContextManager[Any]:
        """The way to a server, unopened; what goes over it is noted in ``record``.

        Raises:
            ToolCallFailed: ``not_sent``: it may not be called from here.
        """
        if server.transport is MCPTransport.REMOTE_HTTP and server.endpoint_url is not None:
            return self._over_http(str(server.endpoint_url), bearer, record)
        command = server.command
        if server.transport is MCPTransport.LOCAL_BRIDGE and command is not None:
            if command.program not in self._local_programs:
                raise failed(ToolFailureKind.NOT_SENT, "the program is not one of those that may be started")
            barred = sorted(set(command.environment_refs.values()) - self._local_environment)
            if barred:
                raise failed(
                    ToolFailureKind.NOT_SENT, f"the operator does not let programs have {', '.join(barred)}"
                )
            return local_program(server.server_id, command, self._environ, record, self._grounds)
        raise failed(ToolFailureKind.NOT_SENT, "the server is not one that can be called from here")

    @asynccontextmanager
    async def _over_http(self, url: str, bearer: str | None, record: WireRecord) -> AsyncGenerator[Any]:
        guarded = GuardedTransport(allow_private=self._allow_private, tls=self._tls, resolve=self._resolve)
        async with (
            httpx2.AsyncClient(
                transport=RecordingTransport(guarded, record),
                headers={"accept-encoding": "identity"}
                | ({"authorization": f"Bearer {bearer}"} if bearer is not None else {}),
                # The deadline of the whole bounds reading.
                timeout=httpx2.Timeout(None, connect=CONNECT_WITHIN_SECONDS),
                follow_redirects=False,
                trust_env=False,
            ) as http,
            streamable_http_client(url, http_client=http, max_sse_event_size=None) as streams,
        ):
            yield streams
