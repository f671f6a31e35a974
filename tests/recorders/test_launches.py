"""Which programs a command left running is read from the process table, by name alone."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from contracts.learning.observation import RedactionMode
from recorders.command_events import CommandScene
from recorders.launches import LaunchedProgram, LaunchWatch, launch_event

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program that waits on its input; it may still be about to begin."""
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield process


@contextmanager
def echoing(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program that gives back what it is given, and has done so once.

    ``Popen`` returns when the new program's files are sorted out, which is before its words can be read.
    """
    with running(*arguments) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        yield process


def test_each_program_is_news_once_and_only_while_it_runs() -> None:
    with ExitStack() as stack:
        stack.enter_context(echoing("cat"))
        watch = LaunchWatch(os.getpid())
        assert watch.take_new() == ()
        first = stack.enter_context(echoing("cat", "-"))
        second = stack.enter_context(echoing("tee", "/dev/null"))
        assert [(p.pid, p.name) for p in watch.take_new()] == [
            (first.pid, _name_of("cat")),
            (second.pid, _name_of("tee")),
        ]
        assert watch.take_new() == ()
    with echoing("cat"):
        assert len(watch.take_new()) == 1


def _name_of(program: str) -> str:
    """What the system calls it: it may be one program under many names."""
    with echoing(program) as process:
        return Path(f"/proc/{process.pid}/exe").readlink().name


def test_what_has_ended_and_waits_to_be_taken_back_does_not_run() -> None:
    watch = LaunchWatch(os.getpid())
    with running("true") as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert watch.take_new() == ()


def test_a_copy_of_its_parent_is_no_program_until_it_has_become_one() -> None:
    copying = "import os, sys\nif os.fork() == 0:\n sys.stdin.read()\nelse:\n print(1, flush=True); os.wait()"
    watch = LaunchWatch(os.getpid())
    with running(sys.executable, "-c", copying) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert [program.pid for program in watch.take_new()] == [process.pid]


def test_an_event_names_the_program_and_nothing_in_a_hashed_recording(
    session_id: str, tmp_path: Path
) -> None:
    program = LaunchedProgram(7, "1", "gedit")
    event = launch_event(program, CommandScene(session_id, tmp_path))
    assert (event.action_label, event.app_family) == ("Launch gedit", "gedit")
    assert event.terminal is None
    hashed = launch_event(program, CommandScene(session_id, tmp_path, RedactionMode.HASH_ONLY))
    assert hashed.app_family is None
