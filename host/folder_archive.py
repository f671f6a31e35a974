"""Packs a folder into a gzip'd tar archive and unpacks one safely: bounded, no way out of the folder.

Files, folders and symbolic links are kept with permissions and times; links as they are. Nothing is followed.
"""

import gzip
import io
import os
import stat
import tarfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

_MODE = 0o777
"""The permission bits that are kept: no rights of another user (setuid) come out of an archive."""

_CHUNK = 1024 * 1024


class FolderTooLarge(Exception):
    """A folder or archive has more than the limits allow; the text says of what."""


class UnsafeArchive(Exception):
    """An archive that is damaged, or holds what does not belong into a folder; the text says what."""


@dataclass(frozen=True)
class ArchiveLimits:
    """The most that a folder may hold."""

    files: int
    """Files, folders and links."""
    total_bytes: int
    """Contents of all files together."""


@dataclass(frozen=True)
class Unpacked:
    """What came of unpacking."""

    entries: int
    links_left_out: tuple[str, ...] = field(default=())
    """Links that lead out of the folder."""


def pack_folder(folder: Path, limits: ArchiveLimits) -> bytes:
    """The folder as an archive; the same folder gives the same bytes.

    Raises:
        FolderTooLarge: it holds more than ``limits``.
        UnsafeArchive: something in it is no file, folder or link.
        OSError: a file cannot be read.
    """
    return _packed(((path, path.relative_to(folder).as_posix()) for path in _walk(folder)), limits)


def pack_folders(folders: Mapping[str, Path], limits: ArchiveLimits) -> bytes:
    """Several folders as one archive, each under its path in it; '.' is the archive's own folder.

    Raises:
        FolderTooLarge: it holds more than ``limits``.
        UnsafeArchive: something in it is no file, folder or link.
        OSError: a file cannot be read.
    """
    return _packed(
        (
            (path, _below(name, path.relative_to(folder).as_posix()))
            for name, folder in folders.items()
            for path in (*((folder,) if name != "." else ()), *_walk(folder))
        ),
        limits,
    )


def _packed(paths: Iterable[tuple[Path, str]], limits: ArchiveLimits) -> bytes:
    packed = io.BytesIO()
    total = 0
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, compresslevel=6) as compressed,
        tarfile.open(fileobj=compressed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        for count, (path, name) in enumerate(paths, start=1):
            if count > limits.files:
                raise FolderTooLarge(f"it has more than {limits.files} files, folders and links")
            member = _member(path, name)
            if not member.isreg():
                archive.addfile(member)
                continue
            with _open(path) as content:
                member.size = os.fstat(content.fileno()).st_size
                total += member.size
                if total > limits.total_bytes:
                    raise FolderTooLarge(f"its files hold more than {limits.total_bytes // 1024**2} MiB")
                archive.addfile(member, content)
    return packed.getvalue()


def unpack_folder(
    content: bytes,
    folder: Path,
    limits: ArchiveLimits,
    *,
    links_out: bool | Collection[tuple[str, str]] = False,
) -> Unpacked:
    """Unpacks an archive into an empty folder.

    Links that lead out of the folder are left out but for those in ``links_out`` (path and target; ``True``: all,
    where the folder is confined anyway). Links are made last, so that nothing is written through one.

    Raises:
        FolderTooLarge: it holds more than ``limits``.
        UnsafeArchive: it is damaged, or a member has an unsafe name or kind. The folder may be filled in part.
    """
    folders: list[tuple[Path, int, float]] = []
    links: dict[str, str] = {}
    seen: set[str] = set()
    try:
        for member, data in _members(content, limits):
            name = _safe_name(member.name)
            if name in seen:
                raise UnsafeArchive(f"{name} is in it twice")
            seen.add(name)
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if member.issym():
                links[name] = member.linkname
            elif member.isdir():
                path.mkdir(exist_ok=True)
                folders.append((path, member.mode & _MODE, member.mtime))
            else:
                _write(path, data, member)
        left_out = tuple(n for n, target in links.items() if not _may_link(n, target, links_out))
        for name, target in links.items():
            if name not in left_out:
                (folder / name).symlink_to(target)
    except (FileExistsError, NotADirectoryError) as error:
        raise UnsafeArchive("a file and a folder in it have the same name") from error
    for path, mode, modified in reversed(folders):
        os.utime(path, (modified, modified))
        path.chmod(mode)
    return Unpacked(len(seen), left_out)


def count_entries(content: bytes, limits: ArchiveLimits) -> int:
    """How many files, folders and links an archive holds; it is read whole, and nothing is unpacked.

    Raises:
        FolderTooLarge: it holds more than ``limits``.
        UnsafeArchive: as ``unpack_folder``.
    """
    names: set[str] = set()
    for member, data in _members(content, limits):
        name = _safe_name(member.name)
        if name in names:
            raise UnsafeArchive(f"{name} is in it twice")
        names.add(name)
        while data is not None and data.read(_CHUNK):
            pass
    return len(names)


def links_of(folders: Mapping[str, Path]) -> frozenset[tuple[str, str]]:
    """The symbolic links in folders as ``pack_folders`` takes them: path and target."""
    return frozenset(
        (_below(name, path.relative_to(folder).as_posix()), str(path.readlink()))
        for name, folder in folders.items()
        for path in _walk(folder)
        if path.is_symlink()
    )


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder, onerror=_raise):
        folders.sort()
        yield from sorted(Path(place, name) for name in (*folders, *files))


def _raise(error: OSError) -> None:
    raise error


def _below(name: str, path: str) -> str:
    return PurePosixPath(name, path).as_posix()


def _member(path: Path, name: str) -> tarfile.TarInfo:
    found = path.lstat()
    member = tarfile.TarInfo(name)
    member.mode = stat.S_IMODE(found.st_mode) & _MODE
    member.mtime = found.st_mtime
    if stat.S_ISLNK(found.st_mode):
        member.type, member.linkname, member.mode = tarfile.SYMTYPE, str(path.readlink()), _MODE
    elif stat.S_ISDIR(found.st_mode):
        member.type = tarfile.DIRTYPE
    elif not stat.S_ISREG(found.st_mode):
        raise UnsafeArchive(f"{name} is no file, folder or link")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise UnsafeArchive(f"{name!r} is no name in UTF-8") from None
    return member


def _open(path: Path) -> io.BufferedReader:
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb")


def _members(content: bytes, limits: ArchiveLimits) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
    """The members in their order, bounded as they are read: a small archive may hold much."""
    # Headers, padding and the end of the archive, beside the contents.
    most = limits.total_bytes + limits.files * 4096 + 64 * 1024
    count = total = 0
    try:
        with (
            gzip.GzipFile(fileobj=io.BytesIO(content)) as compressed,
            tarfile.open(fileobj=_Bounded(compressed, most), mode="r|") as archive,
        ):
            for member in archive:
                count += 1
                total += member.size
                if count > limits.files:
                    raise FolderTooLarge(f"it has more than {limits.files} files, folders and links")
                if total > limits.total_bytes:
                    raise FolderTooLarge(f"its files hold more than {limits.total_bytes // 1024**2} MiB")
                if not (member.isreg() or member.isdir() or member.issym()) or member.issparse():
                    raise UnsafeArchive(f"{member.name[:200]} is no file, folder or link")
                data = archive.extractfile(member) if member.isreg() else None
                yield member, data
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error, ValueError, OverflowError) as error:
        raise UnsafeArchive("it is damaged, or no gzip'd tar archive") from error


class _Bounded(io.RawIOBase):
    """Reads at most so many bytes."""

    def __init__(self, source: gzip.GzipFile, most: int) -> None:
        self._source = source
        self._left = most

    def read(self, size: int = -1) -> bytes:
        """The next bytes.

        Raises:
            FolderTooLarge: there were more.
        """
        found = self._source.read(size)
        self._left -= len(found)
        if self._left < 0:
            raise FolderTooLarge("its files hold too much")
        return found


def _safe_name(name: str) -> str:
    parts = PurePosixPath(name).parts
    if not name or name.startswith("/") or "\0" in name or ".." in parts or not parts:
        raise UnsafeArchive(f"{name[:200]!r} is no name inside the folder")
    return "/".join(parts)


def _write(path: Path, data: IO[bytes] | None, member: tarfile.TarInfo) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        while data is not None and (chunk := data.read(_CHUNK)):
            file.write(chunk)
        os.fchmod(file.fileno(), member.mode & _MODE)
    os.utime(path, (member.mtime, member.mtime), follow_symlinks=False)


def _may_link(name: str, target: str, links_out: bool | Collection[tuple[str, str]]) -> bool:
    if not target or "\0" in target:
        return False
    if not _leads_out(name, target) or links_out is True:
        return True
    return links_out is not False and (name, target) in links_out


def _leads_out(name: str, target: str) -> bool:
    """Whether a link's target may lie outside, judged by its text."""
    if target.startswith("/"):
        return True
    parts = PurePosixPath(target).parts
    up = next((n for n, part in enumerate(parts) if part != ".."), len(parts))
    # Further ".." would be taken from where a link before them leads.
    return up > len(PurePosixPath(name).parts) - 1 or ".." in parts[up:]
