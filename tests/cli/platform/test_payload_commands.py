"""``apprentice payload-keys``."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cli.platform.output import ExitCode
from cli.platform.payload_commands import app
from config.settings import load_settings
from tests.fixtures.databases import migrated


@pytest.fixture(autouse=True)
def installation(tmp_path: Path) -> None:
    """An installation without keys as yet."""
    migrated(load_settings(data_dir=tmp_path / "data").database_url)


def _run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments, "--data-dir", str(folder / "data")])


def test_a_rotation_makes_the_key_that_is_used_and_keeps_the_others(tmp_path: Path) -> None:
    assert json.loads(_run(tmp_path, "status", "--json").stdout)["keys"] == []
    first = json.loads(_run(tmp_path, "rotate", "--json").stdout)["key_id"]
    assert "1 older keys are kept" in _run(tmp_path, "rotate").stdout
    told = json.loads(_run(tmp_path, "status", "--json").stdout)
    assert told["keys_in"] == str(tmp_path / "data/payload-keys/keys.json")
    assert told["encryption"] is False
    assert [one["current"] for one in told["keys"] if one["key_id"] == first] == [False]
    assert sorted(one["current"] for one in told["keys"]) == [False, True]
    shown = _run(tmp_path, "status").stdout
    assert "readable in the Temporal UI" in shown
    assert "current" in shown


def test_keys_that_others_may_read_are_refused_with_what_to_do(tmp_path: Path) -> None:
    _run(tmp_path, "rotate")
    (tmp_path / "data/payload-keys/keys.json").chmod(0o644)
    for command in ("status", "rotate"):
        result = _run(tmp_path, command)
        assert result.exit_code == ExitCode.FAILURE
        assert "chmod 600" in result.stderr
