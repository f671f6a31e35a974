"""Messages between worker and sandbox launcher: order, limits, result, what the host can isolate.

Imports nothing of ``host``, so that it can be imported on any system.
"""

from dataclasses import dataclass, field
from typing import TypedDict

PRIVILEGED, USER, SHARED = "privileged", "user", "shared"
"""How to isolate: namespaces by own right, in a user namespace, or Landlock and seccomp on the host's own."""

NO_NAMESPACES, UNAVAILABLE, CONFINED, ENDED = "N", "E", "R", "X"
"""How a line of the launcher's report starts: the namespaces cannot be had; the command cannot be confined;
it is confined (and by which layers, as JSON); it has ended (and its wait status)."""


class Order(TypedDict):
    """What the worker asks for. Sizes in bytes, times in seconds.

    ``program`` is the absolute path of what is executed with ``arguments``; empty, the launcher's own entry runs
    instead. ``root`` is the one folder that may be written. ``root_bytes`` is what it may hold: an empty folder in
    memory takes its place where there are namespaces; 0 leaves it as it is. ``readable`` are further files and
    folders, seen read-only at their usual paths. ``programs`` are the files that may be executed; None means those
    of the system, and whatever lies in ``root``. ``data_bytes`` bounds private memory, 0 does not.
    """

    isolation: str
    root: str
    root_bytes: int
    working_folder: str
    temporary_folder: str
    program: str
    arguments: list[str]
    environment: dict[str, str]
    readable: list[str]
    programs: list[str] | None
    cpu_seconds: int
    memory_bytes: int
    data_bytes: int
    file_bytes: int
    processes: int
    open_files: int


class Layers(TypedDict):
    """What holds the command: how it is isolated, Landlock's version (0: none), the system call filter."""

    isolation: str
    landlock: int
    seccomp: bool


class SandboxUnavailable(Exception):
    """This host cannot close off files or the network; nothing was run. The text says what is missing."""


@dataclass(frozen=True)
class HostIsolation:
    """What this host can keep apart, and in words for people what is missing."""

    filesystem: bool
    network: bool
    process_tree: bool
    missing: tuple[str, ...] = ()


def host_isolation(layers: Layers) -> HostIsolation:
    """What the layers that hold a command amount to."""
    missing: list[str] = []
    if not layers["landlock"]:
        missing.append("Landlock: the kernel has none, so files are guarded by the mount namespace alone")
    if not layers["seccomp"]:
        missing.append("seccomp: no filter for this machine, so the network is closed by its namespace alone")
    has_namespaces = layers["isolation"] != SHARED
    if not has_namespaces:
        missing.append(
            "namespaces: none can be made here; commands see the names (not the content) of files outside,"
            " cannot change permissions (chmod fails), and are ended by a sweep rather than at one stroke."
            " Allow unprivileged user namespaces to close this gap"
        )
    return HostIsolation(
        filesystem=has_namespaces or (layers["landlock"] >= 3 and layers["seccomp"]),
        network=has_namespaces or layers["seccomp"],
        process_tree=has_namespaces,
        missing=tuple(missing),
    )


@dataclass(frozen=True)
class SandboxLimits:
    """The most that one command may take. Sizes in bytes, times in seconds."""

    wall_seconds: float = 60.0
    cpu_seconds: int = 60
    memory_bytes: int = 4 * 1024**3
    """Address space of one process."""
    file_bytes: int = 256 * 1024**2
    """Size of one file."""
    jail_bytes: int = 1024**3
    """What the jail may hold in all, with deleted files that are still open.

    It is looked at up to fifty times a second; what is written in between passes."""
    jail_files: int = 20_000
    processes: int = 256
    """Processes and threads together."""
    open_files: int = 256
    output_bytes: int = 65_536
    """How much output is kept: the first and the last half of it."""


@dataclass(frozen=True)
class CommandOutcome:
    """How a command ended. ``exit_code`` and ``signal`` are both None when the sandbox ended it."""

    exit_code: int | None
    signal: int | None
    timed_out: bool
    output: str
    """Standard output and error as they came, cut to the limit; only for diagnosing."""
    truncated: bool
    duration_seconds: float
    cancelled: bool = False
    violations: tuple[str, ...] = ()
    """The limits the command is seen to have hit. A refused access is no violation: it just fails."""
    isolation: HostIsolation = field(default_factory=lambda: HostIsolation(False, False, False))

    @property
    def succeeded(self) -> bool:
        """Whether the command ended by itself with exit code 0."""
        return self.exit_code == 0
