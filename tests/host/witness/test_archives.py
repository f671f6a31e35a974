"""The state of archives: their members, whatever an archive claims or blows up to."""

import bz2
import gzip
import hashlib
import io
import lzma
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from host.witness import decompression
from host.witness.bounded_folder import Limits
from host.witness.witness import observe_all
from tests.host.witness.folders import facts_of

NAMES = ["docs/", "docs/a.txt", "notes ä.txt"]


def tar_bytes(mode: str = "w", **options: object) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode, **options) as archive:
        for name in NAMES:
            info = tarfile.TarInfo(name.rstrip("/"))
            info.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            content = b"" if name.endswith("/") else name.encode() * 1000
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_the_members_of_a_tar_are_counted_and_named(tmp_path: Path, mode: str, form: int) -> None:
    (tmp_path / "backup").write_bytes(tar_bytes(mode, format=form))
    facts = facts_of(tmp_path, "backup")
    assert facts["archive"] == "tar"
    assert facts["members"] == 3
    assert [facts.get(f"member {name}") for name in NAMES] == ["there"] * 3


def test_the_members_of_a_zip_are_counted_and_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in NAMES:
            archive.writestr(name, "x" * 1000)
        archive.comment = b"PK\x05 a comment"
    (tmp_path / "behind.bin").write_bytes(b"PK\x03\x04" + b"stub" + (tmp_path / "a.zip").read_bytes())
    for path in ("a.zip", "behind.bin"):
        facts = facts_of(tmp_path, path)
        assert (facts["archive"], facts["members"]) == ("zip", 3)
        assert [facts.get(f"member {name}") for name in NAMES] == ["there"] * 3


def test_an_empty_zip_has_no_members(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w"):
        pass
    assert facts_of(tmp_path, "a.zip")["members"] == 0


def test_a_zip_with_64_bit_fields_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.txt", "x")
    content = (tmp_path / "a.zip").read_bytes()
    end = content.rindex(b"PK\x05\x06")
    size, start = struct.unpack_from("<2I", content, end + 12)
    end_64 = struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, size, start)
    locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1)
    full = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    (tmp_path / "a.zip").write_bytes(content[:end] + end_64 + locator + full)
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.namelist() == ["a.txt"]
    assert facts_of(tmp_path, "a.zip")["members"] == 1


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("content", [b"", b"report\n", b"\0" * 3_000_000, bytes(range(256)) * 5000])
def test_one_compressed_file_is_known_by_its_content(tmp_path: Path, compress, content: bytes) -> None:
    (tmp_path / "report").write_bytes(compress(content))
    facts = facts_of(tmp_path, "report")
    assert facts["archive"] == "one compressed file"
    assert facts["unpacked size"] == len(content)
    assert facts["unpacked sha256"] == hashlib.sha256(content).hexdigest()


def test_several_parts_of_a_gzip_are_one_content_and_padding_is_passed_over(tmp_path: Path) -> None:
    parts = b"".join(gzip.compress(b"part%d" % n) for n in range(500))
    (tmp_path / "a.gz").write_bytes(parts + b"\0" * 100)
    assert facts_of(tmp_path, "a.gz")["unpacked size"] == sum(len(b"part%d" % n) for n in range(500))


def _gzip_bomb(size: int) -> bytes:
    made = io.BytesIO()
    with gzip.GzipFile(fileobj=made, mode="wb") as file:
        for _ in range(size // 1_000_000):
            file.write(b"\0" * 1_000_000)
    return made.getvalue()


def test_an_archive_that_blows_up_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decompression, "MAX_UNPACKED_BYTES", 10_000_000)
    (tmp_path / "bomb.gz").write_bytes(_gzip_bomb(50_000_000))
    observed = observe_all(tmp_path)
    assert "archives" in observed.partial
    assert "unpacked size" not in {fact.aspect for fact in observed.facts}


@pytest.mark.parametrize(
    "content",
    [
        tar_bytes("w:gz")[:200],
        tar_bytes("w:gz")[:-60] + b"\xff" * 60,
        tar_bytes()[:1100],
        gzip.compress(tar_bytes()[:1100], mtime=0),
        b"\x1f\x8b" + b"\xff" * 100,
        b"BZh9" + b"\xff" * 100,
        b"\xfd7zXZ\x00" + b"\xff" * 100,
        b"PK\x03\x04" + b"\0" * 100,
        b"PK\x05\x06" + b"\xff" * 18,
        b"PK\x03\x04" + b"\0" * 60 + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 9, 9, 50, 0, 0),
        struct.pack("<4sIQI", b"PK\x06\x07", 0, 1 << 62, 1)
        + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0),
        b"PK\x03\x04"
        + struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 50, (1 << 64) - 1)
        + struct.pack("<4sIQI", b"PK\x06\x07", 0, 4, 1)
        + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0),
    ],
)
def test_a_damaged_archive_is_not_readable(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    facts = facts_of(tmp_path, "a")
    assert "members" not in facts
    assert "unpacked size" not in facts


def test_a_tar_header_that_claims_to_be_huge_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("pax")
    info.type, info.size = tarfile.XHDTYPE, 1 << 33
    header = info.tobuf(tarfile.USTAR_FORMAT) if info.size < 8**11 else info.tobuf(tarfile.GNU_FORMAT)
    header = header.replace(b"ustar  \0", b"ustar\x0000")
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(header + b"1" * 3_000_000))
    facts = facts_of(tmp_path, "a.tar.gz")
    assert "members" not in facts
    assert "not readable" in str(facts["archive"])


def test_members_are_counted_up_to_a_limit(tmp_path: Path) -> None:
    header = tarfile.TarInfo("x").tobuf(tarfile.USTAR_FORMAT)
    (tmp_path / "many.tgz").write_bytes(gzip.compress(header * 25_000 + b"\0" * 1024, 1))
    observed = observe_all(tmp_path, Limits(seconds=60))
    assert "archives" in observed.partial
    assert "members" not in {fact.aspect for fact in observed.facts}


def test_a_zip_whose_directory_is_too_large_is_given_up(tmp_path: Path) -> None:
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 0, 0, 17 * 1024 * 1024, 0, 0)
    with (tmp_path / "a.zip").open("wb") as file:
        file.write(b"PK\x03\x04")
        file.truncate(18 * 1024 * 1024)
        file.seek(0, io.SEEK_END)
        file.write(end)
    assert "archives" in observe_all(tmp_path).partial


def test_member_names_with_control_characters_stay_on_one_line(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("../../etc/x\n\x1b[2J" + "y" * 500, "x")
    (name,) = [aspect for aspect in facts_of(tmp_path, "a.zip") if aspect.startswith("member ")]
    assert len(name) == 160
    assert name.isprintable()
