"""Whatever several users do with their abilities, in any order, what must never be never is."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from contracts.abilities.availability import AbilityAvailabilitySnapshot
from contracts.errors import ERROR_RULES, ErrorCode
from contracts.learning.validation import ValidationRun
from stores.platform.journal.chains import verify_chains
from stores.platform.projection.documents import list_documents, read_document
from stores.platform.tables import abilities, ability_versions, learn_sessions, validation_runs
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack
from tests.fixtures.thoroughness import times
from tests.model.choices import BODIES_OF_ABILITY, OF_ABILITY
from tests.model.driver import goal_number, shown, shown_after
from tests.model.test_session_lifecycle import stack_in_a_thread

WALKS = times(12)
STEPS = 12
USERS = ("ann", "ben")
MAY_BE_REFUSED = {
    ErrorCode.INVALID_LEARN_STATE_TRANSITION,
    ErrorCode.INSTALL_LANE_DENIED,
    ErrorCode.VALIDATION_REQUIRED,
    ErrorCode.NOT_FOUND,
    ErrorCode.ABILITY_NOT_FOUND,
    ErrorCode.FORBIDDEN,
}


@dataclass(frozen=True)
class Town:
    """Two owners with an ability of two versions each, and an admin."""

    portal: BlockingPortal
    stack: Stack
    callers: dict[str, Learner]
    owned: dict[str, str]
    goals: dict[str, str]

    def call(self, caller: str, path: str, body: Any = None) -> Any:
        async def send() -> Any:
            return await self.callers[caller].call("POST", path, body)

        return self.portal.call(send)


async def taught_twice(learner: Learner, goal: str) -> str:
    """An ability with two versions of other content, in the workspace lane."""
    demonstrated = shown("good", goal)
    for what in (demonstrated, (*demonstrated, *shown_after(goal))):
        await learner.create()
        await learner.act("start")
        await learner.act("mark-goal", {"goal_description": goal})
        await learner.observe(what)
        await learner.act("stop")
        await learner.propose()
        assert await learner.prove() == "ready_for_review"
        answer = await learner.propose_act("approve")
    return str(answer["proposal"]["ability_id"])


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory, temporal_address: str) -> Iterator[Town]:
    folder: Path = tmp_path_factory.mktemp("abilities")
    with stack_in_a_thread(folder, temporal_address) as (portal, stack):
        callers = {user: stack.learner(user) for user in USERS}
        goals = {user: goal_number(number) for number, user in enumerate(USERS, start=11)}
        owned = {user: portal.call(taught_twice, callers[user], goals[user]) for user in USERS}
        callers["root"] = stack.learner("root", ("admin",))
        yield Town(portal, stack, callers, owned, goals)


commands = st.sampled_from(OF_ABILITY).flatmap(
    lambda action: st.tuples(st.just(action), st.sampled_from(BODIES_OF_ABILITY.get(action, (None,))))
)
steps = st.tuples(st.sampled_from((*USERS, *USERS, "root")), st.sampled_from(USERS), commands)


@settings(
    max_examples=WALKS,
    derandomize=True,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(walk=st.lists(steps, min_size=STEPS, max_size=STEPS))
def test_commands_on_abilities_from_several_users_keep_every_promise(
    town: Town, walk: list[tuple[str, str, tuple[str, Any]]]
) -> None:
    for caller, owner, (action, body) in walk:
        response = town.call(caller, f"/api/abilities/{town.owned[owner]}/{action}", body)
        if not response.is_success:
            code = ErrorCode(response.json()["error"]["code"])
            assert code in MAY_BE_REFUSED, response.text
            assert ERROR_RULES[code].status == response.status_code
        if response.is_success:
            assert caller in (owner, "root")
        assert_promises_are_kept(town)
    assert verify_chains(town.stack.database).intact


def assert_promises_are_kept(town: Town) -> None:
    """Nothing out of use is routable, the snapshot is the store's, and all content has been proven."""
    with town.stack.database.read() as connection:
        rows = connection.execute(select(abilities).order_by(abilities.c.ability_id)).all()
        content = read_document(connection, "memory", "system/abilities/availability_current.json")
        installed = {
            row.ability_id: list_documents(connection, "workspace", f"skills/{row.slug}") for row in rows
        }
        passed = {
            run.content_hash
            for body in connection.scalars(select(validation_runs.c.body))
            if (run := ValidationRun.model_validate_json(body)).overall_result == "passed"
        }
        versions = connection.execute(select(ability_versions)).all()
        slots = connection.scalars(select(learn_sessions.c.owner).where(learn_sessions.c.holds_slot)).all()
    assert content is not None
    snapshot = AbilityAvailabilitySnapshot.model_validate_json(content)
    assert [entry.model_dump_json(exclude_none=True) for entry in snapshot.abilities] == [
        type(entry).model_validate_json(row.body).model_dump_json(exclude_none=True)
        for entry, row in zip(snapshot.abilities, rows, strict=True)
    ]
    for entry, row in zip(snapshot.abilities, rows, strict=True):
        in_use = entry.enabled and entry.install_lane != "quarantined" and entry.archived_at is None
        assert entry.install_lane == row.lane
        assert entry.usable_now is in_use
        assert bool(installed[entry.ability_id]) is in_use
        goal = town.goals[entry.owner_user_id]
        for caller in USERS:
            answer = town.call(caller, "/api/abilities/lookup", {"user_query": goal})
            found = {match["ability_id"] for match in answer.json()["matches"]}
            may_see = entry.install_lane != "experimental_private" or caller == entry.owner_user_id
            assert (entry.ability_id in found) is (in_use and may_see)
    for version in versions:
        assert any(digest in version.body for digest in passed)
    assert len(slots) == len(set(slots))
