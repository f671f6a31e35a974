"""``apprentice skills`` against a whole running service: find, export, and a folder of one's own."""

import json
import shutil
from typing import Any
from uuid import uuid4

import pytest
from typer.testing import CliRunner

from cli.main import app
from cli.platform.output import ExitCode
from tests.cli.conftest import Person

no_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")


@pytest.mark.acceptance("AI-15", "AI-20")
def test_the_skill_for_a_step_is_found_and_what_was_left_out_is_said(person) -> None:
    found = person.gets("skills", "find", "fetch the balance of the wallet")
    assert (found["skills"][0]["skill"], found["skills"][0]["fit"]) == ("fetch-wallet-balance", "yes")
    shown = person.types("skills", "find", "debit the wallet", "--level", "medium")
    assert "left out: debit-wallet" in shown.stdout
    assert "at most medium is allowed" in " ".join(shown.stdout.split())
    assert "No skill or ability fits" in person.types("skills", "find", "xyzzy").stdout
    wrong = person.types("skills", "find", "")
    assert wrong.exit_code == ExitCode.USAGE
    assert "description" in wrong.stderr


@pytest.mark.acceptance("AM-10", "AM-15")
def test_the_export_has_each_skill_as_a_tool_definition(person) -> None:
    exported = person.gets("skills", "export")
    assert exported == json.loads(person.types("skills", "export").stdout)
    by_name = {one["function"]["name"]: one for one in exported}
    assert len(by_name) == len(exported), "no function name twice"
    for one in exported:
        assert set(one) == {"type", "function"}
        assert one["type"] == "function"
        assert {"name", "description", "parameters"} <= set(one["function"])
        assert one["function"]["parameters"]["type"] == "object"
    assert "confirmed" not in by_name["fetch_wallet_balance"]["function"]["parameters"]["properties"]
    for skill in person.gets("skills", "list")["skills"]:
        if skill["state"] == "ready" and skill["confirmation_required"]:
            parameters = by_name[skill["function_name"]]["function"]["parameters"]
            assert parameters["properties"]["confirmed"]["type"] == "boolean"


RUNNERS = ["python", "os_command", pytest.param("node", marks=[no_node, pytest.mark.thorough])]


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.acceptance("AM-01", "AM-02")
@pytest.mark.acceptance("O-3")
def test_a_new_skill_is_made_approved_and_run_at_once(service, runner) -> None:
    admin = Person(service, service.admin_token)
    name = f"greet-{uuid4().hex[:8]}"
    into = ("--into", str(service.workspace / "skills"))
    made = admin.gets("skills", "new", name, "--runner", runner, *into)
    assert name in {path.name for path in (service.workspace / "skills").iterdir()}
    for step in made["next"]:
        _, group, command, *rest = step.split()
        answers = ("--yes",) if command == "approve" else ()
        done = admin.types(group, command, *rest, *answers)
        assert done.exit_code == ExitCode.OK, done.stderr
    assert "Hello, Ada." in done.stdout
    twice = admin.types("skills", "new", name, *into)
    assert twice.exit_code == ExitCode.USAGE
    assert "is there already" in twice.stderr


def test_a_new_skill_leaves_nothing_where_it_cannot_be_made(tmp_path) -> None:
    def new(*arguments: str) -> Any:
        return CliRunner().invoke(app, ["skills", "new", *arguments])

    root = tmp_path / "skills"
    assert "lower-case" in new("Greet", "--into", str(root)).stderr
    assert "--url" in new("greet", "--runner", "http", "--into", str(root)).stderr
    assert "--url" in new("greet", "--url", "https://example.com", "--into", str(root)).stderr
    assert not root.exists()
    (tmp_path / "file").write_text("x")
    refused = new("greet", "--into", str(tmp_path / "file"))
    assert refused.exit_code == ExitCode.USAGE
    assert "cannot be written" in refused.stderr
    (root / "greet").mkdir(parents=True)
    assert new("greet", "--into", str(root)).exit_code == ExitCode.USAGE
    assert list(root.iterdir()) == [root / "greet"]
    assert not list((root / "greet").iterdir())


def test_a_list_says_which_page_follows_and_that_a_page_past_the_end_is_empty(person) -> None:
    total = person.gets("skills", "list")["total"]
    shown = person.types("skills", "list", "--page", "2", "--page-size", "5").stdout
    assert f"{total} in all; the next page: --page 3" in shown
    assert f"Nothing on this page; {total} in all." in person.types("skills", "list", "--page", "99").stdout
    assert "No check-ins" in person.types("memories", "check-ins", "--page", "1").stdout
