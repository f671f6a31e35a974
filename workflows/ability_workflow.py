"""An installed ability between two rests: one command at a time, each decided and written by the store."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from activities.ability_activities import AbilityActivities
    from contracts.abilities.life import AbilityOrder, AbilityReceipt
    from contracts.errors import ErrorCode
    from workflows.ability_messages import AbilityEnd, AbilityStart
    from workflows.presets import STORE_CALL
    from workflows.refusals import application_error_in, refused


@workflow.defn(name="AbilityWorkflow")
class AbilityWorkflow:
    """Takes commands as updates, in the order they come, and closes when none is under way.

    It remembers nothing: whether a command is taken, and what follows from it, is one transaction of the
    store, so the next command opens another run.
    """

    @workflow.init
    def __init__(self, start: AbilityStart) -> None:
        self._ability_id = start.ability_id
        self._turn = asyncio.Lock()
        self._asked = 0
        self._answered = 0

    @workflow.run
    async def run(self, start: AbilityStart) -> AbilityEnd:
        """Lives until everybody who asked has been answered."""
        await workflow.wait_condition(lambda: self._asked > 0 and workflow.all_handlers_finished())
        return AbilityEnd(answered=self._answered)

    @workflow.update(description="Carry out one command on the ability")
    async def command(self, order: AbilityOrder) -> AbilityReceipt:
        self._asked += 1
        async with self._turn:
            try:
                receipt = await workflow.execute_local_activity_method(
                    AbilityActivities.command_ability,
                    order,
                    summary=order.action.value,
                    **STORE_CALL,
                )
            except FailureError as error:
                raise application_error_in(error) from None
            finally:
                self._answered += 1
            workflow.set_current_details(
                f"**{receipt.state.value}** in `{receipt.install_lane.value}`, version {receipt.version},"
                f" after `{receipt.action.value}`"
            )
            return receipt

    @command.validator
    def _is_meant(self, order: AbilityOrder) -> None:
        if order.ability_id != self._ability_id:
            raise refused(ErrorCode.INTERNAL_ERROR, f"This workflow is the ability {self._ability_id}'s.")
