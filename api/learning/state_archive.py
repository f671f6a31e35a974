"""Reads the archive in which a recorder sends a starting state: a gzip'd tar, refused as soon as it passes a limit.

The first member is ``state.json``, then comes each kept content once as ``contents/<sha256>``. Everything else that a
tar can hold (links, devices, long names, extensions) is refused. Nothing is written to a disk.
"""

import hashlib
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import ValidationError

from contracts.errors import ErrorCode, Refusal
from contracts.learning.starting_state import CONTENTS_FOLDER, STATE_NAME, InputLimits, StartingState
from domain.learning.starting_state import problem_of

MAX_STATE_BYTES = 8 * 1024 * 1024
"""The largest ``state.json``: 5,000 entries with long paths fit."""

MAX_RATIO = 300
"""How many times its own size an archive may unpack to, beyond its first 16 MiB."""

_RATIO_FREE = 16 * 1024 * 1024
_BLOCK = 512
_READ = 64 * 1024
_REGULAR = (b"0", b"\0")


@dataclass(frozen=True)
class ReceivedArchive:
    """A state whose paths, sizes and digests are right; secrets are not yet looked for."""

    state: StartingState
    contents: dict[str, bytes]


def read_archive(pull: Callable[[], bytes], limits: InputLimits) -> ReceivedArchive:
    """Reads an archive; ``pull`` gives its next bytes, none at the end.

    Raises:
        Refusal: ``PAYLOAD_TOO_LARGE`` with the limit that it passes; ``VALIDATION_FAILED`` with what is wrong.
    """
    unpacked = _Unpacked(pull, limits)
    tar = _Tar(unpacked)
    first = tar.next_member()
    if first is None or first[0] != STATE_NAME:
        raise _wrong(f"the first member is not {STATE_NAME}")
    if first[1] > MAX_STATE_BYTES:
        raise _too_large(f"{STATE_NAME} may have at most {MAX_STATE_BYTES} bytes")
    state = _state_in(tar.content(first[1]))
    if len(state.entries) > limits.max_files:
        raise _too_large(f"a starting state may list at most {limits.max_files} files, folders and links")
    contents = _contents(tar, state, limits)
    unpacked.finish()
    problem = problem_of(state, {digest: len(content) for digest, content in contents.items()})
    if problem is not None:
        raise _wrong(problem)
    return ReceivedArchive(state, contents)


def _contents(tar: "_Tar", state: StartingState, limits: InputLimits) -> dict[str, bytes]:
    kept = {entry.sha256 for entry in state.entries if entry.kept}
    contents: dict[str, bytes] = {}
    total = 0
    while (member := tar.next_member()) is not None:
        name, size = member
        digest = name.removeprefix(CONTENTS_FOLDER)
        if not name.startswith(CONTENTS_FOLDER) or digest not in kept:
            raise _wrong("a member is neither the state nor the content of a kept file")
        if digest in contents:
            raise _wrong("a content is there twice")
        total += size
        if size > limits.max_file_bytes:
            raise _too_large(f"a kept file may have at most {limits.max_file_bytes} bytes")
        if total > limits.max_total_bytes:
            raise _too_large(f"all kept files together may have at most {limits.max_total_bytes} bytes")
        content = tar.content(size)
        if hashlib.sha256(content).hexdigest() != digest:
            raise _wrong("a content does not have the digest that it is named by")
        contents[digest] = content
    return contents


def _state_in(content: bytes) -> StartingState:
    try:
        # The database can keep no NUL and no half of a surrogate pair; the latter the parser refuses.
        if "\0" in json.dumps(json.loads(content), ensure_ascii=False) or b"\\u0000" in content:
            raise _wrong(f"{STATE_NAME} holds the NUL character")
        return StartingState.model_validate_json(content)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))[:80]
        raise _wrong(f"{STATE_NAME} is not a starting state; see {place or 'the whole'}") from None
    except (ValueError, RecursionError):
        raise _wrong(f"{STATE_NAME} is no JSON") from None


class _Tar:
    """The regular files of a tar, one after the other."""

    def __init__(self, unpacked: "_Unpacked") -> None:
        self._unpacked = unpacked

    def next_member(self) -> tuple[str, int] | None:
        """Name and size of the next member, whose content is to be read then; none at the end."""
        header = self._unpacked.take(_BLOCK)
        if not any(header):
            return None
        try:
            name = header[:100].rstrip(b"\0").decode("ascii")
            size = int(header[124:136].strip(b" \0") or b"0", 8)
            checksum = int(header[148:156].strip(b" \0"), 8)
        except ValueError:
            raise _wrong("it is no tar of plain files") from None
        if checksum != sum(header[:148]) + 8 * 32 + sum(header[156:]):
            raise _wrong("it is no tar, or damaged")
        if header[156:157] not in _REGULAR or any(header[345:500]) or size < 0:
            raise _wrong("it holds something else than plain files with short names")
        return name, size

    def content(self, size: int) -> bytes:
        """The content of the member that was met last."""
        content = self._unpacked.take(size)
        self._unpacked.take(-size % _BLOCK)
        return content


class _Unpacked:
    """The bytes that an archive unpacks to, counted on both sides."""

    def __init__(self, pull: Callable[[], bytes], limits: InputLimits) -> None:
        self._pull = pull
        # Headers and padding beside the contents, and what a tar is filled up with at its end.
        self._most = MAX_STATE_BYTES + limits.max_total_bytes + 2 * _BLOCK * (limits.max_files + 22)
        self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._buffer = bytearray()
        self._packed = 0
        self._size = 0

    def take(self, count: int) -> bytes:
        """Exactly ``count`` bytes."""
        while len(self._buffer) < count:
            if not self._more():
                raise _wrong("it ends too early")
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def finish(self) -> None:
        """Reads to the end, where nothing but zeros may be left."""
        while True:
            if any(self._buffer):
                raise _wrong("something comes after its end")
            self._buffer.clear()
            if not self._more():
                break
        if not self._stream.eof:
            raise _wrong("it ends too early")

    def _more(self) -> bool:
        if self._stream.eof:
            if self._stream.unused_data or self._pull():
                raise _wrong("something comes after its end")
            return False
        packed = self._stream.unconsumed_tail or self._pull()
        if not packed:
            return False
        before = len(self._stream.unconsumed_tail)
        try:
            part = self._stream.decompress(packed, _READ)
        except zlib.error:
            raise _wrong("it is not compressed with gzip, or damaged") from None
        self._packed += 0 if before else len(packed)
        self._size += len(part)
        self._buffer += part
        if self._size > self._most:
            raise _too_large(f"it may unpack to at most {self._most} bytes")
        if self._size > _RATIO_FREE + MAX_RATIO * self._packed:
            raise _too_large(f"it unpacks to more than {MAX_RATIO} times its size")
        return True


def _wrong(problem: str) -> Refusal:
    return Refusal(
        ErrorCode.VALIDATION_FAILED,
        f"The archive is refused: {problem}.",
        fields=[{"path": "body", "problem": problem}],
    )


def _too_large(limit: str) -> Refusal:
    return Refusal(ErrorCode.PAYLOAD_TOO_LARGE, f"The archive is refused: {limit}.")
