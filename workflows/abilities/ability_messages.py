"""What is said to an AbilityWorkflow.

What is said to a CapabilityReprobeWorkflow.
"""

from pydantic import Field

from contracts.abilities.capability_health import MOST_CANARIES, CanaryResult
from contracts.base import Contract, Text120, Text160, Text200, Uuid


class AbilityStart(Contract):
    """Opens the workflow of an ability. The store has everything else."""

    ability_id: Text160


class AbilityEnd(Contract):
    """The workflow closed, at rest: how many commands this run answered."""

    answered: int


class ReprobeStart(Contract):
    """Starts a recheck: of one capability for a person, of a new ability's, of whatever is due for the schedule."""

    capability_id: Text160 | None = None
    ability_id: Text160 | None = None
    canaries: int = Field(
        default=1, ge=1, le=MOST_CANARIES, description="Of each capability, one after another."
    )
    reprobe_id: Uuid | None = Field(default=None, description="Makes a repeated start count once.")
    requested_by: Text120 = "schedule"
    correlation_id: Text200 | None = None


class ReprobeEnd(Contract):
    """What the recheck found, the last canary of each capability."""

    results: tuple[CanaryResult, ...] = ()
    missing_runtime_caps: int = Field(default=0, ge=0)
