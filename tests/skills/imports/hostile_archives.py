"""Archives that are refused, each with the code that it is refused by. None of them holds anything harmful."""

import io
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import replace

from domain.imports.archive_problems import ArchiveCode as Code
from tests.skills.imports.zip_forge import (
    DEVICE,
    FIFO,
    FOLDER,
    LINK,
    SOCKET,
    Entry,
    deflated,
    extra_field,
    forged,
    skill,
)

MIB = 1024 * 1024
UTF8 = 0x0800
OK = Entry(b"notes.md", b"notes " * 20)


def _named(name: str | bytes) -> Callable[[], bytes]:
    raw = name if isinstance(name, bytes) else name.encode()
    flags = UTF8 if isinstance(name, str) else 0
    return lambda: forged([skill(), Entry(raw, flags=flags)])


def _pair(one: str, other: str) -> Callable[[], bytes]:
    return lambda: forged([skill(), Entry(one.encode(), flags=UTF8), Entry(other.encode(), flags=UTF8)])


def _one(entry: Entry) -> Callable[[], bytes]:
    return lambda: forged([skill(), entry])


def _local(**fields: object) -> Callable[[], bytes]:
    return lambda: forged([skill(), OK.but_local(**fields)])


def zeros(size: int, name: bytes = b"zeros.bin") -> Entry:
    return Entry(name, packed=_packed_zeros(size), crc=0, size=size)


def _packed_zeros(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    piece = bytes(MIB)
    return b"".join(packer.compress(piece) for _ in range(size // MIB)) + packer.flush()


def _announced(size: int, packed: int, name: bytes) -> Entry:
    """Says that it is large, and is not looked into."""
    return Entry(name, packed=bytes(packed), size=size)


def _tar_as_well() -> bytes:
    """The first member's name holds the checksum of a tar's header, into which the zip's own header counts."""
    archive, digits = b"", b"0" * 8
    for _ in range(2):
        # A local header takes 30 bytes; the checksum stands at 148, and counts as spaces itself.
        name = b"a" * 118 + digits + b"a" * 74
        archive = forged([Entry(name, b"x" * 600, method=0)])
        digits = b"%08o" % sum(archive[:148] + b" " * 8 + archive[156:512])
    return archive


def _overlapping() -> bytes:
    # Two entries of the directory share the bytes of one member.
    one = Entry(b"a.md", b"x" * 100, method=0)
    return forged([one, replace(one, name=b"a.md", offset=0)])


def _inner(*names: bytes, inside: bytes | None = None) -> bytes:
    content = forged([skill()]) if inside is None else inside
    return forged([Entry(name, content, method=0) for name in names])


def _tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("SKILL.md"))
    return out.getvalue()


ARCHIVES: dict[str, tuple[Code, Callable[[], bytes]]] = {
    # Not an archive, or not a whole one
    "no bytes at all": (Code.NOT_A_ZIP, lambda: b""),
    "a web page": (Code.NOT_A_ZIP, lambda: b"<html>not found</html>" * 9),
    "a tar": (Code.NOT_A_ZIP, _tar),
    "a zip without a member": (Code.EMPTY, lambda: forged([])),
    "nothing but what packers add": (Code.EMPTY, lambda: forged([Entry(b"__MACOSX/._a"), Entry(b".DS_Store")])),
    "folders alone": (Code.EMPTY, lambda: forged([Entry(b"a/", b"", method=0, mode=FOLDER)])),
    "the last byte is missing": (Code.TRUNCATED, lambda: forged([skill()])[:-1]),
    "the end is missing": (Code.TRUNCATED, lambda: forged([skill(), OK])[:-80]),
    "a comment shorter than announced": (Code.TRUNCATED, lambda: forged([skill()], comment=b"a")[:-1]),
    # Data that belongs to no member
    "a script before the archive": (Code.DATA_BEFORE, lambda: forged([skill()], before=b"#!/bin/sh\n")),
    "a program before, offsets shifted": (
        Code.DATA_BEFORE, lambda: forged([skill()], before=b"MZ" + bytes(99), shifted=True),
    ),
    "data after the end": (Code.DATA_AFTER, lambda: forged([skill()], after=b"more")),
    "data between members": (Code.HIDDEN_DATA, lambda: forged([skill(), OK], gap=b"hidden")),
    "data before the directory": (Code.HIDDEN_DATA, lambda: forged([skill()], gap_before_directory=b"hidden")),
    "data between directory and end": (Code.DATA_BEFORE, lambda: forged([skill()], after_directory=b"hidden")),
    "data after the end of a deflated stream": (
        Code.HIDDEN_DATA, _one(Entry(b"a", packed=deflated(b"content") + b"hidden")),
    ),
    "a comment of control characters": (Code.COMMENT, lambda: forged([skill()], comment=b"\x00\x01")),
    "another end in the comment": (Code.EMPTY, lambda: forged([skill()], comment=b"PK\x05\x06" + bytes(18))),
    "a long comment": (Code.COMMENT, lambda: forged([skill()], comment=b"a" * 2000)),
    "a member's comment that is a program": (Code.COMMENT, _one(replace(OK, comment=b"\x7fELF\x00"))),
    "a tar as well": (Code.POLYGLOT, _tar_as_well),
    # A directory that lies
    "fewer members than counted": (Code.COUNT_MISMATCH, lambda: forged([skill()], count=2, here=2)),
    "more members than counted": (Code.COUNT_MISMATCH, lambda: forged([skill(), OK], count=1, here=1)),
    "one part of several": (Code.SPLIT, lambda: forged([skill()], disk=1)),
    "a member on another disk": (Code.SPLIT, _one(replace(OK, disk=3))),
    "the directory behind its end": (Code.BROKEN_DIRECTORY, lambda: forged([skill()], at=9999)),
    "the form for large archives": (Code.ZIP64, lambda: forged([skill()], at=0xFFFFFFFF)),
    "a member in the form for large files": (Code.ZIP64, _one(replace(OK, size=0xFFFFFFFF))),
    "extra fields that end early": (Code.MALFORMED_EXTRA, _one(replace(OK, extra=b"\x01\x00\x09\x00a"))),
    "an offset into another member": (Code.OVERLAP, _one(replace(OK, offset=5))),
    "two entries for the same bytes": (Code.OVERLAP, _overlapping),
    "a member that runs into the directory": (
        Code.OVERLAP, _one(replace(OK, compressed=4000).but_local(compressed=4000)),
    ),
    "no header at the offset": (
        Code.BROKEN_MEMBER, lambda: forged([skill()]).replace(b"PK\x03\x04", b"PK\x03\x05", 1) ,
    ),
    # Two headers that differ
    "another name in the local header": (Code.NAME_MISMATCH, _local(name=b"notez.md")),
    "another name in an extra field": (
        Code.NAME_MISMATCH,
        _one(replace(OK, local_extra=extra_field(0x7075, b"\x01" + zlib.crc32(OK.name).to_bytes(4, "little") + b"x"))),
    ),
    "an extra field for another name": (Code.NAME_MISMATCH, _one(replace(OK, extra=extra_field(0x7075, b"\x01abcdx")))),
    "another size in the local header": (Code.SIZE_MISMATCH, _local(size=3)),
    "another compressed size": (Code.SIZE_MISMATCH, _local(compressed=3)),
    "a larger size than what comes out": (
        Code.SIZE_MISMATCH, _one(replace(OK, size=5000).but_local(size=5000)),
    ),
    "a smaller size than what comes out": (Code.SIZE_MISMATCH, _one(replace(OK, size=5).but_local(size=5))),
    "stored with two different sizes": (
        Code.SIZE_MISMATCH, _one(Entry(b"a", method=0, size=3).but_local(size=3)),
    ),
    "another method": (Code.METHOD_MISMATCH, _local(method=0)),
    "other flags": (Code.FLAG_MISMATCH, _local(flags=UTF8)),
    "another checksum in the local header": (Code.CRC_MISMATCH, _local(crc=1)),
    "a wrong checksum in both": (Code.CRC_MISMATCH, _one(replace(OK, crc=1).but_local(crc=1))),
    "a descriptor that says something else": (
        Code.DESCRIPTOR, _one(replace(OK, flags=8, descriptor=b"PK\x07\x08" + bytes(12))),
    ),
    "stored data with its size afterwards": (Code.DESCRIPTOR, _one(replace(OK, flags=8, method=0))),
    "deflated data that is broken": (Code.BROKEN_MEMBER, _one(replace(OK, packed=b"\xff" * 40))),
    "deflated data that ends early": (Code.BROKEN_MEMBER, _one(replace(OK, packed=deflated(OK.data)[:-3]))),
    # Members that are no files
    "an encrypted member": (Code.ENCRYPTED, _one(replace(OK, flags=1))),
    "strong encryption": (Code.ENCRYPTED, _one(replace(OK, flags=0x41))),
    "masked headers": (Code.ENCRYPTED, _one(replace(OK, flags=0x2000))),
    "the method of AES": (Code.ENCRYPTED, _one(replace(OK, method=99, packed=b"x"))),
    "an extra field of AES": (Code.ENCRYPTED, _one(replace(OK, extra=extra_field(0x9901, bytes(7))))),
    "a method of old": (Code.UNKNOWN_METHOD, _one(replace(OK, method=6, packed=b"x"))),
    "bzip2": (Code.UNKNOWN_METHOD, _one(replace(OK, method=12, packed=b"x"))),
    "a patch of another file": (Code.UNKNOWN_FLAGS, _one(replace(OK, flags=0x20))),
    "a symbolic link": (Code.LINK, _one(Entry(b"link", b"/etc/passwd", mode=LINK))),
    "a symbolic link of a folder, and a file through it": (
        Code.LINK, lambda: forged([Entry(b"out", b"/tmp", mode=LINK), Entry(b"out/a")]),
    ),
    "a hard link": (Code.LINK, _one(replace(OK, extra=extra_field(0x000D, bytes(12) + b"/etc/passwd")))),
    "a link in the local header alone": (
        Code.LINK,
        _one(replace(OK, local_extra=extra_field(0x756E, bytes(4) + (0o120777).to_bytes(2, "little") + bytes(8)))),
    ),
    "a pipe": (Code.SPECIAL_FILE, _one(Entry(b"pipe", mode=FIFO))),
    "a device": (Code.SPECIAL_FILE, _one(Entry(b"device", mode=DEVICE))),
    "a socket": (Code.SPECIAL_FILE, _one(Entry(b"socket", mode=SOCKET))),
    "a folder with the name of a file": (Code.KIND_MISMATCH, _one(Entry(b"folder", b"", mode=FOLDER))),
    "a file with the name of a folder": (Code.KIND_MISMATCH, _one(Entry(b"file/", b""))),
    "a folder with data": (Code.FOLDER_WITH_DATA, _one(Entry(b"folder/", mode=FOLDER))),
    # Names of places outside
    "a name that leads out": (Code.TRAVERSAL, _named("../out.md")),
    "a name that leads out further in": (Code.TRAVERSAL, _named("a/../../out.md")),
    "two dots alone": (Code.TRAVERSAL, _named("..")),
    "the way out in what is left out": (Code.TRAVERSAL, _named("__MACOSX/../../out.md")),
    "an absolute name": (Code.ABSOLUTE, _named("/etc/passwd")),
    "a drive": (Code.DRIVE_LETTER, _named("C:/out.md")),
    "a drive without a slash": (Code.DRIVE_LETTER, _named("c:out.md")),
    "a network path": (Code.UNC_PATH, _named("//server/share/out.md")),
    "a network path of Windows": (Code.UNC_PATH, _named("\\\\server\\share")),
    "a backslash": (Code.BACKSLASH, _named("..\\out.md")),
    "no name": (Code.EMPTY_NAME, _named("")),
    "a dot alone": (Code.EMPTY_NAME, lambda: forged([skill(), Entry(b"./", b"", method=0, mode=FOLDER)])),
    "a dot within": (Code.UNUSUAL_PATH, _named("a/./b.md")),
    "two slashes": (Code.UNUSUAL_PATH, _named("a//b.md")),
    # Names that are not what they seem
    "a NUL": (Code.NUL_IN_NAME, _named("safe.md\0.exe")),
    "a line end": (Code.CONTROL_CHARACTER, _named("a\nb.md")),
    "an escape sequence": (Code.CONTROL_CHARACTER, _named("\x1b[2Ja.md")),
    "a line separator": (Code.CONTROL_CHARACTER, _named("a\u2028b.md")),
    "letters in the other direction": (Code.BIDI_CHARACTER, _named("gpj.\u202eexe.md")),
    "a mark of direction": (Code.BIDI_CHARACTER, _named("a\u200f.md")),
    "a space of no width": (Code.UNSEEN_CHARACTER, _named("SKI\u200bLL.md")),
    "a space that does not break": (Code.UNSEEN_CHARACTER, _named("a\u00a0b.md")),
    "letters for tags": (Code.UNSEEN_CHARACTER, _named("a\U000e0041.md")),
    "a stream of a file": (Code.FORBIDDEN_CHARACTER, _named("a.md:hidden")),
    "a wildcard": (Code.FORBIDDEN_CHARACTER, _named("a*.md")),
    "a device of Windows": (Code.RESERVED_NAME, _named("scripts/con")),
    "a device with an extension": (Code.RESERVED_NAME, _named("AUX.md")),
    "a numbered device": (Code.RESERVED_NAME, _named("com1.txt/a")),
    "a device with a superscript": (Code.RESERVED_NAME, _named("lpt\u00b9")),
    "a dot at the end": (Code.TRAILING_DOT_OR_SPACE, _named("a.md.")),
    "a space at the end": (Code.TRAILING_DOT_OR_SPACE, _named("a /b.md")),
    "a space at the start": (Code.TRAILING_DOT_OR_SPACE, _named(" SKILL.md")),
    "three dots": (Code.TRAILING_DOT_OR_SPACE, _named(".../a.md")),
    "a long name": (Code.NAME_TOO_LONG, _named("a" * 256)),
    "a long path": (Code.PATH_TOO_LONG, _named("/".join(["b" * 60] * 5))),
    "a deep path": (Code.TOO_DEEP, _named("/".join("a" * 40))),
    "a name that is no UTF-8": (Code.NAME_NOT_UTF8, lambda: forged([Entry(b"a\xff.md", flags=UTF8)])),
    # Names that stand for one another
    "a file twice": (Code.DUPLICATE, _pair("a.md", "a.md")),
    "a file twice by a dot": (Code.DUPLICATE, _pair("a.md", "./a.md")),
    "capitals": (Code.CASE_COLLISION, _pair("README.md", "readme.md")),
    "capitals of a folder": (Code.CASE_COLLISION, _pair("Docs/a.md", "docs/b.md")),
    "letters composed and decomposed": (Code.DUPLICATE, _pair("caf\u00e9.md", "cafe\u0301.md")),
    "letters of a ligature": (Code.UNICODE_COLLISION, _pair("file.md", "\ufb01le.md")),
    "letters of full width": (Code.UNICODE_COLLISION, _pair("a.md", "\uff41.md")),
    "a sharp s": (Code.UNICODE_COLLISION, _pair("stra\u00dfe.md", "strasse.md")),
    "Cyrillic letters": (Code.LOOKALIKE, _pair("scope.md", "s\u0441\u043e\u0440\u0435.md")),
    "a file that is a folder": (Code.FILE_AS_FOLDER, _pair("a", "a/b.md")),
    # Sizes
    "more members than allowed": (
        Code.TOO_MANY_FILES, lambda: forged([Entry(b"%d" % number, b"", method=0) for number in range(4001)]),
    ),
    "more files than allowed": (
        Code.TOO_MANY_FILES, lambda: forged([Entry(b"%d" % number, b"", method=0) for number in range(2001)]),
    ),
    "a member count that is not believed": (Code.TOO_MANY_FILES, lambda: forged([skill()], count=65000, here=65000)),
    "a directory too large": (
        Code.DIRECTORY_TOO_LARGE,
        lambda: forged([Entry(b"%d" % number, b"", extra=extra_field(9, bytes(4000)), local_extra=b"")
                        for number in range(1100)]),
    ),
    "a bomb": (Code.RATIO, _one(zeros(8 * MIB))),
    "a bomb of many members": (
        Code.RATIO, lambda: forged([zeros(2 * MIB, b"%d" % number) for number in range(8)]),
    ),
    "a bomb that announces little": (
        Code.SIZE_MISMATCH, _one(replace(zeros(64 * MIB), size=10)),
    ),
    "a file too large": (Code.FILE_TOO_LARGE, _one(replace(OK, size=65 * MIB).but_local(size=65 * MIB))),
    "too much in all": (
        Code.TOTAL_TOO_LARGE,
        lambda: forged([_announced(33 * MIB, 400_000, b"%d" % number) for number in range(4)]),
    ),
    # Archives in archives
    "an archive three deep": (
        Code.NESTED_TOO_DEEP, lambda: _inner(b"a.zip", inside=_inner(b"b.zip")),
    ),
    "an inner archive that leads out": (
        Code.TRAVERSAL, lambda: _inner(b"a.zip", inside=forged([Entry(b"../../out.md")])),
    ),
    "an inner archive that is none": (Code.NOT_A_ZIP, lambda: _inner(b"a.zip", inside=b"x" * 99)),
    "an inner bomb": (Code.RATIO, lambda: _inner(b"a.zip", inside=forged([zeros(8 * MIB)]))),
    "an inner archive called like a folder beside it": (
        Code.CASE_COLLISION, lambda: _inner(b"a.zip", b"A.skill"),
    ),
}  # fmt: skip
