"""Composition root of the API: opens the stores and gateways that routes use, once at start."""

from dataclasses import dataclass, field
from functools import partial
from threading import BoundedSemaphore
from urllib.parse import quote

from temporalio.client import Client

from clients.learning.fit_judge import FitJudge
from config.own_places import own_places
from config.settings import Settings, temporal_connect_kwargs
from contracts.mcp.servers import MCPServerCommand
from domain.abilities.fit.deciding import Decide
from domain.mcp.registration import RegistrationRules
from domain.skills.selection import World
from gateways.imports.pack_installs import PackInstallGateway
from gateways.imports.skill_imports import SkillImportGateway
from gateways.learning.sessions import LearnGateway
from gateways.mcp.dispatch import McpDispatchGateway
from gateways.mcp.probes import McpProbeGateway
from gateways.platform.language_model import language_model
from gateways.platform.payload_signing import signing_data_converter
from gateways.skills.catalog import SkillCatalogGateway
from gateways.skills.invocations import SkillInvocationGateway
from host.program_places import ProgramPlaces
from stores.abilities.ability_reads import AbilityStore
from stores.abilities.ability_standing import FreshnessReads
from stores.abilities.capability_explain import CapabilityExplainer
from stores.abilities.capability_health import CapabilityHealthStore
from stores.abilities.categories import Categories
from stores.abilities.derived_files import PendingProjection
from stores.documents.acrobat import AcrobatArtifacts, AcrobatServers
from stores.imports.draft_portability import DraftPortability
from stores.imports.import_installs import ImportInstalls
from stores.imports.imports import SkillImports
from stores.imports.installed_names import InstalledNames
from stores.imports.pack_installs import PackInstalls
from stores.imports.packs import SkillPacks
from stores.imports.uploads import BundleUploads
from stores.inbox.inbox import Inbox
from stores.learning.adapters import AdapterStore
from stores.learning.base_skills import BaseSkills
from stores.learning.checkpoints import CheckpointReads, CheckpointStore
from stores.learning.observations import ObservationLog
from stores.learning.proposals import AllowedActions, ProposalReads
from stores.learning.recent_runs import RecentRuns
from stores.learning.session_reads import SessionReads
from stores.learning.sessions import SessionStore
from stores.learning.starting_states import StartingStates
from stores.mcp.auth.profile_changes import AuthProfileChanges
from stores.mcp.auth.profiles import AuthProfileStore
from stores.mcp.auth.sign_ins import SignInStore
from stores.mcp.dispatch.opening import DispatchOpening
from stores.mcp.dispatch.reads import DispatchStore
from stores.mcp.policy.grants import GrantStore
from stores.mcp.policy.policies import PolicyStore
from stores.mcp.policy.policy_replay import PolicyReplay
from stores.mcp.receipts import ReceiptReads
from stores.mcp.servers.health import HealthStore
from stores.mcp.servers.routing import RouteReads, explained
from stores.mcp.servers.server_views import SmokeTestStore
from stores.mcp.servers.servers import ServerStore
from stores.mcp.servers.tools import ToolStore
from stores.memory.check_ins import CheckIns
from stores.memory.goals import Goals
from stores.memory.memories import Memories
from stores.platform.configuration import Configurations
from stores.platform.database import Database
from stores.platform.journal.tail import JournalTail
from stores.platform.projection.document_projection import WorkspaceEdits
from stores.platform.secrets.store import SecretStore, open_secret_store
from stores.platform.tokens import Tokens
from stores.projects.bindings import ProjectReads
from stores.skills.admission import SkillAdmission
from stores.skills.catalog import SkillCatalog
from stores.skills.invocation_reads import InvocationReads
from stores.skills.learned_scripts import LearnedScripts
from stores.skills.policies import SkillPolicies
from stores.skills.reports.call_metrics import SkillCounts
from stores.skills.services.agents import Agents
from stores.skills.services.approvals import Approvals
from stores.skills.services.ledger import Ledger
from stores.skills.services.questions import Questions


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
    """Composes them; nothing is connected yet."""
    secrets = secret_store(settings, database)
    dispatches = dispatch_store(settings, database, client)
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
    """The store of tool calls, with links to the Temporal UI where its address is known."""
    base = (settings.temporal_ui_url or "").rstrip("/")

    def page_of(workflow_id: str) -> str | None:
        name = quote(workflow_id, safe="")
        return f"{base}/namespaces/{client.namespace}/workflows/{name}" if base else None

    return DispatchStore(database, page_of)


def dispatch_gateway(
    settings: Settings, database: Database, client: Client, dispatches: DispatchStore
) -> McpDispatchGateway:
    """Gateway to the workflows of tool calls."""
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
    """The operator's rules for registering servers."""
    places = ProgramPlaces(own_places(settings))

    def objection(command: MCPServerCommand) -> tuple[str, str] | None:
        found = places.objection(
            command.arguments, command.working_folder, command.readable_folders, command.writable_folders
        )
        return (found.field, found.why) if found is not None else None

    return RegistrationRules(
        settings.mcp_allow_private_addresses,
        settings.mcp_local_programs,
        settings.mcp_local_environment,
        objection,
    )


def secret_store(settings: Settings, database: Database) -> SecretStore:
    """Secrets, encrypted with the key that the settings name."""
    return open_secret_store(
        database, settings.data_dir, settings.secret_key_source, settings.secret_key_service
    )


@dataclass(frozen=True)
class SkillServices:
    """The stores and gateways of executable skills."""

    catalog: SkillCatalog
    invocations: InvocationReads
    learned_scripts: LearnedScripts
    policies: SkillPolicies
    ledger: Ledger
    agents: Agents
    approvals: Approvals
    memories: Memories
    check_ins: CheckIns
    goals: Goals
    inbox: Inbox
    questions: Questions
    counts: SkillCounts
    catalog_gateway: SkillCatalogGateway
    invocation_gateway: SkillInvocationGateway
    world: World


def open_skill_services(settings: Settings, database: Database, client: Client) -> SkillServices:
    """Composes them; nothing is connected yet."""
    admission = SkillAdmission(
        database, confirmation_expiry=settings.ask_first_expiry, budget=settings.skill_budget
    )
    return SkillServices(
        catalog=SkillCatalog(database),
        invocations=InvocationReads(database),
        learned_scripts=LearnedScripts(database),
        policies=SkillPolicies(database),
        ledger=Ledger(database),
        agents=Agents(database),
        approvals=Approvals(database, secret_store(settings, database)),
        memories=Memories(database),
        check_ins=CheckIns(database),
        goals=Goals(database),
        inbox=Inbox(database),
        questions=Questions(database),
        counts=SkillCounts(database),
        catalog_gateway=SkillCatalogGateway(client, settings.task_queue),
        invocation_gateway=SkillInvocationGateway(
            client,
            settings.task_queue,
            database,
            admission,
            environment=settings.skill_environment,
            services=settings.services_of_skills,
            console_url=settings.console_url,
        ),
        world=World(services=settings.services_of_skills, environment=settings.skill_environment),
    )


@dataclass(frozen=True)
class ImportServices:
    """The stores and the gateways of skill imports and packs."""

    uploads: BundleUploads
    store: SkillImports
    gateway: SkillImportGateway
    packs: SkillPacks
    pack_installs: PackInstalls
    pack_gateway: PackInstallGateway


def open_import_services(settings: Settings, database: Database, client: Client) -> ImportServices:
    """Composes them; nothing is connected yet."""
    imports = SkillImports(database)
    pack_installs = PackInstalls(database)
    return ImportServices(
        uploads=BundleUploads(database),
        store=imports,
        gateway=SkillImportGateway(client, settings.task_queue, imports, ImportInstalls(database)),
        packs=SkillPacks(database),
        pack_installs=pack_installs,
        pack_gateway=PackInstallGateway(client, settings.task_queue, pack_installs),
    )


@dataclass(frozen=True)
class Services:
    """The stores, and the gateway to Temporal."""

    settings: Settings
    database: Database
    client: Client
    gateway: LearnGateway
    sessions: SessionStore
    session_reads: SessionReads
    proposals: ProposalReads
    abilities: AbilityStore
    capabilities: CapabilityHealthStore
    capability_explainer: CapabilityExplainer
    categories: Categories
    configurations: Configurations
    checkpoints: CheckpointStore
    checkpoint_reads: CheckpointReads
    observations: ObservationLog
    starting_states: StartingStates
    adapters: AdapterStore
    tokens: Tokens
    tail: JournalTail
    pending: PendingProjection
    freshness: FreshnessReads
    bases: BaseSkills
    portability: DraftPortability
    recent_runs: RecentRuns
    mcp: McpServices
    skills: SkillServices
    imports: ImportServices
    decide_fit: Decide | None
    """Decides by the language model what may fit a request, where the settings say so."""
    uploads: BoundedSemaphore = field(default_factory=partial(BoundedSemaphore, 2))
    """Slots of archives that are read at once: each may take as much memory as a starting state may keep."""

    def close(self) -> None:
        """Stops the background threads and closes the database."""
        self.tail.close()
        self.observations.close()
        self.abilities.close()
        self.database.close()


async def open_services(settings: Settings) -> Services:
    """Opens the services with a lazy Temporal connection: reads work while Temporal is unavailable."""
    database = Database(settings.database_url)
    converter = signing_data_converter(settings.data_dir, encrypt=settings.payload_encryption)
    client = await Client.connect(**temporal_connect_kwargs(settings), data_converter=converter, lazy=True)
    bases = BaseSkills(database, WorkspaceEdits(database, settings.workspace))
    actions = AllowedActions(database, bases)
    return Services(
        settings=settings,
        database=database,
        client=client,
        gateway=LearnGateway(
            client,
            settings.task_queue,
            SessionStore(database),
            smoke_test_after=settings.smoke_test_after,
            replay_budget=settings.replay_budget,
        ),
        sessions=SessionStore(database),
        session_reads=SessionReads(database, actions),
        proposals=ProposalReads(database, actions),
        abilities=AbilityStore(database, by_meaning=settings.find_by_meaning, keep_ready=True),
        capabilities=CapabilityHealthStore(database),
        capability_explainer=CapabilityExplainer(database, explained),
        checkpoints=CheckpointStore(database),
        checkpoint_reads=CheckpointReads(database),
        categories=Categories(database, limit=settings.categories_per_user),
        configurations=Configurations(database),
        observations=ObservationLog(database),
        starting_states=StartingStates(database),
        adapters=AdapterStore(database, settings.disabled_adapters),
        tokens=Tokens(database),
        tail=JournalTail(database),
        pending=PendingProjection(database),
        freshness=FreshnessReads(database),
        bases=bases,
        portability=DraftPortability(database, InstalledNames(database)),
        recent_runs=RecentRuns(database),
        mcp=open_mcp_services(settings, database, client),
        skills=open_skill_services(settings, database, client),
        imports=open_import_services(settings, database, client),
        decide_fit=_fit_judge(settings),
    )


def _fit_judge(settings: Settings) -> Decide | None:
    endpoint = language_model(settings, settings.find_model_timeout) if settings.find_by_model else None
    return FitJudge(endpoint) if endpoint is not None else None
