"""Waiting for something to become true, never for a time to pass."""

import inspect
from collections.abc import Awaitable, Callable

import anyio

from tests.fixtures.learner import FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS

AT_MOST_SECONDS = 60
"""Far beyond what anything here takes on an idle machine."""


async def eventually(holds: Callable[[], bool | Awaitable[bool]], otherwise: str) -> None:
    """Returns once ``holds`` does; fails with ``otherwise`` when it never does."""
    with anyio.move_on_after(AT_MOST_SECONDS):
        pause = FIRST_PAUSE_SECONDS
        while True:
            found = holds()
            if await found if inspect.isawaitable(found) else found:
                return
            await anyio.sleep(pause)
            pause = min(pause * 1.25, LONGEST_PAUSE_SECONDS)
    raise AssertionError(otherwise)
