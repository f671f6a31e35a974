"""The real worker and the real API as processes of the tests, with interference at their Temporal client."""

import ctypes
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

import api.main
import api.services
import worker.composition
import worker.main
import worker.mcp_composition
import worker.recovery
import worker.skill_composition
from config.settings import Settings, load_settings
from stores.skills.admission import SkillAdmission
from stores.skills.attempts import SkillAttempts
from stores.skills.services.ledger import Ledger
from tests.faults.interference import Interference
from tests.faults.trapped_calls import trapped
from tests.faults.trapped_imports import unpack_apart
from tests.faults.trapped_skills import trapped as trapped_store
from tests.faults.traps import Traps

RECOVERY_LOOKS_EVERY_SECONDS = 0.5
_PR_SET_PDEATHSIG = 1

Scope = dict[str, Any]
Message = dict[str, Any]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]


def run_worker(environment: Mapping[str, str], traps: Path, log: Path) -> None:
    """A worker process."""
    settings = _begin(environment, log)
    worker.main.temporal_connect_kwargs = _interfered(traps)
    worker.recovery.LOOK_EVERY_SECONDS = RECOVERY_LOOKS_EVERY_SECONDS
    worker.composition.Worker = _less_patient_worker
    worker.mcp_composition.ToolClient = trapped(Traps(traps))
    worker.skill_composition.SkillAttempts = trapped_store(SkillAttempts, Traps(traps))
    unpack_apart(traps)
    worker.skill_composition.Ledger = trapped_store(Ledger, Traps(traps))
    worker.main.run(settings)


def run_api(environment: Mapping[str, str], traps: Path, log: Path) -> None:
    """An API process."""
    settings = _begin(environment, log)
    api.services.temporal_connect_kwargs = _interfered(traps)
    api.services.SkillAdmission = trapped_store(SkillAdmission, Traps(traps))
    create_app = api.main.create_app

    def create_watched_app(settings: Settings) -> Any:
        app = create_app(settings)
        app.add_middleware(_Answers, traps=Traps(traps))
        return app

    api.main.create_app = create_watched_app
    api.main.serve(settings)


class _Answers:
    """Passes by a trap when an answer is about to be sent: ``answer.approve`` and the like."""

    def __init__(self, app: Any, traps: Traps) -> None:
        self._app = app
        self._traps = traps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and scope["method"] == "POST":
                self._traps.come_by(f"answer.{scope['path'].rpartition('/')[2]}")
            await send(message)

        await self._app(scope, receive, watched if scope["type"] == "http" else send)


def _begin(environment: Mapping[str, str], log: Path) -> Settings:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.environ.update(environment)
    with log.open("ab") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    return load_settings()


def _less_patient_worker(*arguments: Any, **options: Any) -> Worker:
    """What a dead worker was to do next is given to another one after a moment, not after two seconds."""
    options["sticky_queue_schedule_to_start_timeout"] = timedelta(milliseconds=200)
    options["workflow_runner"] = worker.composition.sandboxed(_Unchecked)
    return Worker(*arguments, **options)


class _Unchecked(SandboxedWorkflowRunner):
    """The sandbox; no workflow is tried out at the start of a worker, as every other worker of the tests does."""

    def prepare_workflow(self, defn: Any) -> None:
        """Does nothing."""


def _interfered(traps: Path) -> Callable[[Settings], dict[str, Any]]:
    real = worker.main.temporal_connect_kwargs

    def connect_kwargs(settings: Settings) -> dict[str, Any]:
        return {**real(settings), "interceptors": [Interference(Traps(traps))]}

    return connect_kwargs
