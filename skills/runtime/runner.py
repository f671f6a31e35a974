"""Runs one skill once: in a sandbox of its own, within its time, with the broker at its side (AI-21, AM-17…AM-31)."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

from contracts.skills.invocation import Isolation
from contracts.skills.manifest import HttpMapping, RuntimeContext, SkillBackend
from host.sandbox.launch_order import SandboxUnavailable
from skills.runtime.answers import check_input, checked_answer
from skills.runtime.broker import EXEC, Broker, BrokerRefused, Service
from skills.runtime.confined import ConfinedProcess, start
from skills.runtime.conversation import Conversation, Ended
from skills.runtime.direct_tools import run_command, send_request
from skills.runtime.handlers import confinement_of, first_message
from skills.runtime.programs import Programs, ended_how, exit_status
from skills.runtime.skill_copy import RunFolders, run_folders
from skills.runtime.skill_run import Operator, RanSkill, RunFailed, SkillFailure, SkillRun, failed

__all__ = ["BrokerRefused", "Operator", "RanSkill", "Service", "SkillFailure", "SkillRun", "run_skill"]

_NOT_STARTED = Isolation(namespaces=False, landlock=False, seccomp=False)
_BEAT_SECONDS = 1.0
_LAST_SECONDS = 1.0


async def run_skill(run: SkillRun, services: Mapping[str, Service], beat: Callable[[], None]) -> RanSkill:
    """Runs a skill; whatever its handler does, this returns what came of it, and nothing of it is left.

    Its time begins when its process is confined, and is wall clock; what is over it is killed with all it has started.
    ``beat`` is called about once a second. Cancelling this ends the run.
    """
    began = time.monotonic()
    attempt = _Attempt(run, services)
    work = asyncio.create_task(attempt.answer())
    try:
        while not (await asyncio.wait({work}, timeout=_BEAT_SECONDS))[0]:
            beat()
    except BaseException:
        work.cancel()
        await asyncio.wait({work})
        raise
    answer: dict[str, Any] | None = None
    failure: SkillFailure | None = None
    try:
        answer = work.result()
    except RunFailed as error:
        failure = error.failure
    except SandboxUnavailable as error:
        failure = SkillFailure("ISOLATION_UNAVAILABLE", str(error)[:500])
    except BrokerRefused as error:
        failure = SkillFailure(
            error.code, error.message[:500], error.retryable, error.retry_after_ms, error.details
        )
    return RanSkill(
        answer=answer,
        failure=failure,
        acted=attempt.broker.acted,
        log=attempt.log,
        isolation=attempt.isolation,
        duration_ms=round((time.monotonic() - began) * 1000),
        unsure=attempt.broker.unsure,
        due_at=attempt.broker.due_at,
    )


class _Attempt:
    """One run, while it lasts."""

    def __init__(self, run: SkillRun, services: Mapping[str, Service]) -> None:
        self._run = run
        self._services = dict(services)
        self.broker = Broker(run.manifest, run.tool, self._services, run.entry, run.reads)
        self.isolation = _NOT_STARTED
        self.log = ""

    async def answer(self) -> dict[str, Any]:
        """The handler's answer.

        Raises:
            RunFailed, BrokerRefused: there is none.
            SandboxUnavailable: it cannot be isolated here as it has to be.
        """
        run = self._run
        if run.tool.runtime_context is RuntimeContext.LOCAL_CLIENT:
            raise failed(
                "ISOLATION_UNAVAILABLE", "this skill runs on the user's own machine, which is not connected"
            )
        check_input(run.params)
        opened = run_folders(run.folder, run.digest)
        folders = await asyncio.to_thread(opened.__enter__)
        try:
            return checked_answer(await self._of_tool(folders))
        finally:
            await asyncio.to_thread(opened.__exit__, None, None, None)

    async def _of_tool(self, folders: RunFolders) -> Any:
        run, programs = self._run, Programs(self._run, folders)
        if run.tool.backend in (SkillBackend.PYTHON, SkillBackend.NODE):
            self._services[EXEC] = programs
            return await self._of_handler(folders)
        if run.entry == "check":
            return {"success": True}
        if (
            run.tool.command is not None
            and run.tool.entrypoint not in run.manifest.permissions.local_binaries
        ):
            # What is tried out unapproved has none of the permissions that its manifest asks for.
            raise failed("PERMISSION_DENIED", f"it may not run {run.tool.entrypoint[:100]}")
        try:
            async with asyncio.timeout(run.seconds):
                if run.tool.command is not None:
                    if run.manifest.acts:
                        self.broker.begin_effect()
                    return await run_command(run, run.tool.command, programs)
                return await send_request(run, run.tool.http or HttpMapping(), self.broker)
        except TimeoutError:
            raise self._too_long() from None
        finally:
            self.log = programs.errors
            self.isolation = programs.isolation or self.isolation

    def _too_long(self) -> RunFailed:
        return failed("TIMEOUT", f"it took longer than its {self._run.seconds:g} s")

    async def _of_handler(self, folders: RunFolders) -> Any:
        process = await start(confinement_of(self._run, folders))
        self.isolation = process.isolation
        talk = Conversation(process, self.broker)
        try:
            async with asyncio.timeout(self._run.seconds):
                return await talk.answer(first_message(self._run, folders))
        except TimeoutError:
            raise self._too_long() from None
        except Ended:
            how = process.outgrown or await _last_words(process)
            raise failed("HANDLER_FAILED", f"the handler {how} and gave no answer") from None
        finally:
            await talk.close()
            await process.end()
            process.close()
            self.log = process.output.text()


async def _last_words(process: ConfinedProcess) -> str:
    try:
        return ended_how(exit_status(await asyncio.wait_for(process.ended(), _LAST_SECONDS)))
    except TimeoutError:
        return "closed its channel"
