"""What the worker and the launcher say to each other. Holds no code of the host's, so it imports anywhere."""

from typing import TypedDict

PRIVILEGED, USER, SHARED = "privileged", "user", "shared"
"""How to isolate: namespaces by own right, in a user namespace, or Landlock and seccomp on the host's own."""

NO_NAMESPACES, UNAVAILABLE, CONFINED, ENDED = "N", "E", "R", "X"
"""How a line of the launcher's report starts: the namespaces cannot be had; the command cannot be confined;
it is confined (and by which layers, as JSON); it has ended (and its wait status)."""


class Order(TypedDict):
    """What the worker asks for. Sizes in bytes, times in seconds."""

    isolation: str
    root: str
    working_folder: str
    command: str
    temporary_folder: str
    cpu_seconds: int
    memory_bytes: int
    file_bytes: int
    processes: int
    open_files: int


class Layers(TypedDict):
    """What holds the command: how it is isolated, Landlock's version (0: none), the system call filter."""

    isolation: str
    landlock: int
    seccomp: bool
