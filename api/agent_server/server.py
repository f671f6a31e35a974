"""MCP server for agents: lists the tools that a token's scopes allow, validates arguments, returns refusals."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import structlog
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
)
from pydantic import ValidationError
from starlette.requests import Request

from api.agent_server.ability_tools import ABILITY_TOOLS
from api.agent_server.agent_tool import AgentRequest, AgentTool, invalid_arguments, refused
from api.agent_server.call_tools import CALL_TOOLS, ROUTE_TOOLS
from api.agent_server.skill_tools import SKILL_TOOLS, listed_skills, run_skill, skill_named
from api.agent_server.tool_catalog import CATALOG_TOOLS
from api.platform.commands import MAX_KEY_LENGTH
from api.platform.dependencies import correlation_id_of
from clients.mcp.tool_client import IDEMPOTENCY_KEY_META
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.platform.identity import Principal

log = structlog.get_logger(__name__)

Context = ServerRequestContext[Any, Any]

INSTRUCTIONS = (
    "Apprentice holds what this user's agents have learned, and the tools they may call. For a task, call "
    "find_ability first and follow the skill that read_skill shows; report its checkpoints with "
    "verify_checkpoint. For a tool, call find_tool, then call_tool. A call may wait for a person: then tell the "
    "user where to decide, and ask get_call how it stands. Never repeat a call that is pending or whose outcome "
    "is unknown."
)

_FIRST_MODERN_YEAR = "2026"


class AgentServer:
    """The tools behind the protocol's own server. Keeps nothing between two requests."""

    def __init__(
        self,
        tools: Sequence[AgentTool[Any]] = (
            *ABILITY_TOOLS,
            *CATALOG_TOOLS,
            *ROUTE_TOOLS,
            *CALL_TOOLS,
            *SKILL_TOOLS,
        ),
    ) -> None:
        self._tools: Mapping[str, AgentTool[Any]] = {tool.name: tool for tool in tools}
        self.protocol: Server[Any] = Server(
            "apprentice",
            title="Apprentice",
            version=version("apprentice"),
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )

    async def _list_tools(self, context: Context, _page: PaginatedRequestParams | None) -> ListToolsResult:
        caller = _caller(context)
        own = [tool.described() for tool in self._tools.values() if tool.allowed(caller)]
        skills = await listed_skills(_request(context).app.state.services, caller)
        return ListToolsResult(tools=[*own, *(one for one in skills if one.name not in self._tools)])

    async def _call_tool(
        self, context: Context, asked: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        request = _request(context)
        tool = self._tools.get(asked.name)
        try:
            if tool is not None:
                return await self._run(tool, context, asked)
            skill = await skill_named(request.app.state.services, asked.name)
            if skill is not None:
                return await run_skill(_asked(context, asked, _caller(context)), skill, asked.arguments or {})
        except Refusal as refusal:
            return refused(refusal, correlation_id_of(request))
        except Exception as error:
            log.error("a tool of the agents failed", tool=asked.name, exc_info=error)
            sorry = Refusal(
                ErrorCode.INTERNAL_ERROR,
                "Something went wrong here; the log has it under the correlation id.",
            )
            return refused(sorry, correlation_id_of(request))
        raise MCPError(INVALID_PARAMS, "There is no such tool; tools/list says which there are.")

    async def _run(
        self, tool: AgentTool[Any], context: Context, asked: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        caller = _caller(context)
        caller.require(tool.scope)
        try:
            given = tool.takes.model_validate(asked.arguments or {})
        except ValidationError as error:
            raise invalid_arguments(error) from None
        return await tool.run(_asked(context, asked, caller), given)


def _asked(context: Context, asked: CallToolRequestParams, caller: Principal) -> AgentRequest:
    request = _request(context)
    client = context.session.client_params
    return AgentRequest(
        services=request.app.state.services,
        caller=caller,
        correlation_id=correlation_id_of(request),
        operations=request.app.state.operations,
        client_name=clipped(client.client_info.name, 80) if client is not None else None,
        idempotency_key=_idempotency_key(context),
        resumed_state=asked.request_state,
        opens_links=_opens_links(context),
    )


def _idempotency_key(context: Context) -> str | None:
    key = (context.meta or {}).get(IDEMPOTENCY_KEY_META)
    if key is None:
        return None
    if not (isinstance(key, str) and 0 < len(key) <= MAX_KEY_LENGTH and key.isascii() and key.isprintable()):
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            f"_meta.{IDEMPOTENCY_KEY_META}: at most {MAX_KEY_LENGTH} printable ASCII characters",
            fields=[{"path": f"_meta.{IDEMPOTENCY_KEY_META}", "problem": "is no key"}],
        )
    return key


def _opens_links(context: Context) -> bool:
    """Before the protocol's revision of 2026 a link could only be sent over a channel that is not there."""
    capabilities = context.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    modern = context.protocol_version >= _FIRST_MODERN_YEAR
    return modern and elicitation is not None and elicitation.url is not None


def _request(context: Context) -> Request[Any]:
    request: Request[Any] | None = context.request
    if request is None:
        raise TypeError("the tools are served over HTTP only")
    return request


def _caller(context: Context) -> Principal:
    caller: Principal = _request(context).state.principal
    return caller
