"""Practice as it is recorded: towards one goal, by the rules alone or with a model."""

import json

from tests.fixtures.learner import Learner
from tests.fixtures.model_server import ModelServer, completion
from tests.fixtures.practising import ended

GOAL = {
    "goal": "Count to three in count.txt",
    "success_conditions": [{"kind": "file_contains", "path": "count.txt", "text": "3"}],
}


async def practise(learner: Learner, allowed: str = "seq 3 > {output}") -> Learner:
    """Practises until the goal is reached; then the session is dropped."""
    await learner.create(entry_mode="autonomous_agent_practice", observation_mode="inside_agent")
    await learner.act("practice", {**GOAL, "allowed_commands": [allowed]})
    assert (await ended(learner))["state"] == "reached"
    assert await learner.state() == "stopped"
    await learner.act("cancel", {"reason": "seen enough"})
    return learner


async def practise_with_a_model(learner: Learner, model: ModelServer) -> Learner:
    """The same with two suggestions, of which the second is right."""
    ways = [
        {"plans": [{"commands": [command]}]} for command in ("seq three > count.txt", "seq 3 > count.txt")
    ]
    model.replies(*(completion(json.dumps(way)) for way in ways))
    return await practise(learner, "seq")
