"""What the API's routes work with, put together once at start."""

from dataclasses import dataclass

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from api.gateway import LearnGateway
from config.settings import Settings, temporal_connect_kwargs
from stores.ability_store import AbilityStore
from stores.database import Database
from stores.journal_tail import JournalTail
from stores.observations import ObservationLog
from stores.proposal_reads import ProposalReads
from stores.session_reads import SessionReads
from stores.session_store import SessionStore
from stores.tokens import Tokens


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
    observations: ObservationLog
    tokens: Tokens
    tail: JournalTail

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
    return Services(
        settings=settings,
        database=database,
        client=client,
        gateway=LearnGateway(client, settings.task_queue),
        sessions=SessionStore(database),
        session_reads=SessionReads(database),
        proposals=ProposalReads(database),
        abilities=AbilityStore(database),
        observations=ObservationLog(database),
        tokens=Tokens(database),
        tail=JournalTail(database),
    )
