"""Calls about which a person is asked each time, whatever anybody decided (DOC3 §0.2F "Behavior rules" 3).

A denial still denies; neither ``enabled`` nor a standing approval lets such a call pass.
"""

from contracts.mcp.policy import MCPPolicyMode, MCPTraceStep
from contracts.mcp.provider import MCPProvider
from domain.mcp.policy_rungs import Rung

ALWAYS_ASKED = frozenset({(MCPProvider.ACROBAT, "redaction_prep")})
"""Provider and tool."""

CODE = "always_ask_first"


def always_asked(provider: MCPProvider | None, tool_name: str) -> Rung | None:
    """The rule, where it is about such a call."""
    if (provider, tool_name) not in ALWAYS_ASKED:
        return None
    step = MCPTraceStep(
        rule=CODE,
        matched=True,
        mode=MCPPolicyMode.ASK_FIRST,
        why=f"A person is asked about {tool_name} each time, whatever is decided otherwise.",
    )
    return Rung(step=step, code=CODE)
