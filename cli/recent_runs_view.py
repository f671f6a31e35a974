"""How runs that can be learned from are shown."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from contracts.learning.recent_runs import RecentRun


def recent_runs_view(runs: Sequence[RecentRun], total: int) -> RenderableType:
    """A page of runs; equal numbers in the first column show the same task."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("task", "run", "title", "actions", "succeeded", "captured"):
        table.add_column(column, no_wrap=column == "run")
    for run, task in zip(runs, _tasks(runs), strict=True):
        table.add_row(
            str(task),
            run.trace_id,
            escape(run.title),
            str(run.actions),
            f"{run.success_share:.0%}",
            run.captured_until.strftime("%Y-%m-%d %H:%M"),
        )
    return Group(table, Text(f"{len(runs)} of {total}", style="dim"))


def _tasks(runs: Sequence[RecentRun]) -> list[int]:
    """A number for each run; one that is compatible with an earlier run has that run's."""
    numbers: dict[str, int] = {}
    for run in runs:
        earlier = [numbers[trace] for trace in run.compatible_with if trace in numbers]
        numbers[run.trace_id] = min(earlier) if earlier else max(numbers.values(), default=0) + 1
    return list(numbers.values())
