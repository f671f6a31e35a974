"""Witness of archives: number and names of the members of tar (also gzip, bzip2, xz) and zip, content of a lone gzip.

Nothing is unpacked to the disk. What comes out of an archive is bounded, and so are its members and headers.
"""

import hashlib
import struct
import tarfile
from collections.abc import Iterator
from typing import IO, cast

from contracts.learning.witness import StateFact
from host.witness.bounded_folder import BoundedFile, BoundedFolder, LimitReached
from host.witness.decompression import Content, DamagedArchive
from host.witness.fact import FactMaker

fact = FactMaker("archives")

MAX_MEMBERS = 20_000
"""Members of one archive that are counted; beyond them the number is left out."""

MAX_NAMED = 500
"""Members that are named one by one."""

_MAX_DIRECTORY_BYTES = 16 * 1024 * 1024
_TAR_MAGIC_AT, _TAR_BLOCK = 257, 512
_END = struct.Struct("<4s4H2IH")
_END_64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_MEMBER = struct.Struct("<4s6H3I5H2I")
_FULL = 0xFFFFFFFF


class ArchiveWitness:
    """Facts of every archive in a folder, by the path of its file; recognised by content, not by name."""

    name = fact.witness

    def observe(self, folder: BoundedFolder) -> Iterator[StateFact]:
        """The facts of the archives of ``folder``.

        Raises:
            LimitReached: the budget is spent; what was given until then stands.
        """
        for entry in folder.files():
            folder.budget.spend()
            try:
                with folder.open(entry.path) as file:
                    yield from _of_file(entry.shown, file, folder)
            except OSError:
                continue
            except (DamagedArchive, tarfile.TarError, struct.error, ValueError) as error:
                yield fact(entry.shown, "archive", f"not readable ({_reason(error)})")


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, DamagedArchive) else "its format is damaged"


def _of_file(path: str, file: BoundedFile, folder: BoundedFolder) -> Iterator[StateFact]:
    if file.read_at(0, 4) in (b"PK\x03\x04", b"PK\x05\x06"):
        yield from _members(path, "zip", _zip_names(file))
        return
    content = Content(file, folder)
    head = content.read(_TAR_BLOCK) if content.is_compressed else file.read_at(0, _TAR_BLOCK)
    if head[_TAR_MAGIC_AT : _TAR_MAGIC_AT + 5] == b"ustar":
        yield from _members(path, "tar", _tar_names(Content(file, folder)))
    elif content.is_compressed:
        yield from _lone(path, head, content)


def _members(path: str, kind: str, names: Iterator[str]) -> Iterator[StateFact]:
    count, named = 0, list[str]()
    yield fact(path, "archive", kind)
    for name in names:
        count += 1
        if count <= MAX_NAMED:
            named.append(name)
        if count > MAX_MEMBERS:
            raise LimitReached("too many members")
    yield fact(path, "members", count)
    for name in dict.fromkeys(named):
        yield fact(path, f"member {name}", "there")


def _tar_names(content: Content) -> Iterator[str]:
    # Content has the three methods of a file that tarfile calls.
    with tarfile.open(fileobj=cast(IO[bytes], content), mode="r:", errorlevel=0) as archive:
        while (member := archive.next()) is not None:
            yield member.name + ("/" if member.isdir() else "")


def _zip_names(file: BoundedFile) -> Iterator[str]:
    """The names in the central directory of a zip archive, as Info-ZIP shows them."""
    start, size = _directory_of(file)
    if size > _MAX_DIRECTORY_BYTES:
        raise LimitReached("too many members")
    directory = file.read_at(start, size)
    if len(directory) != size:
        raise DamagedArchive("the directory of the archive is damaged")
    at = 0
    while at < len(directory):
        fields = _MEMBER.unpack_from(directory, at)
        if fields[0] != b"PK\x01\x02":
            raise DamagedArchive("the directory of the archive is damaged")
        at += _MEMBER.size
        name, flags = directory[at : at + fields[10]], fields[3]
        at += fields[10] + fields[11] + fields[12]
        yield name.decode("utf-8" if flags & 0x800 else "cp437", errors="replace")


def _directory_of(file: BoundedFile) -> tuple[int, int]:
    """Where the central directory starts and how long it is; data before the archive is passed over."""
    tail_at = max(0, file.size - 65_557)
    tail = file.read_at(tail_at, 65_557)
    found = tail.rfind(b"PK\x05\x06")
    if found < 0:
        raise DamagedArchive("the end is missing")
    end_at = tail_at + found
    size, _ = _END.unpack_from(tail, found)[5:7]
    locator = file.read_at(max(0, end_at - _LOCATOR.size), _LOCATOR.size)
    if size == _FULL and locator[:4] == b"PK\x06\x07":
        end_64 = file.read_at(_LOCATOR.unpack(locator)[2], _END_64.size)
        if end_64[:4] != b"PK\x06\x06":
            raise DamagedArchive("the end is damaged")
        size, start = _END_64.unpack(end_64)[8:10]
        return int(start), int(size)
    if size > end_at:
        raise DamagedArchive("the end is damaged")
    return end_at - int(size), int(size)


def _lone(path: str, head: bytes, content: Content) -> Iterator[StateFact]:
    """The content of a file that is compressed and no archive."""
    digest, size, piece = hashlib.sha256(), 0, head
    yield fact(path, "archive", "one compressed file")
    while piece:
        digest.update(piece)
        size += len(piece)
        piece = content.read(256 * 1024)
    yield fact(path, "unpacked size", size)
    yield fact(path, "unpacked sha256", digest.hexdigest())
