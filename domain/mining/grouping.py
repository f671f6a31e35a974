"""Group mined traces into candidates: similarity, support, verdict, wording, and the source runs of a draft.

DOC3 §0.4, §0.4F. Pure and deterministic: the same traces in any order give the same groups, scores and verdicts.
Where the traces of a group differ, the draft gets a parameter; one that cannot be compared stays out.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from contracts.abilities.control_surface import ControlSurface
from contracts.base import clipped
from contracts.learning.interpretation import ProjectScope
from contracts.learning.observation import ObservedActionEvent
from contracts.learning.session import MAX_RUNS, SourceRun
from contracts.learning.validation import SafetyClass
from contracts.mining.candidates import MiningGate, TraceSourceMode, WorkflowTraceCluster
from domain.learning.comparison.comparison import compare
from domain.learning.interpretation.naming import title_from_goal
from domain.learning.interpretation.steps import DemonstratedStep, all_events
from domain.mining.traces import MinedTrace, TraceStanding, goal_words, normalised_goal

GOALS_ALIKE_FROM = 0.6
"""Two goals with this share of their words in common (0..1, Jaccard) are wordings of one goal."""

STEPS_ALIKE_UPTO = 0.4
"""Traces without a stated goal show one task when their steps differ by no more than this (0..1)."""


@dataclass(frozen=True)
class MiningRules:
    """When a group is enough: the person's minimum, and the limits of decisions "Numbers"."""

    min_traces: int = 3
    max_variation: float = 0.4
    min_coverage: float = 0.6


@dataclass(frozen=True)
class TraceGroup:
    """The traces of one task, by id. ``around`` are those that only bear on the verdict."""

    successful: tuple[MinedTrace, ...]
    failed: tuple[MinedTrace, ...] = ()
    around: tuple[MinedTrace, ...] = ()

    @property
    def counted(self) -> tuple[MinedTrace, ...]:
        """What may become part of a skill's evidence, failures included."""
        return (*self.successful, *self.failed)


def step_distance(one: Sequence[str], other: Sequence[str]) -> float:
    """How far two step sequences are apart: edits from one to the other over the longer one's length, 0..1."""
    if one == other:
        return 0.0
    return _edits(one, other) / max(len(one), len(other))


def variation_score(traces: Sequence[MinedTrace]) -> float:
    """How differently the task was done: the step distance of the two least alike traces, 0..1.

    0 means that every trace took the same steps. The largest distance, not a mean, so that repeating one way
    of doing it never hides another; a trace like one that is there already changes nothing.
    """
    ways = sorted({trace.steps for trace in traces})
    return max((step_distance(a, b) for a, b in combinations(ways, 2)), default=0.0)


def verification_coverage(traces: Sequence[MinedTrace]) -> float:
    """How much of the work can be checked: the share of steps with a visible outcome, averaged, 0..1.

    An outcome is visible where a file was made, changed or removed, a state was reported, or a check passed.
    """
    shares = [trace.verified / len(trace.steps) for trace in traces if trace.steps]
    return min(1.0, math.fsum(shares) / len(shares)) if shares else 0.0


def group_traces(traces: Sequence[MinedTrace]) -> tuple[TraceGroup, ...]:
    """Groups traces of one person by task: one app family, and goals or, unstated, steps alike.

    Likeness chains: a trace belongs to a group when it is like any of it. Groups without a trace that counts
    are left out; the order is that of their first trace's id.
    """
    ordered = sorted(traces, key=lambda trace: trace.trace_id)
    words = {trace.trace_id: goal_words(trace.goal) for trace in ordered}
    group_of = {trace.trace_id: trace.trace_id for trace in ordered}

    def root(trace_id: str) -> str:
        while group_of[trace_id] != trace_id:
            trace_id = group_of[trace_id]
        return trace_id

    for one, other in combinations(ordered, 2):
        if _show_one_task(one, other, words):
            # The smaller id leads, whatever the order of joining.
            first, second = sorted((root(one.trace_id), root(other.trace_id)))
            group_of[second] = first
    members: dict[str, list[MinedTrace]] = {}
    for trace in ordered:
        members.setdefault(root(trace.trace_id), []).append(trace)
    groups = (_group(found) for found in members.values())
    return tuple(group for group in groups if group.counted)


def closed_gates(group: TraceGroup, rules: MiningRules) -> tuple[MiningGate, ...]:
    """The gates that the group does not pass; none: a skill may be suggested (DOC3 §0.4F)."""
    traces = group.successful
    standings = {trace.standing for trace in group.around}
    passed: Mapping[MiningGate, bool] = {
        MiningGate.ENOUGH_TRACES: len(traces) >= rules.min_traces,
        MiningGate.LOW_VARIATION: variation_score(traces) <= rules.max_variation,
        MiningGate.VERIFIED: verification_coverage(traces) >= rules.min_coverage,
        MiningGate.SAFE: TraceStanding.QUARANTINED not in standings
        and all(trace.safety is not SafetyClass.HIGH for trace in group.counted),
        MiningGate.NO_FRICTION: not any(trace.friction for trace in (*group.counted, *group.around)),
        MiningGate.NOT_COVERED: TraceStanding.COVERED not in standings,
        MiningGate.REUSABLE: bool(common_steps(traces)),
    }
    return tuple(gate for gate in MiningGate if not passed[gate])


def common_steps(traces: Sequence[MinedTrace]) -> frozenset[str]:
    """The steps that every trace took: the reusable core."""
    kinds = [frozenset(trace.steps) for trace in traces]
    return frozenset[str]().union(*kinds[:1]).intersection(*kinds[1:])


def representative(traces: Sequence[MinedTrace]) -> MinedTrace:
    """The trace that stands for all: the least far from the others, of equals the newest."""

    def farness(trace: MinedTrace) -> float:
        return math.fsum(step_distance(trace.steps, other.steps) for other in traces)

    newest_first = sorted(traces, key=lambda trace: (trace.captured_at, trace.trace_id), reverse=True)
    return min(newest_first, key=farness)


def _show_one_task(one: MinedTrace, other: MinedTrace, words: Mapping[str, frozenset[str]]) -> bool:
    if one.app_family != other.app_family:
        return False
    mine, theirs = words[one.trace_id], words[other.trace_id]
    if mine and theirs:
        return len(mine & theirs) / len(mine | theirs) >= GOALS_ALIKE_FROM
    return bool(one.steps and other.steps) and step_distance(one.steps, other.steps) <= STEPS_ALIKE_UPTO


def _group(traces: Sequence[MinedTrace]) -> TraceGroup:
    counting = [trace for trace in traces if trace.standing is TraceStanding.COUNTS]
    return TraceGroup(
        successful=tuple(trace for trace in counting if trace.succeeded),
        failed=tuple(trace for trace in counting if not trace.succeeded),
        around=tuple(trace for trace in traces if trace.standing is not TraceStanding.COUNTS),
    )


def _edits(one: Sequence[str], other: Sequence[str]) -> int:
    """The fewest steps to add, drop or replace on the way from one sequence to the other."""
    row = list(range(len(other) + 1))
    for i, step in enumerate(one, start=1):
        diagonal, row[0] = row[0], i
        for j, rival in enumerate(other, start=1):
            replaced = diagonal + (step != rival)
            diagonal = row[j]
            row[j] = min(row[j] + 1, row[j - 1] + 1, replaced)
    return row[-1]


def cluster_of(
    group: TraceGroup, cluster_id: str, created_at: datetime, now: datetime
) -> WorkflowTraceCluster:
    """The group as it is kept; it needs at least one successful trace."""
    return WorkflowTraceCluster(
        cluster_id=cluster_id,
        normalized_goal=cluster_goal(group),
        app_family=clipped(group.successful[0].app_family, 80),
        source_mode=source_mode(group),
        successful_trace_ids=tuple(trace.trace_id for trace in group.successful),
        failed_trace_ids=tuple(trace.trace_id for trace in group.failed),
        dominant_control_surfaces=surfaces_of(group),
        variation_score=variation_score(group.successful),
        verification_coverage_score=verification_coverage(group.successful),
        project_specificity=project_specificity(group),
        created_at=created_at,
        updated_at=now,
    )


def goal_of(group: TraceGroup) -> str:
    """The task in the words of the trace that stands for it; where nobody stated one, what was done."""
    chosen = representative(group.successful or group.failed)
    stated = chosen.goal or next((t.goal for t in sorted(group.counted, key=_newest) if t.goal), "")
    return stated or _goal_from_steps(chosen)


def title_of(group: TraceGroup) -> str:
    """A title for the candidate, at most 72 characters."""
    return title_from_goal(goal_of(group))


def cluster_goal(group: TraceGroup) -> str:
    """The normalised goal of the group, at most 240 characters."""
    goal = goal_of(group)
    return (normalised_goal(goal) or goal.lower())[:240]


def ambiguities(group: TraceGroup) -> tuple[str, ...]:
    """What a person should be asked about before building (DOC3 §0.4G), as short sentences."""
    traces = group.successful
    wordings = {goal_words(trace.goal) for trace in traces if trace.goal}
    found = {
        "Nobody has said what the task is for": not wordings,
        "The task was worded in different ways": len(wordings) > 1,
        "Some steps work on places outside the task's folder": any(t.leaves_folder for t in traces),
    }
    return tuple(sentence for sentence, holds in found.items() if holds)


def project_specificity(group: TraceGroup) -> ProjectScope:
    """Global when done across projects or in none, project-scoped when always in one, else unclear."""
    projects = {trace.project_id for trace in group.successful}
    if any(trace.leaves_folder for trace in group.successful) or (None in projects and len(projects) > 1):
        return ProjectScope.UNCLEAR
    if projects == {None} or len(projects) > 1:
        return ProjectScope.GLOBAL
    return ProjectScope.PROJECT_SCOPED


def source_mode(group: TraceGroup) -> TraceSourceMode:
    """Guided when a person stated the goal each time; else by what was watched."""
    if all(trace.guided for trace in group.successful):
        return TraceSourceMode.USER_GUIDED
    watched_outside = any(trace.outside for trace in group.successful)
    return TraceSourceMode.DESKTOP_OBSERVED if watched_outside else TraceSourceMode.AGENT_OBSERVED


def surfaces_of(group: TraceGroup) -> tuple[ControlSurface, ...]:
    """The control surfaces of the trace that stands for all, then those that others used."""
    chosen = representative(group.successful)
    others = sorted({surface for trace in group.successful for surface in trace.surfaces})
    return tuple(dict.fromkeys((*chosen.surfaces, *others)))


def _newest(trace: MinedTrace) -> tuple[float, str]:
    return (-trace.captured_at.timestamp(), trace.trace_id)


def _goal_from_steps(trace: MinedTrace) -> str:
    """ "sort and archive in terminal" out of what was done."""
    kinds = [step.split(":")[1] for step in trace.steps if step.count(":") >= 1]
    done = list(dict.fromkeys(kind for kind in kinds if kind))[:4]
    return f"{', '.join(done) or 'repeat the task'} in {trace.app_family or 'the app'}"


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
