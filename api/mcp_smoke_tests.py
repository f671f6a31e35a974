"""Smoke tests: one look at a server, at most one call of a tool through the funnel, one receipt."""

from datetime import UTC, datetime
from functools import partial
from uuid import UUID, uuid5

import anyio.to_thread

from api.mcp_callers import calling_as
from api.mcp_services import McpServices
from contracts.errors import ErrorCode
from contracts.learning.aggregate import CommitKey
from contracts.mcp.dispatch import DispatchRequest
from contracts.mcp.health import MCPSmokeTestRequest, MCPSmokeTestResponse, MCPSmokeTestStatus
from contracts.mcp.policy import MCPPolicyMode
from contracts.mcp.probe import ProbeTask
from contracts.mcp.routing import RouteExplainRequest
from contracts.mcp.tools import MCPToolState
from contracts.runtime.identity import Principal, Scope
from domain.mcp.smoke_test import SmokeVerdict, not_called, verdict, with_call
from stores.mcp.receipts import Told

_TESTS = UUID("7d2f3a0e-5b53-5a3c-9a67-20b7f7a6c1f4")
"""The namespace of the ids of smoke tests: under the same key, the same test."""


class SmokeTests:
    """The smoke tests of one request."""

    def __init__(self, mcp: McpServices) -> None:
        self._mcp = mcp

    async def run(
        self, asked: MCPSmokeTestRequest, caller: Principal, key: CommitKey, correlation_id: str
    ) -> MCPSmokeTestResponse:
        """Tries a server; what is wrong with it is the answer, and no error.

        Raises:
            Refusal: ``MCP_SERVER_NOT_FOUND``, ``MCP_SERVER_NOT_ACTIVE_IN_BUILD``, ``TEMPORAL_UNAVAILABLE``,
                ``IDEMPOTENCY_KEY_REUSED``.
        """
        kept = await anyio.to_thread.run_sync(self._mcp.smoke_tests.recall, key)
        if kept is not None:
            return kept
        owned = partial(self._mcp.servers.owned, asked.server_id, caller.user_id)
        server = await anyio.to_thread.run_sync(owned)
        started_at = datetime.now(UTC)
        if server.supports_smoke_test:
            said = await self._tried(asked, caller, key, asked.correlation_id or correlation_id)
        else:
            said = SmokeVerdict(MCPSmokeTestStatus.BLOCKED, None, "The server is not to be smoke-tested.")
        now = datetime.now(UTC)
        found = MCPSmokeTestResponse(
            server_id=asked.server_id,
            smoke_test_id=str(uuid5(_TESTS, f"{caller.user_id}/{key.key}")),
            status=said.status,
            started_at=started_at,
            completed_at=now,
            error_code=said.code.value if said.code is not None else None,
            summary=said.summary,
        )
        told = Told(
            f"mcp-server/{asked.server_id}", caller.user_id, correlation_id, now, actor=caller.user_id
        )
        return await anyio.to_thread.run_sync(self._mcp.smoke_tests.close, found, key, told)

    async def _tried(
        self, asked: MCPSmokeTestRequest, caller: Principal, key: CommitKey, correlation_id: str
    ) -> SmokeVerdict:
        task = ProbeTask(
            server_id=asked.server_id,
            owner=caller.user_id,
            correlation_id=correlation_id,
            by_hand=True,
            take_in_tools=asked.include_tool_discovery,
            max_duration_ms=asked.max_duration_ms,
        )
        said = verdict(await self._mcp.probes.look(task, f"{caller.user_id}/{key.key}"))
        if asked.tool_name is None or said.status is not MCPSmokeTestStatus.PASSED:
            return said
        why_not = await anyio.to_thread.run_sync(self._why_not, asked.server_id, asked.tool_name, caller)
        if why_not is not None:
            return not_called(said, asked.tool_name, *why_not)
        request = DispatchRequest(
            server_id=asked.server_id,
            tool_name=asked.tool_name,
            arguments=asked.payload_preview or {},
            project_id=asked.project_id,
            timeout_ms=asked.max_duration_ms,
            wait_ms=asked.max_duration_ms,
        )
        of_the_call = key.model_copy(update={"key": f"{key.key}/call"})
        call = await self._mcp.dispatch_gateway.dispatch(request, caller, of_the_call, correlation_id)
        return with_call(said, asked.tool_name, call)

    def _why_not(self, server_id: str, tool_name: str, caller: Principal) -> tuple[ErrorCode, str] | None:
        if not {Scope.CALL, Scope.ADMIN} & caller.scopes:
            return ErrorCode.FORBIDDEN, "your token lacks the scope call."
        known = self._mcp.tools.list_for(server_id, caller.user_id).tools
        there = {one.definition.tool_name for one in known if one.state is not MCPToolState.REMOVED}
        if tool_name not in there:
            return ErrorCode.MCP_TOOL_NOT_FOUND, "the server has no such tool."
        asked = RouteExplainRequest(tool_name=tool_name, allowed_servers=(server_id,))
        found = self._mcp.routes.explain(asked, calling_as(caller, None), datetime.now(UTC))
        match next((one.policy for one in found.score_breakdown), MCPPolicyMode.DISABLED):
            case MCPPolicyMode.ENABLED:
                return None
            case MCPPolicyMode.ASK_FIRST:
                return ErrorCode.MCP_ASK_FIRST_REQUIRED, "policy has it ask first."
            case MCPPolicyMode.DISABLED:
                return ErrorCode.MCP_POLICY_BLOCKED, "policy has it switched off."
