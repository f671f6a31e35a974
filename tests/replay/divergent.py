"""A session workflow that no history of the real one fits: it waits before it takes anything up."""

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from workflows.learning.learn_session_messages import LearnSessionEnd, LearnSessionStart
from workflows.learning.learn_session_workflow import LearnSessionWorkflow


@workflow.defn(name="LearnSessionWorkflow")
class DivergentLearnSessionWorkflow(LearnSessionWorkflow):
    """Differs from its parent by one timer, as a careless change of a deployed workflow would."""

    @workflow.init
    def __init__(self, start: LearnSessionStart) -> None:
        super().__init__(start)

    @workflow.run
    async def run(self, start: LearnSessionStart) -> LearnSessionEnd:
        """Sleeps first."""
        await workflow.sleep(timedelta(seconds=1))
        return await super().run(start)
