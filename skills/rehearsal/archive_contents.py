"""What archives, compressed files and databases hold, whatever the time that they were made at."""

import bz2
import gzip
import hashlib
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

MAX_MEMBERS = 20_000
"""The most files of an archive."""

MAX_UNPACKED_BYTES = 64 * 1024 * 1024
"""The most that is unpacked of an archive; of one that holds more, the names alone are compared."""


MAX_LISTED_BYTES = 1024 * 1024 * 1024
"""The most that is passed over to list the names of an archive; those behind it are left out."""


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...

    def close(self) -> None: ...


_DATABASE = b"SQLite format 3\x00"
_OPENERS: dict[bytes, Callable[[Path], _Readable]] = {
    b"\x1f\x8b": lambda path: gzip.open(path),  # noqa: SIM115
    b"BZh": lambda path: bz2.open(path),  # noqa: SIM115
    b"\xfd7zXZ": lambda path: lzma.open(path),  # noqa: SIM115
}
"""How a compressed file is read, by what it begins with."""

_BROKEN = (
    OSError,
    EOFError,
    zipfile.BadZipFile,
    tarfile.TarError,
    lzma.LZMAError,
    zlib.error,
    ValueError,
    NotImplementedError,
)


@dataclass(frozen=True)
class Packed:
    """What such a file holds."""

    members: frozenset[str] | None
    """The names in an archive; ``None`` where it is none."""
    essence: str
    """Equal for two files that hold the same."""


def read_packed(path: Path, head: bytes) -> Packed | None:
    """What an archive, a compressed file or a database holds; ``None`` for others and for damaged ones.

    ``head`` is what the file begins with. Nothing is unpacked to the disk.
    """
    try:
        if head.startswith(_DATABASE):
            # What is in it is state behind the file; its bytes are other ones in each run.
            return Packed(None, "a database")
        if head.startswith(b"PK"):
            return _zip(path)
        opener = next((opener for magic, opener in _OPENERS.items() if head.startswith(magic)), None)
        if head[257:262] == b"ustar" or opener is not None:
            return _tar(path) or (Packed(None, _content(opener(path))) if opener else None)
    except _BROKEN:
        return None
    return None


def _zip(path: Path) -> Packed:
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()[:MAX_MEMBERS]
        names = frozenset(one.filename for one in members)
        return Packed(names, _digest((one.filename, one.CRC, one.external_attr) for one in members))


def _tar(path: Path) -> Packed | None:
    """What a tar archive holds; ``None`` for another compressed file."""
    held: dict[str, object] = {}
    left = MAX_UNPACKED_BYTES
    try:
        archive = tarfile.open(path)  # noqa: SIM115
    except tarfile.ReadError:
        return None
    with archive:
        for member in archive:
            left -= member.size
            file = archive.extractfile(member) if member.isreg() and left >= 0 else None
            content = _content(file) if file else None
            held[member.name] = (member.type, member.mode, member.linkname, content)
            if len(held) >= MAX_MEMBERS or left < -MAX_LISTED_BYTES:
                break
    return Packed(frozenset(held), _digest(held.items() if left >= 0 else held))


def _content(file: _Readable) -> str:
    """The digest of what is in a file, as far as it is unpacked."""
    digest, left = hashlib.sha256(), MAX_UNPACKED_BYTES
    with closing(file):
        while left > 0 and (piece := file.read(1024 * 1024)):
            digest.update(piece)
            left -= len(piece)
    return digest.hexdigest()


def _digest(held: Iterable[object]) -> str:
    return hashlib.sha256("\n".join(sorted(map(repr, held))).encode()).hexdigest()
