"""Whatever many people do, one after another and at once, what must never be never is.

The commands are drawn by seed; which of those sent at once comes first is the machine's. What was said is
noted at the failure.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from stores.platform.journal.chains import verify_chains
from tests.fixtures.mcp_servers import GoodServer
from tests.fixtures.served import served
from tests.fixtures.stack import Stack, connect
from tests.fixtures.thoroughness import times
from tests.fixtures.tool_calls import tool_stack
from tests.model.town import town_of
from tests.model.town_life import TownLife
from tests.model.town_promises import assert_promises_are_kept

pytestmark = pytest.mark.timeout(300)

SEEDS = range(times(3))
STEPS = 25
LOOKED_AT_EVERY = 5


@contextmanager
def served_stack(folder: Path, temporal: str) -> Iterator[tuple[BlockingPortal, Stack, str]]:
    """The application with an event loop of its own, and its address."""
    with start_blocking_portal() as portal:
        client = portal.call(connect, temporal)
        with (
            portal.wrap_async_context_manager(tool_stack(folder, client)) as stack,
            portal.wrap_async_context_manager(served(stack)) as address,
        ):
            yield portal, stack, address


@pytest.fixture(scope="module")
def application(
    tmp_path_factory: pytest.TempPathFactory, temporal_address: str
) -> Iterator[tuple[BlockingPortal, Stack, str]]:
    with served_stack(tmp_path_factory.mktemp("town"), temporal_address) as running:
        yield running


async def walk(stack: Stack, address: str, server: GoodServer, seed: int) -> None:
    """A walk of its own people through the application."""
    async with town_of(stack, address, server, seed) as town:
        life = TownLife(town, Random(seed))
        try:
            await life.begin()
            assert len(await assert_promises_are_kept(town)) == len(town.residents)
            for number in range(1, STEPS + 1):
                await life.step()
                if number % LOOKED_AT_EVERY == 0:
                    await assert_promises_are_kept(town)
                    town.log.append("-- looked at")
            await life.end()
        except BaseException as error:
            error.add_note("\n".join((f"Seed {seed}:", *town.log)))
            raise
    assert verify_chains(stack.database).intact


@pytest.mark.thorough
@pytest.mark.parametrize("seed", SEEDS)
def test_many_people_at_once_keep_every_promise(
    application: tuple[BlockingPortal, Stack, str], tool_server: GoodServer, seed: int
) -> None:
    portal, stack, address = application
    portal.call(walk, stack, address, tool_server, seed)
