"""The tool gateway's part of a worker: its workflows, and its activities over their stores and clients."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from activities.acrobat_tools import AcrobatTools
from activities.held_call_wakeup import HeldCallWakeUp
from activities.mcp_probe_activities import McpProbeActivities
from activities.token_broker import TokenBroker
from activities.tool_callers import ToolCallers
from clients.mcp.kept_conversations import KeptConversations
from clients.mcp.tool_client import ToolClient
from config.settings import Settings
from contracts.mcp.provider import MCPProvider
from contracts.mcp.server_registry import MCPServerRegistryEntry
from stores.database import Database
from stores.mcp.health import HealthStore
from stores.mcp.held_calls import HeldCalls
from stores.mcp.servers import ServerStore
from stores.mcp.tools import ToolStore
from stores.observations import ObservationLog
from stores.secret_store import SecretStore, open_secret_store
from worker.dispatch_composition import dispatch_activities
from worker.projection import ProjectionLoop
from worker.sign_in_composition import sign_ins
from workflows.auth_profile_workflow import AuthProfileWorkflow
from workflows.mcp_dispatch_workflow import McpDispatchWorkflow
from workflows.mcp_probe_workflow import McpHealthSweepWorkflow, McpProbeWorkflow

MCP_WORKFLOWS: Sequence[type] = (
    AuthProfileWorkflow,
    McpDispatchWorkflow,
    McpProbeWorkflow,
    McpHealthSweepWorkflow,
)


def kept_conversations(settings: Settings, database: Database) -> KeptConversations:
    """The conversations with tool servers that a worker keeps between calls."""
    servers = ServerStore(database)

    async def wanted(server: MCPServerRegistryEntry) -> bool:
        return await asyncio.to_thread(servers.is_still, server)

    return KeptConversations(settings.mcp_conversation_idle.total_seconds(), wanted)


def mcp_activities(
    settings: Settings,
    database: Database,
    observations: ObservationLog,
    projection: ProjectionLoop,
    conversations: KeptConversations,
) -> Sequence[Callable[..., Any]]:
    """The activities of the tool gateway; ``conversations`` are kept between its calls."""
    signing = sign_ins(settings, database, secret_store(settings, database))
    probes = _probes(settings, database, signing.broker)
    return (
        signing.activities.begin_sign_in,
        signing.activities.finish_sign_in,
        signing.activities.renew_token,
        signing.activities.revoke_sign_in,
        signing.activities.change_profile,
        signing.activities.forget_profile,
        probes.claim_due_servers,
        probes.look_at_server,
        *dispatch_activities(
            settings,
            database,
            observations,
            projection,
            tool_caller(settings, database, conversations),
            signing.broker,
        ),
    )


def _probes(settings: Settings, database: Database, broker: TokenBroker) -> McpProbeActivities:
    return McpProbeActivities(
        ServerStore(database),
        ToolStore(database),
        HealthStore(database, probe_every=settings.mcp_probe_every),
        tool_caller(settings, database),
        broker,
        HeldCallWakeUp(HeldCalls(database)),
    )


def tool_caller(
    settings: Settings, database: Database, conversations: KeptConversations | None = None
) -> ToolCallers:
    """Who calls tools: the client of the protocol, and the adapters that are part of the worker."""
    return ToolCallers(tool_client(settings, conversations), {MCPProvider.ACROBAT: AcrobatTools(database)})


def tool_client(settings: Settings, conversations: KeptConversations | None = None) -> ToolClient:
    """The client of tool servers, as the operator allows it."""
    return ToolClient(
        allow_private=settings.mcp_allow_private_addresses,
        local_programs=settings.mcp_local_programs,
        local_environment=settings.mcp_local_environment,
        kept=conversations,
    )


def secret_store(settings: Settings, database: Database) -> SecretStore:
    """The secrets of this installation, sealed with the keys that the settings point at."""
    return open_secret_store(
        database, settings.data_dir, settings.secret_key_source, settings.secret_key_service
    )
