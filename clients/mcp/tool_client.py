"""Lists and calls the tools of a server over the official MCP SDK, and knows whether a call was sent.

Each call opens and closes a conversation; where the server keeps state, the calls of one party share one
(``conversations``). The token is in the ``Authorization`` header of that conversation alone. Listings are read within
bounds. Secrets that a server was given, and all that this installation keeps, are masked in its answers, errors and
listings, which are kept, shown and given to agents.
"""

import os
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar, cast

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
from pydantic import BaseModel, TypeAdapter
from pydantic_core import to_json

from clients.mcp.address_guard import Resolve, system_resolve
from clients.mcp.call_failures import ToolCallFailed, ToolChanged, failed
from clients.mcp.conversation import Bounds, OfTheCaller, Transports
from clients.mcp.conversations import Beat, Conversations, KeptConversations
from clients.mcp.listing import MAX_LISTING_BYTES, Discovery, Look, listed, server_name
from clients.mcp.local_program import ProgramGrounds
from clients.mcp.wire_record import WireRecord
from clients.platform.secret_fingerprints import NO_SECRETS, Fingerprints, OwnSecrets, SecretMask
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import ToolAnswer, ToolCall, ToolFailure, ToolFailureKind
from domain.learning.redaction.secret_names import is_secret_name
from domain.mcp.tool_definitions import definition_hash
from domain.platform.json_schema import misfit

_M = TypeVar("_M", bound=BaseModel)
_S = TypeVar("_S")


class EchoedSecrets:
    """The secrets that one server is given, and those that this installation keeps."""

    def __init__(
        self,
        server: MCPServerRegistryEntry,
        bearer: str | None,
        environ: Mapping[str, str] = os.environ,
        own: Fingerprints = NO_SECRETS,
    ) -> None:
        """``bearer`` is sent along; of a program's variables, those count whose name is a secret's; ``own`` are kept by
        this installation. What has the form of an access token is masked whosever it is."""
        refs = server.command.environment_refs if server.command is not None else {}
        named = (
            environ.get(ref, "") for name, ref in refs.items() if is_secret_name(name) or is_secret_name(ref)
        )
        self._mask = SecretMask(own, (bearer or "", *named))

    def masked(self, said: _M) -> _M:
        """``said`` with every secret masked that was given, and with every access token."""
        plain = said.model_dump(mode="json", by_alias=False)
        masked = self._mask.masked(plain)
        return said if masked == plain else type(said).model_validate(masked)


__all__ = ["Discovery", "ToolCallFailed", "ToolChanged", "ToolClient"]

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
        grounds: ProgramGrounds | None = None,
        own_secrets: OwnSecrets = Fingerprints,
    ) -> None:
        """``allow_private`` admits this machine and network, and HTTP. ``local_programs`` are the programs that
        may be started, as they are registered; of ``environ`` they are given what is in ``local_environment``, and
        ``grounds`` says where they run. Without ``kept`` no conversation outlasts its call. ``own_secrets`` gives
        those that this installation keeps, which no answer may hold; it may take its time, and is asked in a thread.
        """
        self._environ = environ
        self._own_secrets = own_secrets
        transports = Transports(
            allow_private=allow_private,
            local_programs=local_programs,
            local_environment=local_environment,
            environ=environ,
            tls=tls,
            resolve=resolve,
            grounds=grounds or ProgramGrounds(),
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
        conversation at once. Where the server does not list the tool as the call's ``definition_hash`` says, nothing
        is sent.

        Raises:
            ToolCallFailed: no answer. Its kind says whether the call was sent.
            ToolChanged: the tool is another one by now, or gone.
        """

        async def look(found: Discovery) -> None:
            if not _is_as(found, call):
                await self._refuse_changed(server, bearer, found, call)

        async def converse(client: Client, record: WireRecord) -> ToolAnswer:
            try:
                await about_to_send()
            except Exception as raised:
                raise OfTheCaller(raised) from None
            result = await _asked(client, call, record, look)
            return await _answer(client, call, result)

        bounds = Bounds(call.timeout_ms, call.max_output_bytes)
        first = look if call.definition_hash is not None else None
        async with self._masked_failures(server, bearer):
            answer = await self._conversations.hold(server, bearer, beat, bounds, converse, call.party, first)
        return await self._masked(server, bearer, lambda echoed: echoed.masked(answer))

    def has_open(self, server: MCPServerRegistryEntry, call: ToolCall, bearer: str | None) -> bool:
        """Whether the call would go on in a conversation that is open."""
        return self._conversations.has_open(server, bearer, call.party)

    async def discover(self, server: MCPServerRegistryEntry, bearer: str | None, beat: Beat) -> Discovery:
        """The server's tools.

        Raises:
            ToolCallFailed: it could not be asked.
        """

        async with self._masked_failures(server, bearer):
            found = await self._conversations.hold(
                server, bearer, beat, Bounds(DISCOVERY_WITHIN_MS, MAX_LISTING_BYTES), listed
            )
        return await self._masked_listing(server, bearer, found)

    async def _refuse_changed(
        self, server: MCPServerRegistryEntry, bearer: str | None, found: Discovery, call: ToolCall
    ) -> None:
        """Compares once more with the listing as it is kept, without secrets.

        Raises:
            ToolChanged: it is another tool there, too.
        """
        kept = await self._masked_listing(server, bearer, found)
        if _is_as(kept, call):
            return
        if kept.tool(call.tool_name) is None:
            gone = ToolFailure(
                kind=ToolFailureKind.TOOL_UNKNOWN, message="the server has no such tool any more"
            )
            raise ToolChanged(gone, kept)
        changed = ToolFailure(
            kind=ToolFailureKind.TOOL_CHANGED,
            message="the tool is not the one any more that the call was let pass for; nothing was sent",
        )
        raise ToolChanged(changed, kept)

    async def _masked_listing(
        self, server: MCPServerRegistryEntry, bearer: str | None, found: Discovery
    ) -> Discovery:
        tools = await self._masked(server, bearer, lambda echoed: tuple(map(echoed.masked, found.tools)))
        return replace(found, tools=tools)

    @asynccontextmanager
    async def _masked_failures(
        self, server: MCPServerRegistryEntry, bearer: str | None
    ) -> AsyncGenerator[None]:
        try:
            yield
        except ToolChanged:
            raise
        except ToolCallFailed as raised:
            failure = raised.failure
        else:
            return
        raise ToolCallFailed(await self._masked(server, bearer, lambda echoed: echoed.masked(failure)))

    async def _masked(
        self, server: MCPServerRegistryEntry, bearer: str | None, mask: Callable[[EchoedSecrets], _S]
    ) -> _S:
        """What ``mask`` makes with the secrets that are known after the answer: one may have come meanwhile."""

        def masked() -> _S:
            return mask(EchoedSecrets(server, bearer, self._environ, self._own_secrets()))

        return await anyio.to_thread.run_sync(masked)


def _is_as(found: Discovery, call: ToolCall) -> bool:
    """Whether the tool is listed as it was when the call was let pass; where nobody said how, any is."""
    tool = found.tool(call.tool_name)
    return call.definition_hash is None or (
        tool is not None and definition_hash(tool) == call.definition_hash
    )


async def _asked(client: Client, call: ToolCall, record: WireRecord, look: Look) -> CallToolResult:
    try:
        return await _sent(client, call, record)
    except MCPError as refusal:
        if refusal.code == HEADER_MISMATCH:
            # Turned down unread: its headers come from the tool's schema, which has to be listed first.
            record.calling = record.sent = False
            await look(await listed(client, record))
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
        return all(tool.tool_name != call.tool_name for tool in (await listed(client, record)).tools)
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
