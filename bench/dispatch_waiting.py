"""What a thousand calls that wait for a person cost a worker, and how soon one that was killed answers again.

The worker is a process of its own over the embedded Temporal server and one database, forked as by ``apprentice up``.
The clock of a restart begins when the worker was killed, and another one is forked at once.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from temporalio.client import Client

from api.services import dispatch_gateway, dispatch_store
from bench.temporal_server import temporal_at
from cli.processes.fork_client import ForkClient, ForkedProcess
from config.settings import Settings, as_environment
from contracts.mcp.dispatch import AskFirstDecision, DispatchRequest, MCPAskFirstDecisionRequest
from contracts.platform.commands import CommitKey
from contracts.platform.identity import Principal, Scope
from gateways.mcp.dispatch import McpDispatchGateway
from gateways.platform.payload_signing import signing_data_converter
from stores.platform.canonical import digest_of
from stores.platform.database import Database
from stores.platform.migrate import upgrade
from tests.fixtures.dispatch_arena import OWNER, TOOL_NAME, server_in

WAITING = 1_000
WARM_UP = 50
AT_ONCE = 8
IDLE_SECONDS = 10

MAX_KIB_EACH = 110.0
MAX_CORE_SHARE = 0.01
MAX_ANSWER_SECONDS = 2.0

POLLS = b"worker polls"


@dataclass(frozen=True)
class Worker:
    """A worker in a process of its own."""

    process: ForkedProcess

    def memory_kib(self) -> int:
        """Its memory (PSS): what it has of its own, and its share of what it has with others."""
        rollup = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return int(rollup.partition("\nPss:")[2].split()[0])

    def cpu_seconds(self) -> float:
        """The processor time it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def forking(settings: Settings) -> AsyncIterator[ForkClient]:
    """What workers are forked from."""
    own = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    forks = ForkClient(own | as_environment(settings))
    await forks.start()
    try:
        yield forks
    finally:
        await forks.close()


@asynccontextmanager
async def working(forks: ForkClient, log: Path) -> AsyncIterator[Worker]:
    """A worker that polls; killed in the end."""
    before = log.read_bytes().count(POLLS) if log.exists() else 0
    with log.open("ab") as file:
        process = await forks.fork(["worker"], file.fileno())
    try:
        until = time.monotonic() + 60
        while log.read_bytes().count(POLLS) <= before:
            if process.returncode is not None or time.monotonic() > until:
                raise RuntimeError(f"the worker does not start: {log.read_text()[-2000:]}")
            await asyncio.sleep(0.02)
        yield Worker(process)
    finally:
        process.kill()
        await process.wait()


@dataclass(frozen=True)
class Calls:
    """Asks for calls, and approves them."""

    gateway: McpDispatchGateway
    server_id: str
    caller: Principal

    async def wait(self, number: int) -> list[str]:
        """So many calls that wait."""
        turn = asyncio.Semaphore(AT_ONCE)

        async def one() -> str:
            async with turn:
                request = DispatchRequest(
                    server_id=self.server_id, tool_name=TOOL_NAME, arguments={"line": "x"}, wait_ms=60_000
                )
                view = await self.gateway.dispatch(request, self.caller, _key(), str(uuid4()))
                assert view.status == "pending_approval", view
                return view.dispatch_id

        return list(await asyncio.gather(*(one() for _ in range(number))))

    async def answered(self, dispatch_id: str) -> float:
        """Seconds until an approval of a call is acknowledged."""
        begun = time.monotonic()
        asked = MCPAskFirstDecisionRequest(decision=AskFirstDecision.APPROVE_ONCE)
        await self.gateway.decide(dispatch_id, asked, self.caller, _key())
        return time.monotonic() - begun


def _key() -> CommitKey:
    return CommitKey(owner_user_id=OWNER, key=str(uuid4()), request_digest=digest_of(""))


@asynccontextmanager
async def calls_over(settings: Settings, address: str) -> AsyncIterator[Calls]:
    """Calls of one user to a server that has one tool, and is not there."""
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    upgrade(settings.database_url)
    database = Database(settings.database_url)
    client = await Client.connect(address, data_converter=signing_data_converter(settings.data_dir))
    gateway = dispatch_gateway(settings, database, client, dispatch_store(settings, database, client))
    caller = Principal(user_id=OWNER, token_id=str(uuid4()), scopes=frozenset(Scope))
    try:
        yield Calls(gateway, server_in(database, datetime.now(UTC)), caller)
    finally:
        database.close()


async def measure(waiting: int, restarts: int) -> dict[str, Any]:
    """Has so many calls wait, looks at the worker, and kills it so many times."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        async with temporal_at(folder) as address:
            settings = Settings(
                data_dir=folder / "data",
                task_queue=f"bench-{uuid4()}",
                temporal_port=int(address.rpartition(":")[2]),
                open_calls_per_user=waiting + WARM_UP,
            )
            async with calls_over(settings, address) as calls, forking(settings) as forks:
                return await _measured(forks, folder / "worker.log", calls, waiting, restarts)


async def _measured(
    forks: ForkClient, log: Path, calls: Calls, waiting: int, restarts: int
) -> dict[str, Any]:
    async with working(forks, log) as worker:
        warm = await calls.wait(WARM_UP)
        before = worker.memory_kib()
        await calls.wait(waiting)
        each = (worker.memory_kib() - before) / waiting
        used = worker.cpu_seconds()
        await asyncio.sleep(IDLE_SECONDS)
        share = (worker.cpu_seconds() - used) / IDLE_SECONDS
    seconds: list[float] = []
    for dispatch_id in warm[:restarts]:
        killed = time.monotonic()
        async with working(forks, log):
            await calls.answered(dispatch_id)
            seconds.append(time.monotonic() - killed)
    return {
        "waiting": waiting,
        "kib_each": round(each, 1),
        "core_share": round(share, 4),
        "restarts": restarts,
        "first_answer_seconds": round(max(seconds), 2),
    }


def main() -> None:
    """Prints the result as JSON; exit code 1 when a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--waiting", type=int, default=WAITING)
    parser.add_argument("--restarts", type=int, default=3)
    options = parser.parse_args()
    result = asyncio.run(measure(options.waiting, options.restarts))
    print(json.dumps(result, indent=2))
    within = (
        result["kib_each"] <= MAX_KIB_EACH
        and result["core_share"] <= MAX_CORE_SHARE
        and result["first_answer_seconds"] <= MAX_ANSWER_SECONDS
    )
    raise SystemExit(0 if within else 1)


if __name__ == "__main__":
    main()
