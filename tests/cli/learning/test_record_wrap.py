"""``apprentice record wrap`` and its siblings, against a running service."""

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import uuid_utils
from typer.testing import CliRunner

from cli.main import app
from cli.platform.output import ExitCode

PATIENCE_S = 30


class Terminal:
    """Where a person types ``apprentice record`` commands."""

    def __init__(self, person: Any, home: Path) -> None:
        self.folder = home / "shown"
        self.folder.mkdir()
        self.environment = os.environ | {
            "APPRENTICE_API_URL": person.state.api_url,
            "APPRENTICE_TOKEN": person.token,
            "APPRENTICE_DATA_DIR": str(home / "data"),
        }
        self.began: list[subprocess.Popen[bytes]] = []

    def begins(self, *arguments: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "cli.main", "record", *arguments],
            cwd=self.folder,
            env=self.environment | {"PYTHONPATH": str(Path(__file__).parents[3])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.began.append(process)
        return process

    def types(self, *arguments: str, given: bytes = b"") -> tuple[int, str, str]:
        process = self.begins(*arguments)
        out, err = process.communicate(given, timeout=PATIENCE_S)
        return process.returncode, out.decode(), err.decode()


@pytest.fixture
def terminal(person, tmp_path: Path):
    one = Terminal(person, tmp_path)
    yield one
    for process in one.began:
        process.kill()
        process.communicate()


def begin_session(person, *options: str) -> str:
    session_id: str = person.gets("learn", "create", *options)["session"]["learn_session_id"]
    return session_id


def observed(person, session_id: str) -> list[dict[str, Any]]:
    events = []
    with person_api(person) as api:
        for event in api.learn.observations(session_id).observations:
            events.append(event.model_dump(mode="json", exclude_none=True))
    return events


def person_api(person):
    from clients.apprentice.api import ApprenticeApi

    return ApprenticeApi(person.state.api_url, person.token)


def test_a_wrapped_command_becomes_an_observation(person, terminal) -> None:
    session_id = begin_session(person)
    script = "cat > list.txt; echo shown; exit 3"
    code, out, err = terminal.types(
        "wrap", "--session", session_id, "--label", "Keep the list", "--", "sh", "-c", script, given=b"b\na\n"
    )
    assert (code, out) == (3, "shown\n")
    assert "recording this command" in err
    assert "1 recorded, 1 delivered" in err
    assert (terminal.folder / "list.txt").read_text() == "b\na\n"
    (event,) = observed(person, session_id)
    assert (event["adapter_kind"], event["action_label"]) == ("wrapper_receipt", "Keep the list")
    assert event["terminal"]["exit_class"] == "failed"
    assert event["terminal"]["produced_files"] == [{"path": "list.txt", "change": "created", "size_bytes": 4}]
    assert person.gets("learn", "status", session_id)["state"] == "capturing"


SHORT, BOTH = {"list.txt": True, "long.txt": False}, {"list.txt": True, "long.txt": True}


@pytest.mark.parametrize(
    ("options", "settings", "kept"),
    [
        ((), {}, [BOTH]),
        (("--no-inputs",), {}, []),
        (("--max-input-bytes", "4"), {}, [SHORT]),
        ((), {"APPRENTICE_RECORD_INPUTS": "false"}, []),
        ((), {"APPRENTICE_RECORD_INPUTS_FILE_BYTES": "4"}, [SHORT]),
        ((), {"APPRENTICE_RECORD_INPUTS_TOTAL_BYTES": "4"}, [SHORT]),
        ((), {"APPRENTICE_RECORD_INPUTS_FILES": "1"}, [{"list.txt": True}]),
    ],
)
def test_what_is_kept_of_the_folder_follows_options_and_settings(
    person, terminal, options: tuple[str, ...], settings: dict[str, str], kept: list[dict[str, bool]]
) -> None:
    session_id = begin_session(person)
    (terminal.folder / "list.txt").write_text("b\na\n")
    (terminal.folder / "long.txt").write_text("twelve more\n")
    terminal.environment |= settings
    assert terminal.types("wrap", "--session", session_id, *options, "--", "true")[0] == 0
    address = f"{person.state.api_url}/api/learn/sessions/{session_id}/starting-states"
    found = httpx.get(address, headers={"Authorization": f"Bearer {person.token}"}).json()
    states = [{one["path"]: one["kept"] for one in state["entries"]} for state in found["starting_states"]]
    assert states == kept


@pytest.mark.thorough
def test_wrapped_commands_alone_are_enough_to_learn_from(person, terminal) -> None:
    session_id = begin_session(person)
    for command in (
        ["sh", "-c", "printf 'b\\na\\n' > wrapped.txt"],
        ["sort", "-o", "wrapped-top.txt", "wrapped.txt"],
    ):
        assert terminal.types("wrap", "--", *command)[0] == 0
    assert person.gets("learn", "stop")["captured_event_count"] == 2
    person.gets("learn", "propose")
    shown = person.types("learn", "show", session_id)
    assert "wrapped-top.txt" in shown.stdout, shown.stderr


def test_a_session_that_is_over_is_not_recorded_and_nothing_runs(person, terminal) -> None:
    session_id = begin_session(person)
    person.gets("learn", "cancel")
    code, _, err = terminal.types("wrap", "--session", session_id, "--", "touch", "made")
    assert (code, list(terminal.folder.iterdir())) == (ExitCode.USAGE, [])
    assert "records no longer" in err


@pytest.mark.thorough
def test_a_paused_session_sees_nothing_of_a_command_that_runs_all_the_same(person, terminal) -> None:
    session_id = begin_session(person)
    person.gets("learn", "start")
    person.gets("learn", "pause")
    code, _, err = terminal.types("wrap", "--", "touch", "made")
    assert (code, (terminal.folder / "made").exists()) == (0, True)
    assert "no receipt: the session is paused" in err
    assert "recording this command" not in err
    person.gets("learn", "resume")
    assert terminal.types("wrap", "--", "touch", "seen")[0] == 0
    assert [e["action_label"] for e in observed(person, session_id)] == ["touch seen"]


def test_a_recorded_terminal_records_the_command_itself(person, terminal) -> None:
    terminal.environment["APPRENTICE_RECORDING"] = begin_session(person)
    code, _, err = terminal.types("wrap", "--", "touch", "made")
    assert (code, list(terminal.folder.iterdir())) == (ExitCode.USAGE, [])
    assert "recorded already" in err


@pytest.mark.thorough
def test_a_command_runs_though_the_service_is_away(terminal, tmp_path: Path) -> None:
    terminal.environment["APPRENTICE_API_URL"] = "http://127.0.0.1:1"
    session_id = str(uuid_utils.uuid7())
    code, _, err = terminal.types("wrap", "--session", session_id, "--", "touch", "made")
    assert (code, (terminal.folder / "made").exists()) == (0, True)
    assert "1 wait in" in err
    assert len(list((tmp_path / "data" / "spool").glob(f"{session_id}.*.jsonl"))) == 1


@pytest.mark.thorough
def test_a_running_recorder_is_shown_paused_and_stopped_from_outside(person, terminal) -> None:
    session_id = begin_session(person)
    nobody = terminal.types("pause", "--session", session_id)
    assert nobody[0] == ExitCode.USAGE
    assert "no recorder" in nobody[2]
    process = terminal.begins("wrap", "--", "sh", "-c", "echo begun >&2; read line; touch made")
    wait_for(process, b"begun")
    (shown,) = json.loads(terminal.types("status", "--json")[1])
    assert (shown["pid"], shown["learn_session_id"]) == (process.pid, session_id)
    assert (shown["kind"], shown["state"]) == ("wrapper_receipt", "rec")
    assert "wrapper_receipt" in terminal.types("pause")[1]
    wait_for(process, b"recording is paused")
    assert json.loads(terminal.types("status", "--json")[1])[0]["state"] == "paused"
    assert "to stop" in terminal.types("stop", "--session", session_id)[1]
    _, said = process.communicate(b"go on\n", timeout=PATIENCE_S)
    assert (process.returncode, (terminal.folder / "made").exists()) == (0, True)
    assert b"no receipt" in said
    assert "Nothing records" in terminal.types("status")[1]
    assert observed(person, session_id) == []


def wait_for(process: subprocess.Popen[bytes], text: bytes) -> None:
    """Reads what the process says until ``text`` is in it."""
    assert process.stderr is not None
    said = b""
    while text not in said:
        ready, _, _ = select.select([process.stderr], [], [], PATIENCE_S)
        assert ready, said
        more = os.read(process.stderr.fileno(), 65536)
        assert more, said
        said += more


def test_the_adapters_are_listed_with_what_to_use_instead(person) -> None:
    environment = {"APPRENTICE_API_URL": person.state.api_url, "APPRENTICE_TOKEN": person.token}
    shown = CliRunner().invoke(app, ["record", "adapters"], env=environment)
    assert shown.exit_code == 0, shown.stderr
    assert "midi comes with phase 2; use wrapper_receipt or mcp_receipt instead" in " ".join(
        shown.stdout.split()
    )
    listed = json.loads(CliRunner().invoke(app, ["record", "adapters", "--json"], env=environment).stdout)
    assert len(listed["adapters"]) == 13
