"""Sandboxed process that reads one document: confines itself, reads the order and the bytes, writes the result.

It is started as a program by ``clients.documents.reader``. The order is one JSON line on standard input, followed
by the document; the result is lines on standard output, as ``reading_order`` defines. Before the document is read
and before a library that reads it is loaded, the process gives up files but its own libraries, the network, time
and memory: no thread of such a library is outside the confinement.
"""

import contextlib
import ctypes
import json
import logging
import os
import resource
import sys
import sysconfig
import warnings
from typing import Any, NoReturn, TypedDict

from clients.documents.reading_order import (
    CONFINED,
    FAILED,
    FOUND,
    PAGE,
    ReadingFailure,
    ReadingOrder,
    ReadingProblem,
)
from host import landlock, seccomp

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


EXTRACTION_FAILED = "ACROBAT_EXTRACTION_FAILED"
OCR_UNSUPPORTED = "ACROBAT_OCR_UNSUPPORTED"
UNAVAILABLE = "ACROBAT_UNAVAILABLE"


class _Teller:
    """Writes the lines of the answer, and knows the page that is being read."""

    def __init__(self) -> None:
        # What libraries print must not get between the lines of the answer.
        self._output = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        self.page: int | None = None

    def tell(self, kind: str, what: object) -> None:
        self._output.write(f"{kind} {json.dumps(what)}\n".encode())
        self._output.flush()

    def came_to(self, page: int) -> None:
        self.page = page
        self.tell(PAGE, page)


def main(package_root: str) -> NoReturn:
    """Reads the one document that standard input holds."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    teller = _Teller()
    try:
        order: ReadingOrder = json.loads(sys.stdin.buffer.readline())
        held = confine(package_root, order["cpu_seconds"], order["memory_bytes"])
        teller.tell(CONFINED, held)
        teller.tell(FOUND, _answer(order, sys.stdin.buffer.read(order["size"]), teller))
    except ReadingProblem as problem:
        teller.tell(FAILED, problem.failure)
    except Exception as error:
        _give_up(teller, error)
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    os._exit(0)


def _give_up(teller: _Teller, error: Exception) -> None:
    # A library may wrap what it met.
    cause = error.args[0] if error.args and isinstance(error.args[0], Exception) else error
    if isinstance(cause, MemoryError):
        message = "the document takes more memory than a reading process may have"
    else:
        # Whatever a library throws at a hostile document: its type tells enough, its text may hold content.
        message = f"the content cannot be read ({type(cause).__name__})"
    where = f" on page {teller.page}" if teller.page is not None else ""
    teller.tell(FAILED, ReadingFailure(code=EXTRACTION_FAILED, message=message + where, page=teller.page))


def _answer(order: ReadingOrder, content: bytes, teller: _Teller) -> dict[str, Any]:
    try:
        from clients.documents.page_reading import opened
        from clients.documents.recognition import (
            Recogniser,
            extract_tables,
            extract_text,
            find_candidates,
            recognise,
        )
    except ImportError as error:
        raise ReadingProblem(
            UNAVAILABLE, f"the library {error.name} is not installed on the worker"
        ) from None
    document = opened(order, content, teller.came_to)
    capability = order["capability"]
    recogniser = Recogniser(document, order["language_hint"]) if _can_recognise() else None
    if capability == "extract_text":
        if order["ocr_fallback"] and recogniser is None:
            document.warn("OCR_NOT_INSTALLED")
        found = extract_text(document, recogniser if order["ocr_fallback"] else None)
    elif capability == "extract_tables":
        found = extract_tables(document, order["table_mode"])
    elif capability == "redaction_prep":
        found = find_candidates(document, order["pattern_set"], recogniser)
    else:
        if recogniser is None:
            raise ReadingProblem(
                OCR_UNSUPPORTED,
                "character recognition is not installed on the worker: the extra is called ocr",
            )
        found = recognise(document, recogniser)
    return {
        **found,
        "page_count": document.page_count,
        "pages_read": list(document.wanted),
        "warning_codes": document.warnings,
    }


def _can_recognise() -> bool:
    from clients.documents.reading_order import document_libraries

    return document_libraries().recognition
