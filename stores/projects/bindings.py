"""Project bindings as each person's preferences have them, and which project a request means (DOC3 §0.7)."""

from sqlalchemy import Connection

from contracts.platform.configuration import ConfigurationTarget
from contracts.projects.source_binding import (
    ProjectSourceBinding,
    ResolveProjectRequest,
    ResolveProjectResponse,
)
from domain.projects.bindings import bindings_in, resolve
from stores.platform.configuration import CONFIGURATIONS
from stores.platform.database import Database


def bindings_of(connection: Connection, owner: str) -> tuple[ProjectSourceBinding, ...]:
    """The owner's bindings, in the order in which they are kept."""
    kept = CONFIGURATIONS.find(connection, (owner, ConfigurationTarget.USER_PREFERENCE.value, ""))
    return bindings_in(kept.fields) if kept is not None else ()


class ProjectReads:
    """The project bindings of all people. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def resolve(self, owner: str, request: ResolveProjectRequest) -> ResolveProjectResponse:
        """Which of the owner's bound projects a request means; where that is not certain, what to ask."""
        with self._database.read() as connection:
            return resolve(request, bindings_of(connection, owner))
