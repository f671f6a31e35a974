"""The ways to a tool server: streamable HTTP and local programs, as far as the operator allows them."""

import ssl
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from clients.mcp.address_guard import CONNECT_WITHIN_SECONDS, GuardedTransport, Resolve
from clients.mcp.call_failures import failed
from clients.mcp.local_program import local_program
from clients.mcp.wire_record import RecordingTransport, WireRecord
from contracts.mcp.provider import MCPTransport
from contracts.mcp.server_registry import MCPServerRegistryEntry
from contracts.mcp.tool_call import ToolFailureKind


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
    ) -> None:
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
