"""Seeded crowds of commands to one ability: each once, in one order, and the last one stands."""

from random import Random

import httpx
from sqlalchemy import select

from stores.platform.journal.chains import verify_chains
from stores.platform.tables import journal
from tests.fixtures.crowds import CROWDED, ROUNDS, all_answered, each_crowd
from tests.fixtures.stack import Stack

pytestmark = [*CROWDED]

REASON = {"reason": "as the crowd wants it"}
MOVES = ("activate", "deactivate", "quarantine", "unquarantine")


@each_crowd
async def test_of_a_crowd_each_command_on_an_ability_counts_once(stack: Stack, crowd: int) -> None:
    alice = stack.learner()
    await alice.teach()
    answer = await alice.propose_act("approve")
    ability_id = answer["proposal"]["ability_id"]
    path = f"/api/abilities/{ability_id}"
    counted = commands_on_record(stack, ability_id)
    for seed in range(ROUNDS):
        seeded = Random(seed)
        # The server remembers updates by these keys, and the ability's workflow has one id for all crowds.
        moves = [(seeded.choice(MOVES), f"{crowd}-{seed}-{number}") for number in range(crowd)]

        async def send(move: tuple[str, str]) -> httpx.Response:
            return await alice.call("POST", f"{path}/{move[0]}", REASON, idempotency_key=move[1])

        answers = await all_answered(moves, send)
        refused = [one.json()["error"]["code"] for one in answers if not one.is_success]
        assert set(refused) <= {"INVALID_LEARN_STATE_TRANSITION"}
        counted += len(answers) - len(refused)
        assert commands_on_record(stack, ability_id) == counted
        # What was refused left nothing under its key, and may be taken by now.
        taken = [move for move, was in zip(moves, answers, strict=True) if was.is_success]
        repeated = await all_answered(taken, send)
        assert [one.text for one in repeated] == [one.text for one in answers if one.is_success]
    assert verify_chains(stack.database).intact


def commands_on_record(stack: Stack, ability_id: str) -> int:
    """How many commands the journal has of an ability: all that one wrote bears its correlation id."""
    about_it = journal.c.ability_id == ability_id
    with stack.database.read() as connection:
        return len(connection.scalars(select(journal.c.correlation_id).where(about_it).distinct()).all())
