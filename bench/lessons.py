"""Thirty recorded lessons, taught and judged: which expectations the product meets, and how long a lesson takes.

Alone: ``python -m bench.lessons [NAME …] [--keep FOLDER]`` teaches some of them; what was drafted, recorded and tried
of each stays in ``FOLDER``.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from bench.temporal_server import temporal_at
from tests.fixtures.stack import running_stack, stack_settings
from tests.lessons.catalogue import LESSONS
from tests.lessons.harness import run_lessons
from tests.lessons.report import reasons_of, table_of, totals
from tests.lessons.verdicts import Outcome

MIN_PASSED = 26
"""Of thirty lessons, how many must meet every expectation."""

MIN_FOUND = 0.9
"""The share of the requests in other words that must find their ability."""

MIN_REFUSED = 0.95
"""The share of the near misses that must find nothing."""


async def outcomes(names: Sequence[str] = (), keep: Path | None = None) -> list[Outcome]:
    """Teaches the lessons of these names, or all; ``keep`` is a new folder for what they leave."""
    chosen = [one for one in LESSONS if not names or one.name in names]
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        async with temporal_at(Path(folder)) as address:
            client = await Client.connect(address, data_converter=pydantic_data_converter)
            async with running_stack(stack_settings(Path(folder), find_by_meaning=True), client) as stack:
                return await run_lessons(stack, chosen, keep or Path(folder) / "lessons")


async def measure(names: Sequence[str] = (), keep: Path | None = None) -> dict[str, Any]:
    """Runs the lessons, prints their table and every reason to standard error, and sums them up."""
    found = await outcomes(names, keep)
    console = Console(stderr=True, width=160)
    console.print(table_of(found))
    for reason in reasons_of(found):
        console.print(reason, markup=False, highlight=False, soft_wrap=True)
    return totals(found) | {
        "each": {
            one.lesson.name: {aspect.value: asdict(verdict) for aspect, verdict in one.verdicts.items()}
            | {"seconds": {name: round(value, 1) for name, value in one.timings.items()}}
            for one in found
        }
    }


def main() -> None:
    """Prints the result as JSON; exit code 1 when a lesson does not pass."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.lessons",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--keep", type=Path, help="A folder that is not there yet.")
    options = parser.parse_args()
    if unknown := set(options.names) - {one.name for one in LESSONS}:
        parser.error(f"no lesson is called {', '.join(sorted(unknown))}")
    result = asyncio.run(measure(options.names, options.keep))
    print(json.dumps(result, indent=2))
    sys.exit(result["passed"] < result["lessons"])


if __name__ == "__main__":
    main()
