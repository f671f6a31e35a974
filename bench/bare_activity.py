"""The floor of the benchmark of skills: a workflow with one activity."""

from datetime import timedelta

from temporalio import activity, workflow


@activity.defn
async def bare_activity(text: str) -> str:
    """Answers."""
    return text


@workflow.defn
class BareActivity:
    """Runs the activity, and ends."""

    @workflow.run
    async def run(self, text: str) -> str:
        return await workflow.execute_activity(
            bare_activity, text, start_to_close_timeout=timedelta(seconds=10)
        )
