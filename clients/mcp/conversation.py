"""One conversation with a tool server, opened for one purpose and closed whatever happens."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, TypeVar

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from clients.mcp.address_guard import CONNECT_WITHIN_SECONDS, GuardedTransport, Resolve
from clients.mcp.call_failures import ToolCallFailed, failed, failure_of
from clients.mcp.local_program import local_program
from clients.mcp.wire_record import RecordingTransport, WireRecord
from contracts.mcp.provider import MCPTransport
from contracts.mcp.server_registry import MCPServerRegistryEntry
from contracts.mcp.tool_call import ToolFailureKind

CLOSE_WITHIN_SECONDS = 2.0
"""How long an answer that is there may wait for the conversation's end."""

_T = TypeVar("_T")
Beat = Callable[[], None]


class OfTheCaller(Exception):
    """What the caller's own code raised in a conversation, on its way out."""

    def __init__(self, raised: Exception) -> None:
        super().__init__()
        self.raised = raised


class Conversations:
    """Opens conversations over streamable HTTP and with local programs."""

    def __init__(
        self,
        *,
        allow_private: bool,
        local_programs: Collection[str],
        local_environment: Collection[str],
        environ: Mapping[str, str],
        beat_every_seconds: float,
        tls: ssl.SSLContext | None,
        resolve: Resolve,
    ) -> None:
        self._allow_private = allow_private
        self._local_programs = frozenset(local_programs)
        self._local_environment = frozenset(local_environment)
        self._environ = environ
        self._beat_every = beat_every_seconds
        self._tls = tls
        self._resolve = resolve

    async def hold(
        self,
        server: MCPServerRegistryEntry,
        bearer: str | None,
        beat: Beat,
        within_ms: int,
        body_limit: int,
        converse: Callable[[Client, WireRecord], Awaitable[_T]],
    ) -> _T:
        """What ``converse`` returns, within ``within_ms`` for everything; one answer has at most ``body_limit`` bytes.

        Raises:
            ToolCallFailed: nothing was returned.
        """
        answers: list[_T] = []
        error: Exception | None = None
        scope = anyio.CancelScope(deadline=anyio.current_time() + within_ms / 1000)
        record = WireRecord(body_limit, end=scope.cancel)
        with scope:
            async with _beating(beat, self._beat_every):
                try:
                    async with Client(self._transport(server, bearer, record), cache=None) as client:
                        try:
                            answers.append(await converse(client, record))
                        except asyncio.CancelledError:
                            # What closes the conversation shall not wait for the other side now.
                            scope.cancel()
                            raise
                        except Exception as raised:
                            error = raised
                        scope.deadline = anyio.current_time() + CLOSE_WITHIN_SECONDS
                except Exception as raised:
                    error = error or raised
        if answers:
            return answers[0]
        if isinstance(error, ToolCallFailed):
            raise error
        if isinstance(error, OfTheCaller):
            raise error.raised
        raise ToolCallFailed(failure_of(record, error, within_ms)) from None

    def _transport(
        self, server: MCPServerRegistryEntry, bearer: str | None, record: WireRecord
    ) -> AbstractAsyncContextManager[Any]:
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
            return local_program(command, self._environ, record)
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


@asynccontextmanager
async def _beating(beat: Beat, every: float) -> AsyncGenerator[None]:
    async def go_on() -> None:
        while True:
            await asyncio.sleep(every)
            beat()

    beating = asyncio.create_task(go_on())
    try:
        yield
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating
