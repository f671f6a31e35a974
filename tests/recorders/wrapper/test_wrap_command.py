"""A wrapped command runs as it would alone, and one receipt of it is reported."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.backoff import Backoff
from recorders.delivery import IngestTarget
from recorders.running import Steering, running_recorders, steer
from recorders.spool import SpoolError
from recorders.wrapper.child import CommandNotStarted
from recorders.wrapper.wrapping import WrapperOptions, WrapperSummary, wrap_command

ROOT = Path(__file__).parents[3]
PATIENCE_S = 20


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A demonstration's folder, and the current one."""
    demo = tmp_path / "demo"
    demo.mkdir()
    monkeypatch.chdir(demo)
    return demo


@pytest.fixture
def wrapped(ingest_server, folder: Path, session_id: str, tmp_path: Path) -> Callable[..., WrapperSummary]:
    """Wraps a command as ``apprentice record wrap`` does."""

    def run(*arguments: str, **changes: object) -> WrapperSummary:
        values: dict[str, object] = {
            "learn_session_id": session_id,
            "target": IngestTarget(ingest_server.url, "tok"),
            "spool_folder": tmp_path / "spool",
            "folder": folder,
            "flush_timeout_s": 20.0,
            "backoff": Backoff(first=0.001, cap=0.01, jitter=0.9),
        }
        return wrap_command(WrapperOptions(**(values | changes)), arguments, lambda _: None)  # type: ignore[arg-type]

    return run


def receipts(server) -> list[dict[str, object]]:
    return [e for e in server.accepted.values() if e["adapter_kind"] == "wrapper_receipt"]


def launches(server) -> list[object]:
    return [e["action_label"] for e in server.accepted.values() if e["adapter_kind"] == "process_launch"]


def test_a_receipt_says_what_ran_how_it_ended_where_and_what_it_made(ingest_server, wrapped) -> None:
    summary = wrapped("sh", "-c", "echo made > 'a file.txt'", label="Make the file")
    assert (summary.exit_code, summary.recorded, summary.delivery.delivered) == (0, 1, 1)
    (receipt,) = receipts(ingest_server)
    assert receipt["terminal"] == {
        "command": "sh -c 'echo made > '\"'\"'a file.txt'\"'\"''",
        "exit_class": "ok",
        "working_folder": ".",
        "produced_files": [{"path": "a file.txt", "change": "created", "size_bytes": 5}],
        "written": [],
        "folders": [],
    }
    assert (receipt["action_label"], receipt["control_surface"]) == ("Make the file", "wrapper_script")
    assert receipt["caused_state_change"] is True


def test_without_a_label_the_command_line_is_the_label(ingest_server, wrapped) -> None:
    wrapped("touch", "list.txt")
    assert receipts(ingest_server)[0]["action_label"] == "touch list.txt"


@pytest.mark.parametrize(
    ("script", "code", "ended"),
    [("exit 3", 3, "failed"), ("kill -TERM $$", 143, "interrupted"), ("true", 0, "ok")],
)
def test_the_exit_code_is_the_commands_own(
    ingest_server, wrapped, script: str, code: int, ended: str
) -> None:
    assert wrapped("sh", "-c", script).exit_code == code
    assert receipts(ingest_server)[0]["terminal"]["exit_class"] == ended


@pytest.mark.parametrize(("program", "code"), [("no-such-program-here", 127), ("./plain.txt", 126)])
def test_a_program_that_cannot_be_run_is_no_receipt(
    ingest_server, wrapped, folder: Path, program: str, code: int
) -> None:
    (folder / "plain.txt").write_text("x", encoding="utf-8")
    with pytest.raises(CommandNotStarted) as refused:
        wrapped(program)
    assert refused.value.exit_code == code
    assert ingest_server.bodies == []


def test_secrets_of_the_arguments_are_neither_on_the_wire_nor_on_the_disk(
    ingest_server, wrapped, tmp_path: Path
) -> None:
    ingest_server.always = ingest_server.refusing(503)
    secrets = ['it\'s a "secret"; really', "hunter2", "hunter3"]
    arguments = ["--password", secrets[0], f"API_TOKEN={secrets[1]}", f"https://me:{secrets[2]}@db.example/x"]
    summary = wrapped("true", *arguments, flush_timeout_s=0.2)
    assert summary.delivery.pending == 1
    on_disk = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"true --password [MASKED] API_TOKEN=[MASKED]" in on_disk
    for secret in (*secrets, "really", "hunter"):
        assert secret.encode() not in on_disk + b"".join(ingest_server.bodies)


def test_a_command_runs_though_the_service_is_away_and_its_receipt_waits(
    ingest_server, restart_ingest_server, wrapped, folder: Path, tmp_path: Path
) -> None:
    ingest_server.stop()
    summary = wrapped("touch", "a", flush_timeout_s=0.1)
    assert (summary.exit_code, summary.delivery.pending) == (0, 1)
    assert (folder / "a").exists()
    server = restart_ingest_server(ingest_server)
    wrapped("touch", "b")
    assert [e["terminal"]["command"] for e in receipts(server)] == ["touch a", "touch b"]
    assert list((tmp_path / "spool").iterdir()) == []


def test_a_session_that_is_paused_meanwhile_never_hears_of_the_command(
    ingest_server, wrapped, tmp_path: Path
) -> None:
    ingest_server.always = ingest_server.refusing(400, retryable=False, extra={"current_state": "paused"})
    summary = wrapped("touch", "a")
    assert (summary.exit_code, summary.not_recorded) == (0, "the session is paused")
    assert list((tmp_path / "spool").iterdir()) == []


def test_the_first_of_several_commands_brings_the_folder_as_it_was(
    ingest_server, wrapped, folder: Path, tmp_path: Path
) -> None:
    (folder / "sales.csv").write_text("a,b\n", encoding="utf-8")
    marks = {"presence_folder": tmp_path / "recorders"}
    for name in ("a", "b"):
        wrapped("touch", name, **marks)
    assert len(ingest_server.states) == 1
    (folder / "a").unlink()
    wrapped("touch", "a", **marks)
    assert len(ingest_server.states) == 2
    wrapped("touch", "c", inputs=None, **marks)
    wrapped("touch", "d", session_paused=True, **marks)
    wrapped("touch", "e", redaction_mode="hash_only", **marks)
    assert len(ingest_server.states) == 2


def test_a_full_spool_costs_the_receipt_and_not_the_command(ingest_server, wrapped, folder: Path) -> None:
    summary = wrapped("sh", "-c", "touch a; exit 7", max_spool_bytes=10)
    assert (summary.exit_code, summary.recorded) == (7, 0)
    assert "limit is 10" in str(summary.not_recorded)
    assert (folder / "a").exists()
    assert ingest_server.heartbeats == [("wrapper_receipt", "SPOOL_FULL")]


def test_a_spool_that_cannot_be_used_stops_before_anything_runs(
    wrapped, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("x", encoding="utf-8")
    with pytest.raises(SpoolError):
        wrapped("touch", "a", spool_folder=tmp_path / "taken")
    assert not (folder / "a").exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the process table is read from /proc")
def test_a_program_left_running_is_reported_by_name_and_what_ended_is_not(
    ingest_server, wrapped, folder: Path
) -> None:
    # Writing to the gate waits until cat has opened it; then cat waits at the second one.
    script = "ls > listed; (cat gate shut > /dev/null 2>&1 & echo $! > pid); echo x > gate"
    os.mkfifo(folder / "gate")
    os.mkfifo(folder / "shut")
    try:
        wrapped("sh", "-c", script)
        assert launches(ingest_server) == ["Launch cat"]
        launched = next(e for e in ingest_server.accepted.values() if e["adapter_kind"] == "process_launch")
        assert (launched["app_family"], launched["after_state_ref"]) == ("cat", "running")
        assert "terminal" not in launched
        assert "gate" not in str(launched)
    finally:
        process = int((folder / "pid").read_text())
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


WRAPPER = """
import sys
from pathlib import Path
from recorders.delivery import IngestTarget
from recorders.wrapper.wrapping import WrapperOptions, wrap_command
session, url, spool, folder, presence, *command = sys.argv[1:]
options = WrapperOptions(session, IngestTarget(url, "tok"), Path(spool), Path(folder), presence_folder=Path(presence))
summary = wrap_command(options, command, lambda text: print(text, file=sys.stderr, flush=True))
print(summary.text(), file=sys.stderr)
sys.exit(summary.exit_code)
"""


@pytest.fixture
def wrapping(ingest_server, folder: Path, session_id: str, tmp_path: Path):
    """Starts a wrapper as a process of its own."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*command: str, given: bytes | None = None) -> subprocess.Popen[bytes]:
        paths = [str(tmp_path / "spool"), str(folder), str(tmp_path / "recorders")]
        process = subprocess.Popen(
            [sys.executable, "-c", WRAPPER, session_id, ingest_server.url, *paths, *command],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_input_and_output_pass_through_and_are_not_recorded(ingest_server, wrapping) -> None:
    process = wrapping("sh", "-c", "cat; echo to the left >&2; exit 5")
    out, err = process.communicate(b"quicksilver", timeout=PATIENCE_S)
    assert (process.returncode, out) == (5, b"quicksilver")
    assert b"recording this command for session" in err
    assert b"to the left" in err
    assert receipts(ingest_server)
    assert not any(b"quicksilver" in body for body in ingest_server.bodies)


def wait_for(process: subprocess.Popen[bytes], text: bytes) -> None:
    """Reads what the process says until ``text`` is in it."""
    assert process.stderr is not None
    said = b""
    while text not in said:
        ready, _, _ = select.select([process.stderr], [], [], PATIENCE_S)
        assert ready, said
        more = os.read(process.stderr.fileno(), 65536)
        assert more, said
        said += more


@pytest.mark.parametrize(
    ("orders", "heard"),
    [
        ([Steering.PAUSE], b"will not be recorded"),
        ([Steering.PAUSE, Steering.RESUME], b"straddles a pause"),
        ([Steering.STOP], b"goes on and is not recorded"),
    ],
)
def test_a_command_that_recording_left_meanwhile_goes_on_without_a_receipt(
    ingest_server,
    wrapping,
    session_id: str,
    folder: Path,
    tmp_path: Path,
    orders: list[Steering],
    heard: bytes,
) -> None:
    process = wrapping("sh", "-c", "echo begun >&2; read line; touch done")
    wait_for(process, b"begun")
    (recorder,) = running_recorders(tmp_path / "recorders", session_id)
    assert (recorder.pid, recorder.kind, recorder.state) == (process.pid, "wrapper_receipt", "rec")
    for order in orders:
        assert steer(recorder, order)
        wait_for(process, heard if order is orders[-1] else b"paused")
    _, said = process.communicate(b"go on\n", timeout=PATIENCE_S)
    assert process.returncode == 0
    assert b"no receipt" in said
    assert (folder / "done").exists()
    assert ingest_server.bodies == []
    assert running_recorders(tmp_path / "recorders") == ()


LEAVES = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
print("begun", file=sys.stderr, flush=True)
signal.sigwait({signal.SIGTERM})
print("bye", flush=True)
sys.exit(9)
"""
"""Waits for its signal, which cannot come a moment too early."""


def test_being_asked_to_leave_is_the_commands_own_affair(ingest_server, wrapping) -> None:
    process = wrapping(sys.executable, "-c", LEAVES)
    wait_for(process, b"begun")
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE_S) == 9
    out, _ = process.communicate()
    assert out == b"bye\n"
    assert receipts(ingest_server)[0]["terminal"]["exit_class"] == "failed"
