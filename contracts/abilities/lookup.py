"""Ability lookup by a user's query, its explanation, and the trigger tests of a drafted skill.

DOC3 §0C.11, §0C.16A (lookup), §1.1P, §1.8A; rows P-26, P-42 (trigger tests).
"""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, StringConstraints, TypeAdapter, model_validator

from contracts.abilities.availability import AbilityFreshness, InstallLane
from contracts.base import Contract, Text120, Text160, Text200, Text240, Text500, UtcTime, VersionedContract

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


class Fit(StrEnum):
    """Whether an ability does what a request asks for."""

    YES = "yes"
    MAYBE = "maybe"
    NO = "no"


class AbilityMatch(Contract):
    """One ability that matches by the documented score."""

    ability_id: Text160
    score: float
    install_lane: InstallLane
    usable_now: bool
    reason_unusable: str | None = None
    fit: Fit | None = Field(default=None, description="Whether it does what is asked for.")
    fit_reasons: tuple[Text240, ...] = ()


class AbilityFit(Contract):
    """One ability that does, or may do, what is asked for."""

    ability_id: Text160
    title: Text200
    fit: Fit
    closeness: float = Field(ge=0, le=1, description="How closely it fits, for the order of those that do.")
    reasons: tuple[Text240, ...] = ()
    install_lane: InstallLane
    usable_now: bool
    reason_unusable: Text240 | None = None


class AbilityLookupResult(VersionedContract):
    """The best matches by the documented score, best first, and beside them what fits."""

    matches: tuple[AbilityMatch, ...]
    fitting: tuple[AbilityFit, ...] = Field(
        default=(),
        description="The abilities that fit (yes) or may fit (maybe), best first, whatever their score; at most ten. "
        "An agent is routed by these.",
    )
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
    fit: Fit | None = Field(default=None, description="Whether it does what is asked for.")
    fit_reasons: tuple[Text240, ...] = ()


TRIGGER_TESTS_PATH = "tests/triggers.json"
"""Where a draft keeps its cases, a JSON array of ``TriggerCase``, inside the skill's folder."""

MIN_CASES_PER_KIND = 3
"""The fewest cases of each kind that a skill must bring."""


class TriggerCaseKind(StrEnum):
    """What a case is to show."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    PARAPHRASE = "paraphrase"


class TriggerCase(Contract):
    """One request, and whether the skill is meant by it."""

    input: Annotated[str, StringConstraints(max_length=240, pattern=r"\S")]
    should_trigger: bool
    kind: TriggerCaseKind

    @model_validator(mode="after")
    def _kind_agrees(self) -> Self:
        if self.should_trigger is (self.kind is TriggerCaseKind.NEGATIVE):
            raise ValueError(
                f"a {self.kind} case cannot have should_trigger {str(self.should_trigger).lower()}"
            )
        return self


TRIGGER_CASES = TypeAdapter(Annotated[tuple[TriggerCase, ...], Field(max_length=150)])
"""Reads the content of ``tests/triggers.json``."""
