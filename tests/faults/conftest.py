"""One installation in processes for the whole folder; each test has its own users and leaves it running."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from anyio.from_thread import start_blocking_portal

from tests.faults.deployment import Deployment, TemporalProcess
from tests.fixtures.thoroughness import life_of_processes


@pytest.fixture(scope=life_of_processes)
def running_deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Temporal with a database file, two workers and the API."""
    folder: Path = tmp_path_factory.mktemp("deployment")
    temporal = TemporalProcess(folder)
    try:
        with start_blocking_portal() as portal:
            portal.call(temporal.start)
        deployment = Deployment(folder, temporal)
        try:
            yield deployment
        finally:
            deployment.close()
    finally:
        temporal.kill()


@pytest.fixture
async def deployment(running_deployment: Deployment) -> AsyncIterator[Deployment]:
    """The installation with everything running, and no trap set."""
    running_deployment.traps.clear()
    await running_deployment.temporal.start()
    running_deployment.start_workers()
    await running_deployment.start_api()
    yield running_deployment
    running_deployment.traps.clear()


@pytest.fixture
async def http(deployment: Deployment) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the deployment's API."""
    url = deployment.settings.local_api_url
    async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
        yield client
