"""Somebody with an installed ability, who commands it through the API."""

import json
from typing import Any

from sqlalchemy import select

from contracts.abilities.availability import AbilityAvailabilitySnapshot
from stores.platform.tables import abilities
from tests.fixtures.learner import SALES_REPORT, Learner
from tests.fixtures.stack import Stack

SAID = "summarise the sales figures"
GOAL = "Summarise the sales figures"
SLUG = "summarise-the-sales-figures"
WHY = {"reason": "It wrote to the wrong folder"}


class Owner:
    """Somebody with an installed ability."""

    def __init__(self, stack: Stack, learner: Learner, ability_id: str) -> None:
        self.stack = stack
        self.learner = learner
        self.ability_id = ability_id
        self.path = f"/api/abilities/{ability_id}"

    async def does(self, action: str, body: Any = None, **headers: str) -> dict[str, Any]:
        """A command that is taken; afterwards the snapshot says what the store says."""
        answer = await self.learner.ok("POST", f"{self.path}/{action}", body, **headers)
        self.assert_snapshot_equals_the_store()
        return answer

    async def may_not(self, action: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        """A command that is refused."""
        return await self.learner.refused("POST", f"{self.path}/{action}", body)

    async def detail(self) -> dict[str, Any]:
        return await self.learner.ok("GET", self.path)

    async def found_by(self, learner: Learner) -> bool:
        """Whether a lookup lists the ability."""
        answer = await learner.ok("POST", "/api/abilities/lookup", {"user_query": SAID})
        return any(match["ability_id"] == self.ability_id for match in answer["matches"])

    def file(self, name: str) -> str | None:
        """A file of the skill as the agent finds it."""
        path = self.stack.settings.workspace / "skills" / SLUG / name
        return path.read_text() if path.is_file() else None

    def tree(self, path: str) -> Any:
        """A document of the memory tree."""
        return json.loads((self.stack.settings.memory_root / "system" / path).read_text())

    def assert_snapshot_equals_the_store(self) -> None:
        snapshot = AbilityAvailabilitySnapshot.model_validate(
            self.tree("abilities/availability_current.json")
        )
        with self.stack.database.read() as connection:
            bodies = connection.scalars(select(abilities.c.body).order_by(abilities.c.ability_id)).all()
        assert [one.model_dump(mode="json", exclude_none=True) for one in snapshot.abilities] == [
            json.loads(body) for body in bodies
        ]

    def bridge(self) -> dict[str, Any]:
        """The ability's capability as the bridge has it."""
        (entry,) = self.tree("capabilities/bridge_entries_current.json")["entries"]
        return dict(entry)


async def owner_of_one(stack: Stack, user: str = "alice", *, lane: str = "approved_workspace") -> Owner:
    learner = stack.learner(user)
    await learner.teach(GOAL, allow_private_install=True)
    installed = await learner.propose_act("install", {"install_lane": lane})
    return Owner(stack, learner, installed["ability_id"])


async def taught_again(owner: Owner) -> None:
    """A second version with other content."""
    await owner.learner.create(allow_private_install=True)
    await owner.learner.act("start")
    await owner.learner.act("mark-goal", {"goal_description": GOAL})
    await owner.learner.observe(SALES_REPORT[:-1])
    await owner.learner.act("stop")
    await owner.learner.propose()
    assert await owner.learner.prove() == "ready_for_review"
    await owner.learner.propose_act("approve")
