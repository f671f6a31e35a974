"""Unpacks an archive of skills from a stranger into an empty folder, or refuses it and leaves the folder empty.

Bytes are counted while they are inflated, whatever the headers announce; at most a few hundred KiB are in memory
beside the archive's directory (4 MiB at most). What packers add for themselves is left out: ``__MACOSX``, ``._*``,
``.DS_Store``, the folders of version control. An archive that holds no SKILL.md but archives is unpacked one level
down; deeper ones are refused.
"""

import hashlib
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from contracts.imports.compatibility import FindingSeverity, SkillCompatibilityFinding
from contracts.imports.uploads import MOST_UPLOAD_BYTES
from domain.imports.archive_problems import ArchiveCode, ArchiveRefused
from domain.imports.member_names import MemberName, NameTable, member_name
from skills.imports.target_folder import TargetFolder, target_folder
from skills.imports.zip_structure import STORED, Member, read_structure

_CHUNK, _MOST_INFLATED = 64 * 1024, 256 * 1024
_LEFT_OUT_FOLDERS = frozenset({"__MACOSX", ".git", ".hg", ".svn", "__pycache__"})
_LEFT_OUT_FILES = frozenset({".ds_store", "thumbs.db", "desktop.ini"})
_INNER_ARCHIVES = (".zip", ".skill")
_OTHER_ARCHIVES = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst")
_MOST_NAMED = 5


@dataclass(frozen=True)
class ArchiveLimits:
    """What an archive may take, those inside it counted in. A ratio counts from ``ratio_from_bytes`` on."""

    archive_bytes: int = MOST_UPLOAD_BYTES
    members: int = 4000
    files: int = 2000
    file_bytes: int = 64 * 1024 * 1024
    total_bytes: int = 128 * 1024 * 1024
    ratio: int = 100
    ratio_from_bytes: int = 4 * 1024 * 1024
    depth: int = 16


@dataclass(frozen=True)
class UnpackedFile:
    """One file, by its path below the folder, in NFC."""

    path: str
    size: int
    sha256: str
    executable: bool


@dataclass(frozen=True)
class UnpackedArchive:
    """All files in the order of their paths, and what is worth knowing of how they were packed."""

    files: tuple[UnpackedFile, ...]
    findings: tuple[SkillCompatibilityFinding, ...] = ()


def unpack(archive: Path, into: Path, limits: ArchiveLimits | None = None) -> UnpackedArchive:
    """Unpacks a zip into ``into``, which is made where it does not exist, and has to be empty.

    Raises:
        ArchiveRefused: with a code of its own for each kind of defect; ``into`` is empty then.
        ValueError: ``into`` is not empty.
        OSError: the archive cannot be read, or the disk not written; ``into`` is empty then.
    """
    with target_folder(into) as target:
        unpacking = _Unpacking(target, limits or ArchiveLimits())
        with os.fdopen(os.open(archive, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ArchiveRefused(ArchiveCode.NOT_A_ZIP, "the archive is no regular file")
            if status.st_size > unpacking.limits.archive_bytes:
                raise ArchiveRefused(ArchiveCode.ARCHIVE_TOO_LARGE, "the archive is larger than is allowed")
            unpacking.unpack(file, "", status.st_size)
        unpacking.unpack_inner()
        return unpacking.result()


@dataclass
class _Unpacking:
    target: TargetFolder
    limits: ArchiveLimits
    names: NameTable = field(default_factory=NameTable)
    files: dict[str, UnpackedFile] = field(default_factory=dict[str, UnpackedFile])
    total: int = 0
    members: int = 0
    left_out: list[str] = field(default_factory=list[str])
    guessed: list[str] = field(default_factory=list[str])
    opened: list[str] = field(default_factory=list[str])

    def unpack(self, file: BinaryIO, below: str, archive_bytes: int) -> None:
        """Unpacks one archive into the folder ``below`` of the target."""
        depth = self.limits.depth - below.count("/")
        members = read_structure(file, self.limits.members - self.members, depth)
        self.members += len(members)
        kept = [member for member in members if not self._is_left_out(member.name, below)]
        self._check_announced(kept, archive_bytes)
        placed = [(self._placed(member.name, below), member) for member in kept]
        for name, member in placed:
            self.names.take(name)
            if member.name.guessed:
                self.guessed.append(name.path)
        for name, member in placed:
            if name.folder:
                self.target.make_folder(name.path)
            else:
                self.files[name.path] = self._write(file, name.path, member)
        if not self.files:
            raise ArchiveRefused(ArchiveCode.EMPTY, "the archive holds no file")

    def unpack_inner(self) -> None:
        """Unpacks the archives in an archive that holds no skill itself, each into a folder of its name."""
        inner = [path for path in self.files if path.casefold().endswith(_INNER_ARCHIVES)]
        if any(_is_skill_md(path) for path in self.files):
            return
        for path in inner:
            packed = self.files.pop(path)
            before = set(self.files)
            with os.fdopen(self.target.open_file(path), "rb") as file:
                self.unpack(file, path.rpartition(".")[0], packed.size)
            for deeper in self.files.keys() - before:
                if deeper.casefold().endswith(_INNER_ARCHIVES):
                    raise ArchiveRefused(
                        ArchiveCode.NESTED_TOO_DEEP,
                        "there is an archive in an archive in the archive; pack the skill's folder itself",
                        deeper,
                    )
            self.target.remove_file(path)
            self.opened.append(path)

    def result(self) -> UnpackedArchive:
        files = tuple(sorted(self.files.values(), key=lambda one: one.path))
        return UnpackedArchive(files, tuple(self._findings()))

    def _is_left_out(self, name: MemberName, below: str) -> bool:
        last = name.parts[-1]
        out = (
            bool(_LEFT_OUT_FOLDERS & set(name.parts))
            or last.startswith("._")
            or last.casefold() in _LEFT_OUT_FILES
        )
        if out and not name.folder:
            self.left_out.append(f"{below}/{name.path}" if below else name.path)
        return out

    def _check_announced(self, members: list[Member], archive_bytes: int) -> None:
        """Refuses by the headers what need not be inflated to be refused."""
        files = [member for member in members if not member.name.folder]
        if len(self.files) + len(files) > self.limits.files:
            raise self._too_many()
        for member in files:
            if member.size > self.limits.file_bytes:
                raise self._too_large(member.name.path)
            if self._is_blown_up(member.size, member.compressed):
                raise self._too_dense(member.name.path)
        announced = sum(member.size for member in files)
        if self.total + announced > self.limits.total_bytes:
            raise self._too_much()
        if self._is_blown_up(announced, archive_bytes):
            raise self._too_dense(None)

    def _placed(self, name: MemberName, below: str) -> MemberName:
        if not below:
            return name
        # The rules hold for the whole path, of which the archive's own name is a part.
        whole = f"{below}/{name.path}{'/' if name.folder else ''}"
        return member_name(whole.encode(), utf8=True, unicode_path=None, most_depth=self.limits.depth)

    def _write(self, file: BinaryIO, path: str, member: Member) -> UnpackedFile:
        digest = hashlib.sha256()
        crc, size = 0, 0
        with os.fdopen(self.target.new_file(path, executable=member.executable), "wb", buffering=0) as out:
            for chunk in _inflated(file, member):
                size += len(chunk)
                self.total += len(chunk)
                self._check_counted(path, size, member)
                crc = zlib.crc32(chunk, crc)
                digest.update(chunk)
                _write_all(out.fileno(), chunk)
        if size != member.size:
            raise ArchiveRefused(ArchiveCode.SIZE_MISMATCH, "a file is shorter than its header says", path)
        if crc != member.crc:
            raise ArchiveRefused(ArchiveCode.CRC_MISMATCH, "a file's checksum is wrong; pack it again", path)
        return UnpackedFile(path, size, digest.hexdigest(), member.executable)

    def _check_counted(self, path: str, size: int, member: Member) -> None:
        if size > member.size:
            raise ArchiveRefused(ArchiveCode.SIZE_MISMATCH, "a file is longer than its header says", path)
        if size > self.limits.file_bytes:
            raise self._too_large(path)
        if self.total > self.limits.total_bytes:
            raise self._too_much()

    def _is_blown_up(self, size: int, packed: int) -> bool:
        return size > self.limits.ratio_from_bytes and size > self.limits.ratio * packed

    def _too_many(self) -> ArchiveRefused:
        return ArchiveRefused(
            ArchiveCode.TOO_MANY_FILES, f"the archive has more than {self.limits.files} files"
        )

    def _too_large(self, path: str) -> ArchiveRefused:
        most = f"{self.limits.file_bytes} bytes"
        return ArchiveRefused(ArchiveCode.FILE_TOO_LARGE, f"a file is larger than {most} unpacked", path)

    def _too_much(self) -> ArchiveRefused:
        most = f"{self.limits.total_bytes} bytes"
        return ArchiveRefused(ArchiveCode.TOTAL_TOO_LARGE, f"the archive is larger than {most} unpacked")

    def _too_dense(self, path: str | None) -> ArchiveRefused:
        much = f"more than {self.limits.ratio} times as large unpacked as packed"
        return ArchiveRefused(ArchiveCode.RATIO, f"the archive is {much}, as only bombs are", path)

    def _findings(self) -> Iterator[SkillCompatibilityFinding]:
        if self.left_out:
            yield _finding(
                "ARCHIVE_LEFT_OUT", f"Left out what packers add for themselves: {_named(self.left_out)}."
            )
        if self.guessed:
            yield _finding(
                "ARCHIVE_NAME_GUESSED",
                f"Names without a mark of their encoding were read as they most likely are: {_named(self.guessed)}. "
                "Look whether they are spelled rightly.",
            )
        if self.opened:
            yield _finding("ARCHIVE_NESTED", f"Unpacked archives inside the archive: {_named(self.opened)}.")
        for path in sorted(self.files):
            if path.casefold().endswith((*_INNER_ARCHIVES, *_OTHER_ARCHIVES)):
                yield SkillCompatibilityFinding(
                    code="ARCHIVE_INSIDE",
                    severity=FindingSeverity.WARNING,
                    message="An archive inside the skill is kept as it is, and its content was not looked at. "
                    "Ask who made the skill what it is for, or unpack it into the skill's folder.",
                    path_hint=path[:240],
                )


def _inflated(file: BinaryIO, member: Member) -> Iterator[bytes]:
    """The bytes of a member in pieces, as they come out.

    Raises:
        ArchiveRefused: the compressed data is broken, or is followed by bytes that belong to nothing.
    """
    file.seek(member.data_at)
    hint = member.name.path
    left = member.compressed
    decoder = None if member.method == STORED else zlib.decompressobj(-zlib.MAX_WBITS)
    while left:
        packed = file.read(min(left, _CHUNK))
        if not packed:
            raise ArchiveRefused(ArchiveCode.TRUNCATED, "the archive ends early; upload it again", hint)
        left -= len(packed)
        if decoder is None:
            yield packed
            continue
        while packed and not decoder.eof:
            yield _decompressed(decoder.decompress, packed, hint)
            packed = decoder.unconsumed_tail
        if decoder.eof and (decoder.unused_data or left):
            raise ArchiveRefused(ArchiveCode.HIDDEN_DATA, "there is data after a member's own", hint)
    while decoder is not None and not decoder.eof:
        more = _decompressed(decoder.decompress, b"", hint)
        if not more and not decoder.eof:
            raise ArchiveRefused(ArchiveCode.BROKEN_MEMBER, "a member's data ends early", hint)
        yield more


def _decompressed(decompress: Callable[[bytes, int], bytes], packed: bytes, hint: str) -> bytes:
    try:
        return decompress(packed, _MOST_INFLATED)
    except zlib.error as error:
        raise ArchiveRefused(ArchiveCode.BROKEN_MEMBER, "a member's data is broken", hint) from error


def _write_all(descriptor: int, chunk: bytes) -> None:
    rest = memoryview(chunk)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _is_skill_md(path: str) -> bool:
    return path.rpartition("/")[2].casefold() == "skill.md"


def _named(paths: list[str]) -> str:
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    return ", ".join(path[:100] for path in sorted(paths)[:_MOST_NAMED]) + more


def _finding(code: str, message: str) -> SkillCompatibilityFinding:
    return SkillCompatibilityFinding(code=code, severity=FindingSeverity.INFO, message=message[:1000])
