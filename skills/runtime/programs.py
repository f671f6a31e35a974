"""Programs that a skill may start: the declared ones, each in a sandbox of its own, without a shell (AM-18, X-6)."""

import os
import shutil
import signal
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from contracts.skills.manifest import SkillManifest
from host import namespaces
from host.sandbox.launch_order import SandboxUnavailable
from skills.runtime.broker import BrokerRefused, denied
from skills.runtime.confined import Confinement, start
from skills.runtime.handlers import base_order
from skills.runtime.skill_copy import RunFolders
from skills.runtime.skill_run import SkillRun

SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where a program that is declared by its bare name is looked for; the first that is found is the one."""

MAX_ARGUMENTS, MAX_ARGUMENT_BYTES, MAX_OUTPUT_BYTES = 256, 131_072, 262_144
"""Arguments of one call: how many, how long in all (128 KiB); and how much output is taken (256 KiB)."""

_ERRORS_BYTES = 8_192


@dataclass(frozen=True)
class Ran:
    """How a program ended."""

    output: str
    errors: str
    status: int | None


class TooMuchOutput(Exception):
    """A program wrote more than is taken."""


def resolve(declared: str) -> Path | None:
    """The one file that a declared name stands for; None where there is none that can be executed."""
    found = declared if Path(declared).is_absolute() else shutil.which(declared, path=SEARCH_PATH)
    if found is None or ("/" in declared and not Path(declared).is_absolute()):
        return None
    path = Path(found)
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    return path if stat.S_ISREG(mode) and mode & 0o111 else None


def permitted_program(manifest: SkillManifest, asked: str) -> Path:
    """The file of the declared program that ``asked`` names: by the declared name, or by its very path.

    Raises:
        BrokerRefused: ``PERMISSION_DENIED`` where no declared program is it, ``UNAVAILABLE`` where it is not installed.
    """
    for declared in manifest.permissions.local_binaries:
        path = resolve(declared)
        if asked == declared:
            if path is None:
                raise BrokerRefused(
                    "UNAVAILABLE", f"the program {declared} is not installed here", retryable=False
                )
            return path
        if path is not None and asked == str(path):
            return path
    raise denied(f"the manifest of {manifest.name} does not permit the program {asked[:200]!r}")


def checked_arguments(argv: Any) -> list[str]:
    """The arguments of a call, if they are a list of texts within the limits.

    Raises:
        BrokerRefused: ``INVALID_INPUT``.
    """
    given = cast("list[object]", argv) if isinstance(argv, list) else []
    arguments = [one for one in given if isinstance(one, str)]
    if not given or len(arguments) < len(given):
        raise BrokerRefused(
            "INVALID_INPUT", "exec takes a list of texts, a program and its arguments: no shell"
        )
    if len(arguments) > MAX_ARGUMENTS or sum(len(one.encode()) for one in arguments) > MAX_ARGUMENT_BYTES:
        raise BrokerRefused("INVALID_INPUT", "exec takes at most 256 arguments, of 128 KiB in all")
    if any("\0" in one for one in arguments):
        raise BrokerRefused("INVALID_INPUT", "an argument holds a NUL character")
    return arguments


class Programs:
    """The declared programs of one run: what ``context.exec`` reaches."""

    def __init__(self, run: SkillRun, folders: RunFolders) -> None:
        self._run = run
        self._folders = folders

    async def __call__(self, method: str, arguments: Mapping[str, Any]) -> str:
        """Runs one program; its standard output.

        Raises:
            BrokerRefused: it is not permitted, not there, or ended with a status other than 0.
        """
        argv = checked_arguments(arguments.get("argv"))
        ran = await self.run(argv)
        if ran.status != 0:
            raise BrokerRefused(
                "HANDLER_FAILED",
                f"the program {argv[0][:200]} {ended_how(ran.status)}",
                details={"errors": ran.errors[-2_000:]},
            )
        return ran.output

    async def run(self, argv: list[str]) -> Ran:
        """Runs a permitted program in an empty folder of its own.

        Raises:
            BrokerRefused: it is not permitted, not there, or wrote too much.
        """
        path = permitted_program(self._run.manifest, argv[0])
        program = str(path.resolve())
        taken = bytearray()
        order = base_order(self._run.tool, self._folders)
        order["program"], order["arguments"], order["programs"] = program, argv, None
        if not any(Path(program).is_relative_to(folder) for folder in namespaces.SYSTEM_FOLDERS):
            order["readable"].append(program)
        isolation = self._run.manifest.required_isolation
        confinement = Confinement(
            order,
            _ERRORS_BYTES,
            namespaces_only=isolation == "namespaces",
            has_channel=False,
            take_output=lambda part: taken.extend(part[: MAX_OUTPUT_BYTES + 1 - len(taken)]),
        )
        try:
            process = await start(confinement)
        except SandboxUnavailable as error:
            raise BrokerRefused("ISOLATION_UNAVAILABLE", str(error)[:300]) from error
        try:
            status = await process.ended()
        finally:
            await process.end()
            process.close()
        if len(taken) > MAX_OUTPUT_BYTES:
            raise BrokerRefused("OUTPUT_TOO_LARGE", f"the program {argv[0][:200]} wrote more than 256 KiB")
        return Ran(taken.decode(errors="replace"), process.output.text(), exit_status(status))


def exit_status(status: int | None) -> int | None:
    """The exit status of a wait status; negative for the signal that ended it."""
    return None if status is None else os.waitstatus_to_exitcode(status)


def ended_how(status: int | None) -> str:
    """How something ended, in words for people."""
    if status is None:
        return "was ended"
    if status >= 0:
        return f"ended with status {status}"
    known: dict[int, str] = {
        signal.SIGXFSZ: "wrote a file longer than it may",
        signal.SIGXCPU: "used up its processor time",
        signal.SIGSYS: "made a system call that is forbidden",
        signal.SIGKILL: "was killed",
    }
    return known.get(-status, f"was ended by signal {-status}")
