"""Project bindings as each person's preferences have them, and which project a request means (DOC3 §0.7)."""

import json

from sqlalchemy import Connection, select

from contracts.platform.configuration import ConfigurationTarget
from contracts.projects.source_binding import (
    ProjectSourceBinding,
    ResolveProjectRequest,
    ResolveProjectResponse,
)
from domain.projects.bindings import bindings_in, resolve
from stores.platform.configuration import CONFIGURATIONS
from stores.platform.database import Database
from stores.platform.tables import learn_sessions


def bindings_of(connection: Connection, owner: str) -> tuple[ProjectSourceBinding, ...]:
    """The owner's bindings, in the order in which they are kept."""
    kept = CONFIGURATIONS.find(connection, (owner, ConfigurationTarget.USER_PREFERENCE.value, ""))
    return bindings_in(kept.fields) if kept is not None else ()


def project_of_room(connection: Connection, owner: str, room_id: str) -> str | None:
    """The project of the owner's newest learning session in a room that has one; ``None`` where there is none."""
    table = learn_sessions
    there = table.c.aggregate.contains(
        f'"room_id":{json.dumps(room_id, ensure_ascii=False)}', autoescape=True
    )
    newest = (
        select(table.c.aggregate).where(table.c.owner == owner, there).order_by(table.c.session_id.desc())
    )
    for body in connection.scalars(newest.limit(_SESSIONS_READ)):
        session = json.loads(body)["session"]
        if session.get("room_id") == room_id and session.get("project_id"):
            return str(session["project_id"])
    return None


_SESSIONS_READ = 20


class ProjectReads:
    """The project bindings of all people. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def resolve(self, owner: str, request: ResolveProjectRequest) -> ResolveProjectResponse:
        """Which of the owner's bound projects a request means; where that is not certain, what to ask.

        Without an active project the room tells: it is that of the owner's newest session there.
        """
        with self._database.read() as connection:
            if request.active_project_id is None and request.room_id is not None:
                request = request.changed(
                    active_project_id=project_of_room(connection, owner, request.room_id)
                )
            return resolve(request, bindings_of(connection, owner))

    def of_room(self, owner: str, room_id: str) -> str | None:
        """As ``project_of_room``."""
        with self._database.read() as connection:
            return project_of_room(connection, owner, room_id)
