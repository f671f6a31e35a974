"""Operations of common programs (sort, archive, copy …) with their wording, and net file changes of a run."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from contracts.learning.observation import ObservedActionEvent
from domain.learning.commands.command_line import Part, parts_of


@dataclass(frozen=True)
class Operation:
    """A kind of work on files.

    ``goal`` is the state it leads to, ``outcome`` what can be seen of it at the file it wrote, and
    ``outcome_from`` the same where the sources are known (``{0}``); ``synonym`` is another verb for the same
    object; ``rank`` is its weight for a workflow's purpose (0: none, 2: most).
    """

    key: str
    verb: str
    goal: str
    outcome: str
    synonym: str
    rank: int = 2
    outcome_from: str = ""


WRITE = Operation(
    "write", "write", "The starting data is in place", "holds the starting data", "fill in", rank=0
)
SORT = Operation("sort", "sort", "The sorted list is ready", "is in sorted order", "order")
FILTER = Operation(
    "filter", "filter", "The selected records are ready", "holds only the selected records", "narrow down"
)
TRIM = Operation(
    "trim",
    "filter",
    "The selected part is ready",
    "holds only the selected part",
    "narrow down",
    rank=1,
)
COMBINE = Operation(
    "combine",
    "combine",
    "The parts are combined",
    "holds the content of every part",
    "merge",
    outcome_from="holds the content of {0}",
)
COUNT = Operation("count", "count", "The count is ready", "holds the counts", "tally")
COMPUTE = Operation(
    "compute",
    "compute",
    "The figures are ready",
    "holds the figures that were worked out",
    "work out",
    outcome_from="holds the figures worked out from {0}",
)
ARCHIVE = Operation(
    "archive",
    "archive",
    "The archive is complete",
    "is a readable archive of everything meant for it",
    "pack",
    outcome_from="is a readable archive that lists the content of {0}",
)
UNPACK = Operation("unpack", "unpack", "The archive is unpacked", "came out of the archive whole", "extract")
CHECKSUM = Operation(
    "checksum",
    "checksum",
    "The checksum is recorded",
    "holds a digest that matches the file it names",
    "fingerprint",
    outcome_from="holds a digest that matches {0}",
)
DOWNLOAD = Operation("download", "download", "The download is complete", "is not empty", "fetch")
COPY = Operation(
    "copy",
    "copy",
    "The copy is in place",
    "has the same content as its source",
    "duplicate",
    rank=1,
    outcome_from="has the same content as {0}",
)
MOVE = Operation(
    "move", "move", "The file is in its new place", "has the content it had before", "relocate", 1
)
DELETE = Operation("delete", "remove", "The unwanted files are gone", "no longer exists", "clear", 1)
CONVERT = Operation(
    "convert",
    "convert",
    "The converted file is ready",
    "opens in its new format",
    "transform",
    outcome_from="holds {0} in the new format",
)
BUILD = Operation("build", "build", "The build output is there", "is newer than its sources", "compile")
TEST = Operation("test", "test", "The tests are green", "reports no failure", "try out", 1)
COMMIT = Operation(
    "commit",
    "commit",
    "The change is recorded in version control",
    "is part of the newest commit",
    "check in",
)
COMPARE = Operation("compare", "compare", "The comparison is ready", "holds the differences", "diff")
VERIFY = Operation("verify", "verify", "The results are verified", "passes its check", "double-check", 1)
PREPARE = Operation("prepare", "prepare", "The folder is ready", "is in place", "set up", rank=0)
RUN = Operation("run", "create", "The result is ready", "is not empty", "make", rank=1)

_BY_PROGRAM: dict[str, Operation] = {
    name: operation
    for operation, names in (
        (WRITE, "printf echo touch tee seq date yes"),
        (SORT, "sort shuf tsort"),
        (FILTER, "grep egrep fgrep rg awk gawk mawk sed jq yq comm csvcut csvgrep xsv"),
        (TRIM, "cut uniq tr head tail column fold"),
        (COMBINE, "cat paste join csvstack pdfunite"),
        (COUNT, "wc"),
        (ARCHIVE, "zip gzip bzip2 xz zstd 7z 7za ar"),
        (UNPACK, "unzip gunzip bunzip2 unxz unzstd"),
        (CHECKSUM, "sha256sum sha1sum sha512sum md5sum shasum b2sum cksum md5"),
        (DOWNLOAD, "curl wget aria2c"),
        (COPY, "cp rsync scp install"),
        (MOVE, "mv rename"),
        (DELETE, "rm rmdir unlink shred"),
        (
            CONVERT,
            "pandoc ffmpeg convert magick iconv dos2unix unix2dos libreoffice soffice wkhtmltopdf pdftotext",
        ),
        (BUILD, "make cmake ninja gcc cc clang cargo mvn gradle go javac tsc"),
        (TEST, "pytest tox jest"),
        (COMPARE, "diff"),
        (VERIFY, "test [ [[ cmp"),
        (PREPARE, "mkdir cd pushd popd export source . set unset umask chmod chown ln"),
    )
    for name in names.split()
}

SYNONYMS: dict[str, str] = {o.verb: o.synonym for o in {*_BY_PROGRAM.values(), COMPUTE}} | {"create": "make"}
"""Another word for each verb, for paraphrases."""


_AWKS = frozenset({"awk", "gawk", "mawk"})
_ACCUMULATES = re.compile(r"[\w\])]\s*[-+*]=|\+\+|\w--")
"""Accumulation in an awk program: it computes rather than filters."""


_TESTING = re.compile(r"-[a-z]*t[a-z]*|--test")
_ASKING = {
    "jq": re.compile(r"-[A-Za-z]*e[A-Za-z]*|--exit-status"),
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg"), re.compile(r"-[A-Za-z]*q[A-Za-z]*|--quiet|--silent")),
    "diff": re.compile(r"-q|--brief"),
    **dict.fromkeys(("gzip", "bzip2", "xz", "zstd", "unzip"), _TESTING),
}
"""Options that ask a program for an exit status about what it reads."""


@lru_cache(maxsize=2048)
def operation_of(command: str) -> Operation:
    """The operation of ``command``: that of its part with the highest rank, the later one on a tie."""
    best = PREPARE
    parts = parts_of(command)
    # The redirections of a group and of a shell's script say nothing of what is done.
    commands = [part for part in parts if part.program] or parts
    for position, simple in enumerate(commands):
        operation = _operation(simple)
        if operation is COMBINE and (position < len(commands) - 1 or len(simple.operands) < 2):
            operation = WRITE
        if operation.rank >= best.rank or best is PREPARE:
            best = operation if operation is not PREPARE else best
    return best


_GIVING_WAY = frozenset({"mv", "rename", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz"})
_REMOVING = frozenset({"rm", "rmdir", "unlink", "shred"})


def gives_way(command: str) -> bool:
    """Whether what is gone after the command lives on: it was moved, renamed or packed, and nothing was removed."""
    parts = parts_of(command)
    if any(part.program in _REMOVING or "-delete" in part.arguments for part in parts):
        return False
    return any(
        part.program in _GIVING_WAY or (part.program == "git" and part.arguments[:1] == ("mv",))
        for part in parts
    )


def is_preparation(command: str) -> bool:
    """Whether every part of ``command`` only prepares: makes a folder, sets a variable or a mode."""
    return all(_BY_PROGRAM.get(c.program) is PREPARE for c in parts_of(command))


def _operation(simple: Part) -> Operation:
    first = simple.arguments[0] if simple.arguments else ""
    if simple.program in ("tar", "bsdtar"):
        letters = "".join(a for a in simple.arguments[:2] if a.lstrip("-").isalpha()).replace("-", "")
        unpacks = "--extract" in simple.arguments or ("x" in letters and "c" not in letters)
        return UNPACK if unpacks else ARCHIVE
    if simple.program == "git":
        return {"commit": COMMIT, "clone": DOWNLOAD, "add": PREPARE, "init": PREPARE}.get(first, RUN)
    operation = _BY_PROGRAM.get(simple.program, RUN)
    if simple.program in _AWKS and any(_ACCUMULATES.search(one) for one in simple.arguments):
        return COMPUTE
    if operation is CHECKSUM and ("-c" in simple.arguments or "--check" in simple.arguments):
        return VERIFY
    if operation is ARCHIVE and "-d" in simple.arguments:
        return UNPACK
    if (asking := _ASKING.get(simple.program)) and any(map(asking.fullmatch, simple.arguments)):
        return VERIFY
    return operation


class NetChange(StrEnum):
    """The change of a file between the start and the end of a run."""

    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"
    TRANSIENT = "transient"


@dataclass(frozen=True)
class NetEffect:
    """The net change of one file over a run, and the last event that touched it."""

    path: str
    change: NetChange
    event_id: str
    is_empty: bool = False

    @property
    def survives(self) -> bool:
        """Whether the file is there at the end."""
        return self.change in (NetChange.CREATED, NetChange.MODIFIED)


def net_effects(
    events: Iterable[ObservedActionEvent], made_before: Iterable[str] = ()
) -> tuple[NetEffect, ...]:
    """The net change of each touched file, in the order of first touch.

    ``made_before`` names files that the demonstration itself had made earlier in something that is not part
    of ``events`` (a failed try): changing such a file is creating it.
    """
    made = set(made_before)
    existed: dict[str, bool] = {}
    last: dict[str, NetEffect] = {}
    for event in events:
        for produced in event.terminal.produced_files if event.terminal else ():
            existed.setdefault(produced.path, produced.change != "created" and produced.path not in made)
            gone = produced.change == "deleted"
            if existed[produced.path]:
                change = NetChange.DELETED if gone else NetChange.MODIFIED
            else:
                change = NetChange.TRANSIENT if gone else NetChange.CREATED
            last[produced.path] = NetEffect(
                produced.path, change, event.event_id, not gone and produced.size_bytes == 0
            )
    return tuple(last[path] for path in existed)
