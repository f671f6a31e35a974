"""Finding an ability by what the user says (DOC3 §0C.11, §0C.16A)."""

from pydantic import Field

from contracts.abilities.freshness import AbilityFreshness
from contracts.base import Contract, Text120, Text160, Text240, Text500, UtcTime, VersionedContract
from contracts.learning.proposal import InstallLane

INCLUDE_FROM_SCORE = 0.15
"""The least score a match is listed with."""

MAX_MATCHES = 10
"""The most matches a lookup lists."""

ROUTE_FROM_SCORE = 0.3
"""From here a usable ability may be routed to (DOC3 §0C.11C)."""


class AbilityLookupQuery(VersionedContract):
    """What is wanted, and which lanes may answer."""

    user_query: Text500
    project_id: Text120 | None = None
    room_id: Text160 | None = None
    install_lanes_allowed: tuple[InstallLane, ...] = Field(
        default=(InstallLane.APPROVED_WORKSPACE, InstallLane.SHARED_PROMOTED), max_length=5
    )
    include_private_owned_by_user: bool = True


class AbilityMatch(Contract):
    """One ability that fits."""

    ability_id: Text160
    score: float
    install_lane: InstallLane
    usable_now: bool
    reason_unusable: str | None = None


class AbilityLookupResult(VersionedContract):
    """The best matches, best first."""

    matches: tuple[AbilityMatch, ...]
    created_at: UtcTime
    freshness: AbilityFreshness | None = Field(
        default=None, description="Whether this is behind what agents go by, or they are behind this."
    )


class AbilityExplainMatchRequest(VersionedContract):
    """Asks why an ability did or did not match."""

    user_query: Text500
    ability_id: Text160
    project_id: Text120 | None = None


class AbilityExplainMatchResponse(Contract):
    """Why."""

    ability_id: Text160
    matched: bool
    score: float = Field(ge=0, le=1)
    match_reasons: tuple[Text240, ...] = ()
    rejection_reasons: tuple[Text240, ...] = ()
