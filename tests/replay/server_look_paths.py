"""The ways that tool servers are looked at, walked through the API against a real one."""

from temporalio.testing import WorkflowEnvironment

from contracts.workflow_ids import MCP_HEALTH_SCHEDULE, mcp_probe_id
from tests.fixtures.learner import Learner
from tests.fixtures.mcp_servers import MisbehavingServer, started
from tests.fixtures.stack import Stack
from tests.fixtures.tool_calls import tool_user
from workflows.mcp.mcp_messages import SweepStart
from workflows.mcp.mcp_probe_workflow import McpHealthSweepWorkflow
from workflows.platform.search_attributes import search_attributes_of


async def look_at_servers(stack: Stack, env: WorkflowEnvironment) -> Learner:
    """A server looked at when it was registered, when somebody asked while it failed and when it answered, and
    by the sweep that the schedule starts; and a session cancelled.
    """
    user = tool_user(stack, "servers_looked_at")
    with started(stack.settings.data_dir / "tool-server", MisbehavingServer) as server:
        await user.register(server)
        await env.client.get_workflow_handle(mcp_probe_id(user.server_id)).result()
        path = f"/api/mcp/servers/{user.server_id}/smoke-test"
        server.order("status", on="*", status=500)
        await user.person.ok("POST", path, {"server_id": user.server_id})
        server.lift()
        await user.person.ok("POST", path, {"server_id": user.server_id})
        second = await user.register(server, display_name="Lines again")
        await env.client.get_workflow_handle(mcp_probe_id(second)).result()
        with stack.database.write() as connection:
            connection.exec_driver_sql("UPDATE mcp_server_health SET next_probe_at = NULL")
        await env.client.execute_workflow(
            McpHealthSweepWorkflow.run,
            SweepStart(),
            id=MCP_HEALTH_SCHEDULE,
            task_queue=stack.settings.task_queue,
            search_attributes=search_attributes_of(MCP_HEALTH_SCHEDULE, user.person.user),
        )
    await user.person.create()
    await user.person.act("cancel", {"reason": "seen enough"})
    return user.person
