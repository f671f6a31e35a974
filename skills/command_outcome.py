"""What one sandboxed command may take, and how it ended."""

from dataclasses import dataclass, field

from skills.isolation import HostIsolation


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
    """What the jail may hold in all. It is looked at twice a second; what is written in between passes."""
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
