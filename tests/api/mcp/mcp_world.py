"""A tool server with two tools, for the API's tests."""

from datetime import UTC, datetime

from contracts.mcp.tools import MCPToolDefinition
from domain.mcp.tool_definitions import definition_hash
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

TOOL_NAME = "search_tickets"


async def add_tool_server(stack: Stack, person: Learner) -> dict[str, str]:
    """Registers a server of ``person`` whose tools were discovered; ids as they stand in paths."""
    made = await person.ok(
        "POST",
        "/api/mcp/servers/register",
        {
            "provider": "custom_remote",
            "display_name": "Tickets",
            # Nothing is connected to.
            "transport": "provider_native",
        },
    )
    server_id = made["server"]["registry"]["server_id"]
    discovered(stack, server_id, person.user)
    return {
        "server_id": server_id,
        "tool_name": TOOL_NAME,
        "mcp_dispatch_id": await _denied_call(person, server_id),
    }


async def _denied_call(person: Learner, server_id: str) -> str:
    """A call that waited and was denied: nothing more happens to it."""
    asked = {"server_id": server_id, "tool_name": "create_ticket", "arguments": {"title": "Fire"}}
    view = await person.ok("POST", "/api/mcp/dispatches", asked)
    path = f"/api/mcp/ask-first/{view['dispatch_id']}/deny"
    await person.ok("POST", path, {"decision": "deny"})
    return str(view["dispatch_id"])


def discovered(stack: Stack, server_id: str, owner: str) -> str:
    """As if the server had listed two tools; the hash of the first one's definition."""
    first = MCPToolDefinition(tool_name=TOOL_NAME, description="Finds tickets.")
    second = MCPToolDefinition(tool_name="create_ticket", description="Opens a ticket.")
    stack.services.mcp.tools.take_in(server_id, owner, (first, second), datetime.now(UTC), "a test")
    return definition_hash(first)
