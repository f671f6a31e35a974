import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.platform.run_state import (
    AlreadyRunning,
    ProcessIds,
    RunState,
    hold_data_dir,
    publish,
    read_run_state,
    withdraw,
    write_private,
)


def state(data_dir: Path, api_pid: int | None = None) -> RunState:
    return RunState(
        api_url="http://127.0.0.1:1",
        console_url="http://127.0.0.1:1/console",
        temporal_ui_url=None,
        temporal_address="127.0.0.1:2",
        admin_token="apr_secret",
        data_dir=data_dir,
        memory_root=data_dir / "ELNOR_MEMORY",
        workspace=data_dir / "workspace",
        pids=ProcessIds(temporal=None, worker=os.getpid(), api=api_pid or os.getpid()),
    )


def pid_of_an_ended_process() -> int:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    return ended.pid


def test_a_second_holder_is_refused_and_told_who_holds_the_directory(tmp_path: Path) -> None:
    with (
        hold_data_dir(tmp_path),
        pytest.raises(AlreadyRunning, match=rf"already running .*\(pid {os.getpid()}\)"),
        hold_data_dir(tmp_path),
    ):
        pytest.fail("two hold the same directory")


def test_a_directory_that_was_let_go_can_be_held_again(tmp_path: Path) -> None:
    for _ in range(2):
        with hold_data_dir(tmp_path):
            assert (tmp_path / "up.pid").read_text() == f"{os.getpid()}\n"
        assert not (tmp_path / "up.pid").exists()


def test_what_is_published_is_read_back_until_it_is_withdrawn(tmp_path: Path) -> None:
    ready_file = tmp_path / "ready.json"
    publish(state(tmp_path), ready_file)
    assert read_run_state(tmp_path) == state(tmp_path)
    assert RunState.model_validate_json(ready_file.read_text()) == state(tmp_path)
    assert ready_file.stat().st_mode & 0o777 == 0o600
    withdraw(tmp_path, ready_file)
    assert read_run_state(tmp_path) is None
    assert not ready_file.exists()


def test_the_ready_file_has_the_promised_keys() -> None:
    assert set(RunState.model_fields) == {
        "api_url",
        "console_url",
        "temporal_ui_url",
        "temporal_address",
        "admin_token",
        "data_dir",
        "memory_root",
        "workspace",
        "pids",
    }
    assert set(ProcessIds.model_fields) == {"temporal", "worker", "api"}


def test_the_state_of_something_that_was_killed_is_not_believed(tmp_path: Path) -> None:
    publish(state(tmp_path, api_pid=pid_of_an_ended_process()), None)
    assert read_run_state(tmp_path) is None


def test_a_damaged_state_file_counts_as_nothing_running(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{")
    assert read_run_state(tmp_path) is None


def test_a_private_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("old")
    file.chmod(0o644)
    write_private(file, "new")
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_private(file, "\udc00")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("secret", "old")]
