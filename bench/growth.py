"""The same commands and reads on a fresh store and on stores that have grown, in one run.

Usage: ``python -m bench.growth [--rounds N] [--sizes N …]``. Prints one JSON object. Each store has its own worker and
API in this process, all on one embedded Temporal server; in each round the stores take turns. A grown store holds
copies of a real lesson with its ability, each with words of its own, half of them of the person who is measured. The
ratios are the medians of a grown store's time to the fresh store's of the same round. The reads are those of a person
who sees none of it, but for the runs to learn from and a late page of the history.
"""

import argparse
import asyncio
import json
import re
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from sqlalchemy import Table, insert, select
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from bench.cost import Cost, timed
from bench.temporal_server import temporal_at
from stores.abilities.derived_files import rebuild_bridge, refresh_snapshot
from stores.mcp.mcp_tables import metadata
from stores.platform.database import Database
from tests.fixtures.learner import Demonstrated, Learner
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
    "observations",
    "observation_counters",
    "boundaries",
    "documents",
    "journal",
)
"""What grows with each lesson and is looked through by commands."""

READS = {
    "capability_bridge": "/api/capabilities/bridge",
    "capability_health": "/api/capabilities/health",
    "recent_runs": "/api/learn/recent-runs",
    "availability": "/api/abilities/availability",
    "history": "/api/learn/history",
    "history_page_100": "/api/learn/history?page=100",
}

READ_BY_OWNER = frozenset({"recent_runs", "history_page_100"})
"""The reads of the user who owns half of the copied sessions."""

COPIES_AT_ONCE = 500

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TEACHER = "somebody-else"
_SYLLABLES = ("ba", "co", "di", "fu", "ga", "he", "ji", "lo", "mu", "na")


@dataclass(frozen=True)
class Task:
    """A small real task with two words of its own: an ability that does the same as another is refused."""

    thing: str
    place: str

    @property
    def goal(self) -> str:
        """What it is for."""
        return f"Rank the {self.thing} of {self.place}"

    @property
    def shown(self) -> tuple[Demonstrated, ...]:
        """What is done for it."""
        table, ranked, packed = (
            f"{self.place}/{self.thing}.csv",
            f"{self.place}/{self.thing}.txt",
            f"{self.place}-{self.thing}.tgz",
        )
        return (
            (f"mkdir -p {self.place}", ()),
            (f"printf 'north,3\\nsouth,9\\n' > {table}", (table,)),
            (f"sort -t, -k2 -nr {table} > {ranked}", (ranked,)),
            (f"tar czf {packed} {self.place}", (packed,)),
        )


def task(number: int, family: str) -> Task:
    """The task of a number; those of one ``family`` share their words with a hundredth of each other."""
    thing, place = divmod(number, 100)
    return Task(f"{_word(thing)}{family}s", f"{_word(place)}{family}")


def _word(number: int) -> str:
    return "".join(_SYLLABLES[int(digit)] for digit in f"{number:02}")


_PATTERN = task(0, "rin")


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
        told = [row for name in ("journal", "observations", "boundaries") for row in map(dict, rows[name])]
        names = {*_ID.findall(json.dumps([dict(session), *told])), content_hash}
        names |= {ability["ability_id"], ability["slug"], _TEACHER, _PATTERN.thing, _PATTERN.place}
        # The longest first: the ability's id holds its slug.
        pattern = re.compile(f"({'|'.join(re.escape(one) for one in sorted(names, key=len, reverse=True))})")
        # Others list all abilities.
        rows["documents"] = [row for row in rows["documents"] if pattern.search(row["path"])]
        self._tables = [
            (
                metadata.tables[name],
                [_split(row, pattern, metadata.tables[name]) for row in found],
            )
            for name, found in rows.items()
        ]

    def copies(self, number: int, owner: str) -> Iterator[tuple[Table, list[dict[str, Any]]]]:
        """The rows of one more lesson of ``owner``."""
        own = task(number, "rin")
        words = {_TEACHER: owner, _PATTERN.thing: own.thing, _PATTERN.place: own.place}
        for table, rows in self._tables:
            yield (
                table,
                [{name: _renamed(value, number, words) for name, value in row.items()} for row in rows],
            )


def _split(row: Any, pattern: re.Pattern[str], table: Table) -> dict[str, Any]:
    counted = "seq" if table.name in ("journal", "observations") else None
    return {
        name: pattern.split(value) if isinstance(value, str) else value
        for name, value in row.items()
        if name != counted
    }


def _renamed(value: Any, number: int, words: Mapping[str, str]) -> Any:
    if not isinstance(value, list):
        return value
    parts: list[str] = [*value]
    for place in range(1, len(parts), 2):
        name = parts[place]
        fixed = len(name) in (36, 64) and "." not in name and set(name) <= set("0123456789abcdef-")
        # The beginnings of ids that were made in the same millisecond are the same.
        own = f"{name[:-12]}{int(name[-12:], 16) ^ number << 34:012x}" if fixed else f"{name}-{number:x}"
        parts[place] = words.get(name, own)
    return "".join(parts)


async def grow(stack: Stack, lessons: int, owner: str) -> None:
    """Has a lesson taught, and copies it ``lessons`` times."""
    teacher = stack.learner(_TEACHER)
    await teach(teacher, _PATTERN, allow_private_install=True)
    await teacher.propose()
    assert await teacher.prove() == "ready_for_review", "what is copied must pass its checks"
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


async def teach(learner: Learner, lesson: Task, **fields: Any) -> Cost:
    """Demonstrates a task, up to the stop; the cost of one command."""
    await learner.create(**fields)
    await learner.act("start")
    command = await timed(lambda: learner.act("mark-goal", {"goal_description": lesson.goal}))
    await learner.observe(lesson.shown)
    await learner.act("stop")
    return command


async def install(alice: Learner, lesson: Task) -> dict[str, Cost]:
    """Teaches and installs one ability; the cost of what is measured of it."""
    command = await teach(alice, lesson)
    propose = await timed(alice.propose)
    validate = await timed(alice.prove)
    assert await alice.state() == "ready_for_review", "what is measured must pass its checks"

    # Answered when the install has ended.
    installed = await timed(lambda: alice.propose_act("approve"))
    assert await alice.state() == "approved", "what is measured must be installed"
    return {
        "command": command,
        "propose": propose,
        "validate": validate,
        "install": installed,
    }


async def measure(rounds: int, sizes: tuple[int, ...] = SIZES) -> dict[str, Any]:
    """Grows the stores, runs the rounds, and sums them up."""
    taken: dict[int, dict[str, list[Cost]]] = {size: {} for size in (0, *sizes)}
    # The stores share one Temporal, and an ability's workflow is named after it: none may be taught in two of them.
    families = dict(zip(taken, ("vol", "tes", "ker", "pim", "sud"), strict=False))
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
                    found = await _round(stacks[size], task(number * 101, families[size]))
                    for what, cost in found.items():
                        if number:  # the first round warms up
                            taken[size].setdefault(what, []).append(cost)
    return {"rounds": rounds, **summary(taken)}


async def _round(stack: Stack, lesson: Task) -> dict[str, Cost]:
    await asyncio.to_thread(stack.services.pending.require_settled)
    alice, carol = stack.learner("alice"), stack.learner("carol")
    found = await install(alice, lesson)
    await asyncio.to_thread(stack.services.pending.require_settled)
    for name, path in READS.items():
        reader = alice if name in READ_BY_OWNER else carol
        found[name] = await timed(partial(reader.ok, "GET", path))
    return found


def summary(taken: Mapping[int, Mapping[str, Sequence[Cost]]]) -> dict[str, Any]:
    """Of each store the medians in milliseconds, and of grown ones the medians of their ratios to the fresh one."""
    result: dict[str, Any] = {}
    for size, costs in taken.items():
        figures: dict[str, Any] = {}
        for unit in ("seconds", "processor"):
            of = attrgetter(unit)
            figures[unit] = {
                "ms": {
                    what: round(statistics.median(map(of, found)) * 1000, 1) for what, found in costs.items()
                }
            }
            if size:
                figures[unit]["ratio"] = {
                    what: round(
                        statistics.median(
                            of(one) / of(floor) for one, floor in zip(found, taken[0][what], strict=True)
                        ),
                        2,
                    )
                    for what, found in costs.items()
                }
        result[f"of_{size}" if size else "fresh"] = figures
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
