"""Keeping the two ends of an output that may never stop."""


class BoundedOutput:
    """Takes any amount of output and keeps its first and its last half of ``limit`` bytes."""

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        self._head = b""
        self._tail = b""
        self.truncated = False

    def append(self, chunk: bytes) -> None:
        """Takes the next piece."""
        room = self._half - len(self._head)
        self._head += chunk[:room]
        rest = self._tail + chunk[room:] if room else self._tail + chunk
        self.truncated = self.truncated or len(rest) > self._half
        self._tail = rest[-self._half :]

    def text(self) -> str:
        """What was kept, a cut shown by a line of its own; bytes that are no UTF-8 are replaced."""
        head, tail = (part.decode("utf-8", errors="replace") for part in (self._head, self._tail))
        return f"{head}\n[output cut]\n{tail}" if self.truncated else head + tail
