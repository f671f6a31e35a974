"""Runs of skill mining, and the messages of their workflows and activities."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text120, Text200, Text240, UtcTime, Uuid, VersionedContract
from contracts.mining.candidates import MiningGate

SAMPLE_SIZE = 10
"""How many failures a run's record names."""


class MiningTrigger(StrEnum):
    """What started a run."""

    SCHEDULE = "schedule"
    MANUAL = "manual"


class MiningRunState(StrEnum):
    """Where a run stands."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class MiningFailure(Contract):
    """One item that could not be read and was left out; the next run tries it again."""

    item: Text240
    reason: Text240


class Exclusion(StrEnum):
    """Why a capture is left out altogether."""

    NOT_CAPTURED = "not_captured"
    PRACTISED = "practised"
    NOT_WATCHED = "not_watched"
    INSIDE_IS_OFF = "inside_is_off"
    OUTSIDE_IS_OFF = "outside_is_off"
    TURNED_DOWN = "turned_down"
    HAS_PROPOSAL = "has_proposal"
    PURGED = "purged"
    SECRET = "secret"  # noqa: S105 - a reason
    EMPTY = "empty"


_WHY: dict[Exclusion, str] = {
    Exclusion.NOT_CAPTURED: "it is no finished demonstration: it was not stopped, or improves or imports a skill",
    Exclusion.PRACTISED: "an agent practised it alone: that is no work that you do repeatedly",
    Exclusion.NOT_WATCHED: "its session watched nothing",
    Exclusion.INSIDE_IS_OFF: "your settings leave out what was done through the agent (observe_inside_agent); "
    "`apprentice mining settings --inside` lets it count",
    Exclusion.OUTSIDE_IS_OFF: "your settings leave out what you did outside the agent (observe_outside_agent); "
    "`apprentice mining settings --outside` lets it count",
    Exclusion.TURNED_DOWN: "its proposal was turned down or cancelled",
    Exclusion.HAS_PROPOSAL: "another proposal was made of it",
    Exclusion.PURGED: "what was observed of it is deleted already; no setting brings it back",
    Exclusion.SECRET: "something in it was masked or hidden as a secret; no setting changes that",
    Exclusion.EMPTY: "nothing in it counts: all of it is trimmed, failed, or was removed",
}


class ExcludedCaptures(Contract):
    """Captures that were left out for one reason; ``why`` says it in words, with the setting that changes it."""

    reason: Exclusion
    count: int = Field(ge=1)
    why: Text240


def left_out(counts: Mapping[Exclusion, int]) -> tuple["ExcludedCaptures", ...]:
    """The reasons with their counts, in the order of the enumeration."""
    return tuple(
        ExcludedCaptures(reason=one, count=counts[one], why=_WHY[one]) for one in Exclusion if counts.get(one)
    )


class MiningProgress(Contract):
    """What a run has found so far. ``cursor`` is the last person whose traces were looked at."""

    people: int = Field(default=0, ge=0)
    people_off: int = Field(default=0, ge=0, description="Left alone: their settings say off.")
    traces: int = Field(default=0, ge=0, description="That counted.")
    excluded: int = Field(
        default=0, ge=0, description="Captures that may not count, or hold nothing that does."
    )
    left_out: tuple[ExcludedCaptures, ...] = Field(
        default=(), description="Why the excluded ones were, and what changes that."
    )
    clusters: int = Field(default=0, ge=0)
    candidates: int = Field(default=0, ge=0, description="Clusters that passed every gate.")
    deferred: int = Field(default=0, ge=0, description="Not built yet: their owner has an open session.")
    built: int = Field(default=0, ge=0)
    builds_failed: int = Field(default=0, ge=0)
    failed: int = Field(default=0, ge=0, description="Items that could not be read.")
    closed_gates: dict[MiningGate, int] = Field(default_factory=dict[MiningGate, int])
    failures: tuple[MiningFailure, ...] = Field(default=(), max_length=SAMPLE_SIZE)
    cursor: Text120 = ""
    finished: bool = False


class MiningRun(VersionedContract):
    """One run, readable while it goes on."""

    run_id: Uuid
    trigger: MiningTrigger
    owner_user_id: Text120 | None = Field(default=None, description="Whose traces; absent: everybody's.")
    state: MiningRunState = MiningRunState.RUNNING
    workflow_id: Text240
    progress: MiningProgress = MiningProgress()
    error: Text240 | None = None
    started_at: UtcTime
    updated_at: UtcTime
    finished_at: UtcTime | None = None


class MiningRunOpening(Contract):
    """Opens a run's record; opening it again changes nothing."""

    run_id: Uuid
    trigger: MiningTrigger
    owner_user_id: Text120 | None = None
    workflow_id: Text240
    started_at: UtcTime


class MiningPage(Contract):
    """A page of people to look at, after ``before.cursor``; looking at them again comes to the same."""

    run_id: Uuid
    owner_user_id: Text120 | None = None
    before: MiningProgress = MiningProgress()
    limit: int = Field(ge=1, le=1_000, description="People in this page.")
    now: UtcTime


class CandidateToBuild(Contract):
    """A candidate that its owner lets mining build by itself."""

    candidate_id: Uuid
    owner_user_id: Text120


class MiningPageResult(Contract):
    """How far the run has come with the page, and what is to be built of it."""

    progress: MiningProgress
    to_build: tuple[CandidateToBuild, ...] = ()


class MiningRunClosing(Contract):
    """Records how a run ended."""

    run_id: Uuid
    state: MiningRunState
    progress: MiningProgress
    error: Text240 | None = None
    finished_at: UtcTime


class CandidateBuild(Contract):
    """Builds one candidate. ``asked_by`` is the person who accepted it; without one mining does it by itself."""

    candidate_id: Uuid
    owner_user_id: Text120
    asked_by: Text120 | None = None
    reason: Text240 | None = None
    correlation_id: Text200
    now: UtcTime


class CandidateBuildEnd(Contract):
    """How a build ended."""

    candidate_id: Uuid
    built: bool
    reason: Text240 | None = None


class CandidateGivenUp(Contract):
    """Records that a build came to nothing; ``deferred`` puts the candidate back for the next run."""

    candidate_id: Uuid
    reason: Text240
    deferred: bool = False
    now: UtcTime


class StartMiningRequest(VersionedContract):
    """Looks through the caller's traces now."""

    client_request_id: Text120 | None = None
