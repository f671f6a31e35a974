"""The application and a model of it, told the same commands in any order, agree."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from stores.journal import verify_chains
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings
from tests.model.driver import Driver
from tests.model.session_machine import SessionMachine

EXAMPLES = 20
STEPS = 25

WALKS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
"""The same walks in every run, not shrunk: each takes real time on a real server."""


@contextmanager
def stack_in_a_thread(folder: Path, address: str) -> Iterator[tuple[BlockingPortal, Stack]]:
    """The application with an event loop of its own, so that synchronous rules can drive it."""
    with start_blocking_portal() as portal:
        client = portal.call(connect, address)
        with portal.wrap_async_context_manager(running_stack(stack_settings(folder), client)) as stack:
            yield portal, stack


@pytest.mark.timeout(300)
def test_commands_in_any_order_do_what_the_model_says(tmp_path: Path, temporal_address: str) -> None:
    users = count(1)
    with stack_in_a_thread(tmp_path, temporal_address) as (portal, stack):

        def machine() -> SessionMachine:
            return SessionMachine(Driver(portal, stack, stack.learner(f"user-{next(users)}")))

        run_state_machine_as_test(machine, settings=WALKS)
        assert verify_chains(stack.database).intact
