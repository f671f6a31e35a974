"""Reads what a part writes: into its log, and line by line to whoever wants to see it."""

import asyncio
import os
from collections.abc import Callable, Iterable
from contextlib import suppress

from cli.processes.part_log import PartLog

LONGEST_LINE_BYTES = 65_536
"""A longer one is shown in pieces."""


async def keep_output(read_end: int, log: PartLog, show: Callable[[str], None] | None = None) -> None:
    """Reads the pipe to its end and closes it. Neither a full disk nor a terminal that is gone stops the part."""
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb", buffering=0)
    )
    unfinished = b""
    try:
        while chunk := await reader.read(65_536):
            with suppress(OSError):
                log.write(chunk)
            if show:
                *lines, unfinished = (unfinished + chunk).split(b"\n")
                if len(unfinished) >= LONGEST_LINE_BYTES:
                    lines.append(unfinished)
                    unfinished = b""
                _show(lines, show)
    finally:
        if show and unfinished:
            _show([unfinished], show)
        transport.close()


def _show(lines: Iterable[bytes], show: Callable[[str], None]) -> None:
    with suppress(OSError):
        for line in lines:
            show(line.decode("utf-8", errors="replace"))
