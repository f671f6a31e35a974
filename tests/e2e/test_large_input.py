"""A lesson on a file that is too large to be kept whole: the ability says what it was tried with."""

from pathlib import Path

import pytest

from contracts.learning.starting_state import MAX_FILE_BYTES
from tests.fixtures.recorded_terminal import record
from tests.fixtures.served import served
from tests.fixtures.stack import Stack

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

ROWS = ("south,9", "north,3", "east,12", "west,5")
SAID = "It was tried with the first lines of `sales.csv` alone: look at what it makes of a whole file."


async def test_an_ability_says_that_it_was_tried_with_the_beginning_of_a_file(
    stack: Stack, tmp_path: Path
) -> None:
    desk = tmp_path / "desk"
    desk.mkdir()
    rows = "".join(f"{row}\n" for row in ROWS)
    (desk / "sales.csv").write_text(rows * (MAX_FILE_BYTES // len(rows) + 2))
    alice = stack.learner()
    await alice.create()
    await alice.act("start")
    await alice.act("mark-goal", {"goal_description": "Count the sales of each region"})
    async with served(stack) as api:
        await record(alice, api, desk, ("cut -d, -f1 sales.csv | sort | uniq -c > regions.txt",))
    await alice.act("stop")
    await alice.propose()
    assert await alice.prove() == "ready_for_review"
    await alice.propose_act("approve")

    (ability,) = (await alice.ok("GET", "/api/abilities/availability"))["abilities"]
    detail = await alice.ok("GET", f"/api/abilities/{ability['ability_id']}")
    _, _, safety = detail["skill_markdown"].partition("## Safety\n")
    assert f"- {SAID}\n" in safety
