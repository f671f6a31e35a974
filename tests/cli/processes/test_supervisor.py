"""The supervisor, driven with small real programs."""

import asyncio
import errno
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.processes.supervisor import Part, PartFailed, Supervisor
from contracts.backoff import Backoff
from tests.cli.processes.watched import Watched
from tests.fixtures.processes import is_alive

pytestmark = pytest.mark.anyio

# Appends what happens to it to a journal, and runs until SIGTERM.
PROGRAM = """
import pathlib, signal, sys
name, journal = sys.argv[1], pathlib.Path(sys.argv[2])
def note(what):
    with journal.open("a") as file:
        file.write(f"{name} {what}\\n")
def leave(*_):
    note("stopped")
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
print(f"{name} says hello", flush=True)
note("started")
signal.pause()
"""

STUBBORN = """
import pathlib, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path(sys.argv[2]).write_text("started")
while True:
    signal.pause()
"""

# Runs well the first time only.
FRAGILE = """
import pathlib, signal, sys
flag = pathlib.Path(sys.argv[2])
if flag.exists():
    print("the flag is there", flush=True)
    sys.exit(3)
flag.write_text("started")
signal.pause()
"""


def program(
    name: str,
    journal: Path,
    source: str = PROGRAM,
    drain_seconds: float = 30,
    is_ready: Callable[[], bool] | None = None,
) -> Part:
    async def ready() -> bool:
        return (is_ready or (lambda: journal.exists() and journal.read_text() != ""))()

    return Part(
        name, [sys.executable, "-c", source, name, str(journal)], dict(os.environ), ready, 30, drain_seconds
    )


async def test_a_part_starts_only_when_the_one_before_it_is_ready(tmp_path: Path) -> None:
    first_journal, order = tmp_path / "first", list[str]()

    def first_ready() -> bool:
        order.append("first asked")
        return first_journal.exists()

    def second_ready() -> bool:
        order.append("second asked")
        return True

    parts = [
        program("first", first_journal, is_ready=first_ready),
        program("second", tmp_path / "second", is_ready=second_ready),
    ]
    async with Watched(parts, tmp_path / "logs") as watched:
        assert list(watched.supervisor.pids) == ["first", "second"]
    assert order.index("second asked") == len(order) - 1


async def test_parts_stop_in_reverse_order(tmp_path: Path) -> None:
    journal = tmp_path / "journal"

    def mentions(name: str) -> Callable[[], bool]:
        return lambda: journal.exists() and f"{name} started" in journal.read_text()

    parts = [program(name, journal, is_ready=mentions(name)) for name in ("temporal", "worker", "api")]
    async with Watched(parts, tmp_path / "logs") as watched:
        pids = watched.supervisor.pids
    assert journal.read_text().splitlines()[3:] == ["api stopped", "worker stopped", "temporal stopped"]
    assert not any(is_alive(pid) for pid in pids.values())


async def test_a_killed_part_is_started_again_and_named(tmp_path: Path) -> None:
    parts = [program("worker", tmp_path / "journal")]
    async with Watched(parts, tmp_path / "logs") as watched:
        before = watched.supervisor.pids["worker"]
        os.kill(before, signal.SIGKILL)
        await watched.until(lambda: len(watched.said) == 2)
        after = watched.supervisor.pids["worker"]
    assert after != before
    assert watched.pids_seen == [{"worker": before}, {"worker": after}]
    log = tmp_path / "logs" / "worker.log"
    assert watched.said[:2] == [
        f"worker was ended by SIGKILL; starting it again at once (see {log})",
        f"worker runs again (pid {after})",
    ]


async def test_a_part_that_keeps_failing_is_tried_ever_more_slowly(tmp_path: Path) -> None:
    parts = [program("worker", tmp_path / "flag", FRAGILE)]
    backoff = Backoff(first=0.001, cap=0.004)
    async with Watched(parts, tmp_path / "logs", backoff) as watched:
        os.kill(watched.supervisor.pids["worker"], signal.SIGKILL)
        await watched.until(lambda: sum("exit code 3" in line for line in watched.said) >= 3)
    delays = [line.split("again ")[1].split(" (")[0] for line in watched.said if "starting it again" in line]
    assert delays[:4] == ["at once", "in 0.001 s", "in 0.002 s", "in 0.004 s"]


async def test_the_process_group_of_a_part_is_ended_once_even_when_it_is_stopped_before_its_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[int] = []
    end = os.killpg

    def killpg(group: int, number: int) -> None:
        ended.append(group)
        end(group, number)

    monkeypatch.setattr(os, "killpg", killpg)
    backoff = Backoff(first=3600, cap=3600)
    async with Watched(
        [program("worker", tmp_path / "flag", FRAGILE)], tmp_path / "logs", backoff
    ) as watched:
        os.kill(watched.supervisor.pids["worker"], signal.SIGKILL)
        await watched.until(lambda: any("in 3600 s" in line for line in watched.said))
    assert len(ended) == len(set(ended)) == 2


async def test_process_ids_that_cannot_be_noted_end_nothing_and_are_told(tmp_path: Path) -> None:
    async with Watched([program("worker", tmp_path / "journal")], tmp_path / "logs") as watched:
        watched.refused = OSError(errno.ENOSPC, "No space left on device")
        os.kill(watched.supervisor.pids["worker"], signal.SIGKILL)
        await watched.until(lambda: len(watched.said) == 3)
        assert is_alive(watched.supervisor.pids["worker"])
    assert "process id of worker cannot be noted: [Errno 28] No space left on device" in watched.said[1]
    assert watched.said[2].startswith("worker runs again")


async def test_parts_are_kept_running_when_nobody_can_be_told(tmp_path: Path) -> None:
    def gone(_: str) -> None:
        raise OSError(errno.EIO, "Input/output error")

    restarted = asyncio.Event()
    journal = tmp_path / "journal"
    supervisor = Supervisor(
        [program("worker", journal)], tmp_path / "logs", gone, pids_changed=lambda _: restarted.set()
    )
    ready = asyncio.Event()
    running = asyncio.create_task(supervisor.run(ready.set))
    await ready.wait()
    restarted.clear()
    os.kill(supervisor.pids["worker"], signal.SIGKILL)
    await asyncio.wait(
        {running, asyncio.ensure_future(restarted.wait())}, return_when=asyncio.FIRST_COMPLETED
    )
    supervisor.request_stop()
    await running
    assert restarted.is_set()


async def test_a_part_that_does_not_drain_in_time_is_killed(tmp_path: Path) -> None:
    parts = [program("worker", tmp_path / "started", STUBBORN, drain_seconds=0.01)]
    async with Watched(parts, tmp_path / "logs") as watched:
        pid = watched.supervisor.pids["worker"]
    assert watched.said == ["worker did not stop within 0.01 s; killing it"]
    assert not is_alive(pid)


async def test_asking_twice_to_stop_kills_at_once(tmp_path: Path) -> None:
    parts = [program("worker", tmp_path / "started", STUBBORN, drain_seconds=3600)]
    async with Watched(parts, tmp_path / "logs") as watched:
        pid = watched.supervisor.pids["worker"]
        watched.supervisor.request_stop()
    assert watched.said == ["worker was asked to hurry; killing it"]
    assert not is_alive(pid)


async def test_a_part_that_ends_while_starting_stops_the_others_and_shows_what_it_said(
    tmp_path: Path,
) -> None:
    journal, flag = tmp_path / "journal", tmp_path / "flag"
    flag.touch()
    parts = [program("temporal", journal), program("worker", flag, FRAGILE, is_ready=lambda: False)]
    with pytest.raises(PartFailed) as failed:
        async with Watched(parts, tmp_path / "logs"):
            pytest.fail("it must not become ready")
    assert "worker ended with exit code 3 while starting" in str(failed.value)
    assert "the flag is there" in str(failed.value)
    assert journal.read_text().splitlines() == ["temporal started", "temporal stopped"]


async def test_a_part_that_is_never_ready_is_refused_by_name(tmp_path: Path) -> None:
    async def never() -> bool:
        return False

    command = [sys.executable, "-c", PROGRAM, "api", str(tmp_path / "journal")]
    with pytest.raises(PartFailed, match=r"api was not ready within 0\.01 s"):
        async with Watched([Part("api", command, dict(os.environ), never, 0.01)], tmp_path / "logs"):
            pytest.fail("it must not become ready")


async def test_a_command_that_does_not_exist_is_refused_by_name(tmp_path: Path) -> None:
    async def never() -> bool:
        return False

    part = Part("api", [str(tmp_path / "missing")], dict(os.environ), never)
    with pytest.raises(PartFailed, match=r"(?s)api .*missing"):
        async with Watched([part], tmp_path / "logs"):
            pytest.fail("it must not become ready")


async def test_a_stop_while_starting_ends_what_was_started(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    asked = asyncio.Event()

    async def never() -> bool:
        asked.set()
        return False

    parts = [
        program("temporal", journal),
        Part("api", [sys.executable, "-c", PROGRAM, "api", str(tmp_path / "api")], dict(os.environ), never),
    ]
    supervisor = Supervisor(parts, tmp_path / "logs", announce=lambda _: None)
    running = asyncio.create_task(supervisor.run(lambda: pytest.fail("it must not become ready")))
    await asked.wait()
    supervisor.request_stop()
    await running
    assert len(supervisor.pids) == 2
    assert not any(is_alive(pid) for pid in supervisor.pids.values())


async def test_what_a_part_writes_is_kept_and_passed_on_with_its_name(tmp_path: Path) -> None:
    async with Watched([program("api", tmp_path / "journal")], tmp_path / "logs") as watched:
        pass
    assert (tmp_path / "logs" / "api.log").read_text() == "api says hello\n"
    assert watched.echoed == [("api", "api says hello")]
