"""With --json every command tells its errors as JSON too."""

import json
from typing import Any

import pytest
from typer.core import TyperCommand, TyperGroup
from typer.testing import CliRunner

from cli.main import COMMANDS, app, load_command
from cli.platform.output import JSON_OPTION, ExitCode

NOWHERE = {"APPRENTICE_API_URL": "http://127.0.0.1:9", "APPRENTICE_TOKEN": "apr_none"}


def told(*arguments: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, the one JSON document on standard output, and what stands on standard error."""
    result = CliRunner().invoke(app, arguments, env=NOWHERE)
    document = json.loads(result.stdout)
    assert set(document) == {"error"}
    error: dict[str, Any] = document["error"]
    return result.exit_code, error, result.stderr


def leaves(command: Any, *path: str) -> list[tuple[tuple[str, ...], TyperCommand]]:
    if isinstance(command, TyperGroup):
        return [leaf for name, one in command.commands.items() for leaf in leaves(one, *path, name)]
    return [(path, command)]


def test_a_service_that_cannot_be_reached_is_told_as_json() -> None:
    code, error, said = told("abilities", "list", "--json")
    assert code == ExitCode.NOT_READY
    assert (error["code"], error["retryable"]) == ("NOT_READY", True)
    assert "apprentice up" in error["message"]
    assert said.startswith("Error: ")


def test_every_command_that_takes_json_tells_a_misspelt_option_as_json() -> None:
    found = [leaf for name in COMMANDS for leaf in leaves(load_command(name), name)]
    taking = [path for path, one in found if any(JSON_OPTION in param.opts for param in one.params)]
    assert len(taking) > 60
    for path in taking:
        code, error, _ = told(*path, "--json", "--no-such-option")
        assert (code, error["code"]) == (ExitCode.USAGE, "USAGE"), path
        assert "--no-such-option" in error["message"], path


def test_a_command_that_is_not_there_and_one_without_json_are_told_too() -> None:
    assert told("learn", "no-such-command", "--json")[1]["code"] == "USAGE"
    assert told("up", "--json")[1]["code"] == "USAGE"


def test_without_json_nothing_stands_on_standard_output() -> None:
    result = CliRunner().invoke(app, ["abilities", "list"], env=NOWHERE)
    assert (result.exit_code, result.stdout) == (ExitCode.NOT_READY, "")


@pytest.mark.parametrize("arguments", [("record", "wrap", "--no-such", "--", "ls", "--json")])
def test_what_follows_two_hyphens_is_another_commands(arguments: tuple[str, ...]) -> None:
    assert CliRunner().invoke(app, arguments, env=NOWHERE).stdout == ""
