"""Who makes a call of a tool: the client of the protocol, or an adapter that is part of the worker."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from clients.mcp.tool_listing import Discovery
from contracts.mcp.provider import MCPProvider, MCPTransport
from contracts.mcp.server_registry import MCPServerRegistryEntry
from contracts.mcp.tool_call import ToolAnswer, ToolCall


async def nothing() -> None:
    """What is to be awaited before a call is sent, where nobody asks for anything."""
    return


class ToolCaller(Protocol):
    """Makes calls, and lists tools; ``clients.mcp.tool_client.ToolClient`` is one."""

    async def call(
        self,
        server: MCPServerRegistryEntry,
        call: ToolCall,
        bearer: str | None,
        beat: Callable[[], None],
        about_to_send: Callable[[], Awaitable[None]] = nothing,
    ) -> ToolAnswer:
        """The tool's answer. ``about_to_send`` is awaited right before the call goes out.

        Raises:
            ToolCallFailed: no answer.
        """
        ...

    def has_open(self, server: MCPServerRegistryEntry, call: ToolCall, bearer: str | None) -> bool:
        """Whether the call would go on in a conversation that is open, so that none has to be opened for it."""
        ...

    async def discover(
        self, server: MCPServerRegistryEntry, bearer: str | None, beat: Callable[[], None]
    ) -> Discovery:
        """The server's tools.

        Raises:
            ToolCallFailed: it could not be asked.
        """
        ...


class ToolCallers:
    """Chooses the caller by the server: an adapter for a local server of its provider, the client for the rest."""

    def __init__(self, client: ToolCaller, adapters: Mapping[MCPProvider, ToolCaller]) -> None:
        self._client = client
        self._adapters = dict(adapters)

    async def call(
        self,
        server: MCPServerRegistryEntry,
        call: ToolCall,
        bearer: str | None,
        beat: Callable[[], None],
        about_to_send: Callable[[], Awaitable[None]] = nothing,
    ) -> ToolAnswer:
        """As :class:`ToolCaller`."""
        return await self._of(server).call(server, call, bearer, beat, about_to_send)

    def has_open(self, server: MCPServerRegistryEntry, call: ToolCall, bearer: str | None) -> bool:
        """As :class:`ToolCaller`."""
        return self._of(server).has_open(server, call, bearer)

    async def discover(
        self, server: MCPServerRegistryEntry, bearer: str | None, beat: Callable[[], None]
    ) -> Discovery:
        """As :class:`ToolCaller`."""
        return await self._of(server).discover(server, bearer, beat)

    def _of(self, server: MCPServerRegistryEntry) -> ToolCaller:
        built_in = server.transport is MCPTransport.LOCAL_BRIDGE and server.command is None
        return self._adapters.get(server.provider, self._client) if built_in else self._client
