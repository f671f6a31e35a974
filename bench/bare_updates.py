"""The floor of the lifecycle benchmark: a workflow that only takes updates."""

from temporalio import workflow


@workflow.defn
class BareUpdates:
    """Takes updates and does nothing else: the floor."""

    def __init__(self) -> None:
        self._left = -1

    @workflow.run
    async def run(self, updates: int) -> None:
        self._left = updates
        await workflow.wait_condition(lambda: self._left == 0 and workflow.all_handlers_finished())

    @workflow.update
    async def step(self) -> int:
        await workflow.wait_condition(lambda: self._left > 0)
        self._left -= 1
        return self._left
