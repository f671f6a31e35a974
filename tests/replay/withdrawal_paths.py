"""An ability that goes out of use while calls are made for it, walked through the API against a real tool server."""

import anyio
from temporalio.testing import WorkflowEnvironment

from contracts.workflow_ids import ability_workflow_id
from tests.fixtures.learner import Learner
from tests.fixtures.mcp_servers import MisbehavingServer, started
from tests.fixtures.stack import Stack
from tests.fixtures.tool_calls import ToolUser, tool_user

MILK = {"line": "milk"}


async def withdraw(stack: Stack, env: WorkflowEnvironment) -> Learner:
    """Quarantined while one call waits and one is in flight, given back, and archived with nothing to stop."""
    agent = tool_user(stack, "ability_withdrawn")
    await agent.person.teach("Count the milk bottles")
    detail = await agent.person.propose_act("approve")
    ability_id = detail["proposal"]["ability_id"]
    path = f"/api/abilities/{ability_id}"
    with started(stack.settings.data_dir / "tool-server", MisbehavingServer) as server:
        await agent.register(server)
        waiting, in_flight = [await _asked(agent, ability_id) for _ in range(2)]
        server.order("hold_after")
        await agent.approve(in_flight)
        with anyio.fail_after(30):
            while not server.effects():
                await anyio.sleep(0.02)
        await agent.person.ok("POST", f"{path}/quarantine", {"reason": "it went wrong"})
        for dispatch_id in (waiting, in_flight):
            await agent.ended(dispatch_id)
        server.lift()
        for action, body in (("unquarantine", {"reason": "it was right"}), ("archive", None)):
            await agent.person.ok("POST", f"{path}/{action}", body)
    await env.client.get_workflow_handle(ability_workflow_id(ability_id)).result()
    return agent.person


async def _asked(agent: ToolUser, ability_id: str) -> str:
    asked = await agent.ask("append_line", MILK, ability_id=ability_id)
    return str(asked["dispatch_id"])
