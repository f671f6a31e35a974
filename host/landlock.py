"""Landlock: restricts a process to the files it names (Linux 5.13 and newer, by ctypes)."""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from typing import NamedTuple

EXECUTE = 1 << 0
WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_DIR = 1 << 3
TRUNCATE = 1 << 14

READ = READ_FILE | READ_DIR
READ_AND_EXECUTE = READ | EXECUTE
DEVICE = READ_FILE | WRITE_FILE | TRUNCATE

FIRST_ABI_THAT_GUARDS_TRUNCATION = 3
FIRST_ABI_THAT_GUARDS_SIGNALS = 6

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1
_CREATE_RULESET_VERSION = 1
_TCP_BIND_AND_CONNECT = 0b11
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
_ON_FILES_ONLY = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | 1 << 15
_RIGHTS_OF_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_RIGHTS_SINCE_ABI_5 = (1 << 16) - 1

_libc = ctypes.CDLL(None, use_errno=True)


class PathRule(NamedTuple):
    """What stays allowed at one file, or beneath one folder."""

    path: str
    rights: int


def abi_version() -> int:
    """The kernel's Landlock version, 0 where there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _CREATE_RULESET_VERSION)))


def every_right(abi: int) -> int:
    """All the rights over files that version ``abi`` knows."""
    return _RIGHTS_OF_ABI.get(abi, _RIGHTS_SINCE_ABI_5)


def restrict(rules: Iterable[PathRule], abi: int, *, closes_network: bool = True) -> None:
    """Confines the calling thread and all it will start to ``rules``, for good; absent paths are left out.

    Needs ``no_new_privs``. From ABI 4 TCP is closed as well if ``closes_network``, from ABI 6 signals to the outside.

    Raises:
        OSError: the kernel refused; the process is then not confined and must not go on.
    """
    handled = every_right(abi)
    attributes = struct.pack(
        "=QQQ",
        handled,
        _TCP_BIND_AND_CONNECT if abi >= 4 and closes_network else 0,
        _SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS if abi >= FIRST_ABI_THAT_GUARDS_SIGNALS else 0,
    )
    size = 24 if abi >= FIRST_ABI_THAT_GUARDS_SIGNALS else 16 if abi >= 4 else 8
    ruleset = _checked(_libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0))
    try:
        for rule in rules:
            _allow(ruleset, rule, handled)
        _checked(_libc.syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, rule: PathRule, handled: int) -> None:
    try:
        place = os.open(rule.path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError, NotADirectoryError):
        return
    try:
        is_folder = os.path.isdir(rule.path)  # noqa: PTH112 - the child imports as little as it can
        rights = rule.rights & handled & (-1 if is_folder else _ON_FILES_ONLY)
        attributes = struct.pack("=Qi", rights, place)
        _checked(_libc.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, attributes, 0))
    finally:
        os.close(place)


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock: {os.strerror(code)}")
    return result
