"""Approvals and session lifecycles beside the same work in other engines for durable work: DBOS and LangGraph.

An approval lets a call that waits go out to a tool server over HTTP; a lifecycle is a session that takes six
commands, each sent when the one before was answered. Theirs is the least that keeps both over a crash
(``bench/peer_work``): no policy, no receipt, no list that shows it, no user, no HTTP in front. Each runs in a process
and an environment of its own (``.venv/peers``), which the first run makes from the package index; PostgreSQL is a
server of its own that syncs to disk. All sides take turns in every round. A side whose programs are not there is left
out, and the result says why.

Processor time is that of the side's process, and of Temporal's server with ours; that of PostgreSQL is in none.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from bench import lifecycle
from bench.operations import Bench, asked, bench_at
from tests.fixtures.mcp_servers import GoodServer, started
from tests.fixtures.postgres import running_postgres

WORK = Path(__file__).parent / "peer_work"
ENVIRONMENTS = Path(__file__).parents[1] / ".venv" / "peers"
PACKAGES = {
    "dbos": ("dbos==3.4.0", "mcp==2.3.0"),
    "langgraph": ("langgraph==1.2.24", "langgraph-checkpoint-sqlite==3.1.2", "mcp==2.3.0"),
}
WIDTH = 16
"""Approvals at once."""

ENTRIES = [{"events": ["x" * 560] * lifecycle.OBSERVED_EVENTS}, *({"text": "x" * 2000} for _ in range(5))]
"""What the six commands of a peer's session bring: a batch of events, and texts of the size of ours."""


class Taken(NamedTuple):
    """What a piece of work took: seconds, and processor seconds."""

    seconds: float
    processor: float


class Side(NamedTuple):
    """Who does the work: so many approvals at once, and one lifecycle."""

    approvals: Callable[[], Awaitable[Taken]]
    lifecycle: Callable[[], Awaitable[Taken]]


class PeerProcess:
    """A peer's program, which answers a line with a line."""

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self._program = program
        self._line()

    def side(self) -> Side:
        """The peer as a side."""
        return Side(lambda: self._asked({"approvals": WIDTH}), lambda: self._asked({"entries": ENTRIES}))

    async def _asked(self, request: dict[str, Any]) -> Taken:
        return await asyncio.to_thread(self._answer, request)

    def _answer(self, request: dict[str, Any]) -> Taken:
        assert self._program.stdin is not None, "the program was started with a pipe"
        self._program.stdin.write(json.dumps(request) + "\n")
        self._program.stdin.flush()
        return Taken(**json.loads(self._line()))

    def _line(self) -> str:
        assert self._program.stdout is not None, "the program was started with a pipe"
        line = self._program.stdout.readline()
        if not line:
            raise RuntimeError(f"the peer ended with status {self._program.wait()}: see its errors above")
        return line


def python_of(peer: str) -> Path:
    """The interpreter of a peer's environment, which is made where it is not there."""
    folder = ENVIRONMENTS / "-".join(package.replace("==", "-") for package in PACKAGES[peer])
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        venv.create(folder, with_pip=True, clear=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *PACKAGES[peer]], check=True)
        (folder / "complete").touch()
    return python


@contextmanager
def peer(name: str, database: str, tool: GoodServer) -> Iterator[Side]:
    """A peer over a database."""
    command = [python_of(name), WORK / f"{name}_work.py", database, tool.url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        try:
            yield PeerProcess(program).side()
        finally:
            program.terminate()


@asynccontextmanager
async def ours(folder: Path, **fields: Any) -> AsyncIterator[Side]:
    """This application over a database."""
    folder.mkdir()
    async with bench_at(folder, **fields) as bench:
        yield Side(lambda: _approvals(bench), lambda: _lifecycle(bench))


async def _approvals(bench: Bench) -> Taken:
    waiting = [await asked(bench.alice, bench.server_id) for _ in range(WIDTH)]
    return Taken(*await bench.measured(lambda: bench.approve_all(waiting)))


async def _lifecycle(bench: Bench) -> Taken:
    """Without the time of the rehearsal, whose processor time is in it."""
    learner = bench.stack.learner("carol")
    seconds = []

    async def lived() -> None:
        seconds.append(lifecycle.whole(await lifecycle.lifecycle(learner)))

    _, processor = await bench.measured(lived)
    return Taken(seconds[0], processor)


@asynccontextmanager
async def sides_in(folder: Path) -> AsyncIterator[tuple[dict[str, Side], dict[str, str]]]:
    """All sides that can be had here, and why others cannot."""
    left_out: dict[str, str] = {}
    async with AsyncExitStack() as held:
        tool = held.enter_context(started(folder / "tool", GoodServer))
        sides = {"ours_sqlite": await held.enter_async_context(ours(folder / "ours-sqlite"))}
        try:
            cluster = held.enter_context(running_postgres())
        except pytest.skip.Exception as missing:
            cluster = None
            left_out |= dict.fromkeys(("ours_postgresql", "dbos_postgresql"), str(missing))
        peers = {"dbos_sqlite": ("dbos", f"sqlite:///{folder}/dbos.db")}
        peers["langgraph_sqlite"] = ("langgraph", str(folder / "langgraph.db"))
        if cluster:
            url = f"{cluster.rpartition('/')[0]}/ours".replace("postgresql://", "postgresql+psycopg://")
            with psycopg.connect(cluster, autocommit=True) as connection:
                connection.execute("CREATE DATABASE ours")
            sides["ours_postgresql"] = await held.enter_async_context(
                ours(folder / "ours-postgresql", database_url=url)
            )
            peers["dbos_postgresql"] = ("dbos", f"{cluster.rpartition('/')[0]}/dbos")
        for name, (program, database) in peers.items():
            try:
                sides[name] = held.enter_context(peer(program, database, tool))
            except (subprocess.CalledProcessError, OSError) as missing:
                left_out[name] = str(missing)
        yield sides, left_out


async def measure(rounds: int) -> dict[str, Any]:
    """Runs the rounds and sums them up: medians a side."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        async with sides_in(Path(name)) as (sides, left_out):
            approvals: dict[str, list[Taken]] = {side: [] for side in sides}
            lives: dict[str, list[Taken]] = {side: [] for side in sides}
            for number in range(rounds + 1):
                for side, works in sides.items():
                    taken = await works.approvals(), await works.lifecycle()
                    if number:  # the first round warms up
                        approvals[side].append(taken[0])
                        lives[side].append(taken[1])
    found: dict[str, Any] = {
        side: {
            "approvals_a_second": round(WIDTH / _median(approvals[side], "seconds"), 1),
            "approval_processor_ms": round(_median(approvals[side], "processor") * 1000 / WIDTH, 1),
            "lifecycle_ms": round(_median(lives[side], "seconds") * 1000, 1),
            "lifecycle_processor_ms": round(_median(lives[side], "processor") * 1000, 1),
        }
        for side in sides
    }
    return {"rounds": rounds, "wide": WIDTH, "left_out": left_out, **found}


def _median(taken: list[Taken], field: str) -> float:
    return statistics.median(getattr(one, field) for one in taken)


def main() -> None:
    """Prints the result as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=10)
    print(json.dumps(asyncio.run(measure(parser.parse_args().rounds)), indent=2))


if __name__ == "__main__":
    sys.exit(main())
