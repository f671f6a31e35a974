"""A worker is killed at every step of a lesson: another one finishes it, and everything happened once."""

import httpx
import pytest

from contracts.learning.saga import SagaStepName
from tests.faults.deployment import Deployment
from tests.faults.verdict import assert_installed_once, demonstrate
from tests.faults.verdict import teach as taught

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

STEPS = [f"install_step.{step.value}.{when}" for step in SagaStepName for when in ("before", "after")]


@pytest.mark.parametrize("point", STEPS)
async def test_killed_at_a_step_of_an_install(
    deployment: Deployment, http: httpx.AsyncClient, point: str
) -> None:
    alice = deployment.learner(http, f"user{STEPS.index(point)}")
    await taught(alice)
    deployment.traps.set(point)
    await alice.propose_act("approve")
    assert deployment.traps.has_sprung(point)
    await assert_installed_once(deployment, alice)
