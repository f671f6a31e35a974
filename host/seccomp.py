"""Seccomp filters that remove the system calls that a rehearsed command, or a local program, does not need.

A filter cannot see which *path* a call names, so files are guarded elsewhere. The filter closes the network (no
socket can be made), the kernel's administrative calls and the ways around both.
"""

import ctypes
import errno
import os
import struct
from typing import NamedTuple

_X86_64, _AARCH64 = 0xC000003E, 0xC00000B7
_ARCHITECTURES = {"x86_64": (_X86_64, 0), "aarch64": (_AARCH64, 1)}
_X32_BIT = 0x40000000
_NAMESPACE_FLAGS = 0x7E020000

_FORBIDDEN: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "quotactl": (179, 60),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "acct": (163, 89),
    "syslog": (103, 116),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
    "iopl": (172, None),
    "ioperm": (173, None),
}

# Landlock does not guard a file's mode, owner, times and attributes, and IPC objects have no path at all:
# where the command shares the host's namespaces, these calls would reach the user's other files.
_FORBIDDEN_ON_SHARED_HOST: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "ioprio_set": (251, 30),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
}

_SIGNALLING: dict[str, tuple[int | None, int | None]] = {
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
}

_EXECUTING: dict[str, tuple[int | None, int | None]] = {"execve": (59, 221), "execveat": (322, 281)}


class _OnlyZero(NamedTuple):
    """A call that is allowed only while one of its arguments is zero (itself, or no path)."""

    numbers: tuple[int, int]
    argument: int


_ONLY_ZERO_ON_SHARED_HOST = (
    _OnlyZero((280, 88), 1),  # utimensat: the times of an open file, never of a path
    _OnlyZero((302, 261), 0),  # prlimit64
    _OnlyZero((141, 140), 1),  # setpriority
    _OnlyZero((203, 122), 0),  # sched_setaffinity
    _OnlyZero((144, 119), 0),  # sched_setscheduler
    _OnlyZero((142, 118), 0),  # sched_setparam
    _OnlyZero((314, 274), 0),  # sched_setattr
)
_CLONE, _CLONE3 = (56, 220), (435, 435)
_FALLOCATE = (285, 47)

_LOAD, _JUMP_EQUAL, _JUMP_SET, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _KILL_PROCESS, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16

_AF_UNIX = 1

_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def filter_program(
    machine: str, *, shares_host: bool, forbid_signals: bool, forbid_programs: bool = False
) -> bytes | None:
    """The filter for a machine (``os.uname().machine``), or None where this module knows no call numbers.

    ``shares_host`` says that the command has no namespaces of its own, ``forbid_signals`` that nothing else
    keeps its signals from the user's other processes, ``forbid_programs`` that nothing may be executed. A refused
    call fails with EPERM (EACCES for a socket, EOPNOTSUPP for fallocate); a call in the dialect of another machine
    ends the process by SIGSYS.
    """
    if machine not in _ARCHITECTURES:
        return None
    column = _ARCHITECTURES[machine][1]
    refused = dict(_FORBIDDEN)
    if shares_host:
        refused |= _FORBIDDEN_ON_SHARED_HOST
    if forbid_signals:
        refused |= _SIGNALLING
    if forbid_programs:
        refused |= _EXECUTING
    program = _beginning(machine)
    for name, numbers in refused.items():
        number = numbers[column]
        if number is not None:
            program += _refuse(number, errno.EACCES if name == "socket" else errno.EPERM)
    # One call takes any amount of disk at once, faster than it could be measured; without it programs write.
    program += _refuse(_FALLOCATE[column], errno.EOPNOTSUPP)
    program += _no_namespaces(column)
    if shares_host:
        for rule in _ONLY_ZERO_ON_SHARED_HOST:
            program += _refuse_unless_zero(rule.numbers[column], rule.argument)
    program.append(_instruction(_RETURN, _ALLOW))
    return b"".join(program)


def program_filter(machine: str) -> bytes | None:
    """The filter for a program of other people's that needs the network and files of its own.

    Internet sockets and changes of modes and times are allowed; Unix sockets fail with EACCES, the kernel's
    administrative calls with EPERM. None where this module knows no call numbers.
    """
    if machine not in _ARCHITECTURES:
        return None
    column = _ARCHITECTURES[machine][1]
    program = _beginning(machine)
    for name, numbers in _FORBIDDEN.items():
        number = numbers[column]
        if number is not None:
            program += _refuse_family(number, _AF_UNIX) if name == "socket" else _refuse(number, errno.EPERM)
    program += _no_namespaces(column)
    program.append(_instruction(_RETURN, _ALLOW))
    return b"".join(program)


def _beginning(machine: str) -> list[bytes]:
    """Ends a process that speaks another machine's dialect, and loads the number of the call."""
    program = [
        _instruction(_LOAD, _ARCHITECTURE_OFFSET),
        _instruction(_JUMP_EQUAL, _ARCHITECTURES[machine][0], 1, 0),
        _instruction(_RETURN, _KILL_PROCESS),
        _instruction(_LOAD, _NUMBER_OFFSET),
    ]
    if machine == "x86_64":
        program += [_instruction(_JUMP_AT_LEAST, _X32_BIT, 0, 1), _instruction(_RETURN, _KILL_PROCESS)]
    return program


def _no_namespaces(column: int) -> list[bytes]:
    # ENOSYS makes the C library fall back on clone, whose flags a filter can read.
    return [*_refuse(_CLONE3[column], errno.ENOSYS), *_refuse_flags(_CLONE[column], _NAMESPACE_FLAGS)]


def install(program: bytes) -> None:
    """Puts the filter on the calling thread and all it will start, for good. Needs ``no_new_privs``.

    Raises:
        OSError: the kernel refused the filter.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    holder = _FilterProgram(len(program) // 8, program)
    if libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(holder), 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"seccomp: {os.strerror(code)}")


def _instruction(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)


def _refuse(number: int, error: int) -> list[bytes]:
    return [_instruction(_JUMP_EQUAL, number, 0, 1), _instruction(_RETURN, _ERROR | error)]


def _refuse_family(number: int, family: int) -> list[bytes]:
    """Refuses sockets of one family."""
    return [
        _instruction(_JUMP_EQUAL, number, 0, 4),
        _instruction(_LOAD, _ARGUMENTS_OFFSET),
        _instruction(_JUMP_EQUAL, family, 0, 1),
        _instruction(_RETURN, _ERROR | errno.EACCES),
        _instruction(_LOAD, _NUMBER_OFFSET),
    ]


def _refuse_flags(number: int, flags: int) -> list[bytes]:
    return [
        _instruction(_JUMP_EQUAL, number, 0, 4),
        _instruction(_LOAD, _ARGUMENTS_OFFSET),
        _instruction(_JUMP_SET, flags, 0, 1),
        _instruction(_RETURN, _ERROR | errno.EPERM),
        _instruction(_LOAD, _NUMBER_OFFSET),
    ]


def _refuse_unless_zero(number: int, argument: int) -> list[bytes]:
    low_word = _ARGUMENTS_OFFSET + 8 * argument
    return [
        _instruction(_JUMP_EQUAL, number, 0, 6),
        _instruction(_LOAD, low_word),
        _instruction(_JUMP_EQUAL, 0, 0, 2),
        _instruction(_LOAD, low_word + 4),
        _instruction(_JUMP_EQUAL, 0, 1, 0),
        _instruction(_RETURN, _ERROR | errno.EPERM),
        _instruction(_LOAD, _NUMBER_OFFSET),
    ]
