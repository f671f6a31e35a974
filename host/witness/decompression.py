"""Bounded reading of gzip, bzip2 and xz: memory and the length of what comes out are limited."""

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Protocol

from host.witness.bounded_folder import BoundedFile, BoundedFolder, LimitReached

MAX_UNPACKED_BYTES = 1024 * 1024 * 1024
"""What may come out of one archive."""

_CHUNK = 256 * 1024
_MAX_XZ_MEMORY = 128 * 1024 * 1024


class DamagedArchive(Exception):
    """An archive whose format is not kept, or that is cut off."""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes: ...


_KINDS: tuple[tuple[bytes, Callable[[], _Decompressor] | None], ...] = (
    (b"\x1f\x8b", lambda: zlib.decompressobj(wbits=31)),
    (b"BZh", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\x00", lambda: lzma.LZMADecompressor(memlimit=_MAX_XZ_MEMORY)),
)


class Content:
    """The content of a file, decompressed where it is gzip, bzip2 or xz; read forwards only.

    What ``tarfile`` needs of a file: ``read``, ``seek`` and ``tell``.
    """

    def __init__(self, file: BoundedFile, folder: BoundedFolder) -> None:
        self._file = file
        self._folder = folder
        head = file.read_at(0, 6)
        self._magic, self._make = next((kind for kind in _KINDS if head.startswith(kind[0])), (b"", None))
        self._inner = self._make() if self._make else None
        self._waiting = b""
        self._ready = b""
        self._at = 0
        file.read_at(0, 0)

    @property
    def is_compressed(self) -> bool:
        """Whether the file is in one of the three formats."""
        return self._make is not None

    def read(self, size: int = -1) -> bytes:
        """Up to ``size`` bytes, fewer at the end; at most a mebibyte at once, which bounds headers.

        Raises:
            DamagedArchive: the compression is damaged, or more than a mebibyte is asked for.
            LimitReached: too much has come out, or the budget is spent.
        """
        if not 0 <= size <= 1024 * 1024:
            raise DamagedArchive("a part is larger than any header may be")
        if self._inner is None:
            piece = self._file.read_at(self._at, size)
        else:
            pieces = [self._ready]
            while sum(map(len, pieces)) < size and (more := self._more()):
                pieces.append(more)
            content = b"".join(pieces)
            piece, self._ready = content[:size], content[size:]
        self._at += len(piece)
        return piece

    def tell(self) -> int:
        """The position in the decompressed content."""
        return self._at

    def seek(self, position: int, whence: int = 0) -> int:
        """Passes to a later position.

        Raises:
            DamagedArchive: the position lies behind.
        """
        if whence != 0 or (position < self._at and self._inner is not None):
            raise DamagedArchive("it can be read forwards only")
        if self._inner is None:
            self._at = position
        while self._at < position:
            if not self.read(min(_CHUNK, position - self._at)):
                break
        return self._at

    def _more(self) -> bytes:
        """The next decompressed piece, empty at the end."""
        while self._inner is not None:
            if self._inner.eof:
                # A further member may follow; anything else behind the end is passed over, as gzip does.
                self._waiting = self._inner.unused_data or self._file.read(_CHUNK)
                if not self._waiting.startswith(self._magic) or self._make is None:
                    return b""
                self._inner = self._make()
            data = b""
            if getattr(self._inner, "needs_input", True):
                data = self._waiting or self._file.read(_CHUNK)
            piece = self._inflate(self._inner, data)
            if piece:
                return piece
            if not data and not self._inner.eof:
                raise DamagedArchive("the end is missing")
        return b""

    def _inflate(self, inner: _Decompressor, data: bytes) -> bytes:
        try:
            piece = inner.decompress(data, _CHUNK)
        except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError) as error:
            raise DamagedArchive("the compression is damaged") from error
        tail = getattr(inner, "unconsumed_tail", b"")
        self._waiting = tail if isinstance(tail, bytes) else b""
        self._folder.budget.spend()
        if self._at + len(piece) > MAX_UNPACKED_BYTES:
            raise LimitReached("too much comes out of an archive")
        return piece
