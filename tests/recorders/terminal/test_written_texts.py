"""What a person writes in an editor or an interpreter is part of the event: its text and how that changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts.backoff import Backoff
from contracts.learning.observation import MAX_WRITTEN_CHARS, ProducedFile, WrittenText
from domain.learning.commands.typed_lines import with_typed_lines
from host.folder_snapshot import FileMark
from recorders.delivery import IngestTarget
from recorders.terminal import written_texts
from recorders.terminal.recording import TerminalRecorderOptions, run_scripted
from recorders.terminal.written_texts import WrittenTexts
from tests.fixtures.canaries import canary

EDIT = 'nano() { printf \'%s\\n\' "${@:2}" >> "$1"; }'
"""Stands for an editor: what is recorded is the name that was typed."""


@pytest.fixture
def record(ingest_server, tmp_path: Path, session_id: str) -> Callable[..., list[dict[str, Any]]]:
    """Records commands in the demonstration's folder; what was written by hand in each event."""
    folder = tmp_path / "demo"
    folder.mkdir()

    def run(*commands: str, **changes: object) -> list[dict[str, Any]]:
        values: dict[str, object] = {
            "learn_session_id": session_id,
            "target": IngestTarget(ingest_server.url, "tok"),
            "spool_folder": tmp_path / "spool",
            "folder": folder,
            "flush_timeout_s": 20.0,
            "command_timeout_s": 20.0,
            "backoff": Backoff(first=0.001, cap=0.01, jitter=0.9),
        }
        run_scripted(TerminalRecorderOptions(**(values | changes)), commands)  # type: ignore[arg-type]
        return [event["terminal"] for event in ingest_server.accepted.values()]

    return run


def test_an_edited_file_comes_with_its_text_and_the_difference(record, tmp_path: Path) -> None:
    (tmp_path / "demo" / "notes.txt").write_text("first\n", encoding="utf-8")
    events = record(
        EDIT, "nano notes.txt second", "nano new.txt hello", "echo third >> notes.txt", "nano notes.txt x"
    )
    written = {event["command"]: event["written"] for event in events[1:]}
    assert written["nano notes.txt second"] == [
        {
            "path": "notes.txt",
            "text": "first\nsecond\n",
            "patch": "--- notes.txt\n+++ notes.txt\n@@ -1 +1,2 @@\n first\n+second\n",
            "masked": False,
        }
    ]
    assert written["nano new.txt hello"] == [{"path": "new.txt", "text": "hello\n", "masked": False}]
    assert written["echo third >> notes.txt"] == []
    (last,) = written["nano notes.txt x"]
    assert last["text"] == "first\nsecond\nthird\nx\n"
    assert last["patch"].endswith("@@ -1,3 +1,4 @@\n first\n second\n third\n+x\n")


def test_what_an_interpreter_wrote_comes_too(record) -> None:
    typed = "python3\nopen('made.txt', 'w').write('by hand\\n') and None\nexit()"
    events = record(typed)
    assert events[0]["command"] == with_typed_lines("python3", typed.splitlines()[1:])
    assert events[0]["written"] == [{"path": "made.txt", "text": "by hand\n", "masked": False}]


def test_a_file_with_a_secret_is_named_and_nothing_of_it_leaves(
    record, ingest_server, tmp_path: Path
) -> None:
    secrets = [canary(name) for name in ("edited", "here", "named")]
    record(
        EDIT,
        f"cat > conf.ini <<END\nx = 1\napi_token = {secrets[1]}\nEND",
        "nano .env A=1",
        "nano clean.py 'import csv'",
    )
    (tmp_path / "demo" / "typed.txt").write_text(f"password={secrets[0]}\n", encoding="utf-8")
    events = record(EDIT, "nano typed.txt more")
    written = {event["command"].split("\n")[0]: event["written"] for event in events}
    assert written["cat > conf.ini <<END"] == [{"path": "conf.ini", "masked": True}]
    assert written["nano .env A=1"] == [{"path": ".env", "masked": True}]
    assert written["nano typed.txt more"] == [{"path": "typed.txt", "masked": True}]
    assert written["nano clean.py 'import csv'"][0]["text"] == "import csv\n"
    sent = b"".join([*ingest_server.bodies, *(body for _, body in ingest_server.states.values())])
    kept = b"".join(path.read_bytes() for path in (tmp_path / "spool").rglob("*") if path.is_file())
    for secret in secrets:
        assert secret.encode() not in sent + kept


def test_a_hashed_recording_keeps_no_text(record) -> None:
    events = record(EDIT, "nano notes.txt hello", redaction_mode="hash_only")
    assert [event["written"] for event in events if event["produced_files"]] == [[]]


def marks(**files: FileMark) -> dict[str, FileMark]:
    return {f"{name}.txt": mark for name, mark in files.items()}


def made(*names: str, change: str = "modified") -> list[ProducedFile]:
    return [ProducedFile(path=f"{name}.txt", change=change, size_bytes=1) for name in names]


def wrote(texts: WrittenTexts, folder: Path, name: str, text: bytes, before: dict[str, FileMark]):
    (folder / f"{name}.txt").write_bytes(text)
    status = (folder / f"{name}.txt").stat()
    after = marks(**{name: FileMark(status.st_mtime_ns, status.st_size, status.st_ino)})
    return texts.take("vi x", made(name), before, after), after


def test_a_text_that_changed_unseen_has_no_difference(tmp_path: Path) -> None:
    texts = WrittenTexts(tmp_path, None)
    first, seen = wrote(texts, tmp_path, "a", b"one\n", {})
    assert first == (WrittenText(path="a.txt", text="one\n"),)
    unseen = marks(a=FileMark(5, 99, 1))
    second, seen = wrote(texts, tmp_path, "a", b"one\ntwo\n", unseen)
    assert second == (WrittenText(path="a.txt", text="one\ntwo\n"),)
    (third,), _ = wrote(texts, tmp_path, "a", b"two\n", seen)
    assert third.patch == "--- a.txt\n+++ a.txt\n@@ -1,2 +1 @@\n-one\n two\n"


def test_only_small_texts_are_kept_and_at_most_ten_an_event(tmp_path: Path) -> None:
    texts = WrittenTexts(tmp_path, None)
    for content in (b"\0binary", b"\xff\xfe\xfa", b"x y\n" * 20_000):
        assert wrote(texts, tmp_path, "a", content, {})[0] == ()
    long = b"some longer words in a line\n" * 1_500
    assert len(long) > MAX_WRITTEN_CHARS
    (kept,), seen = wrote(texts, tmp_path, "a", long, {})
    assert (kept.text, kept.patch) == (None, None)
    (kept,), _ = wrote(texts, tmp_path, "a", long + b"end\n", seen)
    assert kept.text is None
    assert kept.patch is not None
    assert kept.patch.endswith("+end\n")
    names = [f"f{number}" for number in range(12)]
    for name in names:
        (tmp_path / f"{name}.txt").write_text("x\n")
    after = {f"{name}.txt": FileMark(1, 2, 3) for name in names}
    assert len(texts.take("vi", made(*names), {}, after)) == 10
    assert texts.take("vi", made(*names, change="deleted"), after, {}) == ()


def test_what_is_remembered_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written_texts, "MAX_REMEMBERED_BYTES", 10)
    texts = WrittenTexts(tmp_path, None)
    _, first = wrote(texts, tmp_path, "a", b"12345678", {})
    _, second = wrote(texts, tmp_path, "b", b"12345", {})
    assert wrote(texts, tmp_path, "a", b"1", first)[0][0].patch is None
    assert wrote(texts, tmp_path, "b", b"2", second)[0][0].patch is not None
