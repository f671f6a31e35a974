"""The structure of a zip, read so strictly that no other reader can find something else in it.

The members and the central directory cover the file without a gap or an overlap, and both headers of a member say the
same. What honest writers do is accepted: data descriptors of deflated members (macOS, streams), a short plain comment
(hosts of repositories). Sizes are checked here as announced; `inflating` counts what really comes out.
"""

import os
import stat
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from domain.imports.archive_problems import ArchiveCode, ArchiveRefused
from domain.imports.member_names import MemberName, member_name

STORED, DEFLATED = 0, 8
MOST_DIRECTORY_BYTES = 4 * 1024 * 1024
"""The largest central directory that is read."""

_END = struct.Struct("<4s4H2LH")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_END_SIGNATURE, _CENTRAL_SIGNATURE, _LOCAL_SIGNATURE = b"PK\x05\x06", b"PK\x01\x02", b"PK\x03\x04"
_ZIP64_LOCATOR, _DESCRIPTOR_SIGNATURE = b"PK\x06\x07", b"PK\x07\x08"
_MOST_COMMENT = 1024

_ENCRYPTED_FLAGS = 0x0001 | 0x0040 | 0x2000
_DESCRIPTOR_FLAG, _UTF8_FLAG = 0x0008, 0x0800
_KNOWN_FLAGS = 0x0002 | 0x0004 | _DESCRIPTOR_FLAG | _UTF8_FLAG
_AES_METHOD = 99
_ZIP64, _PKWARE_UNIX, _STRONG_ENCRYPTION, _UNICODE_PATH, _ASI_UNIX, _AES = (
    0x0001, 0x000D, 0x0017, 0x7075, 0x756E, 0x9901,
)  # fmt: skip
_LARGEST = 0xFFFFFFFF


@dataclass(frozen=True)
class Member:
    """One member, as both of its headers describe it. ``data_at`` is where its compressed bytes begin."""

    name: MemberName
    method: int
    crc: int
    compressed: int
    size: int
    executable: bool
    data_at: int


@dataclass(frozen=True)
class _Central:
    """A member as the central directory describes it."""

    raw_name: bytes
    second_name: bytes | None
    name: MemberName
    flags: int
    method: int
    crc: int
    compressed: int
    size: int
    offset: int
    executable: bool


def read_structure(file: BinaryIO, most_members: int, most_depth: int) -> tuple[Member, ...]:
    """The members in the order of their data.

    Raises:
        ArchiveRefused: with the code of what is wrong.
    """
    size = file.seek(0, os.SEEK_END)
    count, directory_size, directory_at = _end_of(file, size)
    if count > most_members:
        raise ArchiveRefused(
            ArchiveCode.TOO_MANY_FILES, f"the archive has {count} members; {most_members} are allowed"
        )
    if directory_size > MOST_DIRECTORY_BYTES:
        raise ArchiveRefused(ArchiveCode.DIRECTORY_TOO_LARGE, "the archive's directory is larger than 4 MiB")
    file.seek(directory_at)
    directory = file.read(directory_size)
    if len(directory) != directory_size:
        raise ArchiveRefused(ArchiveCode.TRUNCATED, "the archive ends early; upload it again")
    entries = sorted(_entries(directory, count, most_depth), key=lambda entry: entry.offset)
    members = tuple(_tiled(file, entries, directory_at))
    _refuse_tar(file)
    return members


def _end_of(file: BinaryIO, size: int) -> tuple[int, int, int]:
    """Number of members, size and place of the central directory."""
    tail_at = max(0, size - _END.size - 0xFFFF)
    file.seek(tail_at)
    tail = file.read(size - tail_at)
    found = tail.rfind(_END_SIGNATURE)
    if found < 0 or len(tail) - found < _END.size:
        raise _no_end(file, found >= 0)
    _, disk, first_disk, here, count, directory_size, directory_at, comment_size = _END.unpack_from(
        tail, found
    )
    comment = tail[found + _END.size :]
    if len(comment) > comment_size:
        raise ArchiveRefused(ArchiveCode.DATA_AFTER, "there is data after the archive's end; pack it again")
    if len(comment) < comment_size:
        raise ArchiveRefused(ArchiveCode.TRUNCATED, "the archive ends early; upload it again")
    _check_comment(comment)
    if disk or first_disk or here != count:
        raise ArchiveRefused(ArchiveCode.SPLIT, "the archive is one part of several; pack it as one file")
    if _LARGEST in (directory_size, directory_at) or count == 0xFFFF or _has_locator(tail, found):
        raise ArchiveRefused(ArchiveCode.ZIP64, "the archive has the form for more than 4 GB; pack it again")
    if count == 0:
        raise ArchiveRefused(ArchiveCode.EMPTY, "the archive holds no file")
    end_at = tail_at + found
    if directory_at + directory_size > end_at:
        raise ArchiveRefused(
            ArchiveCode.BROKEN_DIRECTORY, "the archive's directory is not where it should be"
        )
    if directory_at + directory_size < end_at:
        # Readers that allow a prefix count places from where the directory really is.
        raise ArchiveRefused(
            ArchiveCode.DATA_BEFORE, "there is data before the archive, or between its parts; pack it again"
        )
    return count, directory_size, directory_at


def _no_end(file: BinaryIO, has_signature: bool) -> ArchiveRefused:
    file.seek(0)
    if has_signature or file.read(4) == _LOCAL_SIGNATURE:
        return ArchiveRefused(ArchiveCode.TRUNCATED, "the archive ends early; upload it again")
    return ArchiveRefused(ArchiveCode.NOT_A_ZIP, "this is no zip archive; pack the skill's folder as .zip")


def _has_locator(tail: bytes, found: int) -> bool:
    return tail[max(0, found - 20) : found].startswith(_ZIP64_LOCATOR)


def _check_comment(comment: bytes) -> None:
    if len(comment) > _MOST_COMMENT or not comment.decode("utf-8", errors="replace").isprintable():
        raise ArchiveRefused(ArchiveCode.COMMENT, "a comment in the archive is long or no plain text")


def _entries(directory: bytes, count: int, most_depth: int) -> Iterator[_Central]:
    at = 0
    for _ in range(count):
        if directory[at : at + 4] != _CENTRAL_SIGNATURE or at + _CENTRAL.size > len(directory):
            raise ArchiveRefused(
                ArchiveCode.COUNT_MISMATCH, "the archive's directory has fewer members than it says"
            )
        (_, _, _, flags, method, _, _, crc, compressed, size, name_size, extra_size, comment_size, disk,
         _, attributes, offset) = _CENTRAL.unpack_from(directory, at)  # fmt: skip
        at += _CENTRAL.size
        if at + name_size + extra_size + comment_size > len(directory):
            raise ArchiveRefused(
                ArchiveCode.BROKEN_DIRECTORY, "a member's header is longer than the directory"
            )
        raw_name = directory[at : at + name_size]
        extra = dict(_extra_fields(directory[at + name_size : at + name_size + extra_size], raw_name))
        at += name_size + extra_size + comment_size
        _check_comment(directory[at - comment_size : at])
        _check_method(flags, method, extra, raw_name)
        second = _unicode_path(extra, raw_name)
        name = member_name(
            raw_name, utf8=bool(flags & _UTF8_FLAG), unicode_path=second, most_depth=most_depth
        )
        if disk:
            raise ArchiveRefused(ArchiveCode.SPLIT, "the archive is one part of several; pack it as one file")
        if _LARGEST in (compressed, size, offset):
            raise ArchiveRefused(ArchiveCode.ZIP64, "a member has the form for more than 4 GB", name.path)
        executable = _check_kind(name, attributes, extra, size)
        yield _Central(raw_name, second, name, flags, method, crc, compressed, size, offset, executable)
    if at != len(directory):
        raise ArchiveRefused(
            ArchiveCode.COUNT_MISMATCH,
            "the archive's directory has more in it than the members that it counts",
        )


def _extra_fields(extra: bytes, raw_name: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(extra):
        if len(extra) - at < 4:
            raise _malformed_extra(raw_name)
        kind, size = struct.unpack_from("<2H", extra, at)
        if at + 4 + size > len(extra):
            raise _malformed_extra(raw_name)
        yield kind, extra[at + 4 : at + 4 + size]
        at += 4 + size


def _malformed_extra(raw_name: bytes) -> ArchiveRefused:
    return ArchiveRefused(
        ArchiveCode.MALFORMED_EXTRA, "a member's extra fields cannot be read", _shown(raw_name)
    )


def _shown(raw_name: bytes) -> str:
    return raw_name.decode("utf-8", errors="replace")


def _unicode_path(extra: dict[int, bytes], raw_name: bytes) -> bytes | None:
    """Info-ZIP's second name of a member, in UTF-8: a version, the CRC of the first name, and the name."""
    field = extra.get(_UNICODE_PATH)
    if field is None:
        return None
    if len(field) < 6 or field[0] != 1 or struct.unpack_from("<L", field, 1)[0] != zlib.crc32(raw_name):
        raise ArchiveRefused(ArchiveCode.NAME_MISMATCH, "a member has two different names", _shown(raw_name))
    return field[5:]


def _check_method(flags: int, method: int, extra: dict[int, bytes], raw_name: bytes) -> None:
    hint = _shown(raw_name)
    if flags & _ENCRYPTED_FLAGS or method == _AES_METHOD or {_STRONG_ENCRYPTION, _AES} & extra.keys():
        raise ArchiveRefused(
            ArchiveCode.ENCRYPTED, "a member is encrypted; pack the skill without a password", hint
        )
    if method not in (STORED, DEFLATED):
        raise ArchiveRefused(
            ArchiveCode.UNKNOWN_METHOD, "a member is compressed by another method than deflate", hint
        )
    if flags & ~_KNOWN_FLAGS:
        raise ArchiveRefused(ArchiveCode.UNKNOWN_FLAGS, "a member has flags that no usual packer sets", hint)


def _check_kind(name: MemberName, attributes: int, extra: dict[int, bytes], size: int) -> bool:
    """Whether it is executable; refuses what is neither a file nor a folder, whichever system wrote it."""
    mode = attributes >> 16
    kind = stat.S_IFMT(mode)
    if (asi := extra.get(_ASI_UNIX)) is not None and len(asi) >= 14:
        # CRC, mode, size of the link's target, owner: the mode counts like that of the attributes.
        asi_mode, target = struct.unpack_from("<HL", asi, 4)
        kind = stat.S_IFMT(asi_mode) if stat.S_IFMT(asi_mode) not in (0, kind) else kind
        if target:
            raise _link(name)
    if kind == stat.S_IFLNK or len(extra.get(_PKWARE_UNIX, b"")) > 12:
        raise _link(name)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ArchiveRefused(
            ArchiveCode.SPECIAL_FILE, "a member is a device, a pipe or a socket; remove it", name.path
        )
    if (kind == stat.S_IFDIR and not name.folder) or (kind == stat.S_IFREG and name.folder):
        raise ArchiveRefused(
            ArchiveCode.KIND_MISMATCH, "a member is a file by its name and a folder by its mode, or the reverse",
            name.path,
        )  # fmt: skip
    if name.folder and size:
        raise ArchiveRefused(ArchiveCode.FOLDER_WITH_DATA, "a folder of the archive has data", name.path)
    return bool(mode & 0o111) and not name.folder


def _link(name: MemberName) -> ArchiveRefused:
    return ArchiveRefused(ArchiveCode.LINK, "a member is a link; pack the file itself", name.path)


def _tiled(file: BinaryIO, entries: list[_Central], directory_at: int) -> Iterator[Member]:
    """The members, which have to follow each other from the first byte to the directory."""
    at = 0
    for number, entry in enumerate(entries):
        if entry.offset < at:
            raise ArchiveRefused(
                ArchiveCode.OVERLAP, "two members share bytes of the archive", entry.name.path
            )
        if entry.offset > at:
            code = ArchiveCode.HIDDEN_DATA if number else ArchiveCode.DATA_BEFORE
            raise ArchiveRefused(code, "there is data before a member that belongs to none", entry.name.path)
        data_at = _compared(file, entry, directory_at)
        at = data_at + entry.compressed
        if at > directory_at:
            raise ArchiveRefused(ArchiveCode.OVERLAP, "a member runs into the directory", entry.name.path)
        if entry.flags & _DESCRIPTOR_FLAG:
            at += _descriptor(file, entry, at, directory_at)
        yield Member(
            entry.name, entry.method, entry.crc, entry.compressed, entry.size, entry.executable, data_at
        )
    if at != directory_at:
        raise ArchiveRefused(ArchiveCode.HIDDEN_DATA, "there is data between the members and the directory")


def _compared(file: BinaryIO, entry: _Central, directory_at: int) -> int:
    """Where the data of a member begins; refuses a local header that differs from the directory."""
    hint = entry.name.path
    file.seek(entry.offset)
    header = file.read(_LOCAL.size)
    if len(header) < _LOCAL.size or header[:4] != _LOCAL_SIGNATURE:
        raise ArchiveRefused(ArchiveCode.BROKEN_MEMBER, "a member has no header where it should be", hint)
    _, _, flags, method, _, _, crc, compressed, size, name_size, extra_size = _LOCAL.unpack(header)
    data_at = entry.offset + _LOCAL.size + name_size + extra_size
    if data_at > directory_at:
        raise ArchiveRefused(ArchiveCode.OVERLAP, "a member's header runs into the directory", hint)
    raw_name = file.read(name_size)
    if raw_name != entry.raw_name:
        raise ArchiveRefused(ArchiveCode.NAME_MISMATCH, "a member has two different names", hint)
    extra = dict(_extra_fields(file.read(extra_size), raw_name))
    if flags != entry.flags:
        raise ArchiveRefused(ArchiveCode.FLAG_MISMATCH, "both headers of a member have different flags", hint)
    if method != entry.method:
        raise ArchiveRefused(ArchiveCode.METHOD_MISMATCH, "both headers name different methods", hint)
    _check_method(flags, method, extra, raw_name)
    _check_kind(entry.name, 0, extra, 0)
    if _unicode_path(extra, raw_name) not in (None, entry.second_name or raw_name):
        raise ArchiveRefused(ArchiveCode.NAME_MISMATCH, "a member has two different names", hint)
    if flags & _DESCRIPTOR_FLAG:
        _check_left_open(entry, (crc, compressed, size))
    else:
        _check_sizes(entry, (crc, compressed, size), extra)
    return data_at


def _check_left_open(entry: _Central, local: tuple[int, int, int]) -> None:
    """Checks a local header whose checksum and sizes follow the data."""
    if entry.method == STORED and entry.compressed:
        raise ArchiveRefused(
            ArchiveCode.DESCRIPTOR,
            "a member that is not compressed says its size only afterwards",
            entry.name.path,
        )
    # Honest writers leave zeros, all ones with the form for large files, or what they know already.
    same = (entry.crc, entry.compressed, entry.size)
    if any(said not in (0, _LARGEST, true) for said, true in zip(local, same, strict=True)):
        raise _size_mismatch(entry.name.path)


def _check_sizes(entry: _Central, local: tuple[int, int, int], extra: dict[int, bytes]) -> None:
    crc, compressed, size = local
    if _LARGEST in (compressed, size):
        compressed, size = _large_sizes(extra, entry.name.path)
    if (compressed, size) != (entry.compressed, entry.size):
        raise _size_mismatch(entry.name.path)
    if entry.method == STORED and compressed != size:
        raise _size_mismatch(entry.name.path)
    if crc != entry.crc:
        raise ArchiveRefused(
            ArchiveCode.CRC_MISMATCH, "both headers of a member differ in its checksum", entry.name.path
        )


def _size_mismatch(hint: str) -> ArchiveRefused:
    return ArchiveRefused(ArchiveCode.SIZE_MISMATCH, "a member's sizes contradict each other", hint)


def _large_sizes(extra: dict[int, bytes], hint: str) -> tuple[int, int]:
    field = extra.get(_ZIP64, b"")
    if len(field) < 16:
        raise ArchiveRefused(ArchiveCode.MALFORMED_EXTRA, "a member's extra fields lack its size", hint)
    size, compressed = struct.unpack_from("<2Q", field)
    return compressed, size


def _descriptor(file: BinaryIO, entry: _Central, at: int, directory_at: int) -> int:
    """The length of the descriptor after a member's data, which has to repeat the directory."""
    file.seek(at)
    found = file.read(min(24, directory_at - at))
    same = (entry.crc, entry.compressed, entry.size)
    for lead in (_DESCRIPTOR_SIGNATURE, b""):
        # The longer form first: with sizes of zero it starts like the shorter one.
        for form in ("<LQQ", "<LLL"):
            if found.startswith(lead + struct.pack(form, *same)):
                return len(lead) + struct.calcsize(form)
    raise ArchiveRefused(
        ArchiveCode.DESCRIPTOR,
        "what follows a member's data does not repeat its size and checksum",
        entry.name.path,
    )


def _refuse_tar(file: BinaryIO) -> None:
    """Refuses a file that is a tar as well: other readers would find other members."""
    file.seek(0)
    block = file.read(512)
    if len(block) < 512:
        return
    field = block[148:156].strip(b" \0")
    if not field or any(digit not in b"01234567" for digit in field):
        return
    if int(field, 8) == sum(block) - sum(block[148:156]) + 8 * 32:
        raise ArchiveRefused(
            ArchiveCode.POLYGLOT, "the file is a zip and a tar at once; pack it as a zip alone"
        )
