"""Workflow of an installed ability: its commands run one at a time, each decided and written by the store."""

import asyncio
from contextlib import suppress
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from activities.abilities.ability_activities import AbilityActivities
    from activities.mcp.call_stopping import CallStopping
    from contracts.abilities.availability import AbilityLifecycleAction as Action
    from contracts.abilities.lifecycle import AbilityOrder, AbilityReceipt
    from contracts.errors import ErrorCode
    from contracts.mcp.dispatch_work import StopCallsOrder
    from workflows.abilities.ability_messages import AbilityEnd, AbilityStart
    from workflows.platform.presets import STOP_CALLS, STORE_CALL
    from workflows.platform.refusals import application_error_in, refused


TAKES_OUT_OF_USE = frozenset({Action.DEACTIVATE, Action.QUARANTINE, Action.ARCHIVE})
"""After these nothing more is done on the ability's behalf: its calls that run or wait are given up."""

STOPS_CALLS = "ability-stops-its-calls"
"""The change by which the workflow stops calls; runs that took a command before it leave them alone."""

ANSWERS_WITHIN = timedelta(seconds=3)
"""How long a command waits for the calls to have been given up, before it answers that it is carried out."""


@workflow.defn(name="AbilityWorkflow")
class AbilityWorkflow:
    """Takes commands as updates, in the order they come, and closes when none is under way.

    A command that takes the ability out of use is answered once its calls are given up, or soon; the workflow
    does not close before they are.

    It remembers nothing: whether a command is taken, and what follows from it, is one transaction of the
    store, so the next command opens another run.
    """

    @workflow.init
    def __init__(self, start: AbilityStart) -> None:
        self._ability_id = start.ability_id
        self._turn = asyncio.Lock()
        self._asked = 0
        self._answered = 0
        self._stopping = 0

    @workflow.run
    async def run(self, start: AbilityStart) -> AbilityEnd:
        """Lives until everybody who asked has been answered, and no call is left to be stopped."""
        await workflow.wait_condition(
            lambda: self._asked > 0 and self._stopping == 0 and workflow.all_handlers_finished()
        )
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
        if order.action in TAKES_OUT_OF_USE and workflow.patched(STOPS_CALLS):
            await self._stop_calls(order, receipt)
        return receipt

    @command.validator
    def _is_meant(self, order: AbilityOrder) -> None:
        if order.ability_id != self._ability_id:
            raise refused(ErrorCode.INTERNAL_ERROR, f"This workflow is the ability {self._ability_id}'s.")

    async def _stop_calls(self, order: AbilityOrder, receipt: AbilityReceipt) -> None:
        """Has the ability's calls given up, and waits a little for it."""
        calls = StopCallsOrder(
            ability_id=order.ability_id,
            by=order.caller_user_id,
            reason=f"the ability was {receipt.state.value}",
            until=workflow.now(),
        )
        stopping = asyncio.create_task(self._stopped(calls))
        with suppress(TimeoutError):
            await workflow.wait_condition(
                stopping.done, timeout=ANSWERS_WITHIN, timeout_summary="calls are still being given up"
            )

    async def _stopped(self, order: StopCallsOrder) -> None:
        self._stopping += 1
        try:
            await workflow.execute_activity_method(
                CallStopping.stop_calls, order, summary="give up its calls", **STOP_CALLS
            )
        except FailureError:
            # It is retried for ever, so it was cancelled; the worker looks after such calls as well.
            workflow.logger.warning("calls of an ability that is out of use may still run")
        finally:
            self._stopping -= 1
