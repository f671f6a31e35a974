"""Programs that a skill may start: the declared ones, each in a sandbox of its own, without a shell (AM-18, X-6)."""

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contracts.skills.invocation import Isolation
from host import namespaces
from host.sandbox.launch_order import SandboxUnavailable
from skills.runtime.confined import Confinement, start
from skills.runtime.handlers import base_order
from skills.runtime.local_programs import checked_arguments, permitted_program
from skills.runtime.refusals import BrokerRefused
from skills.runtime.skill_copy import RunFolders
from skills.runtime.skill_run import SkillRun

MAX_OUTPUT_BYTES = 262_144
"""How much output of one program is taken: 256 KiB."""

_ERRORS_BYTES = 8_192


@dataclass(frozen=True)
class Ran:
    """How a program ended."""

    output: str
    errors: str
    status: int | None


class Programs:
    """The declared programs of one run: what ``context.exec`` reaches."""

    def __init__(self, run: SkillRun, folders: RunFolders) -> None:
        self._run = run
        self._folders = folders
        self.errors = ""
        """What the last program wrote to its standard error."""
        self.isolation: Isolation | None = None

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
        self.isolation = process.isolation
        try:
            status = await process.ended()
        finally:
            await process.end()
            process.close()
            self.errors = process.output.text()
        if len(taken) > MAX_OUTPUT_BYTES:
            raise BrokerRefused("OUTPUT_TOO_LARGE", f"the program {argv[0][:200]} wrote more than 256 KiB")
        return Ran(taken.decode(errors="replace"), self.errors, exit_status(status))


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
