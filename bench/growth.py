"""The same commands and reads on a fresh store and on stores that have grown, in one run.

Usage: ``python -m bench.growth [--rounds N] [--sizes N …]``. Prints one JSON object. Each store has its own worker and
API in this process, all on one embedded Temporal server; in each round the stores take turns. A grown store holds
copies of a real lesson with its ability, half of them of the person who is measured. The ratios are the medians of a
grown store's time to the fresh store's of the same round. The reads are those of a person who sees none of it, but
for the runs to learn from.
"""

import argparse
import asyncio
import json
import re
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Table, insert, select
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from bench.temporal_server import temporal_at
from stores.abilities.derived_files import rebuild_bridge, refresh_snapshot
from stores.mcp.mcp_tables import metadata
from stores.platform.database import Database
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack, running_stack, stack_settings

SIZES = (1_000, 10_000)
MAX_COMMAND_RATIO = 1.2
MAX_INSTALL_RATIO = 1.5

COPIED = (
    "learn_sessions",
    "proposals",
    "validation_runs",
    "install_sagas",
    "abilities",
    "ability_versions",
    "capabilities",
    "capability_health",
    "journal",
)
"""What grows with each lesson and is looked through by commands; contents of files are found by their names alone."""

READS = {
    "capability_bridge": "/api/capabilities/bridge",
    "capability_health": "/api/capabilities/health",
    "recent_runs": "/api/learn/recent-runs",
    "availability": "/api/abilities/availability",
    "history": "/api/learn/history",
}

COPIES_AT_ONCE = 500

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TEACHER = "somebody-else"


class Lesson:
    """Rows of one lesson, as a pattern for others of the same shape."""

    def __init__(self, database: Database) -> None:
        with database.read() as connection:
            (ability,) = connection.execute(select(metadata.tables["abilities"])).mappings()
            (session,) = connection.execute(select(metadata.tables["learn_sessions"])).mappings()
            (version,) = connection.execute(select(metadata.tables["ability_versions"])).mappings()
            rows = {
                name: list(connection.execute(select(metadata.tables[name])).mappings()) for name in COPIED
            }
        content_hash: str = json.loads(version["body"])["content_hash"]
        names = {*_ID.findall(json.dumps([dict(session), *map(dict, rows["journal"])])), content_hash}
        names |= {ability["ability_id"], ability["slug"], _TEACHER}
        # The longest first: the ability's id holds its slug.
        pattern = re.compile(f"({'|'.join(re.escape(one) for one in sorted(names, key=len, reverse=True))})")
        self._tables = [
            (
                metadata.tables[name],
                [_split(row, pattern, metadata.tables[name]) for row in found],
            )
            for name, found in rows.items()
        ]

    def copies(self, number: int, owner: str) -> Iterator[tuple[Table, list[dict[str, Any]]]]:
        """The rows of one more lesson of ``owner``."""
        tail = f"{number:012x}"
        for table, rows in self._tables:
            yield (
                table,
                [{name: _renamed(value, tail, owner) for name, value in row.items()} for row in rows],
            )


def _split(row: Any, pattern: re.Pattern[str], table: Table) -> dict[str, Any]:
    counted = "seq" if table.name == "journal" else None
    return {
        name: pattern.split(value) if isinstance(value, str) else value
        for name, value in row.items()
        if name != counted
    }


def _renamed(value: Any, tail: str, owner: str) -> Any:
    if not isinstance(value, list):
        return value
    parts: list[str] = [*value]
    for place in range(1, len(parts), 2):
        name = parts[place]
        fixed = len(name) in (36, 64) and "." not in name and set(name) <= set("0123456789abcdef-")
        parts[place] = owner if name == _TEACHER else name[:-12] + tail if fixed else f"{name}-{tail}"
    return "".join(parts)


async def grow(stack: Stack, lessons: int, owner: str) -> None:
    """Has a lesson taught, and copies it ``lessons`` times."""
    teacher = stack.learner(_TEACHER)
    await teacher.teach("Tidy the calendar of the garden club", allow_private_install=True)
    await teacher.propose_act("install", {"install_lane": "experimental_private"})
    if not lessons:
        return
    lesson = Lesson(stack.database)
    for start in range(0, lessons, COPIES_AT_ONCE):
        rows: dict[Table, list[dict[str, Any]]] = {}
        for number in range(start, min(start + COPIES_AT_ONCE, lessons)):
            for table, copies in lesson.copies(number + 1, owner if number % 2 else f"other-{number}"):
                rows.setdefault(table, []).extend(copies)
        with stack.database.write() as connection:
            for table, copies in rows.items():
                if copies:
                    connection.execute(insert(table), copies)
    with stack.database.write() as connection:
        rebuild_bridge(connection, datetime.now(UTC))
        refresh_snapshot(connection, datetime.now(UTC))


async def timed(act: Callable[[], Awaitable[object]]) -> float:
    """Seconds that ``act`` takes."""
    begun = time.perf_counter()
    await act()
    return time.perf_counter() - begun


async def lesson(alice: Learner, goal: str) -> dict[str, float]:
    """Teaches and installs one ability; the time of what is measured of it."""
    await alice.create()
    await alice.act("start")
    command = await timed(lambda: alice.act("mark-goal", {"goal_description": goal}))
    await alice.observe()
    await alice.act("stop")
    propose = await timed(alice.propose)
    validate = await timed(alice.prove)
    assert await alice.state() == "ready_for_review", "what is measured must pass its checks"

    async def install() -> None:
        await alice.propose_act("approve")
        state = await alice.settled("ready_for_review", "approved", "installing")
        assert state == "installed", state

    return {
        "command": command,
        "propose": propose,
        "validate": validate,
        "install": await timed(install),
    }


async def measure(rounds: int, sizes: tuple[int, ...] = SIZES) -> dict[str, Any]:
    """Grows the stores, runs the rounds, and sums them up."""
    taken: dict[int, dict[str, list[float]]] = {size: {} for size in (0, *sizes)}
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        async with temporal_at(Path(name)) as address, AsyncExitStack() as opened:
            client = await Client.connect(address, data_converter=pydantic_data_converter)
            stacks: dict[int, Stack] = {}
            for size in taken:
                folder = Path(name) / str(size)
                folder.mkdir()
                stacks[size] = await opened.enter_async_context(running_stack(stack_settings(folder), client))
                await grow(stacks[size], size, "alice")
            for number in range(rounds + 1):
                order = list(stacks) if number % 2 else list(reversed(stacks))
                for size in order:
                    found = await _round(stacks[size], number)
                    for what, seconds in found.items():
                        if number:  # the first round warms up
                            taken[size].setdefault(what, []).append(seconds)
    return {"rounds": rounds, **summary(taken)}


async def _round(stack: Stack, number: int) -> dict[str, float]:
    await asyncio.to_thread(stack.projector.catch_up)
    alice, carol = stack.learner("alice"), stack.learner("carol")
    found = await lesson(alice, f"Summarise the sales figures of round {number}")
    await asyncio.to_thread(stack.projector.catch_up)
    for name, path in READS.items():
        reader = alice if name == "recent_runs" else carol
        found[name] = await timed(partial(reader.ok, "GET", path))
    return found


def summary(taken: dict[int, dict[str, list[float]]]) -> dict[str, Any]:
    """Of each store the medians in milliseconds, and of grown ones the medians of their ratios to the fresh one."""
    fresh = taken[0]
    result: dict[str, Any] = {}
    for size, times in taken.items():
        medians = {what: round(statistics.median(seconds) * 1000, 1) for what, seconds in times.items()}
        result[f"of_{size}" if size else "fresh"] = {"ms": medians}
        if size:
            result[f"of_{size}"]["ratio"] = {
                what: round(
                    statistics.median(one / floor for one, floor in zip(seconds, fresh[what], strict=True)), 2
                )
                for what, seconds in times.items()
            }
    return result


def main() -> None:
    """Runs the rounds and prints the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options = parser.parse_args()
    print(json.dumps(asyncio.run(measure(options.rounds, tuple(options.sizes))), indent=2))


if __name__ == "__main__":
    main()
