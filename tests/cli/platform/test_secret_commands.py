"""``apprentice secrets`` and its line in ``apprentice doctor``."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cli.platform.doctor import examine
from cli.platform.output import ExitCode
from cli.platform.secret_commands import app, secret_store
from config.settings import Settings, load_settings
from stores.platform.database import Database
from tests.fixtures.databases import migrated


@pytest.fixture
def installation(tmp_path: Path) -> Settings:
    """An installation with one secret."""
    settings = load_settings(data_dir=tmp_path / "data", secret_key_source="file")
    migrated(settings.database_url)
    database = Database(settings.database_url)
    secret_store(settings, database).put("ann", "token", "canary-value", ref="mine")
    database.close()
    return settings


def _run(settings: Settings, *arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments, "--data-dir", str(settings.data_dir)])


def _line(settings: Settings) -> tuple[str, str]:
    found = {finding.check: finding for finding in examine(settings.data_dir)}["secrets"]
    return found.status, f"{found.detail} {found.fix}"


def test_the_status_tells_where_keys_are_and_how_many_secrets_each_seals(installation: Settings) -> None:
    result = _run(installation, "status", "--json")
    told = json.loads(result.stdout)
    assert told["keys_in"] == str(installation.data_dir / "secrets/keys.json")
    assert [(key["records"], key["current"], key["lost"]) for key in told["keys"]] == [(1, True, False)]
    assert "current" in _run(installation, "status").stdout
    assert _line(installation)[0] == "ok"


def test_a_rotation_is_told_and_the_secret_stays(installation: Settings) -> None:
    done = json.loads(_run(installation, "rotate", "--json").stdout)["rotation"]
    assert (done["resealed"], len(done["dropped"]), done["left"]) == (1, 1, 0)
    assert "1 secrets sealed anew, 1 old keys forgotten" in _run(installation, "rotate").stdout
    database = Database(installation.database_url)
    assert secret_store(installation, database).reveal("mine", "ann").value == "canary-value"
    database.close()


def test_a_lost_key_is_an_error_of_the_status_and_a_warning_of_the_doctor(installation: Settings) -> None:
    (installation.data_dir / "secrets/keys.json").unlink()
    result = _run(installation, "status")
    assert result.exit_code == ExitCode.FAILURE
    assert "lost" in result.stdout
    assert "backup" in result.stderr
    assert _run(installation, "rotate").exit_code == ExitCode.OK
    assert "1 secrets were left" in _run(installation, "rotate").stdout
    status, told = _line(installation)
    assert (status, "sign in again" in told) == ("warn", True)


def test_a_key_file_that_others_may_read_is_named_with_the_remedy(installation: Settings) -> None:
    (installation.data_dir / "secrets/keys.json").chmod(0o644)
    result = _run(installation, "rotate")
    assert (result.exit_code, "chmod 600" in result.stderr) == (ExitCode.FAILURE, True)
    status, told = _line(installation)
    assert (status, "chmod 600" in told) == ("fail", True)


def test_without_a_database_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    result = CliRunner().invoke(app, ["rotate", "--data-dir", str(tmp_path / "data")])
    assert (result.exit_code, "apprentice up" in result.stderr) == (ExitCode.NOT_READY, True)
    assert list((tmp_path / "data").iterdir()) == []
