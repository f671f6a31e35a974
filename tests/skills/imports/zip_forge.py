"""Writes zips byte by byte, so that tests can lie in any of their fields."""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

FILE, FOLDER, LINK, FIFO, DEVICE, SOCKET = 0o100644, 0o040755, 0o120777, 0o010644, 0o020644, 0o140644
SKILL_MD = b"---\nname: pack-week\ndescription: Packs the week. Use when asked for it.\n---\nPack it.\n"


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


@dataclass(frozen=True)
class Entry:
    """A member. Fields with None are what an honest writer would say; ``local`` changes its own header alone."""

    name: bytes
    data: bytes = b"content"
    packed: bytes | None = None
    method: int = 8
    flags: int = 0
    mode: int = FILE
    crc: int | None = None
    size: int | None = None
    compressed: int | None = None
    extra: bytes = b""
    local_extra: bytes | None = None
    comment: bytes = b""
    disk: int = 0
    descriptor: bytes | None = None
    offset: int | None = None
    local: tuple[tuple[str, Any], ...] = ()

    def but_local(self, **fields: object) -> "Entry":
        """The same with another local header."""
        return replace(self, local=tuple(fields.items()))

    def body(self) -> bytes:
        if self.packed is not None:
            return self.packed
        return self.data if self.method == 0 else deflated(self.data)

    def said(self) -> tuple[int, int, int]:
        """Checksum, compressed size and size, as announced."""
        crc = zlib.crc32(self.data) if self.crc is None else self.crc
        compressed = len(self.body()) if self.compressed is None else self.compressed
        return crc, compressed, len(self.data) if self.size is None else self.size

    def local_part(self) -> bytes:
        one = replace(self, packed=self.body(), **dict(self.local))
        crc, compressed, size = one.said()
        if self.flags & 8 and not self.local:
            crc = compressed = size = 0
        extra = one.extra if one.local_extra is None else one.local_extra
        head = struct.pack(
            "<4s5H3L2H", b"PK\x03\x04", 20, one.flags, one.method, 0, 0x21, crc, compressed, size,
            len(one.name), len(extra),
        )  # fmt: skip
        descriptor = b""
        if self.flags & 8:
            descriptor = struct.pack("<4s3L", b"PK\x07\x08", *self.said())
        return (
            head
            + one.name
            + extra
            + self.body()
            + (descriptor if self.descriptor is None else self.descriptor)
        )

    def central_part(self, offset: int) -> bytes:
        crc, compressed, size = self.said()
        head = struct.pack(
            "<4s6H3L5H2L", b"PK\x01\x02", 0x0314, 20, self.flags, self.method, 0, 0x21, crc, compressed, size,
            len(self.name), len(self.extra), len(self.comment), self.disk, 0, self.mode << 16,
            offset if self.offset is None else self.offset,
        )  # fmt: skip
        return head + self.name + self.extra + self.comment


def forged(
    entries: Sequence[Entry],
    *,
    before: bytes = b"",
    shifted: bool = False,
    gap: bytes = b"",
    gap_before_directory: bytes = b"",
    after_directory: bytes = b"",
    comment: bytes = b"",
    after: bytes = b"",
    **end: int,
) -> bytes:
    """The archive. ``shifted`` counts offsets with what stands before; ``end`` changes fields of its end."""
    start = len(before) if shifted else 0
    body, directory = bytearray(), bytearray()
    for number, entry in enumerate(entries):
        if number:
            body += gap
        directory += entry.central_part(start + len(body))
        body += entry.local_part()
    body += gap_before_directory
    fields = {
        "disk": 0, "first_disk": 0, "here": len(entries), "count": len(entries),
        "size": len(directory), "at": start + len(body), "comment": len(comment),
    } | end  # fmt: skip
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", *fields.values())
    return before + bytes(body + directory) + after_directory + tail + comment + after


def skill(name: bytes = b"SKILL.md") -> Entry:
    return Entry(name, SKILL_MD)


def extra_field(kind: int, data: bytes) -> bytes:
    return struct.pack("<2H", kind, len(data)) + data
