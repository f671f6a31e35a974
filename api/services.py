"""What the API's routes work with, put together once at start."""

from dataclasses import dataclass

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from api.gateway import LearnGateway
from api.mcp_services import McpServices, open_mcp_services
from config.settings import Settings, temporal_connect_kwargs
from stores.ability_freshness import FreshnessReads
from stores.ability_store import AbilityStore
from stores.adapter_store import AdapterStore
from stores.allowed_actions import AllowedActions
from stores.base_skills import BaseSkills
from stores.capability_explain import CapabilityExplainer
from stores.capability_health_store import CapabilityHealthStore
from stores.categories import Categories
from stores.checkpoint_reads import CheckpointReads
from stores.checkpoint_store import CheckpointStore
from stores.configuration import Configurations
from stores.database import Database
from stores.journal_tail import JournalTail
from stores.observations import ObservationLog
from stores.pending_projection import PendingProjection
from stores.proposal_reads import ProposalReads
from stores.recent_runs import RecentRuns
from stores.session_reads import SessionReads
from stores.session_store import SessionStore
from stores.tokens import Tokens
from stores.workspace_edits import WorkspaceEdits


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
    adapters: AdapterStore
    tokens: Tokens
    tail: JournalTail
    pending: PendingProjection
    freshness: FreshnessReads
    bases: BaseSkills
    recent_runs: RecentRuns
    mcp: McpServices

    def close(self) -> None:
        """Stops the background threads and closes the database."""
        self.tail.close()
        self.observations.close()
        self.database.close()


async def open_services(settings: Settings) -> Services:
    """Connects lazily: the API answers reads while Temporal is away."""
    database = Database(settings.database_url)
    client = await Client.connect(
        **temporal_connect_kwargs(settings), data_converter=pydantic_data_converter, lazy=True
    )
    bases = BaseSkills(database, WorkspaceEdits(database, settings.workspace))
    actions = AllowedActions(database, bases)
    return Services(
        settings=settings,
        database=database,
        client=client,
        gateway=LearnGateway(client, settings.task_queue),
        sessions=SessionStore(database),
        session_reads=SessionReads(database, actions),
        proposals=ProposalReads(database, actions),
        abilities=AbilityStore(database),
        capabilities=CapabilityHealthStore(database),
        capability_explainer=CapabilityExplainer(database),
        checkpoints=CheckpointStore(database),
        checkpoint_reads=CheckpointReads(database),
        categories=Categories(database, limit=settings.categories_per_user),
        configurations=Configurations(database),
        observations=ObservationLog(database),
        adapters=AdapterStore(database, settings.disabled_adapters),
        tokens=Tokens(database),
        tail=JournalTail(database),
        pending=PendingProjection(database),
        freshness=FreshnessReads(database),
        bases=bases,
        recent_runs=RecentRuns(database),
        mcp=open_mcp_services(settings, database, client),
    )
