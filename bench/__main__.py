"""Runs all benchmarks, each beside its floor, and reports which bounds hold.

Usage: ``python -m bench [--rounds N] [--only NAME …] [--write]``. Prints one JSON object to standard output, and a
table to standard error; ``--write`` puts the figures of the benchmarks that ran into docs/benchmarks.md as well. Ends
with status 1 when a bound is missed. A busy machine is warned of: its ratios say little, the counters stay exact.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench import (
    dispatch,
    dispatch_waiting,
    growth,
    ingest,
    lessons,
    lifecycle,
    lookup,
    operations,
    peers,
    restart,
    skills,
    snapshot,
    sse,
)

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- figures of the last runs: python -m bench --write -->", "<!-- end of the figures -->"
HEADER = (
    "| benchmark | figure | measured | bound | holds | when, with a load of |",
    "|---|---|---|---|---|---|",
)

CALM_LOAD_A_CPU = 0.5
"""Above this load average for each processor the machine counts as busy."""


@dataclass(frozen=True)
class Bound:
    """What one figure of a benchmark has to keep: at least or at most ``limit``; without one it is only shown."""

    benchmark: str
    figure: str
    limit: float | None = None
    at_least: bool = False

    def holds(self, value: float) -> bool:
        """Whether ``value`` keeps it."""
        if self.limit is None:
            return True
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        if self.limit is None:
            return "-"
        return f"{'>=' if self.at_least else '<='} {self.limit:g}"


BOUNDS = (
    Bound("lifecycle", "temporal_calls", lifecycle.MAX_CALLS),
    Bound("lifecycle", "history_events", lifecycle.MAX_EVENTS),
    Bound("lifecycle", "ratio_to_bare_updates"),
    Bound("operations", "counters.approval.statements", operations.MAX_STATEMENTS["approval"]),
    Bound("operations", "counters.command.statements", operations.MAX_STATEMENTS["command"]),
    Bound("operations", "counters.install.statements", operations.MAX_STATEMENTS["install"]),
    Bound("operations", "times.answer_ratio"),
    Bound("operations", "times.effect_ratio"),
    Bound("operations", "times.command_ratio"),
    Bound("operations", "rates.wide_1.ratio"),
    Bound("operations", "rates.wide_8.ratio"),
    Bound("operations", "rates.wide_16.ratio"),
    Bound("operations", "rates.wide_32.ratio"),
    Bound("operations", "rates.wide_1.processor_ratio"),
    Bound("operations", "rates.wide_16.processor_ratio"),
    Bound("peers", "ours_sqlite.approvals_a_second"),
    Bound("peers", "ours_sqlite.lifecycle_ms"),
    Bound("peers", "ours_postgresql.approvals_a_second"),
    Bound("peers", "ours_postgresql.lifecycle_ms"),
    Bound("peers", "dbos_sqlite.approvals_a_second"),
    Bound("peers", "dbos_sqlite.lifecycle_ms"),
    Bound("peers", "dbos_postgresql.approvals_a_second"),
    Bound("peers", "dbos_postgresql.lifecycle_ms"),
    Bound("peers", "langgraph_sqlite.approvals_a_second"),
    Bound("peers", "langgraph_sqlite.lifecycle_ms"),
    Bound("ingest", "rows.ratio", 0.5, at_least=True),
    Bound("ingest", "request.ratio", 0.5, at_least=True),
    Bound("ingest", "http.ratio", 0.5, at_least=True),
    Bound("lookup", "ratio", 1.5),
    Bound("lookup", "ratio_to_fts5", 1.0),
    Bound("lookup", "ratio_to_numpy"),
    Bound("lookup", "equal_answers", 1, at_least=True),
    Bound("snapshot", "ratio", 2.0),
    Bound("snapshot", "rebuild_ratio"),
    Bound("sse", "delivered_ratio", 0.7, at_least=True),
    Bound("sse", "lag_ratio"),
    Bound("dispatch", "ratio", dispatch.MAX_RATIO),
    Bound("dispatch", "over_http.ratio", dispatch.MAX_RATIO),
    Bound("dispatch", "over_http.ratio_to_own_client", dispatch.MAX_RATIO_TO_OWN_CLIENT),
    Bound("growth", "of_1000.seconds.ratio.command", growth.MAX_COMMAND_RATIO),
    Bound("growth", "of_1000.seconds.ratio.install", growth.MAX_INSTALL_RATIO),
    Bound("growth", "of_10000.seconds.ratio.command", growth.MAX_COMMAND_RATIO),
    Bound("growth", "of_10000.seconds.ratio.install", growth.MAX_INSTALL_RATIO),
    Bound("growth", "of_10000.seconds.ms.history_page_100"),
    Bound("restart", "fresh.median_seconds", restart.MAX_SECONDS),
    Bound("restart", "of_10000.median_seconds", restart.MAX_SECONDS),
    Bound("dispatch_waiting", "kib_each", dispatch_waiting.MAX_KIB_EACH),
    Bound("dispatch_waiting", "core_share", dispatch_waiting.MAX_CORE_SHARE),
    Bound("dispatch_waiting", "first_answer_seconds", dispatch_waiting.MAX_ANSWER_SECONDS),
    Bound("skills", "ratio", skills.MAX_RATIO),
    Bound("skills", "cached_ratio", skills.MAX_CACHED_RATIO),
    Bound("lessons", "passed", lessons.MIN_PASSED, at_least=True),
    Bound("lessons", "fit.found", lessons.MIN_FOUND, at_least=True),
    Bound("lessons", "fit.refused", lessons.MIN_REFUSED, at_least=True),
    Bound("lessons", "seconds_a_lesson"),
)


def benchmarks(rounds: int) -> dict[str, Callable[[], dict[str, Any]]]:
    """All of them, with the work of each round as its own module has it."""
    return {
        "lifecycle": lambda: asyncio.run(lifecycle.measure(rounds)),
        "operations": lambda: asyncio.run(operations.measure(rounds)),
        "ingest": lambda: ingest.measure(clients=8, batches=20, rounds=rounds),
        "lookup": lambda: lookup.measure(10_000, 10 * rounds),
        "snapshot": lambda: snapshot.measure(10_000, rounds),
        "sse": lambda: sse.measure(clients=500, rate=20, seconds=5, rounds=max(2, rounds // 3)),
        "dispatch": lambda: asyncio.run(dispatch.measure(rounds)),
        "skills": lambda: asyncio.run(skills.measure(rounds)),
        "lessons": lambda: asyncio.run(lessons.measure()),
        "growth": lambda: asyncio.run(growth.measure(rounds, growth.SIZES)),
        "peers": lambda: asyncio.run(peers.measure(rounds)),
        "restart": lambda: restart.measure(max(3, rounds // 2)),
        "dispatch_waiting": lambda: asyncio.run(dispatch_waiting.measure(dispatch_waiting.WAITING, 3)),
    }


def figure(results: dict[str, Any], bound: Bound) -> float | None:
    """The value that a bound is about; None where the benchmark left it out and says why (``left_out``)."""
    value: Any = results[bound.benchmark]
    names = bound.figure.split(".")
    if names[0] in value.get("left_out", ()):
        return None
    for name in names:
        value = value[name]
    return float(value)


def table_of(results: dict[str, Any], bounds: list[Bound]) -> Table:
    """The figures beside their bounds, for people."""
    table = Table("benchmark", "figure", "measured", "bound", "holds")
    for bound in bounds:
        value = figure(results, bound)
        if value is None:
            continue
        verdict = "" if bound.limit is None else "yes" if bound.holds(value) else "NO"
        table.add_row(bound.benchmark, bound.figure, f"{value:g}", str(bound), verdict)
    return table


def rows_of(results: dict[str, Any], bounds: list[Bound], remark: str) -> dict[str, str]:
    """The figures as rows of a Markdown table, by what they are about."""
    rows: dict[str, str] = {}
    for bound in bounds:
        value = figure(results, bound)
        if value is not None:
            verdict = "" if bound.limit is None else "yes" if bound.holds(value) else "**no**"
            key = f"| {bound.benchmark} | `{bound.figure}` |"
            rows[key] = f"{key} {value:g} | {bound} | {verdict} | {remark} |"
    return rows


def write_page(rows: dict[str, str]) -> None:
    """Puts rows into the table of docs/benchmarks.md; those of other benchmarks stay as an earlier run left them."""
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    table, end, after = rest.partition(END)
    kept = {row[: row.index("|", row.index("|", 2) + 1) + 1]: row for row in table.strip().splitlines()[2:]}
    kept |= rows
    order = [f"| {bound.benchmark} | `{bound.figure}` |" for bound in BOUNDS]
    lines = [*HEADER, *(kept[key] for key in order if key in kept)]
    PAGE.write_text(before + begin + "\n" + "\n".join(lines) + "\n" + end + after, encoding="utf-8")


def main() -> int:
    """Runs what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=sorted(benchmarks(1)), default=None)
    parser.add_argument("--write", action="store_true", help="put the figures into docs/benchmarks.md")
    options = parser.parse_args()
    console = Console(stderr=True)
    load, cpus = os.getloadavg()[0], os.cpu_count() or 1
    busy = load > CALM_LOAD_A_CPU * cpus
    if busy:
        console.print(f"The machine is busy (load {load:.1f} on {cpus} processors): trust the counters only.")
    chosen = {
        n: run for n, run in benchmarks(options.rounds).items() if not options.only or n in options.only
    }
    results = {name: run() for name, run in chosen.items()}
    bounds = [bound for bound in BOUNDS if bound.benchmark in results]
    found = [(bound, figure(results, bound)) for bound in bounds]
    missed = [
        f"{b.benchmark}.{b.figure} {b}" for b, value in found if value is not None and not b.holds(value)
    ]
    machine = {"processors": cpus, "load_before": round(load, 1), "busy": busy}
    print(json.dumps({"machine": machine, "results": results, "missed": missed}, indent=2))
    console.print(table_of(results, bounds))
    if options.write:
        write_page(rows_of(results, bounds, f"{datetime.now(UTC):%Y-%m-%d}, {load:.1f}"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
