"""What is said to an AbilityWorkflow."""

from contracts.base import Contract, Text160


class AbilityStart(Contract):
    """Opens the workflow of an ability. The store has everything else."""

    ability_id: Text160


class AbilityEnd(Contract):
    """The workflow closed, at rest: how many commands this run answered."""

    answered: int
