"""Project source bindings, and resolving the project that a request means (DOC3 §0.7)."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from contracts.base import Contract, Text80, Text160, Text240, VersionedContract


class SourceOfTruth(StrEnum):
    """Where the authoritative documents of a project are."""

    DOC7_BUCKET = "doc7_bucket"
    CORE_PROJECT = "core_project"
    SHAREPOINT = "sharepoint"
    ONEDRIVE = "onedrive"
    MIXED = "mixed"


class AmbiguityPolicy(StrEnum):
    """What to do when several projects fit a request."""

    RETURN_ALL = "return_all"
    REQUIRE_DISAMBIGUATION = "require_disambiguation"
    USE_ROOM_CONTEXT_THEN_PROMPT = "use_room_context_then_prompt"


class ProjectSourceBinding(VersionedContract):
    """One project's aliases and sources. Its meaning, its status and its deadlines are kept elsewhere."""

    project_id: Text160
    aliases: tuple[Text160, ...] = ()
    bucket_ids: tuple[Text160, ...] = ()
    preferred_doc_types: tuple[Text80, ...] = ()
    sharepoint_refs: tuple[Text240, ...] = ()
    onedrive_refs: tuple[Text240, ...] = ()
    teams_refs: tuple[Text240, ...] = ()
    source_of_truth: SourceOfTruth
    ambiguity_policy: AmbiguityPolicy = AmbiguityPolicy.USE_ROOM_CONTEXT_THEN_PROMPT


class ResolutionState(StrEnum):
    """How certain it is which project is meant."""

    RESOLVED = "resolved"
    AMBIGUOUS = "ambiguous"
    NONE = "none"


class ResolveProjectRequest(VersionedContract):
    """A request in natural language, and the context it was made in."""

    query: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    room_id: Text160 | None = None
    active_project_id: Text160 | None = None
    candidate_bucket_ids: tuple[Text160, ...] = Field(default=(), max_length=50)


class ProjectMatch(Contract):
    """A project that fits, and how well: 1 is certain."""

    binding: ProjectSourceBinding
    confidence: float = Field(ge=0, le=1)


class ResolveProjectResponse(VersionedContract):
    """The projects that fit, best first. Unless ``resolved``, ``ask`` says what to ask the person."""

    matches: tuple[ProjectMatch, ...] = ()
    resolution_state: ResolutionState
    ask: Text240 | None = None
