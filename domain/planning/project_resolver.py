"""Which project a request means, told from bindings alone (DOC3 §0.7, §1.1T).

An explicit project wins over everything, then the active one where the words point to it or name none,
then aliases in the words, then buckets. Nothing is guessed: where that does not decide, the person is asked.
"""

import re
from collections.abc import Sequence

from contracts.projects.source_binding import (
    AmbiguityPolicy,
    ProjectMatch,
    ProjectSourceBinding,
    ResolutionState,
    ResolveProjectRequest,
    ResolveProjectResponse,
)

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
