"""Loads the modules of worker and API once, and forks these parts from the process that has them.

Started by ``fork_client`` as ``python -P -m cli.processes.fork_server FD``; FD is a socket (SOCK_SEQPACKET) to it. A
part that ends is there again without loading anything, and all of them share the memory of what is loaded. Nothing
else happens here: no thread, no connection, no random number, so that a fork shares nothing that it must not.

Messages are JSON. In: ``{"arguments": […]}`` of the command ``apprentice``, with the descriptor of the part's output.
Out: ``{"started": PID}`` or ``{"failed": ERRNO}`` for each in turn, and ``{"ended": PID, "code": …}``, negative for a
signal. Parts die with this process, and it ends when the other end is closed.
"""

import json
import os
import selectors
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from cli.processes.child_launcher import tie_to

MOST_BYTES = 4096
"""The longest message."""

_NOWHERE = Path("/nowhere")

_LEFT_TO_THE_PARTS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""What asks a whole service to end (a process manager sends it to each process): the parts finish their work then."""


def load() -> None:
    """Loads what worker and API are made of, and reads the bundled skills as every worker does at its start."""
    from config.memory import loading

    with loading():
        for module in ("cli.platform.service_commands", "api.main", "worker.main"):
            import_module(module)
        from contracts.skills.catalog import SkillAllowlist
        from skills.runtime.roots import SkillRoots
        from worker.skill_composition import BUNDLED

        SkillRoots(_NOWHERE, _NOWHERE, BUNDLED).scan(SkillAllowlist(), datetime.now(UTC))


def serve(client: socket.socket, handlers: Mapping[signal.Signals, Any]) -> list[str] | None:
    """Forks what is asked for; returns None once the other end is closed, and in each new process its arguments."""
    with selectors.DefaultSelector() as ready:
        ready.register(client, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                if key.fileobj is not client:
                    ready.unregister(key.fileobj)
                    os.close(key.fd)
                    _tell(client, {"ended": key.data, "code": _code_of(key.data)})
                    continue
                message, descriptors, _, _ = socket.recv_fds(client, MOST_BYTES, 1)
                if not message:
                    return None
                here = os.getpid()
                try:
                    pid = _fork(handlers)
                except OSError as error:
                    answer = _failed(error)
                else:
                    if pid == 0:
                        return _become(json.loads(message)["arguments"], descriptors[0], here, client, ready)
                    answer = _follow(pid, ready)
                for descriptor in descriptors:
                    os.close(descriptor)
                _tell(client, answer)


def _fork(handlers: Mapping[signal.Signals, Any]) -> int:
    """Forks; a signal that comes before the new process has its handlers waits for them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, handlers)
    try:
        pid = os.fork()
        if pid == 0:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        return pid
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, handlers)


def _follow(pid: int, ready: selectors.BaseSelector) -> dict[str, int]:
    """Has the end of a new process told; one whose end cannot be seen is ended at once."""
    try:
        ready.register(os.pidfd_open(pid), selectors.EVENT_READ, pid)
    except OSError as error:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return _failed(error)
    return {"started": pid}


def _failed(error: OSError) -> dict[str, int]:
    return {"failed": error.errno or 0}


def _become(
    arguments: list[str], output: int, server: int, client: socket.socket, ready: selectors.BaseSelector
) -> list[str]:
    """Makes the new process a part like one that was started as a program of its own."""
    # Its own group: what it starts is ended with it.
    os.setpgid(0, 0)
    tie_to(server)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    os.close(output)
    for key in list(ready.get_map().values()):
        if key.fileobj is not client:
            os.close(key.fd)
    client.close()
    # What ps shows of it; /proc may be read-only.
    with suppress(OSError):
        Path("/proc/self/comm").write_text(" ".join(arguments), encoding="utf-8")
    return arguments


def _code_of(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _tell(client: socket.socket, message: dict[str, int]) -> None:
    client.send(json.dumps(message).encode())


def run(load: Callable[[], None], part: Callable[[Sequence[str]], None], descriptor: int) -> None:
    """Loads, serves the socket ``descriptor``, and runs ``part`` in each new process."""
    # Each part gets those that a program would have: SIGHUP stays ignored where ``nohup`` has it so.
    handlers = {number: signal.signal(number, signal.SIG_IGN) for number in _LEFT_TO_THE_PARTS}
    load()
    with socket.socket(fileno=descriptor) as client:
        arguments = serve(client, handlers)
    if arguments is not None:
        sys.argv[1:] = arguments
        part(arguments)


def _part(arguments: Sequence[str]) -> None:
    from cli.main import app

    app(arguments, prog_name="apprentice")


if __name__ == "__main__":
    run(load, _part, int(sys.argv[1]))
