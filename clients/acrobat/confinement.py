"""A reading process gives up what it does not need: files but its own libraries, the network, time and memory.

Everything here happens before the document is read and before a library that reads it is loaded, so that no
thread of such a library is outside.
"""

import ctypes
import os
import resource
import sys
import sysconfig
from typing import TypedDict

from skills import landlock, seccomp

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_SIGKILL = 9
_OPEN_FILES = 128

_SYSTEM = (
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/lib",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system/cpu",
)
_OWN_PACKAGES = ("clients", "contracts", "domain", "skills")
_DEVICES = ("/dev/null", "/dev/urandom")


class Confinement(TypedDict):
    """What holds a reading process: Landlock's version (0: none) and whether calls are filtered."""

    landlock: int
    seccomp: bool


def confine(package_root: str, cpu_seconds: int, memory_bytes: int) -> Confinement:
    """Limits this process, and where the host can, takes files and network from it, for good.

    Raises:
        OSError: the host has a layer, but refused it.
    """
    _limit(cpu_seconds, memory_bytes)
    if not sys.platform.startswith("linux"):
        return Confinement(landlock=0, seccomp=False)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs was refused")
    abi = landlock.abi_version()
    if abi:
        landlock.restrict(_readable(package_root), abi)
    program = seccomp.filter_program(
        os.uname().machine,
        shares_host=True,
        forbid_signals=abi < landlock.FIRST_ABI_THAT_GUARDS_SIGNALS,
    )
    if program is not None:
        seccomp.install(program)
    return Confinement(landlock=abi, seccomp=program is not None)


def _limit(cpu_seconds: int, memory_bytes: int) -> None:
    for kind, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1),
        (resource.RLIMIT_AS, memory_bytes, memory_bytes),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES, _OPEN_FILES),
    ):
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        try:
            resource.setrlimit(kind, (soft, hard))
        except (ValueError, OSError):
            # macOS knows no limit of the address space.
            if sys.platform.startswith("linux"):
                raise


def _readable(package_root: str) -> list[landlock.PathRule]:
    paths = sysconfig.get_paths()
    libraries = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    libraries |= {f"{sys.base_prefix}/lib", *_SYSTEM, *(f"{package_root}/{name}" for name in _OWN_PACKAGES)}
    return [
        *(landlock.PathRule(path, landlock.READ) for path in sorted(libraries)),
        *(landlock.PathRule(path, landlock.DEVICE) for path in _DEVICES),
    ]
