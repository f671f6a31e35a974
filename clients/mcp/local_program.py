"""MCP transport of a tool server that is a local program, over its standard input and output.

The SDK has such a transport too; this one passes the program nothing of our environment, confines it to its own files
and those it was granted where the system can (Landlock, seccomp, no new privileges), bounds what it may write, keeps
its standard error out of our logs, and leaves none of its processes behind.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import anyio.to_thread
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, jsonrpc_message_adapter

from clients.mcp.wire_record import CALL, WireRecord
from contracts.base import clipped
from contracts.mcp.servers import MCPServerCommand
from host.confined_program import can_confine, launch_command, order_in_memory
from host.program_places import ProgramPlaces

GRACE_SECONDS = 1.0
"""How long a program has to end once its input is closed."""

SHORTEST_LOOK_SECONDS, LONGEST_LOOK_SECONDS = 0.02, 0.5
"""Between two looks whether a program has ended; rarer the longer it runs."""

Inbound = MemoryObjectSendStream[SessionMessage | Exception]
Outbound = MemoryObjectReceiveStream[SessionMessage]
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


class ProgramNotStarted(Exception):
    """The program could not be started. The text says why, and holds no value of the environment."""


_OWN_VARIABLES = ("APPRENTICE_", "TEMPORAL_")
_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True)
class ProgramGrounds:
    """Where local programs run: ``places`` are those that they must not reach, ``folder`` holds a folder for each
    server (its home, temporary files and caches); without it a program has one that goes with it."""

    places: ProgramPlaces = field(default_factory=ProgramPlaces)
    folder: Path | None = None

    @contextmanager
    def own_folder(self, server_id: str) -> Generator[Path]:
        """The folder of a server's own."""
        if self.folder is None:
            with TemporaryDirectory(prefix="apprentice-tool-server-", ignore_cleanup_errors=True) as name:
                yield _made(Path(name).resolve())
        else:
            yield _made(self.folder / server_id)


def _made(folder: Path) -> Path:
    (folder / "tmp").mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    return folder


def environment_of(command: MCPServerCommand, ours: Mapping[str, str]) -> dict[str, str]:
    """What a program is given of our environment.

    Raises:
        ProgramNotStarted: a variable that is to be passed on is not set, or is the service's own.
    """
    own = sorted({ref for ref in command.environment_refs.values() if ref.upper().startswith(_OWN_VARIABLES)})
    if own:
        raise ProgramNotStarted(f"the service's own variables are for itself alone: {', '.join(own)}")
    missing = sorted({ref for ref in command.environment_refs.values() if ref not in ours})
    if missing:
        raise ProgramNotStarted(f"the worker's environment has no {', '.join(missing)}")
    return {name: ours[ref] for name, ref in command.environment_refs.items()}


@asynccontextmanager
async def local_program(
    server_id: str,
    command: MCPServerCommand,
    ours: Mapping[str, str],
    record: WireRecord,
    grounds: ProgramGrounds,
) -> AsyncGenerator[Streams]:
    """The streams of a conversation with the program, which runs in a process group of its own.

    Raises:
        ProgramNotStarted: it could not be started.
    """
    given = environment_of(command, ours)
    with grounds.own_folder(server_id) as folder:
        process = await _started(command, given, folder, grounds.places)
        async with _conversation(process, record) as streams:
            yield streams


@asynccontextmanager
async def _conversation(process: Process, record: WireRecord) -> AsyncGenerator[Streams]:
    inbound, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, outbound = anyio.create_memory_object_stream[SessionMessage](0)
    async with inbound, read_stream, write_stream, outbound, anyio.create_task_group() as group:
        group.start_soon(_read, process, inbound, record)
        group.start_soon(_write, process, outbound, record)
        group.start_soon(_bury_the_group, process, record)
        try:
            yield read_stream, write_stream
        finally:
            with anyio.CancelScope(shield=True):
                read_stream.close()
                write_stream.close()
                await _end(process, record)
            record.exit_status = process.returncode
            group.cancel_scope.cancel()


async def _started(
    command: MCPServerCommand, given: Mapping[str, str], own: Path, places: ProgramPlaces
) -> Process:
    found = shutil.which(command.program)
    if found is None:
        raise ProgramNotStarted("the program is not there, or may not be run")
    folder = command.working_folder
    if folder is not None and not await anyio.Path(folder).is_dir():
        raise ProgramNotStarted("its working folder is not there")
    program = str(Path(found).absolute())
    environment = {
        "HOME": str(own),
        "TMPDIR": str(own / "tmp"),
        "PATH": f"{Path(program).parent}:{_SYSTEM_PATH}",
        "LANG": "C.UTF-8",
        **given,
    }
    start = partial(
        anyio.open_process,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    arguments = [program, *command.arguments]
    try:
        if not can_confine():
            return await start(arguments, env=environment, cwd=folder or str(own))
        rules = await anyio.to_thread.run_sync(
            partial(
                places.rules,
                program,
                command.arguments,
                str(own),
                folder,
                command.readable_folders,
                command.writable_folders,
            )
        )
        order = order_in_memory(arguments, environment, folder or str(own), rules)
        try:
            return await start(launch_command(order), env={}, cwd="/", pass_fds=(order,))
        finally:
            os.close(order)
    except ValueError as error:
        raise ProgramNotStarted(clipped(str(error), 300)) from None
    except OSError as error:
        raise ProgramNotStarted(f"the system would not start it ({type(error).__name__})") from None


async def _read(process: Process, inbound: Inbound, record: WireRecord) -> None:
    """Passes on each line that is a message; what else a program writes is dropped."""
    assert process.stdout is not None
    held = bytearray()
    with inbound, suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            held += await process.stdout.receive()
            *lines, rest = held.split(b"\n")
            record.count(max(map(len, (*lines, rest))))
            if record.too_large:
                return
            held = bytearray(rest)
            for line in lines:
                await _pass_on(bytes(line), inbound)


async def _pass_on(line: bytes, inbound: Inbound) -> None:
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except (ValueError, RecursionError):
        return
    await inbound.send(SessionMessage(message))


async def _write(process: Process, outbound: Outbound, record: WireRecord) -> None:
    assert process.stdin is not None
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        async for outgoing in outbound:
            message = outgoing.message
            if isinstance(message, JSONRPCRequest) and message.method == CALL:
                record.sent = True
            await process.stdin.send(
                message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            )


async def _end(process: Process, record: WireRecord) -> None:
    assert process.stdin is not None
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    with anyio.move_on_after(GRACE_SECONDS):
        await _ended(process)
    if not record.gone:
        # The process id of one that was reaped long ago may have been reused.
        _kill_group(process)
    with anyio.move_on_after(GRACE_SECONDS):
        await process.wait()
    await process.aclose()


async def _bury_the_group(process: Process, record: WireRecord) -> None:
    """Ends what the program started once it has ended: its output, held open by them, would never end."""
    await _ended(process)
    _kill_group(process)
    record.gone = True


async def _ended(process: Process) -> None:
    # Not wait(), which also waits for the pipes' end.
    pause = SHORTEST_LOOK_SECONDS
    while process.returncode is None:
        await anyio.sleep(pause)
        pause = min(1.2 * pause, LONGEST_LOOK_SECONDS)


def _kill_group(process: Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
