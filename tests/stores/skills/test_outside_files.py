"""Files that services keep: call logs, calendars, identity links; all there or nothing, also when killed."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stores.skills.services.calendar_files import CalendarFileFailed, CalendarFiles, UnknownCalendar
from stores.skills.services.call_logs import MAX_ENTRY_BYTES, CallLogFailed, CallLogs
from stores.skills.services.identity_links import ConfigUnreadable, IdentityConflict, IdentityLinks


@pytest.mark.acceptance("AM-19")
@pytest.mark.acceptance("O-22")
def test_a_calls_log_stays_inside_its_folder_and_in_order(tmp_path: Path) -> None:
    logs = CallLogs(tmp_path / "logs")
    for number in range(20):
        logs.write("alice", "../../x", {"n": number})
    path = logs.path_of("alice", "../../x")
    assert path.parent == tmp_path / "logs"
    assert [json.loads(line)["n"] for line in path.read_text(encoding="utf-8").splitlines()] == list(
        range(20)
    )
    assert path.stat().st_mode & 0o777 == 0o600
    assert logs.path_of("bob", "../../x") != path
    assert list(tmp_path.iterdir()) == [tmp_path / "logs"]


@pytest.mark.acceptance("AM-19")
def test_a_line_that_was_left_half_written_is_ended_before_the_next(tmp_path: Path) -> None:
    logs = CallLogs(tmp_path)
    logs.write("alice", "c", {"n": 1})
    with logs.path_of("alice", "c").open("ab") as file:
        file.write(b'{"n": 2, "cut')
    logs.write("alice", "c", {"n": 3})
    lines = logs.path_of("alice", "c").read_text(encoding="utf-8").splitlines()
    assert [lines[0], lines[2]] == ['{"n": 1}', '{"n": 3}']


@pytest.mark.acceptance("AM-19")
@pytest.mark.parametrize("entry", [{"a": float("nan")}, {"a": object()}, {"a": "x" * MAX_ENTRY_BYTES}])
def test_an_entry_that_is_no_json_or_too_long_is_refused(tmp_path: Path, entry: dict[str, object]) -> None:
    with pytest.raises(CallLogFailed):
        CallLogs(tmp_path).write("alice", "c", entry)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.acceptance("O-23")
def test_logs_are_kept_for_thirty_days_after_their_last_entry(tmp_path: Path) -> None:
    logs = CallLogs(tmp_path)
    logs.write("alice", "old", {})
    logs.write("alice", "new", {})
    os.utime(logs.path_of("alice", "old"), (0, 1_000_000))
    os.utime(logs.path_of("alice", "new"), (0, 1_000_000 + 86_400))
    assert logs.prune(1_000_000 + 30 * 86_400 + 1) == 1
    assert list(tmp_path.iterdir()) == [logs.path_of("alice", "new")]


@pytest.mark.acceptance("AM-39")
def test_a_calendar_is_named_by_its_file_and_never_lies_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    files = CalendarFiles(folder / "olga.ics")
    assert files.read(None) is None
    assert files.change(None, lambda text: f"{text}!")
    (folder / "team.ics").write_text("T", encoding="utf-8")
    (tmp_path / "secret.ics").write_text("S", encoding="utf-8")
    assert (files.read("olga"), files.read("team"), files.names()) == ("None!", "T", ("olga", "team"))
    for name in ("../secret", "/etc/passwd", "..", ".", "", "nobody", "te\0am"):
        with pytest.raises(UnknownCalendar):
            files.read(name)
    assert not files.change("team", lambda _: None)
    (folder / "team.ics").write_bytes(b"\xff\xfe")
    with pytest.raises(CalendarFileFailed):
        files.read("team")


@pytest.mark.acceptance("AM-34")
def test_changes_at_once_are_all_there(tmp_path: Path) -> None:
    files = CalendarFiles(tmp_path / "a.ics")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: files.change(None, lambda text: f"{text or ''}{n};"), range(40)))
    assert sorted((files.read(None) or "").split(";")[:-1], key=int) == [str(n) for n in range(40)]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".a.ics.lock", "a.ics"]


KILLED = """
import sys
from pathlib import Path
from stores.skills.services.calendar_files import CalendarFiles
files = CalendarFiles(Path(sys.argv[1]))
print("begun", flush=True)
for n in range(1_000_000):
    files.change(None, lambda _: (str(n % 10) * 300_000) + "END")
"""


@pytest.mark.acceptance("AM-34")
def test_a_writer_that_is_killed_leaves_the_old_calendar_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "a.ics"
    files = CalendarFiles(path)
    for _ in range(3):
        writer = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        while not path.exists():
            pass
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        text = files.read(None) or ""
        assert len(text) == 300_003
        assert text == text[0] * 300_000 + "END"
        assert files.change(None, lambda before: before)


@pytest.mark.acceptance("OC-15", "OC-16")
@pytest.mark.acceptance("O-19")
def test_links_at_once_are_all_there_and_a_peer_is_of_one_name(tmp_path: Path) -> None:
    links = IdentityLinks(tmp_path / "openclaw.json")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: links.link(f"Caller {n}", [f"1555{n:04}"]), range(50)))
    assert links.links() == {f"Caller {n}": [f"1555{n:04}"] for n in range(50)} | {}
    links.link("Caller 1", ["+15550001", "telegram:1", "TELEGRAM:1"])
    assert links.links()["Caller 1"] == ["15550001", "telegram:1"]
    for peer in ("15550002", "+15550002"):
        with pytest.raises(IdentityConflict):
            links.link("Caller 1", ["telegram:9", peer])
    assert links.links()["Caller 1"] == ["15550001", "telegram:1"]
    assert links.unlink("Caller 2")
    assert not links.unlink("Caller 2")
    links.link("Caller 1", ["15550002"])


@pytest.mark.acceptance("OC-15")
@pytest.mark.parametrize(
    "broken", ["{ // x\n}", "[]", '{"session": 1}', '{"session": {"identityLinks": {"a": "b"}}}']
)
@pytest.mark.acceptance("X-16")
def test_a_configuration_that_is_no_plain_json_is_left_as_it_is(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "openclaw.json"
    path.write_text(broken, encoding="utf-8")
    with pytest.raises(ConfigUnreadable):
        IdentityLinks(path).link("Ada", ["15550001"])
    assert path.read_text(encoding="utf-8") == broken
