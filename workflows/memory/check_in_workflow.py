"""One check-in: a timer that survives restarts, then a line in the inbox, once (AI-36)."""

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.memory.check_in_activities import CheckInActivities
    from contracts.memory.check_ins import CheckInEnd, CheckInOrder, CheckInStart, CheckInState
    from contracts.workflow_ids import LOOK
    from workflows.platform.presets import STORE_CALL
    from workflows.platform.search_attributes import STATE_ATTRIBUTE

KIND = "check_in"


@workflow.defn(name="CheckInWorkflow")
class CheckInWorkflow:
    """Waits until a check-in is due and has it fire; ends early when the store says that it was cancelled.

    One timer, however long: its history never grows, so it needs no new run.
    """

    @workflow.init
    def __init__(self, start: CheckInStart) -> None:
        self._start = start
        self._look = False

    @workflow.run
    async def run(self, start: CheckInStart) -> CheckInEnd:
        """Lives until the check-in has fired or was cancelled."""
        workflow.set_current_details(f"waits until {start.due_at:%Y-%m-%d %H:%M} UTC")
        while True:
            try:
                await workflow.wait_condition(
                    lambda: self._look,
                    timeout=max(start.due_at - workflow.now(), timedelta()),
                    timeout_summary="the check-in is due",
                )
            except TimeoutError:
                return self._end(await self._fire())
            self._look = False
            state = await self._read()
            if state is not CheckInState.SCHEDULED:
                return self._end(state)

    @workflow.signal(name=LOOK, description="Look at the store again")
    def look(self) -> None:
        self._look = True

    async def _fire(self) -> CheckInState:
        order = CheckInOrder(check_in_id=self._start.check_in_id, at=workflow.now())
        standing = await workflow.execute_local_activity_method(
            CheckInActivities.fire_check_in, order, summary="fire", **STORE_CALL
        )
        return standing.state

    async def _read(self) -> CheckInState:
        order = CheckInOrder(check_in_id=self._start.check_in_id, at=workflow.now())
        standing = await workflow.execute_local_activity_method(
            CheckInActivities.read_check_in, order, summary="read", **STORE_CALL
        )
        return standing.state

    def _end(self, state: CheckInState) -> CheckInEnd:
        workflow.set_current_details(state.value)
        workflow.upsert_search_attributes(  # pyright: ignore[reportUnknownMemberType]
            [STATE_ATTRIBUTE.value_set(state.value)]
        )
        return CheckInEnd(state=state)
