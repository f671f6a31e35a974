"""The application and a model of it, told the same commands in any order, agree."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from random import Random

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import randoms

from stores.platform.journal.chains import verify_chains
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings
from tests.fixtures.thoroughness import times
from tests.model.driver import Driver
from tests.model.session_machine import SessionMachine

WALKS = times(16)
STEPS = 30

walks = count()
"""Each walk is a user of its own."""


@contextmanager
def stack_in_a_thread(folder: Path, address: str) -> Iterator[tuple[BlockingPortal, Stack]]:
    """The application with an event loop of its own, so that one stack serves every walk."""
    with start_blocking_portal() as portal:
        client = portal.call(connect, address)
        with portal.wrap_async_context_manager(running_stack(stack_settings(folder), client)) as stack:
            yield portal, stack


@pytest.fixture(scope="module")
def application(
    tmp_path_factory: pytest.TempPathFactory, temporal_address: str
) -> Iterator[tuple[BlockingPortal, Stack]]:
    with stack_in_a_thread(tmp_path_factory.mktemp("model"), temporal_address) as running:
        yield running


@pytest.mark.everyday
@settings(
    max_examples=WALKS,
    # The same walks everywhere: a failure on one machine is a failure on the next.
    derandomize=True,
    deadline=None,
    # A walk takes seconds: what failed is told by its own log, not by minutes of looking for a shorter one.
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(rng=randoms(use_true_random=False))
def test_commands_in_any_order_do_what_the_model_says(
    application: tuple[BlockingPortal, Stack], rng: Random
) -> None:
    portal, stack = application
    machine = SessionMachine(Driver(portal, stack, stack.learner(f"user-{next(walks)}")))
    for _ in range(STEPS):
        machine.step(rng)
    machine.finish()
    assert verify_chains(stack.database).intact
