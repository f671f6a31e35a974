"""Workflows and activities of the tool gateway, for the worker: tool calls, sign-ins, probes of tool servers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from temporalio import activity

from activities.documents.acrobat_tools import AcrobatTools
from activities.mcp.auth_profile_activities import AuthProfileActivities, AuthStores
from activities.mcp.call_activities import McpCallActivities
from activities.mcp.dispatch_activities import HeldCallWakeUp, McpDispatchActivities, McpNoticeActivities
from activities.mcp.preopened_connections import PreopenedConnections, ToolCaller, ToolCallers
from activities.mcp.probe_activities import McpProbeActivities
from activities.mcp.token_broker import TokenBroker
from activities.mcp.token_exchange import TokenExchange
from clients.mcp.address_guard import guarded_client
from clients.mcp.conversations import KeptConversations
from clients.mcp.local_program import ProgramGrounds
from clients.mcp.tool_client import ToolClient
from clients.platform.webhook import Webhook
from config.own_places import TOOL_SERVERS, own_places
from config.settings import Settings
from contracts.mcp.auth_work import AuthReceipt, RenewToken
from contracts.mcp.provider import MCPProvider
from gateways.mcp.auth_profiles import AuthProfileGateway
from host.program_places import ProgramPlaces
from stores.learning.observations import ObservationLog
from stores.learning.sessions import SessionStore
from stores.mcp.auth.profile_changes import AuthProfileChanges
from stores.mcp.auth.profiles import AuthProfileStore
from stores.mcp.auth.sign_ins import SignInStore
from stores.mcp.auth.tokens import TokenRenewals
from stores.mcp.dispatch.attempt_ends import DispatchInspection
from stores.mcp.dispatch.attempts import DispatchAttempts
from stores.mcp.dispatch.decisions import DispatchDecisions
from stores.mcp.dispatch.opening import DispatchOpening
from stores.mcp.dispatch.reads import HeldCalls
from stores.mcp.dispatch.settling import DispatchObserver
from stores.mcp.servers.health import HealthStore
from stores.mcp.servers.servers import ServerStore
from stores.mcp.servers.tools import ToolStore
from stores.platform.database import Database
from stores.platform.projection.projector import ProjectionLoop
from stores.platform.secrets.store import SecretStore
from worker.recovery import call_stopping
from worker.resources import WorkerResources
from worker.secrets import own_secrets, secret_store
from workflows.mcp.auth_profile_workflow import AuthProfileWorkflow
from workflows.mcp.mcp_dispatch_workflow import McpDispatchWorkflow
from workflows.mcp.mcp_probe_workflow import McpHealthSweepWorkflow, McpProbeWorkflow


def dispatch_activities(
    settings: Settings,
    database: Database,
    observations: ObservationLog,
    projection: ProjectionLoop,
    caller: ToolCaller,
    broker: TokenBroker,
) -> Sequence[Callable[..., Any]]:
    """The activities of tool calls."""
    url = settings.ask_first_webhook_url
    expiry = settings.ask_first_expiry
    opening = DispatchOpening(
        database,
        ask_first_expiry=expiry,
        open_calls=settings.open_calls_per_user,
        notify=url is not None,
    )
    decisions = DispatchDecisions(database, ask_first_expiry=expiry)
    attempts = DispatchAttempts(database, opening)
    inspection = DispatchInspection(database, opening, decisions)
    observer = DispatchObserver(database, SessionStore(database), observations)
    preopened = PreopenedConnections(attempts, caller, broker)
    held_calls = HeldCallWakeUp(HeldCalls(database))
    tools = ToolStore(database)
    calls = McpCallActivities(
        attempts, caller, broker, tools, preopened, observer, held_calls, projection.wake
    )
    decided = McpDispatchActivities(opening, decisions, inspection, observer, preopened, projection.wake)
    webhook = Webhook(url, settings.ask_first_webhook_secret_ref) if url is not None else None
    notices = McpNoticeActivities(database, webhook, settings.console_url)
    return (
        decided.judge_dispatch,
        decided.decide_dispatch,
        decided.end_dispatch,
        decided.reconsider_dispatch,
        decided.inspect_call,
        decided.release_dispatches,
        calls.call_tool,
        notices.tell_waiting,
        call_stopping(settings, database).stop_calls,
    )


@dataclass(frozen=True)
class SignIns:
    """The activities of sign-ins, and the broker that hands out access tokens to calls."""

    activities: AuthProfileActivities
    broker: TokenBroker


def sign_ins(settings: Settings, database: Database, secrets: SecretStore) -> SignIns:
    """One broker per worker, so that concurrent requests for a token share one renewal."""
    profiles = AuthProfileStore(database)
    renewals = TokenRenewals(database, secrets)
    allow_private = settings.mcp_allow_private_addresses
    open_http = partial(guarded_client, allow_private=allow_private)
    exchange = TokenExchange(database, secrets, open_http, allow_private=allow_private)
    stores = AuthStores(
        profiles, SignInStore(database, secrets), renewals, AuthProfileChanges(database, secrets)
    )

    async def renew(order: RenewToken) -> AuthReceipt:
        gateway = AuthProfileGateway(activity.client(), settings.task_queue, profiles)
        return await gateway.send(order)

    return SignIns(
        activities=AuthProfileActivities(stores, exchange, open_http, allow_private=allow_private),
        broker=TokenBroker(exchange, secrets, renewals, renew),
    )


MCP_WORKFLOWS: Sequence[type] = (
    AuthProfileWorkflow,
    McpDispatchWorkflow,
    McpProbeWorkflow,
    McpHealthSweepWorkflow,
)


def mcp_activities(shared: WorkerResources) -> Sequence[Callable[..., Any]]:
    """Activities of the tool gateway: sign-ins, probes of tool servers, tool calls."""
    settings, database = shared.settings, shared.database
    signing = sign_ins(settings, database, secret_store(settings, database))
    probes = _probes(settings, database, signing.broker)
    return (
        signing.activities.begin_sign_in,
        signing.activities.finish_sign_in,
        signing.activities.renew_token,
        signing.activities.revoke_sign_in,
        signing.activities.change_profile,
        signing.activities.look_at_sign_in,
        signing.activities.forget_profile,
        probes.claim_due_servers,
        probes.look_at_server,
        *dispatch_activities(
            settings,
            database,
            shared.observations,
            shared.projection,
            tool_caller(settings, database, shared.conversations),
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
    """Callers of tools: the MCP client, and the adapters built into the worker."""
    return ToolCallers(
        tool_client(settings, database, conversations), {MCPProvider.ACROBAT: AcrobatTools(database)}
    )


def tool_client(
    settings: Settings, database: Database, conversations: KeptConversations | None = None
) -> ToolClient:
    """The MCP client, within what the settings allow."""
    return ToolClient(
        allow_private=settings.mcp_allow_private_addresses,
        local_programs=settings.mcp_local_programs,
        local_environment=settings.mcp_local_environment,
        kept=conversations,
        grounds=ProgramGrounds(ProgramPlaces(own_places(settings)), settings.data_dir / TOOL_SERVERS),
        own_secrets=own_secrets(settings, database),
    )
