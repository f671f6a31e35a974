"""Which traces of a mined task the session that makes a skill of it starts from.

Where they differ, the draft gets a parameter; a trace that cannot be compared with the others stays out.
"""

from collections.abc import Iterable, Sequence

from contracts.learning.observation import ObservedActionEvent
from contracts.learning.source_run import MAX_RUNS, SourceRun
from domain.learning.comparison import compare
from domain.learning.steps import DemonstratedStep, all_events


def chosen_runs(
    shown: Iterable[tuple[SourceRun, Sequence[DemonstratedStep]]],
) -> tuple[SourceRun, ...]:
    """The first run of ``shown`` that has any step, and those after it that can be compared with the chosen."""
    chosen: list[tuple[ObservedActionEvent, ...]] = []
    runs: list[SourceRun] = []
    for run, steps in shown:
        events = all_events(steps)
        if len(runs) == MAX_RUNS:
            break
        if events and (not chosen or compare([*chosen, events]).compatible):
            chosen.append(events)
            runs.append(run)
    return tuple(runs)
