"""Skill mining: which captures show one task, how alike they are, and whether that is enough (DOC3 §0.4F).

Pure and deterministic: the same traces in any order give the same groups, scores and verdicts.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from contracts.learning.mining import MiningGate
from contracts.learning.validation import SafetyClass
from domain.learning.mining_signatures import goal_words
from domain.learning.mining_traces import MinedTrace, TraceStanding

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
        MiningGate.NO_FRICTION: TraceStanding.COVERED not in standings,
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
