"""One confined process as the worker sees it: started, talked to, watched, and ended with all it has started."""

import asyncio
import contextlib
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from contracts.skills.invocation import Isolation
from host.bounded_use import BoundedOutput, GrowthWatch, MemoryWatch
from host.process_tree import deleted_bytes
from host.sandbox.launch_order import (
    CONFINED,
    ENDED,
    NO_NAMESPACES,
    PRIVILEGED,
    SHARED,
    UNAVAILABLE,
    USER,
    Layers,
    Order,
    SandboxUnavailable,
    host_isolation,
)
from host.sandbox.launches import LaunchServer

_ENTRY = "skills.runtime.handler_host:run"
_END_SECONDS = 5.0
_START_SECONDS = 20.0
_LOOK_SECONDS = 0.02
_MOST_FILES = 10_000
_OUTGREW = "wrote more than its folder may hold"
_OUT_OF_MEMORY = "used more memory than it may, with all that it started"

_server = LaunchServer(_ENTRY)
known_ways: dict[tuple[str, ...], str] = {}
"""The way to isolate that was found to work, by the ways that were allowed."""


@dataclass(frozen=True)
class Confinement:
    """What a process is started with: an order without the way to isolate it, and the ways it may be isolated.

    ``take_output`` is given what it writes to its standard output; without it that is kept with the errors.
    """

    order: Order
    log_bytes: int
    namespaces_only: bool = False
    has_channel: bool = True
    take_output: Callable[[bytes], None] | None = None

    def ways(self) -> tuple[str, ...]:
        """The ways to isolate, the best first; the one that worked before is tried alone."""
        ways = (PRIVILEGED, USER) if os.geteuid() == 0 else (USER,)
        ways = ways if self.namespaces_only else (*ways, SHARED)
        return (known_ways[ways],) if ways in known_ways else ways


class ConfinedProcess:
    """A process that runs. ``output`` is what it has written to its standard output and error so far.

    The memory of all that it starts is watched, and its folder where that is no folder in memory with a size of its
    own; ``outgrown`` says what it was ended for.
    """

    def __init__(
        self,
        lifeline: int,
        isolation: Isolation,
        reports: "_Drain",
        output: BoundedOutput,
        watches: Sequence[tuple[GrowthWatch | MemoryWatch, str]],
    ) -> None:
        self._lifeline: int | None = lifeline
        self._reports = reports
        self._growth = asyncio.create_task(self._watch(watches)) if watches else None
        self.isolation = isolation
        self.output = output
        self.outgrown: str | None = None
        self.inward: int | None = None
        self.outward: int | None = None

    def take_channel(self) -> tuple[int, int]:
        """The descriptors to write to it and to read from it; whoever takes them closes them."""
        assert self.inward is not None
        assert self.outward is not None
        taken = self.inward, self.outward
        self.inward = self.outward = None
        return taken

    async def ended(self) -> int | None:
        """Waits until everything has ended; the wait status, or None where it was ended from here."""
        await self._reports.drained()
        ended = self._reports.line(ENDED)
        return int(ended) if ended is not None else None

    async def end(self) -> None:
        """Ends it and all it has started, if it has not ended by itself."""
        self._let_go()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._reports.drained(), _END_SECONDS)

    def close(self) -> None:
        """Closes what is still open of its pipes."""
        self._let_go()
        if self._growth is not None:
            self._growth.cancel()
        for descriptor in (self.inward, self.outward):
            if descriptor is not None:
                os.close(descriptor)
        self.inward = self.outward = None
        self._reports.close()

    async def _watch(self, watches: Sequence[tuple[GrowthWatch | MemoryWatch, str]]) -> None:
        while self.outgrown is None:
            await asyncio.sleep(_LOOK_SECONDS)
            exceeded = (how for watch, how in watches if watch.exceeded(time.monotonic()))
            self.outgrown = next(exceeded, None)
        self._let_go()

    def _let_go(self) -> None:
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None


def warm() -> None:
    """Starts what starts processes, so that the first run need not wait for it."""
    _server.warm()


async def start(confinement: Confinement) -> ConfinedProcess:
    """Starts a process as it is ordered.

    Raises:
        SandboxUnavailable: it cannot be isolated here as it has to be; nothing was run.
    """
    reasons: list[str] = []
    ways = confinement.ways()
    for way in ways:
        started = await _attempt(confinement, way)
        if isinstance(started, ConfinedProcess):
            if len(ways) > 1:
                known_ways[ways] = way
            return started
        reasons.append(started)
    raise SandboxUnavailable("; ".join(dict.fromkeys(reasons)))


async def _attempt(confinement: Confinement, way: str) -> ConfinedProcess | str:
    order: Order = {**confinement.order, "isolation": way}
    pipes = _Pipes(confinement.has_channel, confinement.take_output is not None)
    try:
        launcher = await asyncio.to_thread(_server.launch, pipes.theirs)
    except SandboxUnavailable:
        pipes.close()
        raise
    finally:
        pipes.close_theirs()
    kept = BoundedOutput(confinement.log_bytes)
    drains = [await _Drain.of(pipes.take("errors"), kept.append)]
    if confinement.take_output is not None:
        drains.append(await _Drain.of(pipes.take("output"), confinement.take_output))
    reports = await _Drain.of(pipes.take("reports"), None, beside=tuple(drains))
    lifeline = pipes.take("order")
    os.write(lifeline, json.dumps(order).encode() + b"\n")
    try:
        await asyncio.wait_for(reports.first.wait(), _START_SECONDS)
    except TimeoutError:
        os.close(lifeline)
        pipes.close()
        reports.close()
        return "the launcher did not answer"
    confined = reports.line(CONFINED)
    if confined is None:
        os.close(lifeline)
        pipes.close()
        reports.close()
        return (
            reports.line(NO_NAMESPACES)
            or reports.line(UNAVAILABLE)
            or f"it ended early: {kept.text()[-300:]}"
        )
    watches: list[tuple[GrowthWatch | MemoryWatch, str]] = []
    if launcher:
        watches.append((MemoryWatch(launcher, order["data_bytes"] or order["memory_bytes"]), _OUT_OF_MEMORY))
    if way == SHARED:
        root = Path(order["root"])
        deleted = partial(_deleted, launcher, root.stat().st_dev)
        watches.append((GrowthWatch(root, order["root_bytes"], _MOST_FILES, deleted), _OUTGREW))
    process = ConfinedProcess(lifeline, _isolation(json.loads(confined)), reports, kept, watches)
    if confinement.has_channel:
        process.inward, process.outward = pipes.take("inward"), pipes.take("outward")
    return process


def _deleted(launcher: int, device: int) -> int:
    return deleted_bytes(launcher, device) if launcher else 0


def _isolation(layers: Layers) -> Isolation:
    held = host_isolation(layers)
    return Isolation(
        namespaces=held.process_tree,
        landlock=layers["landlock"] > 0,
        seccomp=layers["seccomp"],
        missing=tuple(text[:240] for text in held.missing),
    )


class _Pipes:
    """The pipes of one launch: our ends by name, theirs in the order that the launch server expects."""

    def __init__(self, has_channel: bool, output_apart: bool) -> None:
        order, ours_order = os.pipe()
        ours_errors, errors = os.pipe()
        ours_reports, reports = os.pipe()
        self.ours = {"order": ours_order, "errors": ours_errors, "reports": ours_reports}
        if output_apart:
            self.ours["output"], output = os.pipe()
        else:
            output = os.dup(errors)
        self.theirs = [order, output, errors, reports]
        if has_channel:
            inward, ours_inward = os.pipe()
            ours_outward, outward = os.pipe()
            self.ours |= {"inward": ours_inward, "outward": ours_outward}
            self.theirs += [inward, outward]

    def take(self, name: str) -> int:
        """Our end; whoever takes it closes it."""
        return self.ours.pop(name)

    def close_theirs(self) -> None:
        """Their ends, once they have them."""
        for descriptor in self.theirs:
            os.close(descriptor)

    def close(self) -> None:
        """Our ends that nobody took."""
        while self.ours:
            os.close(self.ours.popitem()[1])


class _Drain(asyncio.Protocol):
    """Reads a pipe as fast as it is written, so that no writer ever waits."""

    def __init__(self, take: Callable[[bytes], None] | None, beside: "tuple[_Drain, ...]") -> None:
        self._take = take
        self._beside = beside
        self._text = b""
        self.first = asyncio.Event()
        self.closed = asyncio.Event()
        self.transport: asyncio.BaseTransport | None = None

    @classmethod
    async def of(
        cls, descriptor: int, take: Callable[[bytes], None] | None, beside: "tuple[_Drain, ...]" = ()
    ) -> "_Drain":
        """Begins to read ``descriptor``, and closes it in the end."""
        drain = cls(take, beside)
        pipe = os.fdopen(descriptor, "rb", buffering=0)
        await asyncio.get_running_loop().connect_read_pipe(lambda: drain, pipe)
        return drain

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self._take is not None:
            self._take(data)
            return
        self._text += data
        if self._text.endswith(b"\n"):
            self.first.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.first.set()
        self.closed.set()

    def line(self, kind: str) -> str | None:
        """What was reported under ``kind``."""
        for line in self._text.decode(errors="replace").splitlines():
            if line.startswith(kind + " "):
                return line[2:]
        return None

    async def drained(self) -> None:
        """Waits until nobody can write any more, here and beside."""
        for drain in (self, *self._beside):
            await drain.closed.wait()

    def close(self) -> None:
        """Reads no more, here and beside."""
        if self.transport is not None:
            self.transport.close()
        for drain in self._beside:
            drain.close()
