"""A worker stands still in the middle of its work, another one does it, and then the first goes on."""

import httpx
import pytest

from tests.faults.deployment import Deployment, resumed
from tests.faults.patience import eventually
from tests.faults.traps import STAND_STILL
from tests.faults.verdict import assert_installed_once, installed, teach

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]


@pytest.mark.parametrize("step", ["materialise", "refresh_availability"])
async def test_what_it_does_late_is_in_vain_and_changes_nothing(
    deployment: Deployment, http: httpx.AsyncClient, step: str
) -> None:
    alice = deployment.learner(http)
    await teach(alice)
    deployment.traps.set(f"install_step.{step}.before", STAND_STILL)
    await alice.propose_act("approve")
    with resumed(await deployment.traps.victim(f"install_step.{step}.before")):
        await assert_installed_once(deployment, alice)
        before = await installed(deployment)
        deployment.traps.set(f"install_step.{step}.in_vain")
    await eventually(lambda: deployment.traps.has_sprung(f"install_step.{step}.in_vain"), "it never goes on")
    assert await installed(deployment) == before
    await assert_installed_once(deployment, alice)
