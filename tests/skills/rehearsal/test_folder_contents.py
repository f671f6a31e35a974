"""The files of a folder as conditions look at them, and the state behind them."""

import os
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from skills.rehearsal import archive_contents
from skills.rehearsal.archive_contents import read_packed
from skills.rehearsal.folder_contents import MAX_TEXT_BYTES, ReadContents


def test_texts_permissions_and_digests_are_those_at_the_time_of_reading(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/run.sh").write_text("echo")
    (tmp_path / "sub/run.sh").chmod(0o750)
    contents = ReadContents(tmp_path)
    digest = contents.digest("sub/run.sh")
    (tmp_path / "sub/run.sh").write_text("other")
    assert list(contents.paths()) == ["sub/run.sh"]
    assert (contents.text("sub/run.sh"), contents.mode("sub/run.sh")) == ("echo", 0o750)
    assert contents.digest("sub/run.sh") == digest != ReadContents(tmp_path).digest("sub/run.sh")


def test_what_is_no_text_or_too_long_has_none(tmp_path: Path) -> None:
    (tmp_path / "picture").write_bytes(b"\0\1")
    (tmp_path / "latin").write_bytes(b"\xff\xfe")
    (tmp_path / "long").write_bytes(b"x" * (MAX_TEXT_BYTES + 1))
    contents = ReadContents(tmp_path)
    assert [contents.text(path) for path in ("picture", "latin", "long", "absent")] == [None] * 4
    assert contents.digest("long") is not None


def test_members_of_archives_are_read_and_damaged_ones_have_none(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "a.txt", "docs/a.txt")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(tmp_path / "a.txt", "a.txt")
    (tmp_path / "bad.zip").write_bytes(b"PK\3\4broken")
    (tmp_path / "bad.tgz").write_bytes((tmp_path / "a.tar.gz").read_bytes()[:30])
    contents = ReadContents(tmp_path)
    assert contents.members("a.tar.gz") == {"docs/a.txt"}
    assert contents.members("a.zip") == {"a.txt"}
    assert [contents.members(path) for path in ("bad.zip", "bad.tgz", "a.txt")] == [None] * 3


def test_of_an_archive_that_blows_up_the_names_at_its_beginning_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_contents, "MAX_UNPACKED_BYTES", 1_000)
    monkeypatch.setattr(archive_contents, "MAX_LISTED_BYTES", 10_000)
    (tmp_path / "zeros").write_bytes(b"\0" * 6_000)
    with tarfile.open(tmp_path / "bomb.tgz", "w:gz") as archive:
        for number in range(5):
            archive.add(tmp_path / "zeros", f"{number}")
    assert ReadContents(tmp_path).members("bomb.tgz") == {"0", "1"}


@pytest.mark.parametrize("kind", ["w:gz", "w:bz2", "w:xz", "w"])
def test_an_archive_that_is_spoilt_anywhere_is_read_without_an_error(kind: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(f"line {number % 7} of {number}" for number in range(300)))
    with tarfile.open(tmp_path / "whole", kind) as archive:
        archive.add(tmp_path / "a.txt", "docs/a.txt")
    whole, spoilt = (tmp_path / "whole").read_bytes(), tmp_path / "spoilt"
    for place in range(0, min(len(whole), 1_500), 7):
        spoilt.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        read_packed(spoilt, spoilt.read_bytes()[:512])
    spoilt.write_bytes(whole[: len(whole) // 2])
    assert read_packed(spoilt, spoilt.read_bytes()[:512]) != read_packed(tmp_path / "whole", whole[:512])


def test_the_same_members_packed_at_another_time_are_the_same_in_essence(tmp_path: Path) -> None:
    def packed(text: str, time: int) -> dict[str, str | None]:
        note = tmp_path / "note.txt"
        note.write_text(text)
        os.utime(note, (time, time))
        for name, command in (
            ("a.tar", ["tar", "-cf", "a.tar", "note.txt"]),
            ("a.tgz", ["tar", "-czf", "a.tgz", "note.txt"]),
            ("a.zip", ["zip", "-q", "a.zip", "note.txt"]),
            ("note.txt.gz", ["gzip", "-kf", "note.txt"]),
        ):
            (tmp_path / name).unlink(missing_ok=True)
            subprocess.run(command, cwd=tmp_path, check=True)
        contents = ReadContents(tmp_path)
        return {path: contents.essence(path) for path in contents.paths()}

    first, later, other = (
        packed("one", 1_000_000_000),
        packed("one", 1_100_000_000),
        packed("two", 1_000_000_000),
    )
    assert first == later
    assert not [path for path in first if first[path] == other[path]]


def test_links_are_state_and_no_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "link").symlink_to("a.txt")
    (tmp_path / "out").symlink_to("/etc")
    contents = ReadContents(tmp_path)
    assert list(contents.paths()) == ["a.txt"]
    assert contents.facts() == {"link: target": "a.txt", "out: target": "/etc"}
    assert ReadContents(tmp_path, lambda _: {}).facts() == {}


def test_state_of_git_holds_no_commit_ids(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x@localhost"]
    (tmp_path / "a.txt").write_text("a")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "start"], ["tag", "v1"]):
        subprocess.run([*git, *words], check=True)
    facts = ReadContents(tmp_path).facts()
    assert facts["git: tag v1"] == "lightweight"
    assert facts["git: last message"] == "start"
    assert not any("commit of" in key for key in facts)
