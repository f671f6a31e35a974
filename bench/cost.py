"""What a piece of work takes: time, and the processor time of this process."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """What one piece of work took: seconds, and the processor's seconds of this process."""

    seconds: float
    processor: float


async def timed(act: Callable[[], Awaitable[object]]) -> Cost:
    """What ``act`` takes."""
    begun, worked = time.perf_counter(), time.process_time()
    await act()
    return Cost(time.perf_counter() - begun, time.process_time() - worked)
