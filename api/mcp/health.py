"""Health of a tool server, and its smoke test (DOC3 §0.2D, §0.2H).

A smoke test connects, signs in, lists the tools, calls at most one of them subject to policy, and leaves one receipt.
"""

from datetime import UTC, datetime
from functools import partial
from uuid import UUID, uuid5

import anyio.to_thread
from fastapi import APIRouter

from api.platform.commands import InstallerFrame
from api.platform.dependencies import Reader, ServerId, ServicesDep
from api.services import McpServices
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import DispatchRequest
from contracts.mcp.health import (
    MCPConnectionHealth,
    MCPSmokeTestRequest,
    MCPSmokeTestResponse,
    MCPSmokeTestStatus,
)
from contracts.mcp.policy import MCPPolicyMode
from contracts.mcp.routing import RouteExplainRequest
from contracts.mcp.servers import ProbeTask
from contracts.mcp.tools import MCPToolState
from contracts.platform.commands import CommitKey
from contracts.platform.identity import Principal, Scope
from domain.mcp.health import SmokeVerdict, not_called, verdict, with_call
from domain.mcp.policy_facts import calling_as
from stores.mcp.receipts import ReceiptContext

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
            outcome = await self._tried(asked, caller, key, asked.correlation_id or correlation_id)
        else:
            outcome = SmokeVerdict(MCPSmokeTestStatus.BLOCKED, None, "The server is not to be smoke-tested.")
        now = datetime.now(UTC)
        found = MCPSmokeTestResponse(
            server_id=asked.server_id,
            smoke_test_id=str(uuid5(_TESTS, f"{caller.user_id}/{key.key}")),
            status=outcome.status,
            started_at=started_at,
            completed_at=now,
            error_code=outcome.code.value if outcome.code is not None else None,
            summary=outcome.summary,
        )
        context = ReceiptContext(
            f"mcp-server/{asked.server_id}", caller.user_id, correlation_id, now, actor=caller.user_id
        )
        return await anyio.to_thread.run_sync(self._mcp.smoke_tests.close, found, key, context)

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
        outcome = verdict(await self._mcp.probes.look(task, f"{caller.user_id}/{key.key}"))
        if asked.tool_name is None or outcome.status is not MCPSmokeTestStatus.PASSED:
            return outcome
        why_not = await anyio.to_thread.run_sync(self._why_not, asked.server_id, asked.tool_name, caller)
        if why_not is not None:
            return not_called(outcome, asked.tool_name, *why_not)
        request = DispatchRequest(
            server_id=asked.server_id,
            tool_name=asked.tool_name,
            arguments=asked.payload_preview or {},
            project_id=asked.project_id,
            timeout_ms=asked.max_duration_ms,
            wait_ms=asked.max_duration_ms,
        )
        of_the_call = key.changed(key=f"{key.key}/call")
        call = await self._mcp.dispatch_gateway.dispatch(request, caller, of_the_call, correlation_id)
        return with_call(outcome, asked.tool_name, call)

    def _why_not(self, server_id: str, tool_name: str, caller: Principal) -> tuple[ErrorCode, str] | None:
        if not caller.may(Scope.CALL):
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


router = APIRouter(prefix="/api/mcp/servers", tags=["mcp"])


@router.get("/{server_id}/health", operation_id="mcp_server_health")
def health(server_id: ServerId, caller: Reader, services: ServicesDep) -> MCPConnectionHealth:
    """How the server is, as the last contact left it, and what to do next. Poll it: nothing is pushed."""
    services.mcp.servers.owned(server_id, caller.user_id)
    return services.mcp.health.owned(server_id, caller.user_id)


@router.post("/{server_id}/smoke-test", operation_id="mcp_server_smoke_test")
async def smoke_test(
    server_id: ServerId, body: MCPSmokeTestRequest, frame: InstallerFrame
) -> MCPSmokeTestResponse:
    """Tests the server now. A named tool is called too, if policy allows it without an approval."""
    await anyio.to_thread.run_sync(frame.services.mcp.servers.owned, server_id, frame.owner)
    if body.server_id != server_id:
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            "The body names another server than the path.",
            fields=[{"path": "body.server_id", "problem": f"must be {server_id}"}],
        )
    tests = SmokeTests(frame.services.mcp)
    return await tests.run(body, frame.caller, frame.key_for(body), frame.correlation_id)
