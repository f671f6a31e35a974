import io
import json
import os
import select
import socket
import stat
import subprocess
import sys
import tarfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from shutil import which

import pytest

from contracts.backoff import Backoff
from recorders.delivery import IngestTarget
from recorders.spool import RecorderError, Spool
from recorders.terminal.recording import TerminalRecorderOptions, run_scripted

ROOT = Path(__file__).parents[3]
PATIENCE_S = 20


@pytest.fixture
def options(ingest_server, tmp_path: Path, session_id: str) -> Callable[..., TerminalRecorderOptions]:
    """Options for a demonstration in a folder of its own."""
    folder = tmp_path / "demo"
    folder.mkdir()

    def make(**changes: object) -> TerminalRecorderOptions:
        values: dict[str, object] = {
            "learn_session_id": session_id,
            "target": IngestTarget(ingest_server.url, "tok"),
            "spool_folder": tmp_path / "spool",
            "folder": folder,
            "flush_timeout_s": 20.0,
            "command_timeout_s": 20.0,
            "backoff": Backoff(first=0.001, cap=0.01, jitter=0.9),
        }
        return TerminalRecorderOptions(**(values | changes))  # type: ignore[arg-type]

    return make


def recorded(server) -> list[dict[str, object]]:
    return [event["terminal"] for event in server.accepted.values()]


def commands_of(server) -> list[object]:
    return [terminal["command"] for terminal in recorded(server)]


def test_each_finished_command_is_one_event_in_the_words_typed(ingest_server, options) -> None:
    lines = [
        "echo one > a.txt",
        "echo one > a.txt",
        "true && echo 'x; y' > b.txt; echo \"it's\" > c.txt",
        "for i in 1 2; do\n  echo $i > f$i\ndone",
        "cat <<END > here.txt\nline 'one\nEND",
        "(touch in_a_subshell)",
        "echo 'Done!' >> a.txt",
    ]
    summary = run_scripted(options(), lines)
    assert commands_of(ingest_server) == lines
    assert (summary.commands, summary.recorded, summary.complete) == (7, 7, True)


def test_an_event_says_how_it_ended_where_it_ran_and_what_it_made(ingest_server, options) -> None:
    run_scripted(
        options(),
        [
            "echo a > a.txt",
            "mkdir -p sub && cd sub",
            "echo b > b.txt; rm ../a.txt",
            "cd /; false",
            "test -d /",
            "kill -INT $$",
        ],
    )
    facts = [
        (
            t["exit_class"],
            t["working_folder"],
            [(f["path"], f["change"]) for f in t.get("produced_files", [])],
        )
        for t in recorded(ingest_server)
    ]
    assert facts == [
        ("ok", ".", [("a.txt", "created")]),
        ("ok", ".", []),
        ("ok", "sub", [("a.txt", "deleted"), ("sub/b.txt", "created")]),
        ("failed", "sub", []),
        ("ok", "(outside)", []),
        ("interrupted", "(outside)", []),
    ]
    first = next(iter(ingest_server.accepted.values()))
    assert first["adapter_kind"] == "terminal_command"
    assert first["app_family"] == "terminal"
    assert first["control_surface"] == "native_openclaw_tool"
    assert first["caused_state_change"] is True


def test_what_a_command_prints_is_never_recorded(ingest_server, options, tmp_path: Path) -> None:
    run_scripted(options(), ["printf '%s%s' quick silver | tee copy && printf '%s%s' quick silver >&2"])
    assert (tmp_path / "demo" / "copy").read_text(encoding="utf-8") == "quicksilver"
    assert ingest_server.labels()
    assert not any(b"quicksilver" in body for body in ingest_server.bodies)


def test_looking_around_private_lines_and_what_is_paused_stay_out(ingest_server, options) -> None:
    summary = run_scripted(
        options(),
        [
            "ls",
            "cd .",
            "touch a",
            " touch private",
            "apprentice-pause",
            "touch while_paused",
            "touch also_paused; apprentice-resume",
            "touch b",
            "touch c; apprentice-pause",
        ],
    )
    assert commands_of(ingest_server) == ["touch a", "touch b"]
    assert (summary.recorded, summary.skipped) == (2, 2)


def test_files_of_unrecorded_lines_are_not_laid_at_the_next_commands_door(ingest_server, options) -> None:
    run_scripted(options(), [" touch private", "touch a"])
    assert [f["path"] for f in recorded(ingest_server)[0]["produced_files"]] == ["a"]


def test_the_command_that_ends_the_shell_is_recorded(ingest_server, options) -> None:
    run_scripted(options(), ["touch last && exit 3"])
    assert [(t["command"], t["exit_class"]) for t in recorded(ingest_server)] == [
        ("touch last && exit 3", "failed")
    ]


def test_secrets_are_neither_on_the_wire_nor_on_the_disk(ingest_server, options, tmp_path: Path) -> None:
    secrets = ["hunter2", "hunter3", "hunter4", "Zk3Qx9Lm2Vb7Tn4Rw8Yp1Gh6"]
    ingest_server.always = ingest_server.refusing(503)
    summary = run_scripted(
        options(flush_timeout_s=0.2),
        [
            f"export API_TOKEN={secrets[0]}",
            f"echo mysql --password={secrets[1]} -u root > /dev/null",
            f"echo https://me:{secrets[2]}@db.example/x; touch token={secrets[0]}",
            f"printf %s {secrets[3]}",
        ],
    )
    assert (summary.recorded, summary.delivery.pending) == (4, 4)
    on_disk = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    on_wire = b"".join(ingest_server.bodies)
    assert b"API_TOKEN=[MASKED]" in on_disk
    assert b"API_TOKEN=[MASKED]" in on_wire
    for secret in secrets:
        assert secret.encode() not in on_disk + on_wire


def test_a_hashed_recording_keeps_no_words(ingest_server, options) -> None:
    run_scripted(options(redaction_mode="hash_only"), ["ls", "touch a"])
    assert [str(c)[:7] for c in commands_of(ingest_server)] == ["sha256:"]


def test_a_recording_survives_an_api_that_is_away_then_busy(
    ingest_server, restart_ingest_server, options, tmp_path: Path
) -> None:
    given = options(flush_timeout_s=0.1)
    ingest_server.stop()
    first = run_scripted(given, [f"touch a{n}" for n in range(5)])
    assert (first.delivery.pending, first.complete) == (5, False)
    assert "API does not answer" in first.text()

    server = restart_ingest_server(ingest_server)
    server.refuse(503, times=2, headers={"Retry-After": "0"})
    second = run_scripted(options(), [f"touch b{n}" for n in range(5)])
    assert second.complete
    assert commands_of(server) == [f"touch a{n}" for n in range(5)] + [f"touch b{n}" for n in range(5)]
    assert list((tmp_path / "spool").iterdir()) == []


def test_a_session_that_stopped_capturing_ends_the_recording_but_not_the_shell(
    ingest_server, options, tmp_path: Path
) -> None:
    ingest_server.always = ingest_server.refusing(409, code="CAPTURE_ALREADY_STOPPED", retryable=False)
    folder = tmp_path / "demo"
    summary = run_scripted(options(), ["touch a", "touch b"])
    assert (folder / "b").exists()
    assert summary.stopped_reason is not None
    assert "CAPTURE_ALREADY_STOPPED" in summary.stopped_reason
    assert not summary.complete
    assert list((tmp_path / "spool").glob("*.jsonl"))


def test_a_full_spool_ends_the_recording_with_a_reason(options, tmp_path: Path) -> None:
    summary = run_scripted(options(max_spool_bytes=10), ["touch a", "touch b"])
    assert summary.recorded == 0
    assert summary.stopped_reason is not None
    assert "limit is 10" in summary.stopped_reason
    assert (tmp_path / "demo" / "b").exists()


def test_a_command_that_never_ends_is_given_up(options) -> None:
    with pytest.raises(RecorderError, match=r"did not finish within 0\.5 s"):
        run_scripted(options(command_timeout_s=0.5), ["echo 'never closed"])


@pytest.mark.parametrize("command", ["echo \x03", "echo " + "x" * 5000])
def test_what_cannot_be_typed_is_refused_before_anything_runs(options, command: str, tmp_path: Path) -> None:
    with pytest.raises(RecorderError, match=r"control characters|cannot be typed"):
        run_scripted(options(), ["touch a", command])
    assert not (tmp_path / "demo" / "a").exists()


def test_a_folder_that_is_missing_is_named(options, tmp_path: Path) -> None:
    with pytest.raises(RecorderError, match="nowhere"):
        run_scripted(options(folder=tmp_path / "nowhere"), [])


KILLED = """
import json, sys
from pathlib import Path
from shutil import which
from recorders.delivery import IngestTarget
from recorders.terminal.recording import TerminalRecorderOptions, run_scripted
session, url, spool, folder = sys.argv[1:]
options = TerminalRecorderOptions(session, IngestTarget(url, "tok"), Path(spool), Path(folder))
run_scripted(options, ["touch a", "echo $$ > shell_pid", "touch c", "cat gate"])
"""


def test_what_a_killed_recorder_left_is_delivered_by_the_next_once(
    ingest_server, options, session_id: str, tmp_path: Path
) -> None:
    given = options()
    os.mkfifo(given.folder / "gate")
    ingest_server.always = ingest_server.refusing(503, headers={"Retry-After": "0"})
    arguments = [session_id, ingest_server.url, str(given.spool_folder), str(given.folder)]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    recorder = subprocess.Popen([sys.executable, "-c", KILLED, *arguments], cwd=ROOT, env=environment)
    try:
        ingest_server.wait_for_body(b"touch c")
        shell = os.pidfd_open(int((given.folder / "shell_pid").read_text()))
    finally:
        recorder.kill()
        recorder.wait()
    gone, _, _ = select.select([shell], [], [], PATIENCE_S)
    os.close(shell)
    assert gone, "the shell outlived its recorder"

    sent = {e["event_id"] for body in ingest_server.bodies for e in json.loads(body)["events"]}
    assert len(sent) == 3
    ingest_server.always = None
    summary = run_scripted(given, ["touch d"])
    assert summary.complete
    assert commands_of(ingest_server) == ["touch a", "echo $$ > shell_pid", "touch c", "touch d"]
    assert sent < ingest_server.accepted.keys()
    assert list(given.spool_folder.iterdir()) == []


def descriptors(service_port: int) -> set[tuple[int, int, int]]:
    """What this process holds open: files, pipes, terminals, and connections to the service; no others' sockets."""
    found = set()
    for number in [int(path.name) for path in Path("/dev/fd").iterdir()]:
        with suppress(OSError):
            held = os.fstat(number)
            if not stat.S_ISSOCK(held.st_mode) or _peer_port(number) == service_port:
                found.add((number, held.st_dev, held.st_ino))
    return found


def _peer_port(descriptor: int) -> int | None:
    with socket.socket(fileno=os.dup(descriptor)) as connection:
        try:
            return connection.getpeername()[1]
        except (OSError, IndexError):
            return None


def test_nothing_is_left_behind(
    ingest_server, options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    (tmp_path / "temporary" / "apprentice-terminal-999999999-old").mkdir()
    before = descriptors(ingest_server.port)
    run_scripted(options(), ["touch a"])
    assert list((tmp_path / "temporary").iterdir()) == []
    assert descriptors(ingest_server.port) - before == set()


def test_two_recorders_at_once_keep_apart(ingest_server, options, session_id: str, tmp_path: Path) -> None:
    other = Spool(tmp_path / "spool", session_id)
    summary = run_scripted(options(), ["touch a"])
    assert summary.complete
    other.close()
    assert commands_of(ingest_server) == ["touch a"]


def states_of(server) -> list[tuple[str, dict[str, object], set[str]]]:
    """The starting states that arrived: session, the state, and the digests of its contents."""
    found = []
    for session, body in server.states.values():
        with tarfile.open(fileobj=io.BytesIO(body), mode="r:gz") as archive:
            names = archive.getnames()
            state = json.load(archive.extractfile(names[0]))  # type: ignore[arg-type]
        found.append((session, state, {name.removeprefix("contents/") for name in names[1:]}))
    return found


def test_the_folder_as_it_was_before_the_first_command_is_delivered(
    ingest_server, options, session_id: str
) -> None:
    given = options()
    (given.folder / "sales.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (given.folder / ".env").write_text("A=1\n", encoding="utf-8")
    summary = run_scripted(given, ["rm sales.csv", "touch made"])
    assert summary.complete
    ((session, state, contents),) = states_of(ingest_server)
    entries = {entry["path"]: entry for entry in state["entries"]}  # type: ignore[attr-defined]
    assert session == session_id
    assert {path: entry["kept"] for path, entry in entries.items()} == {"sales.csv": True, ".env": False}
    assert contents == {entries["sales.csv"]["sha256"]}


def test_without_inputs_and_with_hashes_nothing_of_the_folder_leaves(ingest_server, options) -> None:
    for changes in ({"inputs": None}, {"redaction_mode": "hash_only"}):
        given = options(**changes)
        (given.folder / "sales.csv").write_text("a,b\n1,2\n", encoding="utf-8")
        assert run_scripted(given, ["touch made"]).complete
    assert ingest_server.states == {}
    assert ingest_server.states_asked == 0


def test_a_starting_point_that_waits_or_is_refused_is_in_the_summary(
    ingest_server, options, tmp_path: Path
) -> None:
    refusal = ingest_server.refusing(413, code="PAYLOAD_TOO_LARGE", retryable=False)
    ingest_server.refused_states.append(refusal)
    summary = run_scripted(options(), ["touch a"])
    assert summary.complete
    assert "the starting point was not taken (PAYLOAD_TOO_LARGE" in summary.text()
    ingest_server.refused_states += [ingest_server.refusing(503)] * 10_000
    waiting = run_scripted(options(flush_timeout_s=0.3), ["touch b"])
    assert not waiting.complete
    assert f"the starting point waits in {tmp_path / 'spool'}" in waiting.text()


ED = "ed -s a.txt\n1s/one/two/\nw\nq"
FED = "ed -s a.txt <<'END_OF_TYPED_LINES'\n1s/one/two/\nw\nq\nEND_OF_TYPED_LINES"


@pytest.mark.skipif(which("ed") is None, reason="ed is not installed")
@pytest.mark.parametrize(("keeps", "recorded_as"), [(True, FED), (False, "ed -s a.txt")])
def test_lines_typed_at_a_prompt_are_kept_with_their_command_unless_that_is_switched_off(
    ingest_server, options, tmp_path: Path, keeps: bool, recorded_as: str
) -> None:
    (tmp_path / "demo" / "a.txt").write_text("one\n", encoding="utf-8")
    run_scripted(options(typed_lines=keeps), [ED, "cp a.txt b.txt"])
    assert (tmp_path / "demo" / "b.txt").read_text(encoding="utf-8") == "two\n"
    assert commands_of(ingest_server) == [recorded_as, "cp a.txt b.txt"]
    assert ingest_server.labels() == ["ed -s a.txt", "cp a.txt b.txt"]


@pytest.mark.parametrize("begun_in", ["demo", "home"])
def test_who_goes_elsewhere_first_teaches_what_is_done_there(
    ingest_server, options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begun_in: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "looked-at").mkdir(parents=True)
    task = tmp_path / "home" / "task"
    (task / "sub").mkdir(parents=True)
    (task / "sales.csv").write_text("region,amount\n", encoding="utf-8")
    summary = run_scripted(
        options(folder=tmp_path / begun_in),
        ["cd ~/looked-at", "ls", "cd ~/task", "ls", "wc -l < sales.csv > count.txt", "cd sub", "touch here"],
    )
    assert [(one["command"], one["working_folder"]) for one in recorded(ingest_server)] == [
        ("wc -l < sales.csv > count.txt", "."),
        ("touch here", "sub"),
    ]
    assert [file["path"] for one in recorded(ingest_server) for file in one["produced_files"]] == [
        "count.txt",
        "sub/here",
    ]
    named = {
        state["folder_name"]: [one["path"] for one in state["entries"]]
        for _, state, _ in states_of(ingest_server)
    }
    assert named["task"] == ["sales.csv", "sub"]
    assert set(named) <= {"task", "demo"}, "a folder that was only looked at is not kept"
    assert summary.complete


def test_a_command_in_a_further_folder_is_seen_from_the_folder_that_holds_both(
    ingest_server, options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "site").mkdir()
    (tmp_path / "other").mkdir()
    shown = ["touch a", "cd ~/other", "cat nothing", "cd ~/site", "touch b", "cd ../demo", "cp a ~/site/c"]
    summary = run_scripted(options(), shown)
    assert (summary.recorded, summary.skipped) == (3, 4)
    seen = recorded(ingest_server)
    assert [(one["working_folder"], [file["path"] for file in one["produced_files"]]) for one in seen] == [
        (".", ["a"]),
        ("site", ["site/b"]),
        ("demo", ["site/c"]),
    ]
    assert [[folder["name"] for folder in one["folders"]] for one in seen] == [
        [],
        ["demo", "site"],
        ["demo", "site"],
    ]


def test_without_inputs_a_further_folder_stays_outside(
    ingest_server, options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "site").mkdir()
    run_scripted(options(inputs=None), ["touch a", "cp a ~/site/c", "cd ~/site", "touch b"])
    seen = recorded(ingest_server)
    assert [one["working_folder"] for one in seen] == [".", ".", "(outside)"]
    assert [one["folders"] for one in seen] == [[], [], []]
