"""Files that a local program may reach, and the places that none may: keys, tokens, the data directory.

What is allowed is named folder by folder, as Landlock takes it; it has no rule that takes a part of a folder out again.
So a folder that holds a protected place is never allowed as a whole: of the system's folders all other entries are
allowed one by one, and one that a person grants is refused.

Paths are compared by what they lead to (symbolic links, ``..``, ``/proc/self/cwd``) and by device and inode, so that a
bind mount or another spelling on a file system without cases is the same place.
"""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from host import landlock
from host.home_folders import KEYS_OF_A_HOME, TOOLCHAINS_OF_A_HOME
from host.namespaces import CONFIGURATION, DEVICES, SYSTEM_FOLDERS

_NETWORK_CONFIGURATION = (
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/chromium",
    "/etc/chromium.d",
    "/etc/crypto-policies",
    "/etc/gai.conf",
    "/etc/gitconfig",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/localtime",
    "/etc/machine-id",
    "/etc/nsswitch.conf",
    "/etc/opt/chrome",
    "/etc/passwd",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/run/systemd/resolve",
    "/usr/share/zoneinfo",
)
_ALSO_READ = ("/proc", "/sys/devices/system", "/sys/fs/cgroup", "/nix/store", "/snap")
_OPTIONAL_FOLDERS = ("/opt", "/home/linuxbrew/.linuxbrew")
_TOO_BROAD = frozenset(
    {"/", "/dev", "/etc", "/home", "/mnt", "/media", "/proc", "/root", "/run", "/srv", "/sys"}
) | {
    "/tmp",  # noqa: S108 - other programs' files are there
    "/var",
    "/var/tmp",  # noqa: S108
    "/Users",
}

_SCRIPT = re.compile(r".*\.(?:py|pyz|js|mjs|cjs|ts|mts|rb|pl|sh|jar|wasm|lua|php)", re.IGNORECASE)
_PACKAGE_MARKS = ("package.json", "pyproject.toml", "setup.py", "deno.json", "Gemfile")
_PROGRAM_FOLDERS = frozenset({"bin", "sbin", "shims", "Scripts", ".bin"})
_PIECES = re.compile(r"[\s\"'`,;|&<>(){}\[\]]+")
_BEHIND_A_HOST = re.compile(r"[^/]*://[^/]*(?=/)")
_MOST_LINKS = 16
_MOST_ENTRIES = 2_000
_MOST_PATHS = 5_000


@dataclass(frozen=True)
class Objection:
    """What a command names that no program may reach: the field, and why, in words."""

    field: str
    why: str


@dataclass(frozen=True)
class ProgramPlaces:
    """The places that no local program may reach: those of ``own`` (data directory, keys) and the home's keys."""

    own: tuple[Path, ...] = ()
    home: Path = field(default_factory=Path.home)

    @cached_property
    def _identities(self) -> dict[tuple[int, int], str]:
        return {identity: place for place in self.protected if (identity := _identity(place)) is not None}

    @cached_property
    def protected(self) -> tuple[str, ...]:
        """Every protected place, links followed."""
        named = (*map(str, self.own), *(str(self.home / name) for name in KEYS_OF_A_HOME))
        return tuple(dict.fromkeys((*(os.path.realpath(one) for one in named), *named)))

    def around(self, path: str) -> str | None:
        """The protected place that ``path`` is, or is inside of."""
        real = os.path.realpath(path)
        for place in self.protected:
            if _is_below(real, place):
                return place
        folder = real
        while folder != os.path.dirname(folder):  # noqa: PTH120 - as text
            if (found := self._identities.get(_identity(folder) or (0, 0))) is not None:
                return found
            folder = os.path.dirname(folder)  # noqa: PTH120
        return None

    def inside(self, folder: str) -> str | None:
        """A protected place that is inside of ``folder``, also one that is not there yet."""
        real = os.path.realpath(folder)
        return next((place for place in self.protected if _is_below(place, real)), None)

    def objection(
        self,
        arguments: Sequence[str],
        working_folder: str | None,
        readable: Sequence[str] = (),
        writable: Sequence[str] = (),
    ) -> Objection | None:
        """What of a command leads to a protected place, as the files are now; none where nothing does."""
        return ProgramPlaces(self.own, self.home)._objection(arguments, working_folder, readable, writable)

    def _objection(
        self,
        arguments: Sequence[str],
        working_folder: str | None,
        readable: Sequence[str],
        writable: Sequence[str],
    ) -> Objection | None:
        looked_at = 0
        for argument in arguments:
            for path in _paths_in(argument, working_folder, self._own_folder, self.home):
                looked_at += 1
                if looked_at > _MOST_PATHS:
                    return Objection(
                        "command.arguments", "The arguments name too many paths to look at them all."
                    )
                if (place := self.around(path)) is not None:
                    return Objection(
                        "command.arguments",
                        f"An argument leads into {_shown(place, self.home)}, which no local program may reach.",
                    )
        named = (
            *((("command.working_folder", working_folder),) if working_folder is not None else ()),
            *(("command.readable_folders", one) for one in readable),
            *(("command.writable_folders", one) for one in writable),
        )
        for name, folder in named:
            if (why := self._folder_objection(folder)) is not None:
                return Objection(name, why)
        return None

    @property
    def _own_folder(self) -> str:
        """Where a program without a working folder would be, by its depth below the data directory."""
        return str(Path(*self.own[:1], "tool-servers", "one"))

    def _folder_objection(self, folder: str) -> str | None:
        if (place := self.around(folder)) is not None:
            return f"The folder is in {_shown(place, self.home)}, which no local program may reach."
        if os.path.realpath(folder) in _TOO_BROAD:
            return "The folder holds what belongs to others as well; name the folders in it that are meant."
        if (place := self.inside(folder)) is not None:
            return (
                f"The folder holds {_shown(place, self.home)}, which no local program may reach; name the folders in "
                "it that are meant."
            )
        return None

    def rules(
        self,
        program: str,
        arguments: Sequence[str],
        own_folder: str,
        working_folder: str | None,
        readable: Sequence[str] = (),
        writable: Sequence[str] = (),
    ) -> list[landlock.PathRule]:
        """What the program may reach: the system, its own code, a folder of its own, and what a person granted.

        Raises:
            ValueError: a folder that was granted leads to a protected place by now; the text says which.
        """
        fresh = ProgramPlaces(self.own, self.home)
        refused = fresh._objection((), working_folder, readable, writable)
        if refused is not None:
            raise ValueError(refused.why)
        everything = landlock.every_right(landlock.abi_version())
        code = (
            *SYSTEM_FOLDERS,
            *_OPTIONAL_FOLDERS,
            *fresh._toolchains(),
            *fresh._code_of(program, arguments),
        )
        given = [own_folder, *writable, *((working_folder,) if working_folder is not None else ())]
        return [
            *(
                landlock.PathRule(one, landlock.READ_AND_EXECUTE)
                for path in code
                for one in self._without(path)
            ),
            *(
                landlock.PathRule(one, landlock.READ)
                for one in (*CONFIGURATION, *_NETWORK_CONFIGURATION, *_ALSO_READ)
            ),
            *(landlock.PathRule(one, landlock.DEVICE) for one in (*DEVICES, "/dev/tty")),
            *(landlock.PathRule(one, landlock.READ_AND_EXECUTE) for one in readable),
            *(landlock.PathRule(one, everything) for one in given),
        ]

    def _toolchains(self) -> Iterator[str]:
        yield from (str(self.home / name) for name in TOOLCHAINS_OF_A_HOME)

    def _without(self, path: str) -> Iterator[str]:
        """A folder as a whole, or entry by entry what of it is not protected and holds nothing that is."""
        real = os.path.realpath(path)
        if self.around(real) is not None:
            return
        if self.inside(real) is None:
            yield real
            return
        with os.scandir(real) as entries:
            for _, entry in zip(range(_MOST_ENTRIES), entries, strict=False):
                yield from self._without(entry.path)

    def _code_of(self, program: str, arguments: Sequence[str]) -> Iterator[str]:
        """Where the program, its interpreter and the script that it is given have their files."""
        yield from self._installation(program)
        for interpreter in _interpreters(program):
            yield from self._installation(interpreter)
        script = next((one for one in arguments if _SCRIPT.fullmatch(one) and Path(one).is_file()), None)
        if script is not None:
            yield self._package_of(script)
            if os.path.realpath(script) != script:
                yield self._package_of(os.path.realpath(script))

    def _installation(self, program: str) -> Iterator[str]:
        for path in _hops(program):
            yield path
            folder = os.path.dirname(path)  # noqa: PTH120
            prefix = os.path.dirname(folder)  # noqa: PTH120
            if os.path.basename(folder) in _PROGRAM_FOLDERS and self._fits(prefix):  # noqa: PTH119
                yield prefix
            elif "/node_modules/" in path or self._fits(folder):
                yield self._package_of(path)

    def _package_of(self, file: str) -> str:
        """The folder of the package that a file belongs to, else its own folder, else the file alone."""
        path = Path(file).absolute()
        if "node_modules" in path.parts:
            at = path.parts.index("node_modules")
            modules = str(Path(*path.parts[: at + 1]))
            if self._fits(modules):
                return modules
        for folder in path.parents:
            if not self._fits(str(folder)):
                break
            if any((folder / mark).exists() for mark in _PACKAGE_MARKS):
                return str(folder)
        return str(path.parent) if self._fits(str(path.parent)) else str(path)

    def _fits(self, folder: str) -> bool:
        """Whether a folder may be allowed without a person's word."""
        real = os.path.realpath(folder)
        home = os.path.realpath(self.home)
        return (
            real not in _TOO_BROAD
            and not _is_below(home, real)
            and self.around(real) is None
            and self.inside(real) is None
        )


def _paths_in(argument: str, working_folder: str | None, own_folder: str, home: Path) -> Iterator[str]:
    """Every path that an argument may mean: itself, and what stands in it behind ``=``, ``:``, blanks and quotes."""
    whole = dict.fromkeys((argument, unquote(argument)))
    pieces = dict.fromkeys(
        part
        for text in whole
        for piece in _PIECES.split(text)
        for part in (piece, *re.split(r"[=:@]", piece))
    )
    for piece in dict.fromkeys((*whole, *pieces)):
        starts = {0, *(at for mark in "/~$." if (at := piece.find(mark)) > 0)}
        if (host := _BEHIND_A_HOST.match(piece)) is not None:
            starts.add(host.end())
        for part in dict.fromkeys(piece[at:] for at in sorted(starts)):
            is_path = "/" in part or "~" in part or "$" in part or "%" in part or part in (".", "..")
            expanded = _expanded(part, home)
            if not expanded or "\0" in expanded or not (is_path or piece in whole or "=" in argument):
                continue
            yield from _resolved(re.sub("^/+", "/", expanded), working_folder, own_folder, is_path=is_path)


def _resolved(path: str, working_folder: str | None, own_folder: str, *, is_path: bool) -> Iterator[str]:
    """A path from where the program would read it, and from where the service runs."""
    if path.startswith("/"):
        yield path
        return
    if working_folder is not None:
        yield os.path.join(working_folder, path)  # noqa: PTH118
    elif not _is_below(os.path.normpath(os.path.join(own_folder, path)), own_folder):  # noqa: PTH118
        yield os.path.join(own_folder, path)  # noqa: PTH118
    if is_path:
        yield os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH118


def _expanded(text: str, home: Path) -> str:
    """``~``, ``~user`` and variables of the home folder as the shell would read them."""
    for name in ("${HOME}", "$HOME", "%USERPROFILE%"):
        text = text.replace(name, str(home))
    if text == "~" or text.startswith("~/"):
        return str(home) + text[1:]
    return os.path.expanduser(text) if text.startswith("~") else text  # noqa: PTH111


def _is_below(path: str, folder: str) -> bool:
    """Whether ``path`` is ``folder`` or in it; without cases, as some file systems have none."""
    one, other = path.casefold().rstrip("/"), folder.casefold().rstrip("/")
    return one == other or one.startswith(other + "/")


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - as text
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _hops(program: str) -> Iterator[str]:
    """A program's path, and that of each link on the way to its file."""
    path = os.path.abspath(program)  # noqa: PTH100 - links are followed one by one
    for _ in range(_MOST_LINKS):
        yield path
        if not os.path.islink(path):  # noqa: PTH114
            break
        path = os.path.join(os.path.dirname(path), os.readlink(path))  # noqa: PTH115, PTH118, PTH120
        path = os.path.normpath(path)
    real = os.path.realpath(program)
    if real != path:
        yield real


def _interpreters(program: str) -> Iterator[str]:
    """What a script's first line starts: ``#!/usr/bin/python3``, ``#!/usr/bin/env node``."""
    try:
        with open(program, "rb") as file:  # noqa: PTH123
            first = file.readline(1_024)
    except OSError:
        return
    if not first.startswith(b"#!"):
        return
    words = first[2:].decode(errors="replace").split()
    for word in words[:3]:
        if word.startswith("/"):
            yield word
        elif (found := shutil.which(word)) is not None:
            yield found


def _shown(place: str, home: Path) -> str:
    """A place as a person names it; our own by what it is."""
    below = os.path.relpath(place, os.path.realpath(home))
    return "the data directory or the keys of this installation" if below.startswith("..") else f"~/{below}"
