"""``apprentice record terminal``: what it needs before it opens a shell."""

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.learning.record_commands import app
from cli.platform.output import ExitCode


def record(person, *arguments: str):
    environment = {"APPRENTICE_API_URL": person.state.api_url, "APPRENTICE_TOKEN": person.token}
    return CliRunner().invoke(app, ["terminal", *arguments], env=environment)


def test_without_a_session_it_says_how_to_begin_one(person) -> None:
    result = record(person)
    assert result.exit_code == ExitCode.USAGE
    assert "apprentice learn create" in result.stderr


def test_a_session_that_is_over_is_not_recorded(person) -> None:
    session_id = person.gets("learn", "create")["session"]["learn_session_id"]
    person.gets("learn", "cancel")
    result = record(person, "--session", session_id)
    assert result.exit_code == ExitCode.USAGE
    assert "is cancelled" in result.stderr


def test_without_a_token_it_does_not_start() -> None:
    result = CliRunner().invoke(app, ["terminal", "--api-url", "http://another.example"])
    assert result.exit_code == ExitCode.USAGE
    assert "APPRENTICE_TOKEN" in result.stderr


def environment_of(person, home: Path) -> dict[str, str]:
    return {
        **os.environ,
        "APPRENTICE_API_URL": person.state.api_url,
        "APPRENTICE_TOKEN": person.token,
        "APPRENTICE_DATA_DIR": str(home / "data"),
        "HOME": str(home),
    }


def test_what_is_typed_in_the_recorded_shell_arrives_in_the_session(
    person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = person.gets("learn", "create", "--only", "terminal")["session"]["learn_session_id"]
    folder = tmp_path / "shown"
    folder.mkdir()
    code, screen = type_into(
        [sys.executable, "-P", "-m", "cli.main", "record", "terminal", "--folder", str(folder)],
        environment_of(person, tmp_path),
        (
            ("[rec]", "printf 'b\\na\\n' > list.txt"),
            ("[rec]", "sort list.txt > sorted.txt"),
            ("[rec]", "exit"),
        ),
    )
    assert code == 0, screen
    assert f"apprentice learn stop {session_id}" in screen
    assert person.gets("learn", "stop")["captured_event_count"] == 2
    assert (folder / "sorted.txt").read_text() == "a\nb\n"


@pytest.mark.parametrize("name", ["termnal", "terminal_command"])
def test_a_misspelt_application_is_refused_with_the_names_there_are(person, name: str) -> None:
    refused = person.types("learn", "create", "--only", name)
    assert refused.exit_code == ExitCode.REFUSED
    assert "is terminal meant? There are browser and terminal." in refused.stderr
    assert "Look at: --only." in refused.stderr
    assert person.gets("learn", "list")["sessions"] == []


def test_an_application_that_nothing_here_records_is_refused_with_what_is_known_and_where_it_is_listed(
    person,
) -> None:
    refused = person.types("learn", "create", "--only", "terminal", "--only", "figma")
    assert refused.exit_code == ExitCode.USAGE
    assert "no recorder reports “figma”. There are browser and terminal" in refused.stderr
    assert "`apprentice record adapters`" in refused.stderr
    assert person.gets("learn", "list")["sessions"] == []
    listed = person.types("record", "adapters").stdout
    assert "(--only terminal)" in listed
    assert "(--only browser)" in listed


@pytest.mark.parametrize("arguments", [["terminal"], ["wrap", "--", "true"]])
def test_a_recorder_that_the_session_does_not_let_in_says_so_before_it_records(
    person, arguments: list[str]
) -> None:
    person.gets("learn", "create", "--only", "https://shop.example")
    environment = {"APPRENTICE_API_URL": person.state.api_url, "APPRENTICE_TOKEN": person.token}
    refused = CliRunner().invoke(app, arguments, env=environment)
    assert refused.exit_code == ExitCode.USAGE
    assert "watches “https://shop.example” alone: nothing would be kept" in refused.stderr
    assert "apprentice learn create --only terminal" in refused.stderr


def test_a_browser_is_not_opened_for_a_session_about_the_terminal(person) -> None:
    person.gets("learn", "create", "--only", "terminal")
    environment = {"APPRENTICE_API_URL": person.state.api_url, "APPRENTICE_TOKEN": person.token}
    refused = CliRunner().invoke(app, ["browser"], env=environment)
    assert refused.exit_code == ExitCode.USAGE
    assert "apprentice learn create --only browser" in refused.stderr


def test_nothing_is_recorded_for_a_session_that_observes_nothing(person) -> None:
    person.gets("learn", "create", "--observe", "none")
    refused = record(person)
    assert refused.exit_code == ExitCode.USAGE
    assert "observes nothing" in refused.stderr


def test_a_recording_of_which_nothing_is_kept_does_not_lead_to_the_end_of_the_capture(
    person, tmp_path: Path
) -> None:
    session_id = person.gets("learn", "create", "--only", "terminal")["session"]["learn_session_id"]
    code, screen = type_into(
        [sys.executable, "-P", "-m", "cli.main", "record", "terminal", "--folder", str(tmp_path)],
        environment_of(person, tmp_path),
        (("[rec]", "exit"),),
    )
    assert code == 0, screen
    assert f"Nothing was kept. Next: apprentice learn status {session_id}" in screen
    assert "learn stop" not in screen


def test_without_a_terminal_it_does_not_start(person, tmp_path: Path) -> None:
    person.gets("learn", "create")
    environment = {
        **os.environ,
        "APPRENTICE_API_URL": person.state.api_url,
        "APPRENTICE_TOKEN": person.token,
        "APPRENTICE_DATA_DIR": str(tmp_path / "data"),
    }
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "cli.main", "record", "terminal"],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == ExitCode.USAGE
    assert "needs a terminal: run it in one" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_at_a_terminal_questions_are_asked_and_enter_takes_the_suggestion(person, taught) -> None:
    session_id = taught("orchard")
    person.gets("learn", "propose", "--ask")
    questions = person.gets("learn", "questions", session_id)
    environment = {
        **os.environ,
        "APPRENTICE_API_URL": person.state.api_url,
        "APPRENTICE_TOKEN": person.token,
    }
    replies = tuple(("answer", "") for _ in questions[1:])
    code, screen = type_into(
        [sys.executable, "-P", "-m", "cli.main", "learn", "answer"],
        environment,
        (("answer", "In the autumn"), *replies),
    )
    assert code == 0, screen
    assert "seen in: sort orchard.txt" in screen
    answers = [one["answer_text"] for one in person.gets("learn", "questions", session_id)]
    assert answers == ["In the autumn", *(one["suggestion"] for one in questions[1:])]


def type_into(
    command: list[str], environment: dict[str, str], lines: tuple[tuple[str, str], ...]
) -> tuple[int, str]:
    """Run a command in a terminal of its own; each line is typed once its prompt has been shown."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        command, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    )
    os.close(slave)
    screen, seen = "", 0
    waiting = list(lines)
    try:
        while True:
            select.select([master], [], [])
            try:
                screen += os.read(master, 65536).decode(errors="replace")
            except OSError:  # the other end is closed
                break
            if waiting and (at := screen.find(waiting[0][0], seen)) >= 0:
                # What is typed is echoed: the next prompt is looked for behind it.
                seen = at + len(waiting[0][0])
                os.write(master, waiting.pop(0)[1].encode() + b"\n")
    finally:
        os.close(master)
    return process.wait(), screen


def test_json_is_not_mixed_with_anything_else(person) -> None:
    created = person.types("learn", "create", "--json").stdout
    assert json.loads(created)["session"]["state"] == "armed"
