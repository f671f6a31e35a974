"""Exponential backoff with jitter: how long to wait between retries."""

from dataclasses import dataclass

_MAX_EXPONENT = 64
"""Bounds the power: a part may fail for months."""


@dataclass(frozen=True)
class Backoff:
    """Delays that grow by ``factor`` from ``first`` to ``cap``, in the unit (seconds, milliseconds) of both.

    ``jitter`` is the share of a delay that is random, from 0 (none) to 1 ("full jitter").
    """

    first: float
    cap: float
    factor: float = 2.0
    jitter: float = 0.0

    def delay(self, attempt: int, random: float = 1.0) -> float:
        """The wait after attempt number ``attempt`` (from 1); ``random``, from 0 to 1, places it in the jitter."""
        exponent = min(max(attempt - 1, 0), _MAX_EXPONENT)
        ceiling = min(self.cap, self.first * self.factor**exponent)
        return ceiling * (1 - self.jitter + self.jitter * random)
