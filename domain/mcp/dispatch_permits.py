"""Whether a call may be made now: what policy says, and what a person said, looked at once more (ADR 15)."""

from dataclasses import dataclass

from contracts.errors import ErrorCode
from contracts.mcp.dispatch import AskFirstStatus
from contracts.mcp.dispatch_record import DispatchRecord
from contracts.mcp.policy import MCPPolicyMode, MCPPolicyVerdict
from contracts.mcp.server_registry import MCPServerRegistryEntry
from contracts.mcp.tools import MCPTool, MCPToolState

APPROVED = frozenset(
    {
        AskFirstStatus.APPROVED_ONCE,
        AskFirstStatus.APPROVED_UNTIL_END_OF_TURN,
        AskFirstStatus.APPROVED_FOR_SESSION,
    }
)
"""How an approval stands whose call a person let pass."""


@dataclass(frozen=True)
class Pass:
    """It may be made."""


@dataclass(frozen=True)
class Ask:
    """A person has to be asked first."""


@dataclass(frozen=True)
class Block:
    """It may not be made, and why."""

    code: ErrorCode
    message: str
    next_action: str


Permit = Pass | Ask | Block


def permit(
    record: DispatchRecord,
    server: MCPServerRegistryEntry,
    tool: MCPTool | None,
    verdict: MCPPolicyVerdict,
    *,
    grant_revoked: bool = False,
) -> Permit:
    """Looks at a call with the server, the tool and the verdict as they are now.

    What a person approved is exactly one call: its arguments, the tool as it was then. ``grant_revoked`` says
    that the standing approval which came with this call's own was taken back since.
    """
    if not server.enabled:
        return Block(
            ErrorCode.MCP_SERVER_DISABLED,
            "The server is disabled; nothing was sent.",
            "Enable the server, then make the call again.",
        )
    if tool is None or tool.state is MCPToolState.REMOVED:
        return Block(
            ErrorCode.MCP_TOOL_NOT_FOUND,
            "The server offers no such tool; nothing was sent.",
            "Discover the server's tools again with its smoke test.",
        )
    if verdict.mode is MCPPolicyMode.DISABLED:
        return Block(
            ErrorCode.MCP_POLICY_BLOCKED,
            f"Policy does not let this call pass ({verdict.reason_code}); nothing was sent.",
            "`apprentice mcp show` says which rule decided; change that policy where it is wrong.",
        )
    ask_first = record.ask_first
    if ask_first is None or ask_first.status not in APPROVED:
        return Ask() if verdict.mode is MCPPolicyMode.ASK_FIRST else Pass()
    if grant_revoked:
        return Block(
            ErrorCode.MCP_POLICY_BLOCKED,
            "The approval was taken back before the call was made; nothing was sent.",
            "Make the call again and approve it anew.",
        )
    if ask_first.tool_definition_hash != tool.definition_hash:
        return Block(
            ErrorCode.MCP_TOOL_CHANGED,
            "The tool is not the one any more that was approved; nothing was sent.",
            "Look at what changed of the tool, then make the call again.",
        )
    if ask_first.arguments_digest != record.arguments_digest:
        return Block(
            ErrorCode.MCP_POLICY_BLOCKED,
            "The arguments are not those that were approved; nothing was sent.",
            "Make the call again.",
        )
    return Pass()
