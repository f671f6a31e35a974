"""Project bindings as each person's preferences have them, and which project a request means (DOC3 §0.7)."""

from sqlalchemy import Connection, select

from contracts.platform.configuration import Configuration, ConfigurationTarget
from contracts.projects.source_binding import (
    ProjectSourceBinding,
    ResolveProjectRequest,
    ResolveProjectResponse,
)
from domain.projects.bindings import bindings_in, resolve
from stores.platform.database import Database
from stores.platform.tables import configurations


def bindings_of(connection: Connection, owner: str) -> tuple[ProjectSourceBinding, ...]:
    """The owner's bindings, in the order in which they are kept."""
    body = connection.scalar(
        select(configurations.c.body).where(
            configurations.c.owner == owner,
            configurations.c.target == ConfigurationTarget.USER_PREFERENCE.value,
            configurations.c.capability_id == "",
        )
    )
    return () if body is None else bindings_in(Configuration.model_validate_json(body).fields)


class ProjectReads:
    """The project bindings of all people. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def resolve(self, owner: str, request: ResolveProjectRequest) -> ResolveProjectResponse:
        """Which of the owner's bound projects a request means; where that is not certain, what to ask."""
        with self._database.read() as connection:
            return resolve(request, bindings_of(connection, owner))
