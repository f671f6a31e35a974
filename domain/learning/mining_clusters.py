"""A group of traces in words: the cluster that is kept, its title, and what is unclear about it (DOC3 §0.4)."""

from datetime import datetime

from contracts.base import clipped
from contracts.capabilities.control_surface import ControlSurface
from contracts.learning.interpretation import ProjectScope
from contracts.learning.mining import TraceSourceMode, WorkflowTraceCluster
from domain.learning.mining import (
    TraceGroup,
    representative,
    variation_score,
    verification_coverage,
)
from domain.learning.mining_signatures import goal_words, normalised_goal
from domain.learning.mining_traces import MinedTrace
from domain.learning.naming import title_from_goal


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
