"""The garbage collector of a process: off while its modules are loaded, seldom while it serves.

Loading the modules of a worker makes some 430,000 objects, next to none of which is garbage. Looked through again and
again meanwhile they take a fifth of its start.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager

ALLOCATIONS_A_COLLECTION = 10_000
"""Threshold of the youngest generation; Python's default of 700 is reached by a single batch of events."""


@contextmanager
def loading() -> Generator[None]:
    """Collects no garbage within, and never looks through what is there at its end."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def collect_seldom() -> None:
    """Freezes what is there and raises the garbage collector's thresholds.

    Call it once, when the process is put together. Parsing a batch of events allocates thousands of objects that are
    in no cycle and are freed with the request: collecting during the request takes as long as parsing them.
    """
    gc.freeze()
    gc.set_threshold(ALLOCATIONS_A_COLLECTION, 20, 20)
