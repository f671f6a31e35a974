"""What a target of policy is about, looked up among its owner's servers, tools and standing approvals."""

from sqlalchemy import Connection

from contracts.errors import ErrorCode, Refusal
from contracts.mcp.dispatch import MCPGrant
from contracts.mcp.policy import (
    MCPPolicyMode,
    MCPPolicyTarget,
    MCPPolicyWish,
    MCPServerTarget,
    MCPTemporaryGrantTarget,
    MCPToolTarget,
)
from contracts.mcp.server_registry import MCPServerRegistryEntry
from contracts.mcp.tools import MCPTool
from stores.mcp.grants import grant_of_dispatch
from stores.mcp.server_rows import server_of
from stores.mcp.tool_rows import tool_of


def named_by(
    connection: Connection, owner: str, target: MCPPolicyTarget, *, must_have_tool: bool = False
) -> tuple[MCPServerRegistryEntry | None, MCPTool | None]:
    """The owner's server and the tool that a target is about.

    Raises:
        Refusal: ``MCP_SERVER_NOT_FOUND``; ``MCP_TOOL_NOT_FOUND`` for a tool that has to be known.
    """
    if not isinstance(target, MCPServerTarget | MCPToolTarget):
        return None, None
    server = server_of(connection, target.server_id, owner)
    if not isinstance(target, MCPToolTarget):
        return server, None
    tool = tool_of(connection, target.server_id, target.tool_name)
    if must_have_tool and tool is None and target.tool_name not in server.supported_tools:
        raise Refusal(
            ErrorCode.MCP_TOOL_NOT_FOUND,
            f"The server has no tool of that name; list them: GET /api/mcp/servers/{target.server_id}/tools.",
        )
    return server, tool


def must_end_grant(
    connection: Connection, owner: str, target: MCPTemporaryGrantTarget, wish: MCPPolicyWish
) -> MCPGrant:
    """The grant that is to be taken back.

    Raises:
        Refusal: ``VALIDATION_FAILED`` when something else is to become of it; ``MCP_GRANT_NOT_FOUND``.
    """
    if wish.mode is not MCPPolicyMode.DISABLED:
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            "A standing approval comes from approving a call; here it can only be disabled, which takes it back.",
            fields=["decision.mode"],
        )
    grant = grant_of_dispatch(connection, target.dispatch_id, owner)
    if grant is None:
        raise Refusal(
            ErrorCode.MCP_GRANT_NOT_FOUND,
            "The approval of that call gave no standing approval; list them: GET /api/mcp/grants.",
        )
    return grant
