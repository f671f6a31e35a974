"""Calls a tool of a server over the official SDK, and is certain whether the call was sent.

One conversation a call: it is opened, the call is made, it is closed, whatever happens; but where the other side may
remember what was said, a program or a session of the protocol, the calls of one party go on in one conversation. The
token is in the ``Authorization`` header of that conversation alone.
"""

import os
import ssl
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import anyio.to_thread
from mcp import CallToolRequest, Client, MCPError
from mcp_types import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
)
from pydantic import TypeAdapter
from pydantic_core import to_json

from clients.mcp.address_guard import Resolve, system_resolve
from clients.mcp.call_failures import ToolCallFailed, failed
from clients.mcp.conversation import Bounds, OfTheCaller
from clients.mcp.conversations import Beat, Conversations
from clients.mcp.echoed_secrets import EchoedSecrets
from clients.mcp.kept_conversations import KeptConversations
from clients.mcp.output_schema import misfit
from clients.mcp.tool_listing import MAX_LISTING_BYTES, Discovery, listed, server_name
from clients.mcp.transports import Transports
from clients.mcp.wire_record import WireRecord
from contracts.mcp.server_registry import MCPServerRegistryEntry
from contracts.mcp.tool_call import ToolAnswer, ToolCall, ToolFailureKind

__all__ = ["Discovery", "ToolCallFailed", "ToolClient"]

IDEMPOTENCY_KEY_META = "apprentice/idempotency-key"
"""Where a request's ``_meta`` holds the idempotency key."""

DISCOVERY_WITHIN_MS = 30_000
AboutToSend = Callable[[], Awaitable[None]]

_RESULT: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(CallToolResult | InputRequiredResult)


async def _nothing() -> None:
    return


class ToolClient:
    """Speaks to tool servers over streamable HTTP (``remote_http``) and to local programs (``local_bridge``)."""

    def __init__(
        self,
        *,
        allow_private: bool = False,
        local_programs: Collection[str] = (),
        local_environment: Collection[str] = (),
        environ: Mapping[str, str] = os.environ,
        beat_every_seconds: float = 1.0,
        tls: ssl.SSLContext | None = None,
        resolve: Resolve = system_resolve,
        kept: KeptConversations | None = None,
    ) -> None:
        """``allow_private`` admits this machine and network, and HTTP. ``local_programs`` are the programs that
        may be started, as they are registered; of ``environ`` they are given what is in ``local_environment``.
        Without ``kept`` no conversation outlasts its call.
        """
        self._environ = environ
        transports = Transports(
            allow_private=allow_private,
            local_programs=local_programs,
            local_environment=local_environment,
            environ=environ,
            tls=tls,
            resolve=resolve,
        )
        self._conversations = Conversations(transports, kept, beat_every_seconds=beat_every_seconds)

    async def call(
        self,
        server: MCPServerRegistryEntry,
        call: ToolCall,
        bearer: str | None,
        beat: Beat,
        about_to_send: AboutToSend = _nothing,
    ) -> ToolAnswer:
        """The tool's answer, within ``call.timeout_ms`` for everything.

        ``beat`` is called every second meanwhile. ``about_to_send`` is awaited once the server is ready and right
        before the call goes out; what it raises is raised, and nothing is sent. Cancelling closes the
        conversation at once.

        Raises:
            ToolCallFailed: no answer. Its kind says whether the call was sent.
        """

        async def converse(client: Client, record: WireRecord) -> ToolAnswer:
            try:
                await about_to_send()
            except Exception as raised:
                raise OfTheCaller(raised) from None
            result = await _asked(client, call, record)
            return await _answer(client, call, result)

        echoed = EchoedSecrets(server, bearer, self._environ)
        with echoed.masked_failures():
            answer = await self._conversations.hold(
                server, bearer, beat, Bounds(call.timeout_ms, call.max_output_bytes), converse, call.party
            )
        return echoed.masked(answer)

    def has_open(self, server: MCPServerRegistryEntry, call: ToolCall, bearer: str | None) -> bool:
        """Whether the call would go on in a conversation that is open."""
        return self._conversations.has_open(server, bearer, call.party)

    async def discover(self, server: MCPServerRegistryEntry, bearer: str | None, beat: Beat) -> Discovery:
        """The server's tools.

        Raises:
            ToolCallFailed: it could not be asked.
        """

        async def converse(client: Client, _: WireRecord) -> Discovery:
            return await listed(client)

        echoed = EchoedSecrets(server, bearer, self._environ)
        with echoed.masked_failures():
            found = await self._conversations.hold(
                server, bearer, beat, Bounds(DISCOVERY_WITHIN_MS, MAX_LISTING_BYTES), converse
            )
        return replace(found, tools=tuple(map(echoed.masked, found.tools)))


async def _asked(client: Client, call: ToolCall, record: WireRecord) -> CallToolResult:
    try:
        return await _sent(client, call, record)
    except MCPError as refusal:
        if refusal.code == HEADER_MISMATCH:
            # Turned down unread: its headers come from the tool's schema, which has to be listed first.
            record.calling = record.sent = False
            await listed(client)
            return await _sent(client, call, record)
        if refusal.code in (INVALID_PARAMS, METHOD_NOT_FOUND) and await _is_missing(client, call, record):
            raise failed(ToolFailureKind.TOOL_UNKNOWN, "the server has no such tool") from None
        raise


async def _sent(client: Client, call: ToolCall, record: WireRecord) -> CallToolResult:
    meta = {} if call.idempotency_key is None else {IDEMPOTENCY_KEY_META: call.idempotency_key}
    params = {"name": call.tool_name, "arguments": call.arguments, "_meta": meta or None}
    request = CallToolRequest(params=CallToolRequestParams.model_validate(params))
    record.refusal = None
    record.calling = True
    # Not the session's call_tool: that lists the tools afterwards, and an answer is lost where listing fails.
    result = await client.session.send_request(request, _RESULT)
    if isinstance(result, InputRequiredResult):
        raise failed(
            ToolFailureKind.REFUSED_BY_SERVER,
            "the tool asks for more than was given, which no one can add here",
        )
    if _says_unknown(result, call.tool_name) and await _is_missing(client, call, record):
        raise failed(ToolFailureKind.TOOL_UNKNOWN, "the server has no such tool")
    return result


def _says_unknown(result: CallToolResult, tool_name: str) -> bool:
    """Whether this is how servers of the SDK say that there is no such tool."""
    texts = [block.text for block in result.content if block.type == "text"]
    return result.is_error and texts == [f"Unknown tool: {tool_name}"]


async def _is_missing(client: Client, call: ToolCall, record: WireRecord) -> bool:
    record.calling = False
    with suppress(MCPError):
        return all(tool.tool_name != call.tool_name for tool in (await listed(client)).tools)
    return False


async def _answer(client: Client, call: ToolCall, result: CallToolResult) -> ToolAnswer:
    """The answer within its bounds.

    Raises:
        ToolCallFailed: it is too large, or does not fit the schema.
    """
    content = tuple(
        block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content
    )
    structured = result.structured_content
    size = len(to_json((content, structured)))
    if size > call.max_output_bytes:
        raise failed(
            ToolFailureKind.OUTPUT_TOO_LARGE, f"the answer is larger than {call.max_output_bytes} bytes"
        )
    if call.output_schema is not None and not result.is_error:
        where = "there is no structured content"
        if structured is not None:
            where = await anyio.to_thread.run_sync(misfit, structured, call.output_schema)
        if where is not None:
            raise failed(
                ToolFailureKind.OUTPUT_INVALID, f"the answer does not fit the tool's schema: {where}"
            )
    return ToolAnswer(
        is_error=result.is_error,
        content=content,
        structured_content=_as_object(structured),
        output_bytes=size,
        server_name=server_name(client),
        protocol_revision=client.protocol_version,
    )


def _as_object(structured: Any) -> dict[str, Any] | None:
    """Structured content as an object; a value that is none is under ``result``, as SDKs wrap it themselves."""
    if structured is None or isinstance(structured, dict):
        return cast("dict[str, Any] | None", structured)
    return {"result": structured}
