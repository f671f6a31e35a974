"""Lists the tools of a server within bounds, and says what was left out of the list and why.

One tool that is not of the protocol does not spoil the list: it is taken out before the SDK, which refuses the whole
page for it, reads the page.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, cast

from mcp import Client
from mcp import Tool as ListedTool
from mcp.client._transport import ReadStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse
from mcp_types.methods import validate_server_result
from pydantic import ValidationError
from pydantic_core import to_json

from clients.mcp.wire_record import WireRecord
from contracts.base import clipped
from contracts.mcp.tools import MCPToolDefinition
from domain.mcp.tool_definitions import MAX_TOOLS, LeftOut, taken

MAX_PAGES = 100
MAX_LISTING_BYTES = 8 * 1024 * 1024
"""The most that is read of one page."""

MAX_SCHEMA_BYTES = 256 * 1024
"""The most that the schemas of one tool may take as JSON."""


@dataclass(frozen=True)
class Discovery:
    """The tools of a server, by name, how it introduced itself, and what could not be taken as it is."""

    tools: tuple[MCPToolDefinition, ...]
    protocol_revision: str | None = None
    server_name: str | None = None
    left_out: tuple[LeftOut, ...] = ()

    def tool(self, name: str) -> MCPToolDefinition | None:
        """The tool of that name."""
        return next((tool for tool in self.tools if tool.tool_name == name), None)


Look = Callable[[Discovery], Awaitable[None]]
"""Given what a server lists, before anything is asked of its tools; what it raises ends the exchange."""


async def listed(client: Client, record: WireRecord) -> Discovery:
    """Asks for every page of the tools; ends early where a server gives the same page again."""
    found: list[MCPToolDefinition] = []
    left_out: list[LeftOut] = []
    cursor, seen = None, set[str]()
    record.unreadable.clear()
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor, cache_mode="bypass")
        for tool in page.tools:
            definition = definition_of(tool)
            if isinstance(definition, LeftOut):
                left_out.append(definition)
            else:
                found.append(definition)
        cursor = page.next_cursor
        if cursor is None or cursor in seen:
            break
        if len(found) >= MAX_TOOLS:
            left_out.append(_left_out("what is on further pages", f"a server may have {MAX_TOOLS} tools"))
            break
        seen.add(cursor)
    intake = taken(found)
    return Discovery(
        tools=tuple(intake.definitions[name] for name in sorted(intake.definitions)),
        protocol_revision=client.protocol_version,
        server_name=server_name(client),
        left_out=(*record.unreadable, *left_out, *intake.left_out),
    )


def definition_of(tool: ListedTool) -> MCPToolDefinition | LeftOut:
    """The tool as we keep it, unless it is over the bounds, or can only be called as a task (MCP 2025-11-25).

    A task outlives its call and is asked after; our calls wait for their answer, so such a tool could only fail.
    """
    hints = tool.annotations
    if tool.execution is not None and tool.execution.task_support == "required":
        return _left_out(tool.name, "it can only be called as a task")
    schemas: tuple[dict[str, Any], dict[str, Any] | None] = (tool.input_schema, tool.output_schema)
    try:
        if len(to_json(schemas)) > MAX_SCHEMA_BYTES:
            return _left_out(tool.name, f"its schemas have more than {MAX_SCHEMA_BYTES} bytes")
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
    except ValidationError as error:
        return _left_out(tool.name, _over_bounds(error))
    except (ValueError, RecursionError):
        return _left_out(tool.name, "a schema of it cannot be written as JSON")


def server_name(client: Client) -> str | None:
    """How the server names itself, cut to 120 characters."""
    info = client.server_info
    return info.name[:120] if info is not None else None


def _over_bounds(error: ValidationError) -> str:
    field = str(error.errors()[0]["loc"][0])
    named = {"tool_name": "name", "description": "description", "title": "title"}.get(field, field)
    most = error.errors()[0].get("ctx", {}).get("max_length")
    return f"its {named} has more than {most} characters" if most else f"its {named} cannot be kept"


def _left_out(name: object, reason: str) -> LeftOut:
    return LeftOut(clipped(str(name), 120), reason)


class ReadableListings:
    """A conversation's read stream that hands on a page of tools without those that are not of the protocol."""

    def __init__(self, inner: ReadStream[SessionMessage | Exception], record: WireRecord) -> None:
        """What is taken out is noted in ``record``, which knows the protocol's revision once it is agreed."""
        self._inner = inner
        self._record = record

    @property
    def last_context(self) -> object:
        """The context of the item that was received last, as the SDK asks for it."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        return self._readable(await self._inner.receive())

    async def aclose(self) -> None:
        """Closes the stream."""
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return self._readable(await self._inner.__anext__())

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        return await self._inner.__aexit__(exc_type, exc_val, exc_tb)

    def _readable(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        revision = self._record.revision
        if revision is None or not isinstance(item, SessionMessage):
            return item
        message = item.message
        if not isinstance(message, JSONRPCResponse) or not isinstance(message.result.get("tools"), list):
            return item
        tools = cast("list[Any]", message.result["tools"])
        unreadable = _unreadable(message.result, revision)
        if unreadable:
            self._record.unreadable += [
                _left_out(_name_of(tools[at]), reason) for at, reason in unreadable.items()
            ]
            message.result["tools"] = [tool for at, tool in enumerate(tools) if at not in unreadable]
        return item


def _unreadable(result: dict[str, Any], revision: str) -> dict[int, str]:
    """By its place in the page, why a tool is not of the protocol; none where the page itself is not."""
    try:
        validate_server_result("tools/list", revision, result)
    except ValidationError as error:
        found: dict[int, str] = {}
        for one in error.errors(include_input=False, include_url=False):
            place = [part for part in one["loc"] if part != "ListToolsResult"]
            if len(place) < 2 or place[0] != "tools" or not isinstance(place[1], int):
                return {}
            field = ".".join(str(part) for part in place[2:])
            what = f"its {field} does not fit the protocol" if field else "it does not fit the protocol"
            found.setdefault(place[1], clipped(f"{what} ({one['msg']})", 200))
        return found
    except (KeyError, ValueError, RecursionError):
        return {}
    return {}


def _name_of(tool: object) -> str:
    name = cast("dict[str, Any]", tool).get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else "a tool without a name"
