import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import COMMANDS, app, load_command
from tests.fixtures.foreign_words import pydantics_words


def test_help_lists_every_command_without_importing_one() -> None:
    listed = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys\n"
            "from cli.main import app\n"
            "app(['--help'], standalone_mode=False)\n"
            "heavy = {'pydantic', 'temporalio', 'sqlalchemy', 'fastapi', 'httpx'} & set(sys.modules)\n"
            "assert not heavy, heavy",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert listed.stderr == ""
    assert all(f" {name} " in listed.stdout for name in COMMANDS)


def test_the_version_is_printed() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.output.split()[0]) == (0, "apprentice")


def test_a_mistyped_command_is_a_usage_error_that_suggests_the_right_one() -> None:
    result = CliRunner().invoke(app, ["confg"])
    assert result.exit_code == 2
    assert "'config'" in result.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["skills", "list", "--page", "0"], "Invalid value for '--page': has to be 1 or more."),
        (["import", "list", "--page", "x"], "Invalid value for '--page': has to be a whole number."),
        (["learn", "create", "--mode", "foo"], "Invalid value for '--mode': 'foo' is not one of"),
    ],
)
def test_a_value_of_an_option_that_does_not_fit_is_told_in_plain_words(words: list[str], said: str) -> None:
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert said in " ".join(result.output.replace("│", " ").split())
    told = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)["error"]["message"]
    assert said in told
    assert not pydantics_words(result.output + told)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_listed_command_is_there_and_explains_itself(name: str) -> None:
    assert find_spec(COMMANDS[name].module), f"{COMMANDS[name].module} is missing"
    assert load_command(name).help
    result = CliRunner().invoke(app, [name, "--help"])
    assert result.exit_code == 0
    assert "--install-completion" not in result.output


def test_the_settings_are_shown_as_json_with_their_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APPRENTICE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("APPRENTICE_APIPORT", "1")
    result = CliRunner().invoke(app, ["config", "show", "--json"])
    views = {view["name"]: view for view in json.loads(result.stdout)["settings"]}
    assert views["data_dir"] == {
        "name": "data_dir",
        "value": str(tmp_path / "data"),
        "source": "APPRENTICE_DATA_DIR",
    }
    assert "APPRENTICE_APIPORT is set but names no setting" in result.stderr


def test_wrong_settings_are_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPRENTICE_TIMEZONE", "Middle/Earth")
    result = CliRunner().invoke(app, ["config", "show"])
    assert result.exit_code == 2
    assert "timezone (from APPRENTICE_TIMEZONE)" in result.stderr
