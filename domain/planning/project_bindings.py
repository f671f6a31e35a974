"""The project bindings that a person keeps among the preferences, and the servers that a project is bound to.

Bindings say where a project's sources are. What a project is, its status and its deadlines are kept elsewhere
(DOC3 §0.7): nothing here makes or changes a project.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from contracts.mcp.m365_family import M365OperationFamily as Family
from contracts.mcp.server_registry import MCPServerRegistryEntry
from contracts.projects.source_binding import ProjectSourceBinding

PREFERENCE = "project_bindings"
"""The preference's name: a list of ``ProjectSourceBinding``, one a project."""

_LIST: TypeAdapter[list[ProjectSourceBinding]] = TypeAdapter(list[ProjectSourceBinding])

_SHAREPOINT = frozenset({Family.SHAREPOINT_LIST_DOCUMENTS, Family.PROJECT_GET_LATEST_DOCUMENT})
_ONEDRIVE = frozenset({Family.ONEDRIVE_FETCH_FILE})
_TEAMS = frozenset({Family.TEAMS_POST_MESSAGE, Family.TEAMS_GET_CHANNEL_CONTEXT})


def bindings_in(fields: Mapping[str, Any]) -> tuple[ProjectSourceBinding, ...]:
    """The bindings among all preferences that are kept; none where they cannot be read."""
    try:
        return tuple(_LIST.validate_python(fields.get(PREFERENCE) or []))
    except ValidationError:
        return ()


def problem_in(payload: Mapping[str, Any]) -> tuple[str, str] | None:
    """The place and the sentence about bindings in ``payload`` that could not be read; None where all can."""
    try:
        found = _LIST.validate_python(payload.get(PREFERENCE) or [])
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False, include_url=False)[0]
        place = ".".join(("payload", PREFERENCE, *map(str, first["loc"])))
        return place, f"A project binding: {first['msg']}."
    ids = [binding.project_id.strip() for binding in found]
    if not all(ids) or len(set(ids)) < len(ids):
        return f"payload.{PREFERENCE}", "Each binding names its project, and a project has one binding."
    return None


def servers_of_project(
    binding: ProjectSourceBinding, servers: Iterable[MCPServerRegistryEntry]
) -> frozenset[str]:
    """The ids of the servers that reach the sources of a project: its sites, its drive, its channels."""
    families: set[Family] = set()
    for refs, reaching in (
        (binding.sharepoint_refs, _SHAREPOINT),
        (binding.onedrive_refs, _ONEDRIVE),
        (binding.teams_refs, _TEAMS),
    ):
        if refs:
            families |= reaching
    return frozenset(
        entry.server_id
        for entry in servers
        if entry.m365 is not None and not families.isdisjoint(entry.m365.operation_families)
    )
