"""Objects of a git repository, read by hand: loose ones and those in packs, with bounds on size, depth and number.

Nothing that a repository configures is read or run (filters, hooks, includes, alternates), and memory stays bounded
whatever an object claims, which no library for git promises. Formats: gitformat-pack(5), gitformat-index(5).
"""

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from host.witness.bounded_folder import BoundedFile, BoundedFolder

MAX_OBJECT_BYTES = 16 * 1024 * 1024
"""The largest object that is read."""

_MAX_PACKS = 200
_MAX_INDEX_BYTES = 64 * 1024 * 1024
_MAX_DELTAS = 4_096
_MAX_HEADER = 64
_LOOSE_HEADER = re.compile(rb"(commit|tree|blob|tag) (\d{1,10})\x00")
_TYPES = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_OFFSET_DELTA, _REFERENCE_DELTA = 6, 7
_LARGE_OFFSET = 0x80000000


class UnreadableObject(Exception):
    """An object that is missing, damaged, too large, or kept in a way that is not read."""


@dataclass(frozen=True)
class GitObject:
    """An object's kind (``commit``, ``tree``, ``blob``, ``tag``) and content."""

    kind: str
    content: bytes


@dataclass(frozen=True)
class _PackEntry:
    """An entry of a pack: ``base`` is the offset or id that a delta is against."""

    kind: int
    content: bytes
    base: int | bytes = 0


class GitObjects:
    """The objects of the repository whose files are in ``git_folder`` (``.git``)."""

    def __init__(self, folder: BoundedFolder, git_folder: str, id_bytes: int) -> None:
        self._folder = folder
        self._git = git_folder
        self._id_bytes = id_bytes
        self._packs: dict[str, bytes] | None = None

    def read(self, object_id: str) -> GitObject:
        """The object of that id, in hexadecimal.

        Raises:
            UnreadableObject: it is missing, damaged or larger than `MAX_OBJECT_BYTES`.
            LimitReached: the budget is spent.
        """
        try:
            found = self._loose(object_id) or self._packed(bytes.fromhex(object_id))
            self._folder.budget.spend(len(found.content))
            return found
        except (zlib.error, struct.error, IndexError, ValueError, OSError) as error:
            raise UnreadableObject(f"object {object_id} is damaged") from error

    def _loose(self, object_id: str) -> GitObject | None:
        try:
            file = self._folder.open(f"{self._git}/objects/{object_id[:2]}/{object_id[2:]}")
        except OSError:
            return None
        with file:
            content = _inflated(file.chunks(), MAX_OBJECT_BYTES + _MAX_HEADER)
        header = _LOOSE_HEADER.match(content)
        if header is None or int(header[2]) != len(content) - header.end():
            raise UnreadableObject(f"object {object_id} has no valid header")
        return GitObject(header[1].decode(), content[header.end() :])

    def _packed(self, wanted: bytes) -> GitObject:
        for path, index in self._indexes().items():
            offset = _offset_in(index, wanted, self._id_bytes)
            if offset is not None:
                with self._folder.open(path) as pack:
                    return self._resolved(pack, index, offset)
        raise UnreadableObject(f"object {wanted.hex()} is not here")

    def _indexes(self) -> dict[str, bytes]:
        if self._packs is None:
            names = [n for n in self._folder.names(f"{self._git}/objects/pack") if n.endswith(".idx")]
            self._packs = {}
            for name in names[:_MAX_PACKS]:
                path = f"{self._git}/objects/pack/{name}"
                index = self._folder.read(path, _MAX_INDEX_BYTES)
                if index is not None and index.startswith(b"\xfftOc\x00\x00\x00\x02"):
                    self._packs[path.removesuffix(".idx") + ".pack"] = index
        return self._packs

    def _resolved(self, pack: BoundedFile, index: bytes, offset: int) -> GitObject:
        deltas: list[bytes] = []
        seen: set[int] = set()
        entry = self._entry(pack, offset)
        while entry.kind in (_OFFSET_DELTA, _REFERENCE_DELTA):
            seen.add(offset)
            deltas.append(entry.content)
            base = (
                entry.base if isinstance(entry.base, int) else _offset_in(index, entry.base, self._id_bytes)
            )
            if base is None or base in seen or len(deltas) > _MAX_DELTAS:
                raise UnreadableObject("a delta has no base")
            if sum(map(len, deltas)) > 4 * MAX_OBJECT_BYTES:
                raise UnreadableObject("a chain of deltas is too large")
            offset = base
            entry = self._entry(pack, offset)
        content = entry.content
        for delta in reversed(deltas):
            self._folder.budget.spend(len(content))
            content = _applied(content, delta)
        return GitObject(_TYPES[entry.kind], content)

    def _entry(self, pack: BoundedFile, offset: int) -> _PackEntry:
        head = pack.read_at(offset, _MAX_HEADER)
        byte, at = head[0], 1
        kind, size, shift = (byte >> 4) & 7, byte & 15, 4
        while byte & 0x80:
            byte, at = head[at], at + 1
            size |= (byte & 0x7F) << shift
            shift += 7
        base: int | bytes = 0
        if kind == _OFFSET_DELTA:
            distance, at = _distance(head, at)
            base = offset - distance
        elif kind == _REFERENCE_DELTA:
            base, at = head[at : at + self._id_bytes], at + self._id_bytes
        elif kind not in _TYPES:
            raise UnreadableObject("an entry of a pack has no valid type")
        if size > MAX_OBJECT_BYTES:
            raise UnreadableObject("an object is too large")
        content = _inflated(_from(pack, offset + at, size), size)
        if len(content) != size:
            raise UnreadableObject("an entry of a pack is cut off")
        return _PackEntry(kind, content, base)


def _from(pack: BoundedFile, position: int, size: int) -> Iterator[bytes]:
    # What is compressed is hardly larger than what comes of it.
    step = min(max(size, 512), 64 * 1024)
    while piece := pack.read_at(position, step):
        yield piece
        position += len(piece)


def _inflated(pieces: Iterator[bytes], limit: int) -> bytes:
    """The decompressed content.

    Raises:
        UnreadableObject: it is longer than ``limit``.
    """
    inflater = zlib.decompressobj()
    found: list[bytes] = []
    length = 0
    for piece in pieces:
        rest = piece
        while rest and not inflater.eof:
            content = inflater.decompress(rest, limit - length + 1)
            rest = inflater.unconsumed_tail
            length += len(content)
            found.append(content)
            if length > limit:
                raise UnreadableObject("an object is too large")
        if inflater.eof:
            break
    return b"".join(found)


def _distance(head: bytes, at: int) -> tuple[int, int]:
    byte, at = head[at], at + 1
    distance = byte & 0x7F
    while byte & 0x80:
        byte, at = head[at], at + 1
        distance = ((distance + 1) << 7) | (byte & 0x7F)
    if distance == 0:
        raise UnreadableObject("a delta is its own base")
    return distance, at


def _offset_in(index: bytes, wanted: bytes, id_bytes: int) -> int | None:
    """The offset of an object in the pack of this index (version 2), found by bisection."""
    first = wanted[0]
    fan_out = struct.unpack_from(">256I", index, 8)
    low, high, count = fan_out[first - 1] if first else 0, fan_out[first], fan_out[255]
    ids = 8 + 1024
    while low < high:
        middle = (low + high) // 2
        found = index[ids + middle * id_bytes : ids + (middle + 1) * id_bytes]
        if found == wanted:
            offsets = ids + count * (id_bytes + 4)
            (offset,) = struct.unpack_from(">I", index, offsets + middle * 4)
            if offset & _LARGE_OFFSET:
                position = offsets + count * 4 + (offset & ~_LARGE_OFFSET) * 8
                (offset,) = struct.unpack_from(">Q", index, position)
            return int(offset)
        low, high = (middle + 1, high) if found < wanted else (low, middle)
    return None


def _applied(base: bytes, delta: bytes) -> bytes:
    """``base`` changed by a delta of copies and insertions."""
    expected, at = _varint(delta, 0)
    size, at = _varint(delta, at)
    if expected != len(base) or size > MAX_OBJECT_BYTES:
        raise UnreadableObject("a delta does not fit its base")
    pieces: list[bytes] = []
    length = 0
    while at < len(delta):
        operation, at = delta[at], at + 1
        if operation & 0x80:
            offset, count, at = _copy(delta, at, operation)
            pieces.append(base[offset : offset + count])
        elif operation:
            pieces.append(delta[at : at + operation])
            at += operation
        else:
            raise UnreadableObject("a delta has an unknown operation")
        length += len(pieces[-1])
        if length > size:
            raise UnreadableObject("a delta gives too much")
    if length != size:
        raise UnreadableObject("a delta gives too little")
    return b"".join(pieces)


def _copy(delta: bytes, at: int, operation: int) -> tuple[int, int, int]:
    numbers = [0, 0]
    for bit in range(7):
        if operation & (1 << bit):
            which, shift = (0, bit * 8) if bit < 4 else (1, (bit - 4) * 8)
            numbers[which] |= delta[at] << shift
            at += 1
    return numbers[0], numbers[1] or 0x10000, at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte, at = data[at], at + 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at
