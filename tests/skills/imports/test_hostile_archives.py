"""Every hostile archive is refused by its own code, leaves nothing behind, and takes little memory."""

import tempfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.imports.archive_problems import ArchiveCode, ArchiveRefused
from skills.imports.archive_reader import ArchiveLimits, unpack
from tests.skills.imports.hostile_archives import ARCHIVES, MIB, zeros
from tests.skills.imports.zip_forge import SKILL_MD, Entry, forged, skill


def refused(place: Path, content: bytes, limits: ArchiveLimits | None = None) -> ArchiveRefused:
    archive, into = place / "archive.zip", place / "into"
    archive.write_bytes(content)
    with pytest.raises(ArchiveRefused) as found:
        unpack(archive, into, limits)
    assert list(into.iterdir()) == []
    assert {path.name for path in place.iterdir()} == {"archive.zip", "into"}
    return found.value


@pytest.mark.parametrize("kind", ARCHIVES)
def test_a_hostile_archive_is_refused_by_its_code_and_leaves_nothing(kind: str, tmp_path: Path) -> None:
    code, build = ARCHIVES[kind]
    refusal = refused(tmp_path, build())
    assert refusal.code is code
    assert refusal.message


def test_there_are_many_kinds_and_each_code_has_one() -> None:
    assert len(ARCHIVES) >= 60
    assert {code for code, _ in ARCHIVES.values()} == set(ArchiveCode) - {ArchiveCode.ARCHIVE_TOO_LARGE}


def test_an_archive_larger_than_allowed_is_not_opened(tmp_path: Path) -> None:
    found = refused(tmp_path, b"x" * 101, ArchiveLimits(archive_bytes=100))
    assert found.code is ArchiveCode.ARCHIVE_TOO_LARGE


def test_unpacking_takes_little_memory_however_large_a_file_is(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    archive.write_bytes(forged([zeros(24 * MIB)]))
    tracemalloc.start()
    try:
        with pytest.raises(ArchiveRefused) as found:
            unpack(archive, tmp_path / "into", ArchiveLimits(ratio=10_000))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Only its checksum, known after the last byte, is wrong.
    assert found.value.code is ArchiveCode.CRC_MISMATCH
    assert most < 4 * MIB
    assert list((tmp_path / "into").iterdir()) == []


def test_a_name_in_a_refusal_has_its_unseen_characters_spelled_out(tmp_path: Path) -> None:
    found = refused(tmp_path, ARCHIVES["letters in the other direction"][1]())
    assert found.path_hint == "gpj.\\u202eexe.md"


def test_a_folder_to_unpack_into_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "into").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "a.zip").write_bytes(forged([skill()]))
    with pytest.raises(OSError, match="into"):
        unpack(tmp_path / "a.zip", tmp_path / "into")
    assert list((tmp_path / "elsewhere").iterdir()) == []


_NAMES = st.one_of(
    st.text(max_size=12).map(lambda text: text.encode(errors="replace")),
    st.binary(max_size=12),
    st.sampled_from([b"SKILL.md", b"a/b", b"../a", b"/a", b"a/", b"A", b"a.zip", b"\\a", b"__MACOSX/a"]),
)
_ENTRIES = st.builds(
    Entry,
    name=_NAMES,
    data=st.binary(max_size=40),
    method=st.sampled_from([0, 8, 8, 8, 12]),
    flags=st.sampled_from([0, 0, 0x800, 8, 1]),
    mode=st.sampled_from([0o100644, 0o100755, 0o040755, 0o120777, 0]),
    extra=st.binary(max_size=8).map(lambda data: data if len(data) > 4 else b""),
)


def _only_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "a.zip").write_bytes(content)
        try:
            unpacked = unpack(place / "a.zip", place / "into")
        except ArchiveRefused:
            assert list((place / "into").iterdir()) == []
        else:
            found = {
                path.relative_to(place / "into").as_posix()
                for path in (place / "into").rglob("*")
                if path.is_file()
            }
            assert found == {file.path for file in unpacked.files}
            assert not any(path.is_symlink() for path in (place / "into").rglob("*"))
        assert {path.name for path in place.iterdir()} == {"a.zip", "into"}


@settings(max_examples=150, deadline=None)
@given(st.lists(_ENTRIES, max_size=4), st.binary(max_size=6))
def test_any_members_are_unpacked_inside_or_refused(entries: list[Entry], gap: bytes) -> None:
    _only_refused(forged(entries, gap=gap))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_an_archive_with_any_bytes_changed_is_unpacked_inside_or_refused(data: st.DataObject) -> None:
    whole = bytearray(
        forged([skill(), Entry(b"a/b.md", b"text" * 9), Entry(b"c.zip", forged([skill()]), method=0)])
    )
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] = data.draw(st.integers(0, 255))
    _only_refused(
        bytes(whole[: data.draw(st.integers(0, len(whole)))]) if data.draw(st.booleans()) else bytes(whole)
    )


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_refused(content: bytes) -> None:
    _only_refused(b"PK\x03\x04" + content + SKILL_MD)
