"""What is said to the workflows of skill mining."""

from pydantic import Field

from contracts.base import Contract, Text120, UtcTime, Uuid
from contracts.mining.runs import CandidateBuild, MiningProgress, MiningRunState, MiningTrigger


class MiningPosition(Contract):
    """How far a run has come: what a new run of the workflow goes on from."""

    run_id: Uuid
    started_at: UtcTime
    progress: MiningProgress


class MiningStart(Contract):
    """Starts a run. One that a person started brings its id and whose captures are looked at."""

    trigger: MiningTrigger = MiningTrigger.SCHEDULE
    run_id: Uuid | None = None
    owner_user_id: Text120 | None = None
    page_size: int = Field(default=25, ge=1, le=1_000, description="People in one activity.")
    pages_a_run: int = Field(default=200, ge=1, description="Pages before the workflow continues as new.")
    position: MiningPosition | None = None


class MiningEnd(Contract):
    """How a run ended."""

    run_id: Uuid
    state: MiningRunState
    progress: MiningProgress


class MinedSkillStart(Contract):
    """Starts the build of a candidate."""

    build: CandidateBuild
