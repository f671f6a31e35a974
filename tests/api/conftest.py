"""One running application for each test file, and a check that nothing secret is logged."""

import os
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.api.world import CANARY, World, build_world
from tests.fixtures.stack import Stack, connect, lone_stack, stack_settings


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """For as long as the module's application runs."""
    return "asyncio"


@pytest.fixture(scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory, temporal_address: str) -> AsyncIterator[Stack]:
    """The application, shared by the tests of a file."""
    with pytest.MonkeyPatch.context() as environment:
        for name in list(os.environ):
            if name.startswith(("APPRENTICE_", "TEMPORAL_")):
                environment.delenv(name)
        settings = stack_settings(tmp_path_factory.mktemp("shared"), mcp_allow_private_addresses=True)
    client = await connect(temporal_address)
    async with lone_stack(settings, client) as running:
        yield running


@pytest.fixture(scope="module")
async def world(shared: Stack) -> World:
    """Objects of every kind in that application."""
    return await build_world(shared)


@pytest.fixture(autouse=True)
def discreet_logs(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No test makes the service log what a client sent by mistake, or an error nobody expected."""
    yield
    out, err = capfd.readouterr()
    logged = out + err + caplog.text
    assert [word for word in (CANARY, "request failed") if word in logged] == []
