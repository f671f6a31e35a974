"""A lesson in the recorded terminal, for recording histories: what was shown is replayed, and anew once answered."""

from tests.e2e.test_made_up_inputs import answered, asked
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack


async def say_what_is_there_already(stack: Stack) -> Learner:
    """A lesson that makes up its data, which a person says is there already next time; dropped in the end."""
    learner, questions = await asked(stack, stack.settings.data_dir / "desk")
    await answered(learner, questions, "Yes, it is there already")
    await learner.act("cancel", {"reason": "shown again tomorrow"})
    return learner
