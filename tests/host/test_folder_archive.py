import gzip
import io
import os
import tarfile
from pathlib import Path

import pytest

from host.folder_archive import (
    ArchiveLimits,
    FolderTooLarge,
    UnsafeArchive,
    count_entries,
    links_of,
    pack_folder,
    unpack_folder,
)

LIMITS = ArchiveLimits(files=20, total_bytes=10_000)


def _archive(*members: tarfile.TarInfo, content: bytes = b"") -> bytes:
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb") as compressed,
        tarfile.open(fileobj=compressed, mode="w|") as archive,
    ):
        for member in members:
            member.size = len(content) if member.isreg() else 0
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def _member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", mode: int = 0o644) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.mode = kind, target, mode
    return member


def _filled(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "in data.csv").write_text("a;b\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o750)
    os.utime(folder / "run.sh", (1_000_000_000, 1_000_000_000))
    (folder / "empty").mkdir()
    (folder / "latest").symlink_to("in data.csv")
    return folder


def test_a_folder_comes_out_as_it_went_in_with_links_modes_times_and_git(tmp_path: Path) -> None:
    source, copy = _filled(tmp_path / "source"), tmp_path / "copy"
    copy.mkdir()
    packed = pack_folder(source, LIMITS)
    found = unpack_folder(packed, copy, LIMITS)
    assert found.entries == 6 == count_entries(packed, LIMITS)
    assert found.links_left_out == ()
    assert (copy / ".git" / "HEAD").read_text() == "ref: refs/heads/main\n"
    assert (copy / "run.sh").stat().st_mode & 0o7777 == 0o750
    assert (copy / "run.sh").stat().st_mtime == 1_000_000_000
    assert (copy / "empty").is_dir()
    assert (copy / "latest").readlink() == Path("in data.csv")
    assert pack_folder(source, LIMITS) == packed


def test_a_folder_beyond_the_limits_is_not_packed(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("x" * 100)
    with pytest.raises(FolderTooLarge, match="more than 2 files"):
        pack_folder(tmp_path, ArchiveLimits(2, 10_000))
    with pytest.raises(FolderTooLarge, match="hold more than"):
        pack_folder(tmp_path, ArchiveLimits(20, 250))


def test_a_special_file_is_not_packed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnsafeArchive, match="pipe"):
        pack_folder(tmp_path, LIMITS)


@pytest.mark.parametrize("name", ["../out", "/etc/out", "a/../../out", "..", "."])
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(UnsafeArchive):
        unpack_folder(_archive(_member(name), content=b"x"), folder, LIMITS)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("abs", "/etc/passwd"),
        ("up", "../x"),
        ("s/up", "../../x"),
        ("around", "s/../../x"),
        ("s/through", "up/../../x"),
    ],
)
def test_a_link_that_leads_out_is_left_out_unless_it_was_there_before(
    tmp_path: Path, name: str, target: str
) -> None:
    packed = _archive(_member(name, tarfile.SYMTYPE, target))
    strict, kept = tmp_path / "strict", tmp_path / "kept"
    strict.mkdir()
    kept.mkdir()
    assert unpack_folder(packed, strict, LIMITS).links_left_out == (name,)
    assert not (strict / name).is_symlink()
    assert unpack_folder(packed, kept, LIMITS, links_out={(name, target)}).links_left_out == ()
    assert links_of({".": kept}) == {(name, target)}


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    link = _member("door", tarfile.SYMTYPE, str(outside))
    packed = _archive(link, _member("door/file"), content=b"x")
    with pytest.raises(UnsafeArchive):
        unpack_folder(packed, folder, LIMITS, links_out=True)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("kind", [tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_a_hard_link_or_a_device_is_refused(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(UnsafeArchive, match="no file, folder or link"):
        unpack_folder(_archive(_member("odd", kind, "target")), tmp_path, LIMITS)


def test_a_name_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    packed = _archive(_member("one"), _member("./one"), content=b"x")
    with pytest.raises(UnsafeArchive, match="twice"):
        unpack_folder(packed, tmp_path, LIMITS)
    with pytest.raises(UnsafeArchive, match="twice"):
        count_entries(packed, LIMITS)


def test_rights_of_another_user_do_not_come_out(tmp_path: Path) -> None:
    unpack_folder(_archive(_member("tool", mode=0o6755), content=b"x"), tmp_path, LIMITS)
    assert (tmp_path / "tool").stat().st_mode & 0o7777 == 0o755


def test_a_small_archive_that_holds_much_is_refused_before_it_is_written(tmp_path: Path) -> None:
    packed = _archive(_member("zeros"), content=b"\0" * 5_000_000)
    assert len(packed) < 10_000
    with pytest.raises(FolderTooLarge):
        unpack_folder(packed, tmp_path, LIMITS)
    with pytest.raises(FolderTooLarge):
        count_entries(packed, LIMITS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content", [b"", b"no archive", b"\x1f\x8b\x08broken", gzip.compress(b"no tar" * 200, mtime=0)]
)
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UnsafeArchive):
        unpack_folder(content, tmp_path, LIMITS)


def test_a_truncated_archive_is_refused(tmp_path: Path) -> None:
    packed = pack_folder(_filled(tmp_path / "source"), LIMITS)
    copy = tmp_path / "copy"
    copy.mkdir()
    with pytest.raises(UnsafeArchive):
        unpack_folder(packed[: len(packed) // 2], copy, LIMITS)
