import errno
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.processes.part_log import PartLog


def test_lines_are_appended_to_what_an_earlier_run_wrote(tmp_path: Path) -> None:
    for text in (b"one\n", b"two\n"):
        with PartLog(tmp_path / "logs" / "api.log") as log:
            log.write(text)
    assert (tmp_path / "logs" / "api.log").read_bytes() == b"one\ntwo\n"


def test_only_the_owner_can_read_a_log(tmp_path: Path) -> None:
    with PartLog(tmp_path / "api.log"):
        assert (tmp_path / "api.log").stat().st_mode & 0o777 == 0o600


def test_a_full_log_moves_aside_and_the_oldest_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "api.log"
    with PartLog(path, limit=4, kept=2) as log:
        for text in (b"1111", b"2222", b"3333", b"4"):
            log.write(text)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {
        "api.log": b"4",
        "api.log.1": b"3333",
        "api.log.2": b"2222",
    }


def test_a_log_that_was_full_before_is_rotated_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "api.log"
    path.write_bytes(b"full")
    with PartLog(path, limit=4):
        assert path.read_bytes() == b""
    assert (tmp_path / "api.log.1").read_bytes() == b"full"


def test_the_tail_is_the_last_lines(tmp_path: Path) -> None:
    with PartLog(tmp_path / "api.log") as log:
        log.write(b"".join(b"line %d\n" % number for number in range(5000)))
        assert log.tail(2) == ["line 4998", "line 4999"]


def test_a_log_that_somebody_removed_begins_anew_once_it_is_full(tmp_path: Path) -> None:
    path = tmp_path / "api.log"
    with PartLog(path, limit=4) as log:
        path.unlink()
        for text in (b"1111", b"2"):
            log.write(text)
    assert path.read_bytes() == b"2"


def test_a_log_that_cannot_be_rotated_is_written_on_and_rotated_when_it_can(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "api.log"
    with PartLog(path, limit=4) as log:
        log.write(b"111")
        shutil.rmtree(path.parent)
        for text in (b"1", b"2"):
            with pytest.raises(FileNotFoundError):
                log.write(text)
        assert log.tail(8) == ["11112"]
        path.parent.mkdir()
        for text in (b"3", b"4"):
            log.write(text)
    assert path.read_bytes() == b"4"


def test_no_older_log_is_lost_while_a_new_one_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "api.log"

    def refused(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with PartLog(path, limit=4) as log:
        for text in (b"1111", b"222"):
            log.write(text)
        with monkeypatch.context() as full:
            full.setattr(os, "open", refused)
            for text in (b"2", b"3", b"4"):
                with pytest.raises(OSError, match="No space left"):
                    log.write(text)
        for text in (b"5", b"6"):
            log.write(text)
    kept = [path, path.with_name("api.log.1"), path.with_name("api.log.2")]
    assert [file.read_bytes() for file in kept] == [b"6", b"2222345", b"1111"]


def test_a_log_that_is_full_and_cannot_be_rotated_is_no_reason_not_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "api.log"
    path.write_bytes(b"full")
    monkeypatch.setattr(Path, "replace", refused)
    with PartLog(path, limit=4) as log:
        assert log.tail(1) == ["full"]


@given(st.lists(st.binary(max_size=9), max_size=40))
def test_nothing_that_was_written_last_is_lost(chunks: list[bytes]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "api.log")
        with PartLog(path, limit=10, kept=2) as log:
            for chunk in chunks:
                log.write(chunk)
        older = [path.with_name(f"api.log.{number}") for number in (2, 1)]
        kept = b"".join(file.read_bytes() for file in (*older, path) if file.exists())
    written = b"".join(chunks)
    assert written.endswith(kept)
    assert len(kept) >= min(len(written), 20)
