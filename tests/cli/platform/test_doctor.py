import json
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from cli.platform.doctor import examine
from domain.learning.adapters import DEPLOYED
from worker.embedded_temporal import free_port


@pytest.fixture(autouse=True)
def free_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_PORT", "TEMPORAL_PORT", "TEMPORAL_UI_PORT"):
        monkeypatch.setenv(f"APPRENTICE_{name}", "0")


def test_a_machine_with_everything_is_healthy(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["doctor", "--data-dir", str(tmp_path / "data"), "--json"])
    report = json.loads(result.stdout)
    assert (result.exit_code, report["healthy"]) == (0, True)
    assert [found["check"] for found in report["findings"]] == [
        "python",
        "settings",
        "data_dir",
        "database",
        "temporal",
        "service",
        "adapters",
        "secrets",
        "programs",
        "meaning",
    ]
    assert not (tmp_path / "data").exists()


def test_a_system_that_confines_no_local_program_is_said_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host.landlock.abi_version", lambda: 0)
    (nobody,) = [found for found in examine(tmp_path) if found.check == "programs"]
    assert (nobody.status, "no local tool server may be registered" in nobody.detail) == ("ok", True)
    monkeypatch.setenv("APPRENTICE_MCP_LOCAL_PROGRAMS", "npx")
    (found,) = [found for found in examine(tmp_path) if found.check == "programs"]
    assert found.status == "warn"
    assert "NOT confined" in found.detail
    assert "no argument may name keys" in found.detail


def test_refused_settings_end_the_examination_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APPRENTICE_TIMEZONE", "Middle/Earth")
    *_, last = examine(tmp_path)
    assert (last.check, last.status) == ("settings", "fail")
    assert "APPRENTICE_TIMEZONE" in last.detail
    result = CliRunner().invoke(app, ["doctor", "--data-dir", str(tmp_path)])
    assert result.exit_code == 1


def test_a_cluster_that_does_not_answer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"127.0.0.1:{free_port()}"
    monkeypatch.setenv("TEMPORAL_ADDRESS", address)
    found = {finding.check: finding for finding in examine(tmp_path)}["temporal"]
    assert found.status == "fail"
    assert address in found.detail
    assert found.fix
    assert "TEMPORAL_ADDRESS" in found.fix


def test_an_unreachable_postgresql_is_named_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"postgresql+psycopg://me:hunter2@127.0.0.1:{free_port()}/name"
    monkeypatch.setenv("APPRENTICE_DATABASE_URL", url)
    found = {finding.check: finding for finding in examine(tmp_path)}["database"]
    assert found.status == "fail"
    assert "hunter2" not in repr(found)


def test_a_port_that_is_taken_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setenv("APPRENTICE_API_PORT", str(port))
        found = {finding.check: finding for finding in examine(tmp_path)}["service"]
    assert found.status == "warn"
    assert f"{port} (api_port)" in found.detail


def test_a_variable_that_names_no_setting_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APPRENTICE_APIPORT", "1")
    found = {finding.check: finding for finding in examine(tmp_path)}["settings"]
    assert (found.status, "APPRENTICE_APIPORT" in found.detail) == ("warn", True)


def test_a_machine_on_which_nothing_may_be_observed_is_told_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APPRENTICE_DISABLED_ADAPTERS", ",".join(DEPLOYED))
    found = {finding.check: finding for finding in examine(tmp_path)}["adapters"]
    assert (found.status, found.detail) == ("warn", "0 of 13 available, 0 recording on this machine now")
    assert "disabled_adapters" in str(found.fix)


def test_a_model_whose_key_cannot_be_read_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "model" not in {finding.check for finding in examine(tmp_path)}
    monkeypatch.setenv("APPRENTICE_MODEL_BASE_URL", "https://models.example/v1")
    monkeypatch.setenv("APPRENTICE_MODEL_NAME", "small-writer")
    monkeypatch.setenv("APPRENTICE_MODEL_API_KEY_REF", "env:WRITER_KEY")
    found = {finding.check: finding for finding in examine(tmp_path)}["model"]
    assert found.status == "warn"
    assert "WRITER_KEY holds no key" in found.detail
    monkeypatch.setenv("WRITER_KEY", "sk-canary")
    found = {finding.check: finding for finding in examine(tmp_path)}["model"]
    assert found == ("model", "ok", "small-writer at https://models.example/v1", None)
