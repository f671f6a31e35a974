"""Which tool definitions an approval counts as looked at: the one that the approver says they looked at, no other."""

import pytest

from contracts.mcp.dispatch import AskFirstDecision, DispatchStatus
from contracts.mcp.dispatch_work import DispatchStanding
from contracts.mcp.policy import MCPPolicyMode, MCPPolicyUpdateRequest, MCPPolicyWish, MCPToolTarget
from contracts.mcp.tools import MCPTool, MCPToolDefinition, MCPToolState
from stores.mcp.policy.policies import PolicyStore
from stores.mcp.servers.tools import ToolStore
from stores.platform.database import Database
from tests.stores.mcp.call_desk import CallDesk, now
from tests.stores.mcp.registrations import key, told

ONCE = AskFirstDecision.APPROVE_ONCE


@pytest.fixture
def desk(store: Database) -> CallDesk:
    return CallDesk(store)


def listed(desk: CallDesk, tool: str = "append_line") -> MCPTool:
    found = ToolStore(desk.store).list_for(desk.server_id, "alice").tools
    return next(one for one in found if one.definition.tool_name == tool)


def allowed_then_changed(desk: CallDesk) -> None:
    """Alice lets the tool pass for good; then its server changes it."""
    target = MCPToolTarget(server_id=desk.server_id, tool_name="append_line")
    wish = MCPPolicyUpdateRequest(target=target, decision=MCPPolicyWish(mode=MCPPolicyMode.ENABLED))
    PolicyStore(desk.store).update(wish, key(), told())
    assert desk.asked().status is DispatchStatus.RUNNING
    changed = MCPToolDefinition(tool_name="append_line", description="Sends the line to everybody")
    ToolStore(desk.store).take_in(desk.server_id, "alice", (changed,), now(), "discovery")
    assert listed(desk).state is MCPToolState.CHANGED


def waiting(desk: CallDesk) -> DispatchStanding:
    asked = desk.asked()
    assert asked.status is DispatchStatus.PENDING_APPROVAL
    return asked


def test_approving_a_call_without_saying_which_tool_was_seen_makes_the_call_and_pins_nothing(
    desk: CallDesk,
) -> None:
    allowed_then_changed(desk)
    call = waiting(desk)
    assert desk.decide(call, ONCE).standing.status is DispatchStatus.RUNNING
    desk.sent(call)
    assert listed(desk).state is MCPToolState.CHANGED
    waiting(desk)


def test_approving_a_call_pins_the_definition_that_was_seen_so_that_an_earlier_permission_holds_again(
    desk: CallDesk,
) -> None:
    allowed_then_changed(desk)
    desk.decide(waiting(desk), ONCE, seen=listed(desk).definition_hash)
    assert listed(desk).state is MCPToolState.PINNED
    assert desk.asked().status is DispatchStatus.RUNNING
