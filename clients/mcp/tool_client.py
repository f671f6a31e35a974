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
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import anyio.to_thread
from mcp import CallToolRequest, Client, MCPError
from mcp import Tool as ListedTool
from mcp_types import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
)
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import to_json

from clients.mcp.address_guard import Resolve, system_resolve
from clients.mcp.call_failures import ToolCallFailed, failed
from clients.mcp.conversation import Bounds, OfTheCaller, Transports
from clients.mcp.conversations import Beat, Conversations, KeptConversations
from clients.mcp.local_program import ProgramGrounds
from clients.mcp.wire_record import WireRecord
from clients.platform.secret_fingerprints import NO_SECRETS, Fingerprints, OwnSecrets, SecretMask
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.mcp.tools import MCPToolDefinition, ToolAnswer, ToolCall, ToolFailureKind
from domain.learning.redaction.secret_names import is_secret_name
from domain.platform.json_schema import misfit

MAX_TOOLS = 500
MAX_PAGES = 100
MAX_LISTING_BYTES = 8 * 1024 * 1024
"""The most that is read of one page."""

MAX_SCHEMA_BYTES = 256 * 1024
"""The most that the schemas of one tool may take as JSON."""


@dataclass(frozen=True)
class Discovery:
    """The tools of a server, by name, and how it introduced itself.

    ``left_out`` counts tools beyond the 500th, with a name that came before, or whose definition is over the
    bounds: what cannot be kept as it is cannot be pinned.
    """

    tools: tuple[MCPToolDefinition, ...]
    protocol_revision: str | None = None
    server_name: str | None = None
    left_out: int = 0


async def listed(client: Client) -> Discovery:
    """Asks for every page of the tools; ends early where a server gives the same page again."""
    found: dict[str, MCPToolDefinition] = {}
    left_out, cursor, seen = 0, None, set[str]()
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor, cache_mode="bypass")
        for tool in page.tools:
            definition = definition_of(tool)
            if definition is None or definition.tool_name in found or len(found) >= MAX_TOOLS:
                left_out += 1
            else:
                found[definition.tool_name] = definition
        cursor = page.next_cursor
        if cursor is None or cursor in seen or len(found) >= MAX_TOOLS:
            break
        seen.add(cursor)
    return Discovery(
        tools=tuple(found[name] for name in sorted(found)),
        protocol_revision=client.protocol_version,
        server_name=server_name(client),
        left_out=left_out,
    )


def definition_of(tool: ListedTool) -> MCPToolDefinition | None:
    """The tool as we keep it; none where it is over the bounds, or can only be called as a task (MCP 2025-11-25).

    A task outlives its call and is asked after; our calls wait for their answer, so such a tool could only fail.
    """
    hints = tool.annotations
    if tool.execution is not None and tool.execution.task_support == "required":
        return None
    schemas: tuple[dict[str, Any], dict[str, Any] | None] = (tool.input_schema, tool.output_schema)
    try:
        if len(to_json(schemas)) > MAX_SCHEMA_BYTES:
            return None
        return MCPToolDefinition(
            tool_name=tool.name,
            title=tool.title or (hints.title if hints else None),
            description=tool.description or "",
            input_schema=tool.input_schema,
            output_schema=tool.output_schema,
            read_only=hints.read_only_hint if hints else None,
            destructive=hints.destructive_hint if hints else None,
            idempotent=hints.idempotent_hint if hints else None,
        )
    except (ValidationError, ValueError, RecursionError):
        return None


def server_name(client: Client) -> str | None:
    """How the server names itself, cut to 120 characters."""
    info = client.server_info
    return info.name[:120] if info is not None else None


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

        async with self._masked_failures(server, bearer):
            answer = await self._conversations.hold(
                server, bearer, beat, Bounds(call.timeout_ms, call.max_output_bytes), converse, call.party
            )
        return await self._masked(server, bearer, lambda echoed: echoed.masked(answer))

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

        async with self._masked_failures(server, bearer):
            found = await self._conversations.hold(
                server, bearer, beat, Bounds(DISCOVERY_WITHIN_MS, MAX_LISTING_BYTES), converse
            )
        tools = await self._masked(server, bearer, lambda echoed: tuple(map(echoed.masked, found.tools)))
        return replace(found, tools=tools)

    @asynccontextmanager
    async def _masked_failures(
        self, server: MCPServerRegistryEntry, bearer: str | None
    ) -> AsyncGenerator[None]:
        try:
            yield
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
