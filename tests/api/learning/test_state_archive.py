"""Archives of starting states: what a recorder sends is read, and every hostile archive is refused while it is read."""

import gzip
import io
import json
import struct
import tarfile
import zlib
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from uuid_utils import uuid7

from api.learning.state_archive import MAX_RATIO, MAX_STATE_BYTES, read_archive
from contracts.errors import ErrorCode, Refusal
from contracts.learning.starting_state import EntryKind, InputLimits, StartingEntry
from tests.fixtures.starting import TAKEN, archive_of, sent, state_of

SESSION = str(uuid7())
FILES = {"data": None, "data/a.csv": b"a,b\n1,2\n", "notes.txt": b"hello\n", "empty": b""}
GIVEN = state_of(SESSION, FILES)
STATE = GIVEN.state.model_dump_json().encode()
LIMITS = InputLimits(max_files=10, max_file_bytes=2_000_000, max_total_bytes=3_000_000)


def pulled(content: bytes, size: int = 1000) -> Callable[[], bytes]:
    stream = io.BytesIO(content)
    return lambda: stream.read(size)


def refused(content: bytes, limits: InputLimits = LIMITS) -> tuple[ErrorCode, str]:
    with pytest.raises(Refusal) as caught:
        read_archive(pulled(content), limits)
    return caught.value.code, caught.value.message


def wrong(content: bytes) -> str:
    code, message = refused(content)
    assert code is ErrorCode.VALIDATION_FAILED
    return message


def too_large(content: bytes, limits: InputLimits = LIMITS) -> str:
    code, message = refused(content, limits)
    assert code is ErrorCode.PAYLOAD_TOO_LARGE
    return message


@given(size=st.integers(min_value=1, max_value=3000))
def test_what_a_recorder_sends_is_read_however_it_is_cut(size: int) -> None:
    received = read_archive(pulled(sent(GIVEN), size), LIMITS)
    assert received.state == GIVEN.state
    assert received.contents == GIVEN.contents


def changed_state(**fields: Any) -> bytes:
    return json.dumps(json.loads(STATE) | fields).encode()


def with_entry(**fields: Any) -> bytes:
    entry = StartingEntry(path="x", kind=EntryKind.FILE, modified_at=TAKEN).model_dump(mode="json")
    return changed_state(entries=[entry | fields])


@pytest.mark.parametrize(
    "fields",
    [
        {"path": "../x"},
        {"path": "/etc/cron.d/x"},
        {"path": "a/../../x"},
        {"path": ""},
        {"path": "a//b"},
        {"path": "x" * 401},
        {"path": "nul\0"},
        {"path": "a/" * 13 + "x"},
        {"kind": "device"},
        {"kind": "link"},
        {"link_target": "elsewhere"},
        {"kept": True},
        {"kept": True, "sha256": "0" * 64},
        {"kept": True, "kind": "folder", "sha256": "0" * 64},
        {"sha256": "xyz"},
        {"mode": 0o10000},
        {"size_bytes": -1},
        {"unknown": 1},
    ],
)
def test_a_wrong_entry_is_refused(fields: dict[str, Any]) -> None:
    wrong(archive_of({"state.json": with_entry(**fields)}))


def test_paths_that_are_there_twice_or_below_a_file_are_refused() -> None:
    def entries(*pairs: tuple[str, str]) -> bytes:
        made = [
            StartingEntry(
                path=path,
                kind=EntryKind(kind),
                modified_at=TAKEN,
                link_target="/etc" if kind == "link" else None,
            ).model_dump(mode="json")
            for path, kind in pairs
        ]
        return archive_of({"state.json": changed_state(entries=made)})

    assert "twice" in wrong(entries(("a", "file"), ("a", "folder")))
    assert "no folder" in wrong(entries(("l", "link"), ("l/passwd", "file")))
    assert "no folder" in wrong(entries(("l/x/passwd", "file"), ("l", "file")))


def test_a_link_is_data_alone() -> None:
    archive = archive_of({"state.json": with_entry(kind="link", link_target="/etc/passwd")})
    received = read_archive(pulled(archive), LIMITS)
    assert received.state.entries[0].link_target == "/etc/passwd"
    assert received.contents == {}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no gzip",
        gzip.compress(b"")[:-1],
        gzip.compress(b""),
        gzip.compress(b"\0" * 1024),
        gzip.compress(b"x" * 2048),
        sent(GIVEN)[:-9],
        sent(GIVEN)[:200],
        sent(GIVEN) + b"x",
        sent(GIVEN) + gzip.compress(b"\0" * 512),
        gzip.compress(gzip.decompress(sent(GIVEN)) + b"x"),
        sent(GIVEN)[:60] + b"\xff" * 20 + sent(GIVEN)[80:],
        archive_of({}),
        archive_of({"other.json": STATE}),
        archive_of({"./state.json": STATE}),
        archive_of({"state.json": b"{"}),
        archive_of({"state.json": b"[]"}),
        archive_of({"state.json": b"\xff"}),
        archive_of({"state.json": b"[" * 100_000}),
        archive_of({"state.json": STATE.replace(b'"demo"', b'"\\ud800"')}),
        archive_of({"state.json": STATE.replace(b'"demo"', b'"\\u0000"')}),
        archive_of({"state.json": STATE}),
    ],
)
def test_what_is_no_whole_archive_of_a_state_is_refused(content: bytes) -> None:
    wrong(content)


def test_contents_that_nobody_named_or_that_are_others_are_refused() -> None:
    extra = b"extra"
    assert "kept file" in wrong(sent(GIVEN, **{f"contents/{sha256(extra).hexdigest()}": extra}))
    assert "kept file" in wrong(sent(GIVEN, **{"contents/../../x": extra}))
    assert "kept file" in wrong(sent(GIVEN, **{"/etc/passwd": extra}))
    digest = next(iter(GIVEN.contents))
    assert "does not have the digest" in wrong(sent(GIVEN, **{f"contents/{digest}": b"a,b\n1,3\n"}))
    again = io.BytesIO()
    with tarfile.open(fileobj=again, mode="w") as archive:
        for name, content in (("state.json", STATE), (f"contents/{digest}", b"a,b\n1,2\n")) * 2:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    assert "kept file" in wrong(gzip.compress(again.getvalue()))


@pytest.mark.parametrize("kind", [b"1", b"2", b"3", b"5", b"6", b"L", b"K", b"x", b"g", b"S"])
def test_anything_but_a_plain_file_is_refused(kind: bytes) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo("state.json")
        member.type, member.linkname = kind, "/etc/passwd"
        archive.addfile(member)
    wrong(gzip.compress(packed.getvalue()))


def test_every_limit_holds_while_it_is_read() -> None:
    many = state_of(SESSION, {str(number): b"" for number in range(11)})
    assert "at most 10 files" in too_large(sent(many))
    large = state_of(SESSION, {"a": bytes(range(256)) * 8_000})
    assert "at most 2000000 bytes" in too_large(sent(large))
    more = state_of(SESSION, {name: name.encode() * 1_500_000 for name in "abc"})
    assert "together" in too_large(sent(more))
    header = tarfile.TarInfo("state.json")
    header.size = MAX_STATE_BYTES + 1
    assert "state.json may have" in too_large(gzip.compress(header.tobuf()))


def packed_with_zeros(content: bytes, megabytes: int) -> bytes:
    """``gzip`` of the content and so many zeros after it; one megabyte is packed, and stands in it as often."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    head = packer.compress(content) + packer.flush(zlib.Z_FULL_FLUSH)
    zeros = bytes(1_000_000)
    block = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)
    digest = zlib.crc32(content)
    for _ in range(megabytes):
        digest = zlib.crc32(zeros, digest)
    last = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS).flush()
    size = len(content) + megabytes * len(zeros)
    return head + block * megabytes + last + struct.pack("<LL", digest, size & 0xFFFFFFFF)


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    archive = archive_of({"state.json": STATE})
    assert gzip.decompress(packed_with_zeros(b"content", 2)) == b"content" + bytes(2_000_000)
    bomb = packed_with_zeros(gzip.decompress(archive), 500)
    read = 0

    def pull() -> bytes:
        nonlocal read
        chunk = bomb[read : read + 1000]
        read += len(chunk)
        return chunk

    with pytest.raises(Refusal) as caught:
        read_archive(pull, InputLimits())
    assert str(MAX_RATIO) in caught.value.message or "unpack" in caught.value.message
    assert read < 150_000


@given(place=st.integers(min_value=0), byte=st.integers(min_value=0, max_value=255))
def test_a_damaged_archive_is_read_the_same_or_refused(place: int, byte: int) -> None:
    plain = bytearray(gzip.decompress(sent(GIVEN)))
    plain[place % len(plain)] = byte
    try:
        received = read_archive(pulled(gzip.compress(bytes(plain))), LIMITS)
    except Refusal:
        return
    assert all(sha256(content).hexdigest() == digest for digest, content in received.contents.items())
