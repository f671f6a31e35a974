"""What is left when a part, or the supervisor itself, ends: nothing."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.fixtures.processes import ends_in_time

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="watches processes that are not its children")

# Has a child of its own.
PART = """
import pathlib, signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
file = pathlib.Path(sys.argv[1])
file.with_suffix(".new").write_text(str(child.pid))
file.with_suffix(".new").rename(file)
signal.pause()
"""

# Prints the process ids of its part and of the part's child; stops the part when it is told to.
SUPERVISOR = f"""
import asyncio, os, pathlib, sys
from cli.processes.supervisor import Part, Supervisor

child_file = pathlib.Path(sys.argv[1], "child")

async def is_ready():
    return child_file.exists()

def tell():
    print(supervisor.pids["worker"], child_file.read_text(), flush=True)
    asyncio.get_running_loop().add_reader(sys.stdin, supervisor.request_stop)

command = [sys.executable, "-c", {PART!r}, str(child_file)]
supervisor = Supervisor([Part("worker", command, dict(os.environ), is_ready)], child_file.parent, print)
asyncio.run(supervisor.run(tell))
"""


def start(folder: Path) -> tuple[subprocess.Popen[str], int, int]:
    supervisor = subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert supervisor.stdout
    part, child = (int(pid) for pid in supervisor.stdout.readline().split())
    return supervisor, part, child


def test_what_a_part_started_ends_with_it(tmp_path: Path) -> None:
    supervisor, part, child = start(tmp_path)
    with supervisor:
        handles = [os.pidfd_open(part), os.pidfd_open(child)]
        supervisor.communicate("stop")
    assert supervisor.returncode == 0
    assert all(ends_in_time(handle) for handle in handles)


def test_parts_die_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    supervisor, part, child = start(tmp_path)
    try:
        with supervisor:
            handle = os.pidfd_open(part)
            supervisor.kill()
        assert ends_in_time(handle)
    finally:
        # What a part started is the part's own to end; nobody else is left to do it.
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
