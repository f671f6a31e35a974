"""Linux namespaces for a rehearsed command: an isolated file tree that holds little but the jail.

Everything here runs in the launcher's own process, before the command exists.
"""

import ctypes
import os
import struct
from dataclasses import dataclass
from pathlib import Path

_NEWNS, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = (
    0x00020000,
    0x04000000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
_MNT_DETACH = 2
_MOUNT_SETATTR = 442
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_PR_SET_DUMPABLE = 4

SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""What a command may read and execute."""

CONFIGURATION = (
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/os-release",
    "/etc/perl",
    "/etc/timezone",
)
"""What a command may read of the host's configuration."""

LOADERS = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-x86_64.so.1")
"""What the kernel starts in order to start a program."""

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/random")

TEMPORARY_FOLDER = "/tmp"  # noqa: S108 - the command's own, made anew for each
"""An empty folder in memory for what ignores ``TMPDIR``, as ``tmpfile()`` of the C library does, and so ed."""

_TEMPORARY_BYTES = 64 * 1024 * 1024
_TEMPORARY_FILES = 10_000

# The new tree grows on top of /proc: the one folder that is certainly there, and hidden only from ourselves.
_NEW_ROOT = "/proc"

_libc = ctypes.CDLL(None, use_errno=True)


def enter(*, privileged: bool) -> None:
    """Moves this process into new namespaces; its children get a new process tree as well.

    ``privileged`` uses the caller's own right to do so; without it a user namespace is made first, in which
    the caller keeps its user id. The working folder stays.

    Raises:
        OSError: the host does not allow it.
    """
    user, group = os.geteuid(), os.getegid()
    kinds = _NEWNS | _NEWUTS | _NEWIPC | _NEWPID | _NEWNET
    if not privileged:
        # Who has changed its user id may not write to its own /proc files until it is dumpable again.
        _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
        kinds |= _NEWUSER
    _checked(_libc.unshare(kinds), "unshare")
    if not privileged:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)


@dataclass(frozen=True)
class Tree:
    """What a command sees beside the system's programs: its jail, and files and folders that it may only read.

    With ``jail_bytes`` the jail is an empty folder in memory that can hold so much; with 0 it is the folder itself.
    """

    jail: str
    jail_bytes: int = 0
    readable: tuple[str, ...] = ()


def build_tree(tree: Tree, user: int, group: int) -> None:
    """Replaces the file tree by the system's programs, read-only, and ``tree`` at its usual paths.

    Expects the jail as the working folder, and to be process 1 of its process tree.

    Raises:
        OSError: the host does not allow it.
    """
    jail = tree.jail
    _mount("tmpfs", _NEW_ROOT, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=0755,size=1m")
    for folder in SYSTEM_FOLDERS:
        _show_folder(folder)
    for folder in ("/etc", "/dev", "/proc"):
        Path(_NEW_ROOT + folder).mkdir()
    for path in CONFIGURATION:
        _show_read_only(path)
    for device in DEVICES:
        _bind(device, _MS_NOSUID)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        Path(f"{_NEW_ROOT}/dev/{name}").symlink_to(f"/proc/self/fd/{number}")
    Path(f"{_NEW_ROOT}/dev/fd").symlink_to("/proc/self/fd")
    _write(f"{_NEW_ROOT}/etc/passwd", f"apprentice:x:{user}:{group}::{jail}:/bin/sh\n")
    _write(f"{_NEW_ROOT}/etc/group", f"apprentice:x:{group}:\n")
    _make_temporary_folder()
    above = _cover_temporary_folder(jail)
    Path(_NEW_ROOT + jail).mkdir(parents=True, exist_ok=True)
    if tree.jail_bytes:
        bounds = f"mode=0700,uid={user},gid={group},size={tree.jail_bytes},nr_inodes={_TEMPORARY_FILES}"
        _mount("tmpfs", _NEW_ROOT + jail, "tmpfs", _MS_NOSUID | _MS_NODEV, bounds)
    else:
        _mount(".", _NEW_ROOT + jail, None, _MS_BIND | _MS_REC)
        _set_attributes(_NEW_ROOT + jail, _MS_NOSUID | _MS_NODEV, recursive=True)
    for path in tree.readable:
        if not Path(_NEW_ROOT + path).exists():
            Path(_NEW_ROOT + path).parent.mkdir(parents=True, exist_ok=True)
            _show_read_only(path)
    _show_processes()
    for place in (_NEW_ROOT, *above):
        _set_attributes(place, _MS_RDONLY | _MS_NOSUID | _MS_NODEV, recursive=False)
    os.chdir(_NEW_ROOT)
    # With both names the same, the old tree lies on top of the new one until it is let go.
    _checked(_libc.syscall(_PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    _checked(_libc.umount2(b".", _MNT_DETACH), "umount")
    os.chdir("/")


def _make_temporary_folder() -> None:
    place = Path(_NEW_ROOT + TEMPORARY_FOLDER)
    place.mkdir()
    bounds = f"mode=1777,size={_TEMPORARY_BYTES},nr_inodes={_TEMPORARY_FILES}"
    _mount("tmpfs", str(place), "tmpfs", _MS_NOSUID | _MS_NODEV, bounds)


def _cover_temporary_folder(jail: str) -> list[str]:
    """Where the folders between the temporary folder and a jail below it begin, if there are any.

    A command may only pass through them: they are a file system of their own, to be made read-only when the jail is
    in its place, and cannot be listed.
    """
    first, *others = Path(jail).relative_to(TEMPORARY_FOLDER).parts if _is_temporary(jail) else ("",)
    if not others:
        return []
    above = place = Path(_NEW_ROOT + TEMPORARY_FOLDER, first)
    place.mkdir()
    _mount("tmpfs", str(place), "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=0111,size=1m")
    for name in others[:-1]:
        place /= name
        place.mkdir(mode=0o111)
    return [str(above)]


def _is_temporary(jail: str) -> bool:
    return Path(jail).is_relative_to(TEMPORARY_FOLDER)


def _show_folder(folder: str) -> None:
    host = Path(folder)
    if host.is_symlink():
        Path(_NEW_ROOT + folder).symlink_to(host.readlink())
    elif host.is_dir():
        _show_read_only(folder)


def _show_read_only(path: str) -> None:
    if not Path(path).exists():
        return
    _bind(path, 0)
    _set_attributes(_NEW_ROOT + path, _MS_RDONLY | _MS_NOSUID | _MS_NODEV, recursive=True)


def _bind(path: str, attributes: int) -> None:
    if not Path(path).exists():
        return
    place = Path(_NEW_ROOT + path)
    if Path(path).is_dir():
        place.mkdir()
    else:
        place.touch()
    _mount(path, str(place), None, _MS_BIND | _MS_REC)
    if attributes:
        _set_attributes(str(place), attributes, recursive=True)


def _show_processes() -> None:
    """The command's own /proc. A container that masks parts of /proc forbids it; few programs miss it."""
    try:
        _mount("proc", f"{_NEW_ROOT}/proc", "proc", _MS_RDONLY | _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    except OSError:
        return


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    result = _libc.mount(
        source.encode() if source else None,
        os.fsencode(target),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode() if data else None,
    )
    _checked(result, f"mount {target}")


def _set_attributes(path: str, attributes: int, *, recursive: bool) -> None:
    request = struct.pack("=QQQQ", attributes, 0, 0, 0)
    result = _libc.syscall(
        _MOUNT_SETATTR,
        _AT_FDCWD,
        os.fsencode(path),
        _AT_RECURSIVE if recursive else 0,
        request,
        ctypes.c_size_t(len(request)),
    )
    _checked(result, f"mount_setattr {path}")


def _write(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8")


def _checked(result: int, action: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{action}: {os.strerror(code)}")
