"""Activities of an installed ability: carry out one command."""

from collections.abc import Callable

from temporalio import activity

from activities.refusals import refusing
from contracts.abilities.life import AbilityOrder, AbilityReceipt
from stores.ability_life import AbilityLifeStore
from stores.projector import ProjectionError
from stores.workspace_edits import WorkspaceEdits


class AbilityActivities:
    """A command is its transaction and the files that follow from it."""

    def __init__(
        self,
        abilities: AbilityLifeStore,
        edits: WorkspaceEdits,
        project: Callable[[], object],
        written: Callable[[], None],
    ) -> None:
        """``project`` makes the files on disk agree with the store, now; ``written`` has it done soon."""
        self._abilities = abilities
        self._edits = edits
        self._project = project
        self._written = written

    @activity.defn
    @refusing
    def command_ability(self, order: AbilityOrder) -> AbilityReceipt:
        """Carries out one command; a repeated one answers what the first did.

        The files are there when it answers, except where something that is not ours takes their place: that
        is tried again with every projection, and said in its log.
        """
        slug = self._abilities.slug_of(order.ability_id)
        edited = self._edits.of_skill(slug) if slug is not None else {}
        receipt = self._abilities.carry_out(order, edited)
        try:
            self._project()
        except ProjectionError:
            self._written()
        return receipt
