"""What is said to TrialWorkflow."""

from pydantic import Field

from contracts.base import Contract
from contracts.learning.trials import TrialRef


class TrialStart(Contract):
    """Starts a trial; its values and its folder are on record."""

    ref: TrialRef
    commands: int = Field(ge=1, description="Commands of the method.")
