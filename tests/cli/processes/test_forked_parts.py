"""Parts that are forked from a process that has loaded their modules, driven with a small real program."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli.processes.fork_client import CAN_FORK, ForkClient, ForkFailed
from cli.processes.supervisor import Part
from tests.cli.processes.watched import Watched
from tests.fixtures.processes import ends_in_time, is_alive

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not CAN_FORK, reason="parts are forked on Linux alone"),
]

# Forks parts that note what happens to them, and run until SIGTERM.
SERVER = """
import pathlib, signal, sys
from cli.processes.fork_server import run
def part(arguments):
    journal = pathlib.Path(arguments[0])
    def note(what):
        with journal.open("a") as file:
            file.write(f"{what}\\n")
    def leave(*_):
        note("stopped")
        sys.exit(7)
    signal.signal(signal.SIGTERM, leave)
    print(f"forked with {sys.argv[1:]}", flush=True)
    note("forked")
    signal.pause()
run(lambda: None, part, int(sys.argv[1]))
"""

# The same as a program of its own.
PROGRAM = """
import pathlib, signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
with pathlib.Path(sys.argv[1]).open("a") as file:
    file.write("started as a program\\n")
signal.pause()
"""


def client(server: str = SERVER) -> ForkClient:
    return ForkClient(dict(os.environ), [sys.executable, "-c", server])


def part(journal: Path) -> Part:
    async def ready() -> bool:
        return journal.exists() and journal.read_text() != ""

    command = [sys.executable, "-c", PROGRAM, str(journal)]
    return Part("worker", command, dict(os.environ), ready, 60, 60, forked=[str(journal)])


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])


async def test_a_part_is_forked_again_when_it_ends_and_stopped_in_order(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    async with Watched([part(journal)], tmp_path / "logs", forks=client()) as watched:
        first = watched.supervisor.pids["worker"]
        assert os.getpgid(first) == first
        assert Path(f"/proc/{first}/comm").read_text().strip() in str(journal)
        os.kill(first, signal.SIGKILL)
        await watched.until(lambda: len(watched.said) == 2)
        second = watched.supervisor.pids["worker"]
        await watched.until_written(journal, lines=2)
        assert parent_of(second) != os.getpid()
    assert watched.said[0].startswith("worker was ended by SIGKILL; starting it again at once")
    assert journal.read_text().splitlines() == ["forked", "forked", "stopped"]
    assert not is_alive(first)
    assert not is_alive(second)
    said = f"forked with ['{journal}']"
    assert (tmp_path / "logs" / "worker.log").read_text().splitlines() == [said, said]


async def test_where_the_server_was_killed_a_part_is_started_as_a_program_and_the_next_time_forked(
    tmp_path: Path,
) -> None:
    journal = tmp_path / "journal"
    async with Watched([part(journal)], tmp_path / "logs", forks=client()) as watched:
        os.kill(parent_of(watched.supervisor.pids["worker"]), signal.SIGKILL)
        await watched.until(lambda: len(watched.said) == 2)
        await watched.until_written(journal, lines=2)
        assert parent_of(watched.supervisor.pids["worker"]) == os.getpid()
        os.kill(watched.supervisor.pids["worker"], signal.SIGKILL)
        await watched.until(lambda: len(watched.said) == 4)
        await watched.until_written(journal, lines=3)
    assert journal.read_text().splitlines() == ["forked", "started as a program", "forked", "stopped"]


@pytest.mark.parametrize("server", ["raise SystemExit(1)", "import sys, signal; signal.pause()"])
async def test_a_server_that_does_not_fork_is_no_hindrance(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.processes.fork_client.LOADED_WITHIN_SECONDS", 0.05)
    journal = tmp_path / "journal"
    async with Watched([part(journal)], tmp_path / "logs", forks=client(server)):
        pass
    assert journal.read_text().splitlines() == ["started as a program"]


async def test_a_request_to_end_that_reaches_every_process_leaves_the_parts_time_to_finish(
    tmp_path: Path,
) -> None:
    journal, forks = tmp_path / "journal", client()
    async with Watched([part(journal)], tmp_path / "logs", forks=forks) as watched:
        worker = watched.supervisor.pids["worker"]
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            os.kill(parent_of(worker), number)
        os.kill(worker, signal.SIGTERM)
        await watched.until(lambda: len(watched.said) == 2)
        await watched.until_written(journal, lines=3)
    assert watched.said[0].startswith("worker ended with exit code 7; starting it again")
    assert journal.read_text().splitlines() == ["forked", "stopped", "forked", "stopped"]


async def test_parts_die_with_the_server_and_it_with_whoever_started_it(tmp_path: Path) -> None:
    starter = f"""
import asyncio, os, sys
from cli.processes.fork_client import ForkClient
async def main():
    forks = ForkClient(dict(os.environ), [sys.executable, "-c", {SERVER!r}])
    await forks.start()
    with open(sys.argv[1] + ".log", "wb") as output:
        process = await forks.fork([sys.argv[1]], output.fileno())
    print(process.pid, flush=True)
    sys.stdin.read()
asyncio.run(main())
"""
    with subprocess.Popen(
        [sys.executable, "-c", starter, str(tmp_path / "journal")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as started:
        assert started.stdout
        pid = int(started.stdout.readline())
        handles = [os.pidfd_open(pid), os.pidfd_open(parent_of(pid))]
        started.kill()
    assert all(ends_in_time(handle) for handle in handles)


async def output_of(forks: ForkClient, *arguments: str) -> tuple[str, int]:
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, encoding="utf-8") as output:
        try:
            process = await forks.fork(arguments, write_end)
        finally:
            os.close(write_end)
        code = await process.wait()
        return output.read(), code


@pytest.mark.thorough
async def test_the_command_line_runs_in_a_fork_as_it_does_by_itself() -> None:
    forks = ForkClient(dict(os.environ))
    await forks.start()
    try:
        said, code = await output_of(forks, "--version")
        assert said.startswith("apprentice ")
        assert code == 0
        said, code = await output_of(forks, "no-such-command")
        assert "no-such-command" in said
        assert code == 2
    finally:
        await forks.close()
    with pytest.raises(ForkFailed):
        await forks.fork(["--version"], 1)
    await forks.close()


FORKED_TWICE = """
import json, os, random, secrets, socket, uuid
from pathlib import Path
from cli.processes.fork_server import load
load()
tasks = len(list(Path("/proc/self/task").iterdir()))
links = [os.readlink(one) for one in Path("/proc/self/fd").iterdir() if one.exists()]
from uuid_utils import uuid4, uuid7
made = []
for _ in range(2):
    read_end, write_end = os.pipe()
    if os.fork() == 0:
        own = [str(uuid7()), str(uuid4()), str(uuid.uuid4()), secrets.token_hex(), random.random()]
        os.write(write_end, json.dumps(own).encode())
        os._exit(0)
    os.close(write_end)
    made.append(json.loads(os.read(read_end, 4096)))
print(json.dumps({"tasks": tasks, "links": links, "made": made}))
"""


@pytest.mark.thorough
def test_what_was_loaded_has_no_thread_and_no_connection_and_forks_make_numbers_of_their_own() -> None:
    found = json.loads(
        subprocess.run([sys.executable, "-c", FORKED_TWICE], capture_output=True, check=True).stdout
    )
    assert found["tasks"] == 1
    assert [link for link in found["links"] if link.startswith(("socket:", "anon_inode:"))] == []
    assert [one for one, other in zip(*found["made"], strict=True) if one == other] == []
