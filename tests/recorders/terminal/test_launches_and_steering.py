"""A recorded terminal tells what it left running, that it is alive, and obeys from outside."""

import os
import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from contracts.backoff import Backoff
from recorders.delivery import Delivery, IngestTarget
from recorders.running import running_recorders
from recorders.spool import Spool
from recorders.spooling_recorder import RecordingState
from recorders.state_delivery import RecordedStart
from recorders.terminal.recording import (
    CommandRecorder,
    RecordingSummary,
    TerminalRecorderOptions,
    run_scripted,
)
from recorders.terminal.shell_hooks import ShellReport

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")


@pytest.fixture
def scripted(ingest_server, tmp_path: Path, session_id: str) -> Callable[..., RecordingSummary]:
    """Types lines into a recorded bash."""
    folder = tmp_path / "demo"
    folder.mkdir()

    def run(*lines: str, **changes: object) -> RecordingSummary:
        options = TerminalRecorderOptions(
            session_id,
            IngestTarget(ingest_server.url, "tok"),
            tmp_path / "spool",
            folder,
            presence_folder=tmp_path / "recorders",
            flush_timeout_s=20.0,
            command_timeout_s=20.0,
            backoff=Backoff(first=0.001, cap=0.01, jitter=0.9),
            **changes,  # type: ignore[arg-type]
        )
        return run_scripted(options, lines)

    return run


def told(server) -> list[object]:
    return [event["action_label"] for event in server.accepted.values()]


def test_a_program_in_the_background_is_reported_by_name_after_its_command(ingest_server, scripted) -> None:
    # Writing to the gate waits until cat has opened it, and so has begun.
    summary = scripted("mkfifo gate shut", "cat gate shut & echo > gate", "touch a", "kill %1; echo b > b")
    assert told(ingest_server) == [
        "mkfifo gate shut",
        "cat gate shut & echo > gate",
        "Launch cat",
        "touch a",
        "kill %1; echo b > b",
    ]
    assert summary.recorded == 4


def test_what_is_launched_while_paused_is_never_reported(ingest_server, scripted) -> None:
    scripted(
        "mkfifo gate shut",
        "apprentice-pause",
        "cat gate shut & echo > gate",
        "apprentice-resume",
        "touch a",
        "kill %1",
    )
    assert told(ingest_server) == ["mkfifo gate shut", "touch a", "kill %1"]


def test_launches_can_be_left_out(ingest_server, scripted) -> None:
    scripted("mkfifo gate shut", "cat gate shut & echo > gate", "kill %1", with_launches=False)
    assert "Launch cat" not in told(ingest_server)
    assert {kind for kind, _ in ingest_server.heartbeats} == {"terminal_command"}


def test_a_running_recorder_says_that_it_is_alive_and_where_it_can_be_found(
    ingest_server, scripted, tmp_path: Path
) -> None:
    scripted(f"ls {tmp_path}/recorders | wc -l > seen")
    assert (tmp_path / "demo" / "seen").read_text().strip() == "1"
    assert running_recorders(tmp_path / "recorders") == ()
    assert set(ingest_server.heartbeats) == {("terminal_command", None), ("process_launch", None)}


def test_a_recorder_without_room_reports_why_it_cannot_record(ingest_server, scripted) -> None:
    scripted("touch a", max_spool_bytes=10)
    assert ("terminal_command", "SPOOL_FULL") in ingest_server.heartbeats


def test_pause_resume_and_stop_reach_it_from_outside_and_the_shell_goes_on(
    ingest_server, scripted, tmp_path: Path
) -> None:
    # The shell stands for whoever steers: $PPID is the recorder.
    wait = 'while ! grep -q \'"state":"{}"\' ../recorders/*.json; do read -t 0.05 <> ../never; done'
    os.mkfifo(tmp_path / "never")
    summary = scripted(
        "touch first",
        "kill -USR1 $PPID; " + wait.format("paused"),
        "touch unseen",
        "kill -USR2 $PPID; " + wait.format("rec"),
        "touch second",
        f"kill -{signal.SIGURG.name.removeprefix('SIG')} $PPID; " + wait.format("not recording"),
        "touch third",
    )
    assert told(ingest_server) == ["touch first", "touch second"]
    assert (tmp_path / "demo" / "third").exists()
    assert summary.stopped_reason is not None
    assert "stopped from outside" in summary.stopped_reason


def test_what_was_said_before_the_stop_is_all_that_is_kept(
    ingest_server, session_id: str, tmp_path: Path
) -> None:
    options = TerminalRecorderOptions(session_id, IngestTarget(ingest_server.url, "tok"), tmp_path, tmp_path)
    spool = Spool(tmp_path / "spool", session_id)
    delivery = Delivery(spool, options.target, session_id)
    said: list[str] = []
    starting = RecordedStart(tmp_path, session_id, None, tmp_path, options.target)
    recorder = CommandRecorder(options, spool, delivery, said.append, starting)
    recorder.stop()
    recorder.stop()
    recorder.resume()
    recorder.handle(ShellReport("done", "1", 0, str(tmp_path), "    1  touch a"))
    recorder.handle(ShellReport("done", "2", 0, str(tmp_path), "    2  touch b"))
    assert recorder.state is RecordingState.ENDED
    assert (recorder.recorded, spool.pending()) == (0, 0)
    assert sum("recording has ended" in text for text in said) == 2
    spool.close()


def test_who_leaves_the_folder_of_the_lesson_is_told_once(
    ingest_server, session_id: str, tmp_path: Path
) -> None:
    options = TerminalRecorderOptions(session_id, IngestTarget(ingest_server.url, "tok"), tmp_path, tmp_path)
    said: list[str] = []
    with closing(Spool(tmp_path / "spool", session_id)) as spool:
        starting = RecordedStart(tmp_path, session_id, None, tmp_path, options.target)
        delivery = Delivery(spool, options.target, session_id)
        recorder = CommandRecorder(options, spool, delivery, said.append, starting)
        recorder.handle(ShellReport("done", "1", 0, str(tmp_path), ""))
        for number, (line, folder) in enumerate(
            [("touch a", tmp_path), ("cd /", Path("/")), ("mkdir /x", Path("/")), ("touch /b", Path("/"))], 2
        ):
            recorder.handle(ShellReport("before", "", 0, "", ""))
            recorder.handle(ShellReport("done", str(number), 0, str(folder), f"    {number}  {line}"))
        assert [text for text in said if "outside the lesson's folder" in text] == said[:1]
        assert len(said) == 1
