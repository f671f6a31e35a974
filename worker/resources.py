"""Resources that all activities of a worker share: database, projection, observation log, tool server connections."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

from clients.mcp.conversations import KeptConversations
from config.settings import Settings
from contracts.mcp.servers import MCPServerRegistryEntry
from stores.learning.observations import ObservationLog
from stores.mcp.servers.servers import ServerStore
from stores.platform.database import Database
from stores.platform.journal.chains import anchor
from stores.platform.projection.projector import ProjectionLoop, Projector


@dataclass(frozen=True)
class WorkerResources:
    """Opened once a process."""

    settings: Settings
    database: Database
    projector: Projector
    projection: ProjectionLoop
    observations: ObservationLog
    conversations: KeptConversations

    def close(self) -> None:
        """Stops the threads and closes the database; ``conversations`` are closed before the activities end."""
        self.projection.close()
        self.observations.close()
        self.database.close()


def open_resources(settings: Settings) -> WorkerResources:
    """Opens the settings' database and starts the projection."""
    database = Database(settings.database_url)
    projector = Projector(database, settings.memory_root, settings.workspace)
    return WorkerResources(
        settings=settings,
        database=database,
        projector=projector,
        projection=ProjectionLoop(projector, lambda: anchor(database, datetime.now(UTC))),
        observations=ObservationLog(database),
        conversations=_conversations(settings, database),
    )


def _conversations(settings: Settings, database: Database) -> KeptConversations:
    servers = ServerStore(database)

    async def wanted(server: MCPServerRegistryEntry) -> bool:
        return await asyncio.to_thread(servers.is_still_callable, server)

    return KeptConversations(settings.mcp_conversation_idle.total_seconds(), wanted)
