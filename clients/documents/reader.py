"""Has a document read by a process of its own, within limits, and takes its answer."""

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clients.documents.reading_order import CONFINED, FAILED, FOUND, PAGE, ReadingFailure, ReadingOrder
from host.onnx_runtime import WITHOUT_TELEMETRY

_PACKAGE_ROOT = str(Path(__file__).resolve().parents[2])
_LAUNCH = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from clients.documents.reading_process import main; main(sys.argv[1])"
)
_BEAT_SECONDS = 1.0
_EXTRACTION_FAILED = "ACROBAT_EXTRACTION_FAILED"


@dataclass(frozen=True)
class ReadingLimits:
    """The most that reading one document may take. Sizes in bytes, times in seconds."""

    wall_seconds: float = 110.0
    cpu_seconds: int = 220
    memory_bytes: int = 4 * 1024**3
    """Address space: what libraries reserve counts, so it is far more than what they use."""
    answer_bytes: int = 32 * 1024**2
    max_pages: int = 2_000
    at_once: int = 2
    """Documents that are read at the same time; the others wait, within their own time."""


class ReadingFailed(Exception):
    """The document was not read; ``failure`` says why, with a code of ``contracts.errors``."""

    def __init__(self, failure: ReadingFailure) -> None:
        super().__init__(failure["message"])
        self.failure = failure


@dataclass
class _Answer:
    """What a reading process has reported so far."""

    page: int | None = None
    confined: dict[str, Any] | None = None
    found: dict[str, Any] | None = None
    failure: ReadingFailure | None = None
    too_large: bool = False


@dataclass(frozen=True)
class Reading:
    """What was found in a document, and by what the process was held."""

    found: dict[str, Any]
    confinement: dict[str, Any]


class DocumentReader:
    """Starts a process for each document; safe to use by many at once."""

    def __init__(self, limits: ReadingLimits | None = None) -> None:
        self.limits = limits or ReadingLimits()
        self._turns = asyncio.Semaphore(self.limits.at_once)

    async def read(
        self,
        order: dict[str, Any],
        content: bytes,
        beat: Callable[[], None],
        wall_seconds: float | None = None,
    ) -> Reading:
        """What the process finds; ``order`` has what ``ReadingOrder`` has beyond size and limits.

        ``beat`` is called about once a second. What it raises, or a cancellation, ends the process.

        Raises:
            ReadingFailed: the document cannot be read, or took more than the limits allow.
        """
        whole: ReadingOrder = {
            "page_range": None,
            "ocr_fallback": False,
            "table_mode": "auto",
            "language_hint": None,
            "pattern_set": [],
            **order,
            "size": len(content),
            "max_pages": self.limits.max_pages,
            "cpu_seconds": self.limits.cpu_seconds,
            "memory_bytes": self.limits.memory_bytes,
        }  # type: ignore[typeddict-item]
        seconds = min(wall_seconds or self.limits.wall_seconds, self.limits.wall_seconds)
        deadline = time.monotonic() + seconds
        turn = asyncio.ensure_future(self._turns.acquire())
        if not await _within(turn, deadline, beat):
            raise ReadingFailed(
                ReadingFailure(
                    code=_EXTRACTION_FAILED, message="other documents took all the time; ask again", page=None
                )
            )
        try:
            return await self._read(whole, content, beat, deadline, seconds)
        finally:
            self._turns.release()

    async def _read(
        self,
        order: ReadingOrder,
        content: bytes,
        beat: Callable[[], None],
        deadline: float,
        seconds: float,
    ) -> Reading:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-B",
            "-c",
            _LAUNCH,
            _PACKAGE_ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd="/",
            env={"LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"} | WITHOUT_TELEMETRY,
            limit=self.limits.answer_bytes,
        )
        answer = _Answer()
        try:
            talking = asyncio.gather(_send(process, order, content), _listen(process, answer))
            in_time = await _within(talking, deadline, beat)
            if not in_time or answer.too_large:
                _kill(process)
        except BaseException:
            _kill(process)
            raise
        finally:
            await process.wait()
        if answer.found is not None and answer.confined is not None:
            return Reading(answer.found, answer.confined)
        raise ReadingFailed(answer.failure or _why_silent(answer, process.returncode, in_time, seconds))


def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        # Not by the process object: it would take the exit status that the event loop waits for.
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


async def _send(process: asyncio.subprocess.Process, order: ReadingOrder, content: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.write(content)
        await process.stdin.drain()
        process.stdin.close()
        await process.stdin.wait_closed()


async def _listen(process: asyncio.subprocess.Process, answer: _Answer) -> None:
    assert process.stdout is not None
    while True:
        try:
            line = await process.stdout.readline()
        except ValueError:
            answer.too_large = True
            return
        if not line:
            return
        kind, _, text = line.decode().partition(" ")
        what = json.loads(text)
        if kind == PAGE:
            answer.page = what
        elif kind == CONFINED:
            answer.confined = what
        elif kind == FOUND:
            answer.found = what
        elif kind == FAILED:
            answer.failure = what


async def _within(talking: "asyncio.Future[Any]", deadline: float, beat: Callable[[], None]) -> bool:
    """Waits until the deadline, then gives up; whether the end came in time."""
    try:
        while True:
            left = deadline - time.monotonic()
            done, _ = await asyncio.wait([talking], timeout=min(_BEAT_SECONDS, max(left, 0)))
            if done:
                await talking
                return True
            if left <= 0:
                return False
            beat()
    finally:
        if not talking.done():
            talking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await talking


def _why_silent(answer: _Answer, returncode: int | None, in_time: bool, seconds: float) -> ReadingFailure:
    where = f" on page {answer.page}" if answer.page is not None else ""
    if answer.too_large:
        message = f"the content is more than one operation may answer{where}; ask for fewer pages"
    elif not in_time:
        message = f"reading took longer than {seconds:.0f} s and was ended{where}; ask for fewer pages"
    else:
        message = f"the reading process ended ({returncode}){where}; the document is damaged or hostile"
    return ReadingFailure(code=_EXTRACTION_FAILED, message=message, page=answer.page)
