"""Where the command line looks for the service, and to whom it shows which token."""

import json
import os
from pathlib import Path

import pytest

from cli.platform.invocation import Connection, find_connection


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("APPRENTICE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("APPRENTICE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()


def write_state(path: Path, url: str = "http://127.0.0.1:5001", token: str = "up-token") -> None:
    state = {
        "api_url": url,
        "console_url": f"{url}/console",
        "temporal_ui_url": None,
        "temporal_address": "127.0.0.1:7233",
        "admin_token": token,
        "data_dir": str(path.parent),
        "memory_root": str(path.parent),
        "workspace": str(path.parent),
        "pids": {"temporal": None, "worker": os.getpid(), "api": os.getpid()},
    }
    path.write_text(json.dumps(state), encoding="utf-8")


def test_without_anything_it_is_the_address_of_the_settings_and_no_token() -> None:
    assert find_connection(None, None) == Connection("http://127.0.0.1:8040", None)


def test_what_runs_here_is_found_with_its_token(tmp_path: Path) -> None:
    write_state(tmp_path / "data" / "run.json")
    assert find_connection(None, None) == Connection("http://127.0.0.1:5001", "up-token")


def test_a_ready_file_that_is_named_wins_over_what_runs_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_state(tmp_path / "data" / "run.json")
    write_state(tmp_path / "elsewhere.json", "http://127.0.0.1:5002", "other")
    monkeypatch.setenv("APPRENTICE_READY_FILE", str(tmp_path / "elsewhere.json"))
    assert find_connection(None, None) == Connection("http://127.0.0.1:5002", "other")


def test_an_unreadable_ready_file_counts_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    monkeypatch.setenv("APPRENTICE_READY_FILE", str(tmp_path / "broken.json"))
    assert find_connection(None, None).api_url == "http://127.0.0.1:8040"


def test_the_admin_token_file_serves_the_address_of_the_settings(tmp_path: Path) -> None:
    (tmp_path / "data" / "admin_token").write_text("file-token\n", encoding="utf-8")
    assert find_connection(None, None).token == "file-token"


def test_options_win_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPRENTICE_API_URL", "http://env.example")
    monkeypatch.setenv("APPRENTICE_TOKEN", "env-token")
    assert find_connection("http://option.example", "option-token") == Connection(
        "http://option.example", "option-token"
    )
    assert find_connection(None, None) == Connection("http://env.example", "env-token")


def test_this_machines_token_is_never_sent_to_another_address(tmp_path: Path) -> None:
    write_state(tmp_path / "data" / "run.json")
    (tmp_path / "data" / "admin_token").write_text("file-token", encoding="utf-8")
    assert find_connection("http://another.example", None).token is None
