"""The garbage collector's pace in a process that serves."""

import gc

ALLOCATIONS_A_COLLECTION = 10_000
"""How many more containers than were freed make the collector look; Python's own 700 are a batch of events."""


def collect_seldom() -> None:
    """Takes what is imported by now out of every collection, and lets requests end before the next one.

    Call it once, when a process has imported everything. Parsing a batch of events makes thousands of objects that
    are in no cycle and die with the request: looking through them meanwhile takes as long as parsing them.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(ALLOCATIONS_A_COLLECTION, 20, 20)
