"""Project bindings in a person's preferences, the servers bound to a project, and resolving the project of a request.

Bindings state where a project's sources are; its status and deadlines are kept elsewhere (DOC3 §0.7, §1.1T). An
explicit project wins over everything, then the active one where the words point to it or name none, then aliases in
the words, then buckets. Nothing is guessed: where that does not decide, the person is asked.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from contracts.mcp.m365_operations import M365OperationFamily as Family
from contracts.mcp.servers import MCPServerRegistryEntry
from contracts.plain_problems import field_problems
from contracts.projects.source_binding import (
    AmbiguityPolicy,
    ProjectMatch,
    ProjectSourceBinding,
    ResolutionState,
    ResolveProjectRequest,
    ResolveProjectResponse,
    SourceOfTruth,
)

PREFERENCE = "project_bindings"
"""The preference's name: a list of ``ProjectSourceBinding``, one a project."""

EXPLICIT = 1.0

ACTIVE = 0.95
"""The active project, where the words point to it: "this matter"."""

NAMED = 0.9
"""An alias of it is in the words."""

BUCKET = 0.6
"""One of its buckets is at hand."""

IMPLIED = 0.5
"""The active project, where the words name none at all."""

_POINTING = re.compile(r"\b(?:this|the|current|our)\s+(?:\w+\s+)?(?:matter|project|case|file|client)\b", re.I)

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
        first = field_problems(error, whole=PREFERENCE, under=("payload", PREFERENCE))[0]
        return first.path, f"A project binding {first.problem}."
    ids = [binding.project_id.strip() for binding in found]
    if not all(ids) or len(set(ids)) < len(ids):
        return f"payload.{PREFERENCE}", "Each binding names its project, and a project has one binding."
    return None


def servers_of_project(
    binding: ProjectSourceBinding, servers: Iterable[MCPServerRegistryEntry]
) -> frozenset[str]:
    """The ids of the servers that reach the sources of a project: its sites, its drive, its channels.

    Its documents are where its source of truth says: a site named beside a drive that holds the truth does not
    count, and of a project whose truth is kept elsewhere no server reaches the documents (DOC3 §1.1T).
    """
    mixed = binding.source_of_truth is SourceOfTruth.MIXED
    families: set[Family] = set()
    if binding.source_of_truth is SourceOfTruth.SHAREPOINT or (mixed and binding.sharepoint_refs):
        families |= _SHAREPOINT
    if binding.source_of_truth is SourceOfTruth.ONEDRIVE or (mixed and binding.onedrive_refs):
        families |= _ONEDRIVE
    if binding.teams_refs:
        families |= _TEAMS
    return frozenset(
        entry.server_id
        for entry in servers
        if entry.m365 is not None and not families.isdisjoint(entry.m365.operation_families)
    )


def resolve(
    request: ResolveProjectRequest, bindings: Sequence[ProjectSourceBinding]
) -> ResolveProjectResponse:
    """The projects that fit ``request``, best first, and whether one of them is meant for certain."""
    scored = [(binding, _confidence(binding, request)) for binding in bindings]
    if any(score >= NAMED for _, score in scored):
        scored = [(binding, score) for binding, score in scored if score > IMPLIED]
    matches = tuple(
        ProjectMatch(binding=binding, confidence=score)
        for binding, score in sorted(scored, key=lambda one: (-one[1], one[0].project_id))
        if score > 0
    )
    if not matches:
        return ResolveProjectResponse(
            resolution_state=ResolutionState.NONE, ask="Which project is this about? None is bound that fits."
        )
    best = [match for match in matches if match.confidence == matches[0].confidence]
    if len(best) == 1 and _may_decide(best[0]):
        return ResolveProjectResponse(matches=matches, resolution_state=ResolutionState.RESOLVED)
    if all(match.binding.ambiguity_policy is AmbiguityPolicy.RETURN_ALL for match in best):
        return ResolveProjectResponse(matches=matches, resolution_state=ResolutionState.AMBIGUOUS)
    names = ", ".join(match.binding.project_id for match in best[:5])
    return ResolveProjectResponse(
        matches=matches, resolution_state=ResolutionState.AMBIGUOUS, ask=f"Which project: {names}?"[:240]
    )


def _may_decide(match: ProjectMatch) -> bool:
    """Whether the best match needs no question: words or room named it, or its policy takes the room's word."""
    if match.confidence >= NAMED:
        return True
    return match.binding.ambiguity_policy is AmbiguityPolicy.USE_ROOM_CONTEXT_THEN_PROMPT


def _confidence(binding: ProjectSourceBinding, request: ResolveProjectRequest) -> float:
    if _says(request.query, binding.project_id):
        return EXPLICIT
    active = binding.project_id == request.active_project_id
    if active and _POINTING.search(request.query):
        return ACTIVE
    if any(_says(request.query, alias) for alias in binding.aliases):
        return NAMED
    if set(binding.bucket_ids) & set(request.candidate_bucket_ids):
        return BUCKET
    return IMPLIED if active else 0.0


def _says(query: str, name: str) -> bool:
    name = name.strip()
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", query, re.I) is not None
