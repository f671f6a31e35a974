"""`apprentice up` as people run it: the real parts, in processes of their own."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from cli.main import app
from cli.platform.run_state import RunState, hold_data_dir, read_run_state
from cli.platform.up import runs_database, signals_that_stop
from config.settings import Settings
from tests.fixtures.processes import ends_in_time

PATIENCE_SECONDS = 240


class RunningUp:
    """An ``apprentice up`` and what it prints."""

    def __init__(self, folder: Path) -> None:
        self.data_dir = folder / "data"
        self.ready_file = folder / "ready.json"
        options = ["--api-port", "0", "--temporal-port", "0", "--ui-port", "0"]
        options += ["--data-dir", str(self.data_dir), "--ready-file", str(self.ready_file)]
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "cli.main", "up", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        )
        self.printed: list[str] = []

    def read_until(self, holds: Callable[[str], bool]) -> str:
        assert self.process.stdout
        for line in self.process.stdout:
            self.printed.append(line)
            if holds(line):
                return line
        raise AssertionError(f"it ended: {''.join(self.printed)}")

    def state(self) -> RunState:
        return RunState.model_validate_json(self.ready_file.read_bytes())


@contextmanager
def running_up(folder: Path) -> Generator[RunningUp]:
    up = RunningUp(folder)
    try:
        up.read_until(lambda line: "Ctrl-C stops it" in line)
        yield up
    finally:
        up.process.send_signal(signal.SIGTERM)
        up.process.communicate(timeout=PATIENCE_SECONDS)


@pytest.mark.thorough
@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.platform != "linux", reason="watches processes that are not its children")
def test_everything_comes_up_survives_a_kill_and_leaves_nothing(tmp_path: Path) -> None:
    with running_up(tmp_path) as up:
        state = up.state()
        assert state.data_dir == up.data_dir
        assert read_run_state(up.data_dir) == state
        assert up.ready_file.stat().st_mode & 0o777 == 0o600
        token = {"Authorization": f"Bearer {state.admin_token}"}
        with httpx.Client(base_url=state.api_url, headers=token, trust_env=False, timeout=30) as api:
            assert api.get("/readyz").json()["ready"] is True
            assert api.get("/api/me").status_code == 200
            assert state.temporal_ui_url
            pages = partial(httpx.get, state.temporal_ui_url, trust_env=False, timeout=30)
            assert pages().status_code == 200
            assert pages(headers={"host": "evil.example"}).status_code == 421

            second = CliRunner().invoke(app, ["up", "--data-dir", str(up.data_dir), "--api-port", "0"])
            assert second.exit_code == 1
            assert f"already running on {up.data_dir} (pid {up.process.pid})" in second.stderr
            assert up.state() == state

            os.kill(state.pids.worker, signal.SIGKILL)
            up.read_until(lambda line: "worker runs again" in line)
            assert any(
                "worker was ended by SIGKILL; starting it again at once" in line for line in up.printed
            )
            restarted = up.state()
            assert restarted.pids.worker != state.pids.worker
            assert restarted.pids.api == state.pids.api
        assert restarted.pids.temporal
        parts = [restarted.pids.temporal, restarted.pids.worker, restarted.pids.api]
        handles = [os.pidfd_open(pid) for pid in parts]
    assert up.process.returncode == 0
    assert all(ends_in_time(handle, PATIENCE_SECONDS) for handle in handles)
    assert not up.ready_file.exists()
    assert read_run_state(up.data_dir) is None


def test_a_port_that_is_in_use_is_refused_by_name_before_anything_starts(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        arguments = ["--data-dir", str(tmp_path), "--api-port", str(port), "--temporal-port", "0", "--no-ui"]
        result = CliRunner().invoke(app, ["up", *arguments])
    assert result.exit_code == 3
    assert f"port {port} (api_port) is in use" in result.stderr
    assert not (tmp_path / "logs" / "temporal.log").exists()


def test_a_ready_file_of_an_earlier_run_is_gone_before_the_parts_start(tmp_path: Path) -> None:
    stale = tmp_path / "ready.json"
    stale.write_text("{}")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        arguments = ["--data-dir", str(tmp_path / "data"), "--api-port", str(taken.getsockname()[1])]
        result = CliRunner().invoke(app, ["up", *arguments, "--ready-file", str(stale)])
    assert result.exit_code == 3
    assert not stale.exists()


def test_a_second_up_leaves_the_ready_file_of_the_first_alone(tmp_path: Path) -> None:
    ready_file = tmp_path / "ready.json"
    ready_file.write_text("{}")
    with hold_data_dir(tmp_path):
        result = CliRunner().invoke(app, ["up", "--data-dir", str(tmp_path), "--ready-file", str(ready_file)])
    assert result.exit_code == 1
    assert ready_file.exists()


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_the_end_of_a_terminal_asks_to_stop_only_where_it_was_not_ignored(handler: signal.Handlers) -> None:
    before = signal.signal(signal.SIGHUP, handler)
    try:
        assert (signal.SIGHUP in signals_that_stop()) == (handler is signal.SIG_DFL)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_a_ready_file_that_cannot_be_written_ends_with_its_name(tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "ready.json"
    options = ["--api-port", "0", "--temporal-port", "0", "--no-ui"]
    options += ["--data-dir", str(tmp_path / "data"), "--ready-file", str(missing)]
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "cli.main", "up", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 3
    assert "cannot be noted for other programs" in ended.stderr
    assert str(missing.parent) in ended.stderr


def test_settings_that_are_refused_are_a_usage_error(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["up", "--data-dir", str(tmp_path), "--api-port", "70000"])
    assert result.exit_code == 2
    assert "api_port (from argument)" in result.stderr


def test_a_data_directory_that_cannot_be_made_is_a_usage_error_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    for command in (
        ["up", "--data-dir", str(tmp_path / "taken")],
        ["up", "--data-dir", str(tmp_path / "taken/in")],
    ):
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 2
        assert "taken" in result.stderr
        assert "APPRENTICE_DATA_DIR" in result.stderr


def test_runs_that_were_written_unsigned_are_set_aside_once(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    settings.temporal_dir.mkdir(parents=True)
    for name in ("temporal.db", "temporal.db-wal"):
        (settings.temporal_dir / name).write_text("unsigned")
    file = runs_database(settings)
    aside = sorted(one.name for one in settings.temporal_dir.iterdir())
    assert aside == ["unsigned-temporal.db", "unsigned-temporal.db-wal"]
    (tmp_path / "payload-keys").mkdir()
    file.write_text("signed")
    assert runs_database(settings).read_text() == "signed"


def test_where_another_program_took_a_port_of_temporal_others_are_tried_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporal = tmp_path / "bin" / "temporal"
    temporal.parent.mkdir()
    temporal.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --version ]; then echo "temporal version 1.9.1"; exit 0; fi\n'
        f'echo "$@" >> {tmp_path}/starts\n'
        'echo "Error: cannot set frontend port: listen tcp 127.0.0.1: bind: address already in use"\n'
        "exit 1\n"
    )
    temporal.chmod(0o755)
    monkeypatch.setenv("PATH", f"{temporal.parent}:{os.environ['PATH']}")
    arguments = ["--data-dir", str(tmp_path / "data"), "--api-port", "0", "--temporal-port", "0", "--no-ui"]
    result = CliRunner().invoke(app, ["up", *arguments])
    assert result.exit_code == 3
    assert [line for line in result.stderr.splitlines() if "took a port" in line] == [
        f"Another program took a port of Temporal; trying others ({number} of 5)." for number in range(2, 6)
    ]
    assert "bind: address already in use" in result.stderr
    starts = [line.split() for line in (tmp_path / "starts").read_text().splitlines()]
    for option in ("--port", "--http-port", "--metrics-port"):
        ports = {words[words.index(option) + 1] for words in starts}
        assert len(ports) == len(starts) == 5
