"""What a host can keep apart, and what it cannot."""

from dataclasses import dataclass

from skills.launch_order import SHARED, Layers


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
