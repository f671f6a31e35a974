"""Counts the product files that one command runs through, by tracing the application while it is made.

Usage: ``python -m bench.footprint [--files] [--json]``, in the root of the tree. API and worker run in this process on
an embedded Temporal server. A file counts when a function of it is entered during the command, in any thread; modules
and classes that are only imported do not count, nor do functions that an idle interval of the same length enters too
(``with loops`` counts those). Each command is traced the first time it is made.
"""

import argparse
import asyncio
import inspect
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from rich.console import Console
from rich.table import Table
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from bench.temporal_server import temporal_at
from contracts.workflow_ids import mcp_dispatch_id
from tests.fixtures.mcp_servers import GoodServer, started
from tests.fixtures.stack import Stack
from tests.fixtures.tool_calls import tool_stack, tool_user

SETTLE_SECONDS = 1.0
"""How long the loops that write files are traced after the command has answered."""
NOT_THE_PRODUCT = ("tests", "bench", "docs")

Command = Callable[[], Awaitable[object]]


def product_files(root: Path) -> dict[str, str]:
    """Every Python file of the product that git knows: its path relative to ``root`` by its absolute one."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return {str(root / name): name for name in listed if name.split("/")[0] not in NOT_THE_PRODUCT}


class FunctionTracer:
    """Notes which functions of some files are entered, in every thread that starts after ``watching``."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._entered: set[CodeType] | None = None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Has this thread and those started in the block profiled."""
        threading.setprofile(self._on_event)
        sys.setprofile(self._on_event)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # pyright: ignore[reportArgumentType]

    async def during(self, command: Command) -> set[CodeType]:
        """The functions that are entered until ``command`` is done."""
        entered: set[CodeType] = set()
        self._entered = entered
        try:
            await command()
        finally:
            self._entered = None
        return entered

    def files_of(self, functions: set[CodeType]) -> list[str]:
        """The files that hold the functions."""
        return sorted({self._files[code.co_filename] for code in functions})

    def _on_event(self, frame: FrameType, event: str, _argument: object) -> None:
        entered, code = self._entered, frame.f_code
        if entered is None or event != "call" or code in entered or code.co_filename not in self._files:
            return
        if code.co_flags & inspect.CO_OPTIMIZED and not self._is_importing(frame):
            entered.add(code)

    def _is_importing(self, frame: FrameType | None) -> bool:
        """Whether a module of the product is being executed; the sandbox executes modules anew for each workflow."""
        while frame is not None:
            if frame.f_code.co_name == "<module>" and frame.f_code.co_filename in self._files:
                return True
            frame = frame.f_back
        return False


@dataclass(frozen=True)
class Footprint:
    """The files of one command: those it runs through, and with those of the loops that run anyway."""

    files: list[str]
    with_loops: list[str]


async def traced(tracer: FunctionTracer, command: Command) -> Footprint:
    """Makes the command, waits until its files are written, and then is idle for as long."""

    async def settled() -> None:
        await command()
        await asyncio.sleep(SETTLE_SECONDS)

    begun = time.monotonic()
    entered = await tracer.during(settled)
    taken = time.monotonic() - begun
    idle = await tracer.during(lambda: asyncio.sleep(taken))
    return Footprint(tracer.files_of(entered - idle), tracer.files_of(entered))


@asynccontextmanager
async def application(folder: Path) -> AsyncIterator[Stack]:
    """API and worker in this process."""
    async with temporal_at(folder) as address:
        client = await Client.connect(address, data_converter=pydantic_data_converter)
        async with tool_stack(folder, client) as stack:
            yield stack


async def measure(tracer: FunctionTracer) -> dict[str, Footprint]:
    """The footprint of each command by its name."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name, started(Path(name), GoodServer) as server:
        async with application(Path(name)) as stack:
            alice, agent = stack.learner(), tool_user(stack)
            await agent.register(server)
            await agent.looked_at()
            await alice.demonstrate()
            draft = await traced(tracer, alice.propose)
            assert await alice.prove() == "ready_for_review", "the session must end where it is expected"

            async def ask_first() -> None:
                waiting = await agent.ask("append_line", {"line": "x"})
                assert waiting["status"] == "pending_approval", waiting
                await agent.approve(waiting["dispatch_id"])
                ended = stack.client.get_workflow_handle(mcp_dispatch_id(waiting["dispatch_id"]))
                assert (await ended.result())["status"] == "completed"

            return {
                "approve a proposal": await traced(tracer, lambda: alice.propose_act("approve")),
                "ask-first tool call": await traced(tracer, ask_first),
                "draft a proposal": draft,
            }


def size_of(files: Mapping[str, str]) -> dict[str, Any]:
    """Files, lines, and the folder with most modules."""
    folders = Counter(str(Path(name).parent) for name in files.values())
    largest, modules = folders.most_common(1)[0]
    lines = sum(len(Path(path).read_text(encoding="utf-8").splitlines()) for path in files)
    return {"files": len(files), "lines": lines, "largest_folder": largest, "modules_in_it": modules}


def as_table(found: Mapping[str, Footprint]) -> Table:
    """The figures for people."""
    table = Table("command", "product files", "with loops")
    for name, footprint in found.items():
        table.add_row(name, str(len(footprint.files)), str(len(footprint.with_loops)))
    return table


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument("--files", action="store_true", help="name the files of each command")
    options = parser.parse_args()
    files = product_files(Path.cwd())
    tracer = FunctionTracer(files)
    with tracer.watching():
        found = asyncio.run(measure(tracer))
    size = size_of(files)
    if options.json:
        commands = {
            name: {"files": len(one.files), "with_loops": len(one.with_loops)}
            | ({"names": one.files} if options.files else {})
            for name, one in found.items()
        }
        print(json.dumps({"product": size, "commands": commands}, indent=2))
        return
    console = Console()
    console.print(f"product: {size['files']} files, {size['lines']} lines; ", end="")
    console.print(f"largest folder: {size['largest_folder']} ({size['modules_in_it']} modules)")
    console.print(as_table(found))
    if options.files:
        for name, one in found.items():
            console.print(f"\n{name}:\n  " + "\n  ".join(one.files), highlight=False)


if __name__ == "__main__":
    main()
