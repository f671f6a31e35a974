"""A worker stands still in the middle of its work, another one does it, and then the first goes on."""

import anyio
import httpx
import pytest

from tests.faults.deployment import Deployment
from tests.faults.patience import eventually
from tests.faults.tool_user import ToolUser, tool_user
from tests.faults.trapped_calls import ANSWERED, WRITTEN
from tests.faults.traps import HOLD
from tests.faults.verdict import assert_installed_once, installed, teach
from tests.fixtures.mcp_servers import GoodServer

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("step", ["materialise", "refresh_availability"])
async def test_what_it_does_late_is_in_vain_and_changes_nothing(
    deployment: Deployment, http: httpx.AsyncClient, step: str
) -> None:
    alice = deployment.learner(http)
    await teach(alice)
    deployment.traps.set(f"install_step.{step}.before", HOLD)
    approved = anyio.Event()

    async def approve() -> None:
        await alice.propose_act("approve")
        approved.set()

    async with anyio.create_task_group() as group:
        group.start_soon(approve)
        async with deployment.standing_still(f"install_step.{step}.before"):
            await approved.wait()
            await assert_installed_once(deployment, alice)
            before = await installed(deployment)
            deployment.traps.set(f"install_step.{step}.in_vain")
    await eventually(lambda: deployment.traps.has_sprung(f"install_step.{step}.in_vain"), "it never goes on")
    assert await installed(deployment) == before
    await assert_installed_once(deployment, alice)


@pytest.fixture
async def alice(deployment: Deployment, http: httpx.AsyncClient, tool_server: GoodServer) -> ToolUser:
    """A user whose tool server behaves."""
    return await tool_user(deployment, http, tool_server)


@pytest.mark.parametrize(
    ("point", "ends"),
    [("call_tool.any.before", "completed"), (WRITTEN, "outcome_unknown"), (ANSWERED, "outcome_unknown")],
)
async def test_of_two_workers_that_come_to_a_tool_call_one_makes_it(
    alice: ToolUser, point: str, ends: str
) -> None:
    traps = alice.deployment.traps
    dispatch_id = await alice.ask()
    traps.set(point, HOLD)
    await alice.approve(dispatch_id)
    over = ("call_tool.any.after", "call_tool.any.in_vain")
    async with alice.deployment.standing_still(point):
        await eventually(lambda: alice.has_come_to(dispatch_id, ends), "the other worker never comes to it")
        for trap in over:
            traps.set(trap)
    await eventually(lambda: any(map(traps.has_sprung, over)), "the first never goes on")
    assert await alice.ended(dispatch_id) == ends
    made = len(alice.server.effects(dispatch_id))
    # The first was told to stop while it stood still: its call may have come to nothing, and nobody knows.
    assert made == 1 or (point, made) == (WRITTEN, 0)
