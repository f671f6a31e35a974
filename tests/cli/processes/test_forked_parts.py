"""Parts that are forked from a process that has loaded their modules, driven with a small real program."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
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


@asynccontextmanager
async def open_client(forks: ForkClient) -> AsyncGenerator[ForkClient]:
    await forks.start()
    try:
        yield forks
    finally:
        await forks.close()


def forking(server: str = SERVER) -> AbstractAsyncContextManager[ForkClient]:
    return open_client(client(server))


def part(journal: Path) -> Part:
    async def ready() -> bool:
        return journal.exists() and journal.read_text() != ""

    command = [sys.executable, "-c", PROGRAM, str(journal)]
    return Part(journal.name, command, dict(os.environ), ready, 60, 60, forked=[str(journal)])


async def until_alone(*pids: int) -> None:
    """Waits until these are the only ones that were forked from their parent."""
    server = parent_of(pids[0])
    children = Path(f"/proc/{server}/task/{server}/children")
    while [int(pid) for pid in children.read_text().split() if is_alive(int(pid))] != list(pids):
        await asyncio.sleep(0.005)


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])


async def test_a_part_is_forked_again_when_it_ends_and_stopped_in_order(tmp_path: Path) -> None:
    journal = tmp_path / "worker"
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


async def test_where_the_server_was_killed_all_parts_are_forked_from_one_new_server(tmp_path: Path) -> None:
    servers = tmp_path / "servers"
    forks = client(f"open({str(servers)!r}, 'a').write('started\\n')\n{SERVER}")
    journals = [tmp_path / "worker", tmp_path / "api"]
    async with Watched([part(journal) for journal in journals], tmp_path / "logs", forks=forks) as watched:
        first = parent_of(watched.supervisor.pids["worker"])
        os.kill(first, signal.SIGKILL)
        await watched.until(lambda: len(watched.said) == 4)
        parents = {parent_of(pid) for pid in watched.supervisor.pids.values()}
        for journal in journals:
            await watched.until_written(journal, lines=2)
        os.kill(watched.supervisor.pids["worker"], signal.SIGKILL)
        await watched.until(lambda: len(watched.said) == 6)
        parents |= {parent_of(pid) for pid in watched.supervisor.pids.values()}
        await watched.until_written(journals[0], lines=3)
    assert len(parents) == 1
    assert not parents & {first, os.getpid()}
    assert servers.read_text().splitlines() == ["started", "started"]
    assert [journal.read_text().split() for journal in journals] == [
        ["forked", "forked", "forked", "stopped"],
        ["forked", "forked", "stopped"],
    ]


@pytest.mark.parametrize("server", ["raise SystemExit(1)", "import sys, signal; signal.pause()"])
async def test_a_server_that_does_not_fork_is_no_hindrance(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.processes.fork_client.LOADED_WITHIN_SECONDS", 0.05)
    journal = tmp_path / "worker"
    async with Watched([part(journal)], tmp_path / "logs", forks=client(server)):
        pass
    assert journal.read_text().splitlines() == ["started as a program"]


@pytest.mark.parametrize("refused", ["fork", "pidfd_open"])
async def test_a_fork_that_the_system_refuses_fails_alone(refused: str, tmp_path: Path) -> None:
    server = f"""
import os
real, calls = os.{refused}, []
def refused_once(*arguments):
    calls.append(arguments)
    if len(calls) == 2:
        raise BlockingIOError(11, "Resource temporarily unavailable")
    return real(*arguments)
os.{refused} = refused_once
{SERVER}"""
    async with forking(server) as forks:
        first = await forks.fork([str(tmp_path / "first")], 2)
        with pytest.raises(ForkFailed, match="Resource temporarily unavailable"):
            await forks.fork([str(tmp_path / "refused")], 2)
        third = await forks.fork([str(tmp_path / "third")], 2)
        await until_alone(first.pid, third.pid)
        assert first.returncode is None


async def test_a_fork_that_takes_too_long_ends_no_other_part_and_nothing_comes_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with forking() as forks:
        first = await forks.fork([str(tmp_path / "first")], 2)
        server = parent_of(first.pid)
        os.kill(server, signal.SIGSTOP)
        with monkeypatch.context() as hurried:
            hurried.setattr("cli.processes.fork_client.LOADED_WITHIN_SECONDS", 0.01)
            with pytest.raises(ForkFailed, match="does not answer"):
                await forks.fork([str(tmp_path / "late")], 2)
        os.kill(server, signal.SIGCONT)
        third = await forks.fork([str(tmp_path / "third")], 2)
        await until_alone(first.pid, third.pid)
        assert first.returncode is None


async def test_a_part_whose_asker_gave_up_is_ended(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with forking(SERVER.replace("lambda: None", f"lambda: open({str(gate)!r}).read()")) as forks:
        asking = asyncio.create_task(forks.fork([str(tmp_path / "given up")], 2))
        # Opened once the server opens it to read; closed behind the cancellation, and only then has it loaded.
        with await asyncio.to_thread(gate.open, "w"):
            asking.cancel()
            await asyncio.wait({asking})
        second = await forks.fork([str(tmp_path / "second")], 2)
        await until_alone(second.pid)


async def test_a_signal_right_after_the_fork_is_not_lost(tmp_path: Path) -> None:
    server = f"""
import os, signal
real = os.fork
def fork():
    if pid := real():
        return pid
    os.kill(os.getpid(), signal.SIGTERM)
    return 0
os.fork = fork
{SERVER}"""
    async with forking(server) as forks:
        process = await forks.fork([str(tmp_path / "journal")], 2)
        assert await process.wait() == -signal.SIGTERM


@pytest.mark.parametrize("handler", ["SIG_IGN", "SIG_DFL"])
async def test_the_end_of_a_terminal_is_ignored_by_parts_where_it_was_ignored_at_the_start(
    handler: str,
) -> None:
    server = f"""
import signal, sys
from cli.processes.fork_server import run
signal.signal(signal.SIGHUP, signal.{handler})
run(lambda: None, lambda _: print(signal.getsignal(signal.SIGHUP).name), int(sys.argv[1]))
"""
    async with forking(server) as forks:
        assert await output_of(forks, "part") == (f"{handler}\n", 0)


async def test_a_part_that_cannot_be_named_runs_all_the_same(tmp_path: Path) -> None:
    server = f"""
import pathlib
real = pathlib.Path.write_text
def write_text(path, *arguments, **further):
    if str(path) == "/proc/self/comm":
        raise PermissionError(13, "Permission denied")
    return real(path, *arguments, **further)
pathlib.Path.write_text = write_text
{SERVER.replace("signal.pause()", "sys.exit(5)")}"""
    async with forking(server) as forks:
        said, code = await output_of(forks, str(tmp_path / "journal"))
    assert "forked" in said
    assert code == 5


async def test_a_request_to_end_that_reaches_every_process_leaves_the_parts_time_to_finish(
    tmp_path: Path,
) -> None:
    journal, forks = tmp_path / "worker", client()
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
    async with open_client(ForkClient(dict(os.environ))) as forks:
        said, code = await output_of(forks, "--version")
        assert said.startswith("apprentice ")
        assert code == 0
        said, code = await output_of(forks, "no-such-command")
        assert "no-such-command" in said
        assert code == 2


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
