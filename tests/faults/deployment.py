"""An installation in processes of its own, each of which can be killed and started again."""

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import choices
from string import ascii_lowercase
from typing import Any
from uuid import uuid4

import anyio
import httpx
from temporalio.client import Client
from temporalio.service import RPCError

from cli.platform.up import api_is_ready
from config.settings import Settings, as_environment
from contracts.platform.identity import Scope
from contracts.workflow_ids import learn_session_id
from stores.platform.database import Database
from stores.platform.projection.projector import Projector, single_writer
from stores.platform.tokens import Tokens
from tests.faults.patience import eventually
from tests.faults.patient_learner import PatientLearner
from tests.faults.process_mains import run_api, run_worker
from tests.faults.traps import Traps
from tests.fixtures.databases import migrated
from tests.fixtures.processes import is_stopped
from tests.fixtures.stack import EVERYDAY_SCOPES
from worker.embedded_temporal import EmbeddedTemporal, find_binary, free_port, server_environment, serves

WORKERS = 2
"""One may die, and the other goes on."""


def _spawner() -> Any:
    """Starts processes from one that has loaded and read everything, which takes a tenth of the time."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.faults.preloaded"])
    return context


class TemporalProcess:
    """The embedded server over a database file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._generation = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        """Where it listens, however often it is started."""
        return self._port

    async def start(self) -> None:
        """Starts it unless it runs, and waits until it serves."""
        if self._process is not None and self._process.poll() is None:
            return
        file = self._folder / f"temporal-{self._generation}.db"
        server = EmbeddedTemporal(find_binary(), file, self._port, None)
        with (self._folder / "temporal.log").open("ab") as log:
            environment = server_environment({"PATH": "/usr/bin:/bin"})
            self._process = subprocess.Popen(server.command(), stdout=log, stderr=log, env=environment)
        await eventually(lambda: serves(server.address), "Temporal does not serve")

    def kill(self) -> None:
        """Ends it with no chance to tidy up."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def lose_everything(self) -> None:
        """The next start finds an empty database."""
        self._generation += 1


class Deployment:
    """Settings, processes, and a client of each user."""

    def __init__(self, folder: Path, temporal: TemporalProcess) -> None:
        self.temporal = temporal
        self.settings = Settings(
            data_dir=folder / "data",
            task_queue=f"faults-{uuid4()}",
            api_port=free_port(),
            temporal_port=temporal.port,
            temporal_ui_port=0,
            mcp_allow_private_addresses=True,
            mcp_local_programs=(sys.executable,),
            # What was installed is run by itself otherwise, while a test looks for what is left behind.
            smoke_test_after=timedelta(hours=1),
            reprobe_every=timedelta(hours=3),
        )
        self.settings.data_dir.mkdir(mode=0o700)
        migrated(self.settings.database_url)
        self.database = Database(self.settings.database_url)
        self.projector = Projector(self.database, self.settings.memory_root, self.settings.workspace)
        self.traps = Traps(folder / "traps")
        self._traps_folder = folder / "traps"
        self._log = folder / "log"
        self._spawn = _spawner()
        self._workers: list[BaseProcess] = []
        self._api: BaseProcess | None = None

    def start_workers(self, number: int = WORKERS) -> None:
        """Sees to it that so many workers run, or are about to."""
        self._workers = [one for one in self._workers if one.is_alive()]
        while len(self._workers) < number:
            self._workers.append(self._started(run_worker, "worker"))

    @asynccontextmanager
    async def replacing_workers(self) -> AsyncIterator[None]:
        """Meanwhile every worker that dies is replaced."""

        async def replace() -> None:
            while True:
                self.start_workers()
                await anyio.sleep(0.05)

        async with anyio.create_task_group() as group:
            group.start_soon(replace)
            yield
            group.cancel_scope.cancel()

    async def has_timer_of(self, session_id: str) -> bool:
        """Whether the session's workflow runs with a timer set."""
        try:
            client = await Client.connect(f"127.0.0.1:{self.temporal.port}")
            history = await client.get_workflow_handle(learn_session_id(session_id)).fetch_history()
        except (RPCError, RuntimeError):
            return False
        return any(event.HasField("timer_started_event_attributes") for event in history.events)

    def installed(self) -> dict[str, str]:
        """Workspace, canonical skills, bridge and snapshot: the digest of each file.

        What happened is told in streams whatever came of it, and is no part of them.
        """
        memory = self.settings.memory_root / "system"
        folders = [self.settings.workspace, memory / "learning/installed"]
        folders += [memory / "capabilities", memory / "abilities"]
        return {
            str(path): sha256(path.read_bytes()).hexdigest()
            for folder in folders
            for path in folder.rglob("*")
            if path.is_file() and path.suffix != ".jsonl"
        }

    def kill_workers(self) -> None:
        """Ends every worker with no chance to tidy up."""
        for one in self._workers:
            _kill(one)

    @asynccontextmanager
    async def standing_still(self, point: str) -> AsyncIterator[None]:
        """Whoever comes to ``point``, which was set to ``HOLD``, is stopped there, and goes on at the end.

        It is stopped while it holds no lock: a process that stands still in the middle of a transaction keeps
        SQLite's only writer's place, and the others could do nothing until it goes on.
        """
        pid = await self.traps.victim(point)
        with single_writer(self.database, self.settings.memory_root), self.database.write():
            os.kill(pid, signal.SIGSTOP)
            await eventually(lambda: is_stopped(pid), "it never stops")
        self.traps.clear()
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def stop_workers(self) -> None:
        """Has every worker end in good order."""
        for one in self._workers:
            one.terminate()
        for one in self._workers:
            one.join()

    async def start_api(self) -> None:
        """Starts the API unless it runs, and waits until it finds everything ready."""
        if self._api is None or not self._api.is_alive():
            self._api = self._started(run_api, "api")
        await eventually(lambda: api_is_ready(self.settings.local_api_url), "the API is not ready")

    def kill_api(self) -> None:
        """Ends the API with no chance to tidy up."""
        if self._api is not None:
            _kill(self._api)

    async def api_has_died(self) -> None:
        """Returns once the API process has ended."""
        api = self._api
        assert api is not None
        await eventually(lambda: not api.is_alive(), "the API lives on")

    def close(self) -> None:
        """Ends everything."""
        self.kill_api()
        self.kill_workers()
        self.database.close()

    def learner(self, http: httpx.AsyncClient, scopes: Sequence[str] = EVERYDAY_SCOPES) -> PatientLearner:
        """A client of its own user, whose name no other's resembles: tasks named after it are told apart."""
        user = " ".join("".join(choices(ascii_lowercase, k=9)) for _ in range(3))
        tokens = Tokens(self.database)
        _, secret = tokens.create("test", user, [Scope(scope) for scope in scopes], datetime.now(UTC))
        return PatientLearner(http, secret, user)

    def _started(self, target: Callable[..., None], name: str) -> BaseProcess:
        environment = as_environment(self.settings)
        log = self._log.with_suffix(f".{name}")
        process: BaseProcess = self._spawn.Process(
            target=target, args=(environment, self._traps_folder, log), daemon=True
        )
        process.start()
        return process


def _kill(process: BaseProcess) -> None:
    process.kill()
    process.join()
