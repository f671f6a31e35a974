"""Starting states are taken bounded and without secrets, and delivered even when the API is away."""

import gzip
import io
import os
import tarfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from uuid_utils import uuid7

from api.learning.state_archive import read_archive
from contracts.backoff import Backoff
from contracts.learning.starting_state import EntryKind, InputLimits, StartingState
from domain.learning.redaction.kept_files import NAMED_LIKE_A_SECRET, SEEMS_SECRET
from domain.learning.starting_state import NO_TIME, TOO_LARGE, TOTAL_REACHED, beginnings, problem_of
from recorders.delivery import IngestTarget
from recorders.starting_state import (
    InputOptions,
    LeftFolder,
    TakenState,
    lesson_folder,
    may_be_kept,
    state_archive,
    take_starting_state,
)
from recorders.state_delivery import SUFFIX, RecordedStart, StateDelivery
from tests.fixtures.canaries import canary, spellings

QUICK = Backoff(first=0.001, cap=0.01, jitter=0.9)


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    folder = tmp_path / "demo"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "sales.csv").write_bytes(b"a,b\n1,2\n")
    (folder / "copy.csv").write_bytes(b"a,b\n1,2\n")
    (folder / "latest").symlink_to("data/sales.csv")
    return folder


def took(folder: Path, **options: object) -> TakenState:
    return take_starting_state(folder, str(uuid7()), InputOptions(**options))  # type: ignore[arg-type]


def reasons(taken: TakenState) -> dict[str, str | None]:
    files = (entry for entry in taken.clean.state.entries if entry.kind is EntryKind.FILE)
    return {entry.path: None if entry.kept else entry.left_out for entry in files}


def unpacked(archive: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(archive))) as members:
        return {one.name: members.extractfile(one).read() for one in members}  # type: ignore[union-attr]


def test_a_state_holds_the_folder_as_it_is_and_each_content_once(demo: Path) -> None:
    taken = took(demo)
    state = taken.clean.state
    assert [(e.path, e.kind.value, e.kept, e.link_target) for e in state.entries] == [
        ("copy.csv", "file", True, None),
        ("data", "folder", False, None),
        ("latest", "link", False, "data/sales.csv"),
        ("data/sales.csv", "file", True, None),
    ]
    assert (state.folder_name, state.partial, [*taken.clean.contents.values()]) == (
        "demo",
        False,
        [b"a,b\n1,2\n"],
    )
    assert abs(state.entries[0].modified_at.timestamp() - (demo / "copy.csv").stat().st_mtime) < 0.001


def test_the_archive_is_what_the_service_reads(demo: Path) -> None:
    taken = took(demo)
    stream = io.BytesIO(state_archive(taken.clean))
    received = read_archive(lambda: stream.read(100), InputLimits())
    assert (received.state, received.contents) == (taken.clean.state, taken.clean.contents)


def test_secrets_are_in_no_archive(demo: Path) -> None:
    secrets = [canary("named"), canary("assigned"), canary("password"), canary("zipped")]
    (demo / ".env").write_text(f"A={secrets[0]}\n")
    (demo / "deploy.sh").write_text(f"cat > config <<END\napi_token: {secrets[1]}\nEND\n")
    (demo / "id_ed25519").write_text(secrets[0])
    (demo / "conf.ini").write_text("x = 1\n" * 5_000 + f"password={secrets[2]}\n")
    (demo / "old.gz").write_bytes(gzip.compress(f"API_TOKEN={secrets[3]}".encode()))
    (demo / f"token={secrets[2]}").touch()
    taken = took(demo)
    assert reasons(taken) == {
        ".env": NAMED_LIKE_A_SECRET,
        "id_ed25519": NAMED_LIKE_A_SECRET,
        "deploy.sh": SEEMS_SECRET,
        "conf.ini": SEEMS_SECRET,
        "old.gz": SEEMS_SECRET,
        "copy.csv": None,
        "data/sales.csv": None,
    }
    whole = b"".join(unpacked(state_archive(taken.clean)).values())
    assert not any(spelling in whole for secret in secrets for spelling in spellings(secret))
    assert taken.text() == (
        "keeping 2 of the 7 files of this folder (8 bytes) as the lesson's starting point, without those that are "
        "too large or may hold secrets; --no-inputs leaves them out"
    )


def test_limits_leave_out_contents_and_say_so(demo: Path) -> None:
    (demo / "large.bin").write_bytes(b"a b\n" * 500)
    (demo / "z.bin").write_bytes(b"c d\n" * 250)
    limits = InputLimits(max_file_bytes=1_500, max_total_bytes=1_004)
    assert reasons(took(demo, limits=limits)) == {
        "copy.csv": None,
        "large.bin": TOO_LARGE,
        "z.bin": TOTAL_REACHED,
        "data/sales.csv": None,
    }
    few = took(demo, limits=InputLimits(max_files=2)).clean.state
    assert ([entry.path for entry in few.entries], few.partial) == (["copy.csv", "data"], True)
    assert set(reasons(took(demo, budget_s=60.0)).values()) == {None}


@pytest.mark.parametrize(
    ("environment", "locale", "zone"),
    [
        ({"LANG": "en_GB.UTF-8", "TZ": "Asia/Tokyo"}, "en_GB.UTF-8", "Asia/Tokyo"),
        (
            {"LANG": "en_GB.UTF-8", "LC_CTYPE": "fr_FR.UTF-8", "TZ": ":Europe/Oslo"},
            "fr_FR.UTF-8",
            "Europe/Oslo",
        ),
        ({"LANG": "en_GB.UTF-8", "LC_ALL": "de_DE.UTF-8", "TZ": "UTC"}, "de_DE.UTF-8", "UTC"),
        ({"LC_ALL": "", "TZ": "UTC"}, "C.UTF-8", "UTC"),
    ],
)
def test_the_locale_and_the_time_zone_of_the_shell_are_kept(
    demo: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], locale: str, zone: str
) -> None:
    for name in ("LC_ALL", "LC_CTYPE", "LANG", "TZ"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    state = took(demo).clean.state
    assert (state.locale, state.time_zone) == (locale, zone)


def test_without_a_time_zone_in_the_environment_it_is_that_of_the_machine(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TZ", raising=False)
    monkeypatch.setattr(
        "recorders.starting_state.os.path.realpath", lambda _path: "/usr/share/zoneinfo/Asia/Tokyo"
    )
    assert took(demo).clean.state.time_zone == "Asia/Tokyo"
    monkeypatch.setattr("recorders.starting_state.os.path.realpath", lambda path: path)
    assert took(demo).clean.state.time_zone == "UTC"


def test_files_beyond_the_limits_are_listed_with_their_digests_unless_they_may_hold_a_secret(
    demo: Path,
) -> None:
    large, rows = b"a b\0\n" * 500, b"2026-03-01 ERROR disk\n" * 100
    (demo / "large.bin").write_bytes(large)
    (demo / "rows.log").write_bytes(rows)
    (demo / "x-last.txt").write_bytes(b"x,1\n" * 225)
    (demo / "y-last.txt").write_text(f"api_token: {canary('late')}\n" + "y,1\n" * 225)
    taken = took(demo, limits=InputLimits(max_file_bytes=1_500, max_total_bytes=1_600))
    digests = {one.path: one.whole_sha256 for one in taken.clean.state.entries if one.kind is EntryKind.FILE}
    assert digests == {
        "copy.csv": None,
        "large.bin": sha256(large).hexdigest(),
        "rows.log": sha256(rows).hexdigest(),
        "x-last.txt": sha256(b"x,1\n" * 225).hexdigest(),
        "y-last.txt": None,
        "data/sales.csv": None,
    }
    assert reasons(taken)["x-last.txt"] == reasons(taken)["y-last.txt"] == TOTAL_REACHED


def test_of_a_large_file_of_rows_the_first_lines_are_kept(demo: Path) -> None:
    (demo / "big.log").write_bytes(b"2026-03-01 ERROR disk\n" * 100)
    (demo / "one-line.csv").write_bytes(b"a," * 1_000)
    (demo / "big.json").write_bytes(b"[\n1\n]\n" * 500)
    (demo / "binary.dat").write_bytes(b"a\nb\0c\n" * 500)
    (demo / "copy.csv").write_bytes(b"k,v\n" * 16 + b"api_token=" + b"q7Zk2mVw9XrT4bNc8Yd1" + b"\n" * 2_000)
    taken = took(demo, limits=InputLimits(max_file_bytes=1_000))
    assert reasons(taken) == {
        "big.log": None,
        "one-line.csv": TOO_LARGE,
        "big.json": TOO_LARGE,
        "binary.dat": TOO_LARGE,
        "copy.csv": SEEMS_SECRET,
        "data/sales.csv": None,
    }
    (log,) = beginnings(taken.clean.state)
    assert (log.path, log.size_bytes, log.whole_size_bytes) == ("big.log", 990, 2_200)
    assert taken.clean.contents[log.sha256 or ""] == b"2026-03-01 ERROR disk\n" * 45
    assert "of 1 large one the first lines" in taken.text()
    sizes = {digest: len(content) for digest, content in taken.clean.contents.items()}
    assert problem_of(taken.clean.state, sizes) is None
    wrong = taken.clean.state.changed(entries=(log.changed(whole_size_bytes=990),))
    assert (
        problem_of(wrong, {log.sha256 or "": 990}) == "entry 0: the whole file is larger than its beginning"
    )


def test_without_time_nothing_is_kept(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The clock stands still while the folder is listed, and then the time is over.
    times = iter([0.0, 0.0, 0.0])
    monkeypatch.setattr("recorders.starting_state.time.monotonic", lambda: next(times, 99.0))
    assert set(reasons(took(demo)).values()) == {NO_TIME}


def test_the_line_names_how_much_is_kept(demo: Path, tmp_path: Path) -> None:
    assert took(demo).text() == (
        "keeping the 2 files of this folder (8 bytes) as the lesson's starting point; --no-inputs leaves them out"
    )
    (demo / "large").write_bytes(b"a b\n" * 25_000)
    assert "the 3 files of this folder (98 KiB)" in took(demo).text()
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a").touch()
    assert "the 1 file of this folder (0 bytes)" in took(tmp_path / "one").text()
    (tmp_path / "none").mkdir()
    assert took(tmp_path / "none").text().startswith("this folder holds no files")


def test_the_home_folder_is_never_kept(demo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(demo))
    assert not may_be_kept(demo)
    assert not may_be_kept(Path("/"))
    assert may_be_kept(demo / "data")
    target = IngestTarget("http://127.0.0.1:1", "tok")
    start = RecordedStart(demo, str(uuid7()), InputOptions(), tmp_path, target)
    assert (start.taken, start.text) == (
        None,
        "this is your home folder: its files are not kept as the lesson's starting point",
    )


@pytest.mark.parametrize(
    ("begun", "entered", "chosen"),
    [
        ("home", "home", "home"),
        ("home", "home/reports", "home/reports"),
        ("home", "home/reports/2026", "home/reports/2026"),
        ("home", "elsewhere", "elsewhere"),
        ("home/reports", "home/reports", "home/reports"),
        ("home/reports", "home/reports/2026", "home/reports"),
        ("home/reports", "home/photos", "home/photos"),
        ("home/reports", "home/reports-old", "home/reports-old"),
        ("home/reports", "home", "home/reports"),
        ("home/reports", "/", "home/reports"),
        ("/", "elsewhere", "elsewhere"),
        ("/", "/", "/"),
    ],
)
def test_a_lesson_is_of_the_folder_that_its_first_command_is_entered_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begun: str, entered: str, chosen: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert lesson_folder(tmp_path / begun, tmp_path / entered) == tmp_path / chosen


@pytest.fixture
def deliver(ingest_server, tmp_path: Path, demo: Path, session_id: str) -> Callable[..., object]:
    """Takes and delivers a state; the report."""
    spool = tmp_path / "spool"
    spool.mkdir(exist_ok=True)

    def run(timeout: float = 20.0):
        start = RecordedStart(demo, session_id, InputOptions(), spool, IngestTarget(ingest_server.url, "tok"))
        start.deliver(QUICK)
        return start.close(timeout)

    return run


def test_a_state_is_delivered_and_nothing_is_left(ingest_server, deliver, session_id, tmp_path: Path) -> None:
    report = deliver()
    assert (report.delivered, report.pending, report.reason) == (1, 0, None)
    ((state_id, (session, body)),) = ingest_server.states.items()
    state = StartingState.model_validate_json(unpacked(body)["state.json"])
    assert (state.state_id, session) == (state_id, session_id)
    assert list((tmp_path / "spool").iterdir()) == []
    held = [str(one.readlink()) for one in Path("/proc/self/fd").iterdir() if one.is_symlink()]
    assert not [path for path in held if path.startswith(str(tmp_path / "spool"))]


def test_a_busy_service_is_asked_again(ingest_server, deliver) -> None:
    ingest_server.refused_states += [ingest_server.refusing(503), ingest_server.refusing(429)]
    assert deliver().delivered == 1
    assert ingest_server.states_asked == 3


def test_what_a_service_that_is_away_did_not_get_is_delivered_by_the_next(
    ingest_server, restart_ingest_server, deliver, tmp_path: Path
) -> None:
    ingest_server.stop()
    report = deliver(timeout=0.05)
    assert (report.delivered, report.pending) == (0, 1)
    (waiting,) = (tmp_path / "spool").iterdir()
    assert waiting.name.endswith(SUFFIX)
    assert waiting.stat().st_mode & 0o777 == 0o600
    server = restart_ingest_server(ingest_server)
    start = StateDelivery(tmp_path / "spool", IngestTarget(server.url, "tok"), str(uuid7()), backoff=QUICK)
    start.start()
    assert start.close(20.0).delivered == 1
    assert list(server.states) == [waiting.name.split(".")[1]]
    assert list((tmp_path / "spool").iterdir()) == []


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "INVALID_LEARN_STATE_TRANSITION"),
        (403, "FORBIDDEN"),
        (413, "PAYLOAD_TOO_LARGE"),
        (404, "NOT_FOUND"),
    ],
)
def test_what_is_refused_for_good_is_removed(ingest_server, deliver, tmp_path: Path, status, code) -> None:
    ingest_server.always = ingest_server.refusing(status, code=code, retryable=False)
    report = deliver()
    assert (report.delivered, report.pending) == (0, 0)
    assert report.reason is not None
    assert report.reason.startswith(code)
    assert list((tmp_path / "spool").iterdir()) == []


def test_a_paused_session_is_waited_for_and_a_refused_token_keeps_the_state(
    ingest_server, deliver, tmp_path: Path
) -> None:
    paused = ingest_server.refusing(
        400, code="INVALID_LEARN_STATE_TRANSITION", retryable=False, extra={"current_state": "paused"}
    )
    ingest_server.refused_states += [paused, paused]
    assert deliver().delivered == 1
    ingest_server.always = ingest_server.refusing(401, code="UNAUTHENTICATED", retryable=False)
    assert deliver(timeout=0.5).pending == 1
    assert len(list((tmp_path / "spool").glob(f"*{SUFFIX}"))) == 1


def test_a_state_that_another_run_delivers_is_left_to_it(ingest_server, deliver, tmp_path: Path) -> None:
    ingest_server.always = ingest_server.refusing(503)
    target = IngestTarget(ingest_server.url, "tok")
    first = StateDelivery(tmp_path / "spool", target, str(uuid7()), backoff=QUICK)
    first.start()
    assert first.add(str(uuid7()), b"archive") is None
    (tmp_path / "spool" / "half.written.start.tar.new").write_bytes(b"x")
    second = StateDelivery(tmp_path / "spool", target, str(uuid7()), backoff=QUICK)
    second.start()
    assert second.close(0.01).pending == 0
    assert len(list((tmp_path / "spool").iterdir())) == 1
    ingest_server.always = None
    assert first.close(20.0).delivered == 1


def test_states_that_wait_take_a_bounded_place(
    ingest_server, deliver, tmp_path: Path, demo: Path, session_id, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recorders.state_delivery.MAX_WAITING_BYTES", 10)
    start = RecordedStart(
        demo, session_id, InputOptions(), tmp_path / "spool", IngestTarget(ingest_server.url, "tok")
    )
    start.deliver(QUICK)
    assert start.text is not None
    assert start.text.startswith("the starting point is not kept: 0 bytes")
    assert start.close(1.0).pending == 0
    assert list((tmp_path / "spool").glob(f"*{SUFFIX}")) == []


def test_only_the_first_of_several_commands_finds_the_folder_new(demo: Path, tmp_path: Path) -> None:
    def left() -> LeftFolder:
        return LeftFolder(tmp_path / "marks", "session", demo, InputOptions())

    assert not left().is_as_it_was_left()
    left().remember()
    assert left().is_as_it_was_left()
    (demo / "new").touch()
    assert not left().is_as_it_was_left()
    left().remember()
    (mark,) = (tmp_path / "marks").iterdir()
    os.utime(mark, (1, 1))
    LeftFolder(tmp_path / "marks", "another", demo, InputOptions()).remember()
    assert [path.name.split(".")[0] for path in (tmp_path / "marks").iterdir()] == ["another"]
