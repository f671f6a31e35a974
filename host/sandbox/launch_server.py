"""Launch server: a process that has its modules loaded and forks one launcher for each confined command.

The start of an interpreter and its imports cost several times what a short command takes. This process pays for them
once. It never sees an order: that is read by the launcher it forks, from a pipe of its own, so nothing of one command
is in the memory from which the next one begins. It ends when its socket closes, which is when its worker ends.
"""

import fcntl
import gc
import importlib
import os
import signal
import socket
import sys
from typing import NoReturn

from host.sandbox.launcher import Entry, main

READY = b"ready"
_MOST_DESCRIPTORS = 8
_REPORTS, _CHANNEL = 3, 4
_OUT_OF_THE_WAY = 64


def serve(connection: int, entry: str, package_root: str) -> NoReturn:
    """Forks a launcher for every message on ``connection``; ``entry`` is ``module:function``, loaded now.

    With each message come the descriptors of one launch: order, output, errors, reports, and those of its channel.
    The answer is the launcher's process id.
    """
    module, _, function = entry.partition(":")
    called: Entry = getattr(importlib.import_module(module), function)
    sys.path.remove(package_root)
    sys.dont_write_bytecode = True
    # Children that have ended are nobody's to wait for.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()
    with socket.socket(fileno=connection) as server:
        server.send(READY)
        while True:
            message, descriptors, _, _ = socket.recv_fds(server, 64, _MOST_DESCRIPTORS)
            if not message:
                os._exit(0)
            launcher = os.fork()
            if launcher == 0:
                server.close()
                _launch(descriptors, called)
            for descriptor in descriptors:
                os.close(descriptor)
            server.send(str(launcher).encode())


def _launch(descriptors: list[int], entry: Entry) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    safe = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY) for descriptor in descriptors]
    for target, source in enumerate(safe[:_CHANNEL]):
        os.dup2(source, target)
    channel = safe[_CHANNEL:]
    for number, source in enumerate(channel):
        os.dup2(source, _CHANNEL + number, inheritable=False)
    os.closerange(_CHANNEL + len(channel), 1024)
    main(_REPORTS, tuple(range(_CHANNEL, _CHANNEL + len(channel))), entry)
