"""Conversation with a tool server (MCP) at an address in the settings, without any sign-in."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from clients.mcp.address_guard import CONNECT_WITHIN_SECONDS, GuardedTransport, system_resolve
from clients.mcp.wire_record import RecordingTransport, WireRecord


@asynccontextmanager
async def configured_server(address: str, record: WireRecord | None = None) -> AsyncGenerator[Client]:
    """A client of the server. This machine and its network are allowed, as the operator named the address.

    No redirect is followed; the time is the caller's to bound. With ``record`` what the server sends is bounded and
    noted there, uncompressed.
    """
    guarded = GuardedTransport(allow_private=True, resolve=system_resolve)
    async with (
        httpx2.AsyncClient(
            transport=RecordingTransport(guarded, record) if record is not None else guarded,
            headers={"accept-encoding": "identity"} if record is not None else None,
            timeout=httpx2.Timeout(None, connect=CONNECT_WITHIN_SECONDS),
            follow_redirects=False,
            trust_env=False,
        ) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client
