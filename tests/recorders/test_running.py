"""Recorders are found while they run, and steered from outside."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import uuid_utils

from contracts.learning.observation import ObservationAdapterKind
from recorders.running import Presence, Steering, running_recorders, steer
from recorders.spool import RecorderError

TERMINAL = ObservationAdapterKind.TERMINAL_COMMAND


def test_a_recorder_is_found_as_long_as_it_runs(tmp_path: Path, session_id: str) -> None:
    other = str(uuid_utils.uuid7())
    with (
        Presence(tmp_path / "r", session_id, TERMINAL, "/demo", "rec") as presence,
        Presence(tmp_path / "r", other, TERMINAL, "/demo", "rec"),
    ):
        (found,) = running_recorders(tmp_path / "r", session_id)
        assert (found.pid, found.kind, found.watches, found.state) == (os.getpid(), TERMINAL, "/demo", "rec")
        presence.tell("paused")
        presence.tell("rec")
        presence.tell("paused")
        assert [one.state for one in running_recorders(tmp_path / "r")] == ["paused", "rec"]
    assert running_recorders(tmp_path / "r") == ()
    assert list((tmp_path / "r").iterdir()) == []
    assert (tmp_path / "r").stat().st_mode & 0o077 == 0


def test_where_nothing_ever_ran_nothing_is_found(tmp_path: Path) -> None:
    assert running_recorders(tmp_path / "nowhere") == ()


KILLED = """
import sys
from pathlib import Path
from recorders.running import Presence
Presence(Path(sys.argv[1]), sys.argv[2], "terminal_command", "/demo", "rec")
print("here", flush=True)
sys.stdin.read()
"""


def test_what_a_killed_recorder_left_is_no_recorder_and_is_cleared_away(
    tmp_path: Path, session_id: str
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "r"), session_id],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        (found,) = running_recorders(tmp_path / "r")
        assert found.pid == process.pid
        process.kill()
    assert not steer(found, Steering.STOP)
    assert running_recorders(tmp_path / "r") == ()
    assert list((tmp_path / "r").iterdir()) == []


def test_a_process_that_got_the_number_of_a_recorder_is_left_alone(tmp_path: Path, session_id: str) -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: heard.append(number))
    try:
        with Presence(tmp_path, session_id, TERMINAL, "/demo", "rec"):
            (found,) = running_recorders(tmp_path)
            assert not steer(found.changed(process_start="1"), Steering.PAUSE)
            assert heard == []
            assert steer(found, Steering.PAUSE)
            assert heard == [signal.SIGUSR1]
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_file_that_is_no_recorders_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"pid": 1}), encoding="utf-8")
    with path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert running_recorders(tmp_path) == ()
        assert path.exists()


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path, session_id: str) -> None:
    (tmp_path / "taken").write_text("x", encoding="utf-8")
    with pytest.raises(RecorderError, match="taken"):
        Presence(tmp_path / "taken", session_id, TERMINAL, "/demo", "rec")
