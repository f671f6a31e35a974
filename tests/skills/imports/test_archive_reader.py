"""What the archive reader does with the zips that people really make."""

import hashlib
import io
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from domain.imports.archive_problems import ArchiveCode, ArchiveRefused
from skills.imports.archive_reader import UnpackedArchive, unpack

SKILL_MD = "---\nname: pack-week\ndescription: Packs the week. Use when asked for it.\n---\nPack it.\n"


def zipped(path: Path, files: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def codes(unpacked: UnpackedArchive) -> list[str]:
    return [finding.code for finding in unpacked.findings]


def paths(unpacked: UnpackedArchive) -> list[str]:
    return [file.path for file in unpacked.files]


def test_a_folder_that_was_packed_comes_out_as_it_was(tmp_path: Path) -> None:
    skill = tmp_path / "source" / "pack-week"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL_MD)
    (skill / "scripts" / "pack.sh").write_text("#!/bin/sh\necho packed\n")
    (skill / "scripts" / "pack.sh").chmod(0o755)
    archive = Path(shutil.make_archive(str(tmp_path / "pack"), "zip", skill.parent, "pack-week"))

    unpacked = unpack(archive, tmp_path / "out")

    assert paths(unpacked) == ["pack-week/SKILL.md", "pack-week/scripts/pack.sh"]
    assert [file.executable for file in unpacked.files] == [False, True]
    for file in unpacked.files:
        content = (tmp_path / "out" / file.path).read_bytes()
        assert content == (skill.parent / file.path).read_bytes()
        assert (file.size, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert unpacked.findings == ()


def test_what_macos_and_windows_add_is_left_out_and_said(tmp_path: Path) -> None:
    extra = [
        "__MACOSX/pack/._SKILL.md",
        "pack/._SKILL.md",
        "pack/.DS_Store",
        "pack/Thumbs.db",
        "pack/.git/config",
    ]
    archive = zipped(tmp_path / "a.zip", {"pack/SKILL.md": SKILL_MD, **dict.fromkeys(extra, "x")})
    unpacked = unpack(archive, tmp_path / "out")
    assert paths(unpacked) == ["pack/SKILL.md"]
    assert codes(unpacked) == ["ARCHIVE_LEFT_OUT"]
    assert [path.name for path in (tmp_path / "out").rglob("*")] == ["pack", "SKILL.md"]


class Stream(io.RawIOBase):
    """A pipe: nothing can be written again, so sizes follow the data."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def writable(self) -> bool:
        return True

    def write(self, data: object, /) -> int:
        found = bytes(data)  # type: ignore[call-overload]
        self.written += found
        return len(found)


def streamed(path: Path, method: int) -> Path:
    stream = Stream()
    with zipfile.ZipFile(stream, "w", method) as archive:  # type: ignore[arg-type]
        archive.writestr("pack/SKILL.md", SKILL_MD)
        archive.writestr("pack/notes.md", "notes" * 100)
    path.write_bytes(stream.written)
    return path


def test_a_zip_that_was_written_as_a_stream_is_read(tmp_path: Path) -> None:
    unpacked = unpack(streamed(tmp_path / "a.zip", zipfile.ZIP_DEFLATED), tmp_path / "out")
    assert paths(unpacked) == ["pack/SKILL.md", "pack/notes.md"]


def test_where_stored_data_of_a_stream_ends_cannot_be_known(tmp_path: Path) -> None:
    archive = streamed(tmp_path / "a.zip", zipfile.ZIP_STORED)
    with pytest.raises(ArchiveRefused) as refused:
        unpack(archive, tmp_path / "out")
    assert refused.value.code is ArchiveCode.DESCRIPTOR


@pytest.mark.skipif(shutil.which("zip") is None, reason="needs Info-ZIP")
def test_what_info_zip_writes_to_a_pipe_is_read(tmp_path: Path) -> None:
    skill = tmp_path / "pack"
    skill.mkdir()
    (skill / "SKILL.md").write_text(SKILL_MD * 20)
    (skill / "empty.md").write_text("")
    (skill / "naïve.md").write_text("x" * 500)
    packed = subprocess.run(["zip", "-q", "-r", "-", "pack"], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "a.zip").write_bytes(packed.stdout)
    unpacked = unpack(tmp_path / "a.zip", tmp_path / "out")
    assert paths(unpacked) == ["pack/SKILL.md", "pack/empty.md", "pack/naïve.md"]


def test_a_folder_that_holds_something_is_not_unpacked_into(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    archive = zipped(tmp_path / "a.zip", {"SKILL.md": SKILL_MD})
    with pytest.raises(ValueError, match="not empty"):
        unpack(archive, tmp_path / "out")
    assert (tmp_path / "out" / "mine").read_text() == "mine"
