"""What a part writes, read from a real pipe."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from cli.processes.part_log import PartLog
from cli.processes.part_output import keep_output

pytestmark = pytest.mark.anyio


async def shown(written: bytes, log: PartLog) -> list[str]:
    read_end, write_end = os.pipe()
    # A pipe holds no more at once.
    assert os.write(write_end, written) == len(written)
    os.close(write_end)
    lines: list[str] = []
    await keep_output(read_end, log, lines.append)
    return lines


async def test_a_last_line_without_a_line_feed_is_shown(tmp_path: Path) -> None:
    with PartLog(tmp_path / "api.log") as log:
        assert await shown(b"one\ntwo", log) == ["one", "two"]
    assert (tmp_path / "api.log").read_bytes() == b"one\ntwo"


async def test_a_line_that_does_not_end_is_shown_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.processes.part_output.LONGEST_LINE_BYTES", 4)
    with PartLog(tmp_path / "api.log") as log:
        read_end, write_end = os.pipe()
        lines: list[str] = []

        def show(line: str) -> None:
            lines.append(line)
            if len(lines) == 1:
                os.write(write_end, b"more")
                os.close(write_end)

        os.write(write_end, b"without end")
        await keep_output(read_end, log, show)
    assert lines == ["without end", "more"]


async def test_neither_a_log_that_cannot_be_kept_nor_a_terminal_that_is_gone_ends_the_reading(
    tmp_path: Path,
) -> None:
    def gone(_: str) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with PartLog(tmp_path / "logs" / "api.log", limit=1) as log:
        # It is full at once, and no new one can be made.
        shutil.rmtree(tmp_path / "logs")
        read_end, write_end = os.pipe()
        os.write(write_end, b"one\ntwo\n")
        os.close(write_end)
        await keep_output(read_end, log, gone)
        assert log.tail(2) == ["one", "two"]


async def test_nothing_is_shown_where_nobody_wants_to_see_it(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, b"one")
    os.close(write_end)
    with PartLog(tmp_path / "api.log") as log:
        await keep_output(read_end, log)
        assert log.tail(1) == ["one"]
