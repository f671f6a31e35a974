"""What the routes of the tool gateway work with."""

from dataclasses import dataclass
from urllib.parse import quote

from temporalio.client import Client

from api.mcp_dispatch_gateway import McpDispatchGateway
from api.mcp_probe_gateway import McpProbeGateway
from config.settings import Settings
from domain.mcp.registration import RegistrationRules
from stores.acrobat_artifacts import AcrobatArtifacts
from stores.database import Database
from stores.mcp.acrobat_server import AcrobatServers
from stores.mcp.auth_profile_changes import AuthProfileChanges
from stores.mcp.auth_profiles import AuthProfileStore
from stores.mcp.dispatch_opening import DispatchOpening
from stores.mcp.dispatches import DispatchStore
from stores.mcp.grants import GrantStore
from stores.mcp.health import HealthStore
from stores.mcp.policies import PolicyStore
from stores.mcp.policy_replay import PolicyReplay
from stores.mcp.receipts import ReceiptReads
from stores.mcp.route_reads import RouteReads
from stores.mcp.servers import ServerStore
from stores.mcp.sign_ins import SignInStore
from stores.mcp.smoke_tests import SmokeTestStore
from stores.mcp.tools import ToolStore
from stores.project_bindings import ProjectReads
from stores.secret_store import SecretStore, open_secret_store


@dataclass(frozen=True)
class McpServices:
    """The stores and gateways of servers, policy, approvals, calls and sign-ins."""

    acrobat: AcrobatArtifacts
    acrobat_servers: AcrobatServers
    receipts: ReceiptReads
    routes: RouteReads
    projects: ProjectReads
    servers: ServerStore
    tools: ToolStore
    policies: PolicyStore
    policy_replay: PolicyReplay
    grants: GrantStore
    secrets: SecretStore
    auth_profiles: AuthProfileStore
    auth_changes: AuthProfileChanges
    sign_ins: SignInStore
    health: HealthStore
    smoke_tests: SmokeTestStore
    probes: McpProbeGateway
    dispatches: DispatchStore
    dispatch_gateway: McpDispatchGateway


def open_mcp_services(settings: Settings, database: Database, client: Client) -> McpServices:
    """Puts them together; nothing is connected yet."""
    secrets = secret_store(settings, database)
    dispatches = dispatch_store(settings, database, client)
    secrets = secret_store(settings, database)
    return McpServices(
        acrobat=AcrobatArtifacts(database),
        acrobat_servers=AcrobatServers(database),
        receipts=ReceiptReads(database),
        routes=RouteReads(database),
        projects=ProjectReads(database),
        servers=ServerStore(database, registration_rules(settings)),
        tools=ToolStore(database),
        policies=PolicyStore(database),
        policy_replay=PolicyReplay(database),
        grants=GrantStore(database),
        secrets=secrets,
        auth_profiles=AuthProfileStore(database),
        auth_changes=AuthProfileChanges(database, secrets),
        sign_ins=SignInStore(database, secrets),
        health=HealthStore(database, probe_every=settings.mcp_probe_every),
        smoke_tests=SmokeTestStore(database),
        probes=McpProbeGateway(client, settings.task_queue),
        dispatches=dispatches,
        dispatch_gateway=dispatch_gateway(settings, database, client, dispatches),
    )


def dispatch_store(settings: Settings, database: Database, client: Client) -> DispatchStore:
    """The calls, each with its page in the Temporal UI where that has an address."""
    base = (settings.temporal_ui_url or "").rstrip("/")

    def page_of(workflow_id: str) -> str | None:
        name = quote(workflow_id, safe="")
        return f"{base}/namespaces/{client.namespace}/workflows/{name}" if base else None

    return DispatchStore(database, page_of)


def dispatch_gateway(
    settings: Settings, database: Database, client: Client, dispatches: DispatchStore
) -> McpDispatchGateway:
    """The way to the workflows of calls."""
    opening = DispatchOpening(
        database,
        ask_first_expiry=settings.ask_first_expiry,
        open_calls=settings.open_calls_per_user,
        notify=settings.ask_first_webhook_url is not None,
    )
    return McpDispatchGateway(
        client, settings.task_queue, database, opening, dispatches, console_url=settings.console_url
    )


def registration_rules(settings: Settings) -> RegistrationRules:
    """What the operator lets people register."""
    return RegistrationRules(
        settings.mcp_allow_private_addresses, settings.mcp_local_programs, settings.mcp_local_environment
    )


def secret_store(settings: Settings, database: Database) -> SecretStore:
    """The secrets of this installation, sealed with the keys that the settings point at."""
    return open_secret_store(
        database, settings.data_dir, settings.secret_key_source, settings.secret_key_service
    )
