"""From one captured session to the trace that mining counts, or the reason why it must not count (DOC3 §0.4)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from contracts.capabilities.control_surface import ControlSurface
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.mining import MiningSettings
from contracts.learning.observation import (
    BoundaryKind,
    ExitClass,
    ObservedActionEvent,
    WorkflowBoundary,
)
from contracts.learning.session import LearningEntryMode, ObservationMode
from contracts.learning.session import LearnSessionState as S
from contracts.learning.validation import SafetyClass
from domain.learning.command_line import names_outside_path
from domain.learning.command_safety import holds_masked_secret, safety_class
from domain.learning.demonstrations import captured_parts
from domain.learning.interpretation import surface_of
from domain.learning.mining_signatures import HIDDEN_COMMAND, actions_of, can_be_verified, step_signature
from domain.learning.naming import plain
from domain.learning.redaction_screen import always_redacted, texts_of
from domain.learning.steps import DemonstratedStep, all_events, captured_steps


class TraceStanding(StrEnum):
    """What a trace is to mining."""

    COUNTS = "counts"
    QUARANTINED = "quarantined"
    COVERED = "covered"


class Exclusion(StrEnum):
    """Why a capture is left out altogether."""

    NOT_CAPTURED = "not_captured"
    NOT_ALLOWED = "not_allowed"
    TURNED_DOWN = "turned_down"
    PURGED = "purged"
    SECRET = "secret"  # noqa: S105 - a reason
    EMPTY = "empty"


@dataclass(frozen=True)
class MinedTrace:
    """One capture as mining sees it. ``steps`` are signatures; ``verified`` counts those with a visible outcome."""

    trace_id: str
    session_id: str
    captured_at: datetime
    app_family: str
    goal: str = ""
    project_id: str | None = None
    outside: bool = False
    guided: bool = False
    steps: tuple[str, ...] = ()
    verified: int = 0
    succeeded: bool = True
    surfaces: tuple[ControlSurface, ...] = ()
    safety: SafetyClass = SafetyClass.LOW
    leaves_folder: bool = False
    standing: TraceStanding = TraceStanding.COUNTS


_MINED_MODES = frozenset(
    {
        LearningEntryMode.DEMONSTRATING_SKILL,
        LearningEntryMode.COACHING_AGENT,
        LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE,
    }
)
_FREE = frozenset({S.STOPPED, S.REVIEWING, S.CANCELLED})


def is_allowed(mode: ObservationMode, settings: MiningSettings) -> bool:
    """Whether the person lets mining use what a session of this observation mode saw (DOC3 §0.4B, §0.4I)."""
    inside, outside = settings.observe_inside_agent, settings.observe_outside_agent
    match mode:
        case ObservationMode.INSIDE_AGENT:
            return inside
        case ObservationMode.OUTSIDE_AGENT:
            return outside
        case ObservationMode.MIXED:
            return inside and outside
        case ObservationMode.NONE:
            return False


def mined_traces(
    aggregate: LearnSessionAggregate,
    events: Sequence[ObservedActionEvent],
    boundaries: Sequence[WorkflowBoundary],
    accepted: int,
    settings: MiningSettings,
) -> tuple[MinedTrace, ...] | Exclusion:
    """The traces of one session, one a demonstration; ``accepted`` counts its events before any were purged.

    A session with a proposal only lends its goal: it shows that the task is covered, or was quarantined.
    """
    session = aggregate.session
    if session.entry_mode not in _MINED_MODES or not session.active_trace_ids:
        return Exclusion.NOT_CAPTURED
    standing = _standing(aggregate)
    if standing is None:
        return Exclusion.TURNED_DOWN
    goal = _stated_goal(boundaries)
    if standing is not TraceStanding.COUNTS:
        return (_context(aggregate, events, goal, standing),)
    if not is_allowed(session.observation_mode, settings):
        return Exclusion.NOT_ALLOWED
    if aggregate.source_runs:
        return Exclusion.NOT_CAPTURED
    if session.state not in _FREE or not any(b.kind is BoundaryKind.STOP for b in boundaries):
        return Exclusion.NOT_CAPTURED
    if len(events) < accepted or not events:
        return Exclusion.PURGED
    parts = captured_parts(events, boundaries)
    if len(parts) != len(session.active_trace_ids):
        # Of several demonstrations one was emptied since, and which one is no longer told.
        return Exclusion.EMPTY
    if any(_holds_secret(event) for event in events):
        return Exclusion.SECRET
    shown = [captured_steps(part.events, part.marks) for part in parts]
    found = (
        _counted(aggregate, steps, goal, trace_id)
        for trace_id, steps in zip(session.active_trace_ids, shown, strict=True)
        if steps
    )
    return tuple(trace for trace in found if trace.steps) or Exclusion.EMPTY


def _counted(
    aggregate: LearnSessionAggregate, steps: Sequence[DemonstratedStep], goal: str, trace_id: str
) -> MinedTrace:
    session, kept, actions = aggregate.session, all_events(steps), actions_of(steps)
    commands = [e.terminal.command for e in kept if e.terminal]
    return MinedTrace(
        trace_id=trace_id,
        session_id=session.learn_session_id,
        captured_at=max(e.created_at for e in kept),
        app_family=_app_family(aggregate, kept),
        goal=goal,
        project_id=session.project_id,
        outside=session.observation_mode is not ObservationMode.INSIDE_AGENT,
        guided=bool(goal),
        steps=tuple(step_signature(event) for event in actions),
        verified=sum(can_be_verified(event) for event in actions),
        succeeded=all(e.terminal is None or e.terminal.exit_class is ExitClass.OK for e in kept),
        surfaces=tuple(dict.fromkeys(surface_of(event) for event in actions)),
        safety=safety_class(commands),
        leaves_folder=any(names_outside_path(command) for command in commands),
    )


def _standing(aggregate: LearnSessionAggregate) -> TraceStanding | None:
    """None where the person has turned the task down: it neither counts nor stands in the way."""
    session = aggregate.session
    if session.state is S.QUARANTINED:
        return TraceStanding.QUARANTINED
    if session.proposal_id is None:
        return TraceStanding.COUNTS
    return None if session.state in (S.REJECTED, S.CANCELLED) else TraceStanding.COVERED


def _context(
    aggregate: LearnSessionAggregate,
    events: Sequence[ObservedActionEvent],
    goal: str,
    standing: TraceStanding,
) -> MinedTrace:
    session = aggregate.session
    return MinedTrace(
        trace_id=session.active_trace_ids[-1],
        session_id=session.learn_session_id,
        captured_at=session.updated_at,
        app_family=_app_family(aggregate, events),
        goal=goal or (aggregate.proposal.title if aggregate.proposal else ""),
        standing=standing,
    )


def _stated_goal(boundaries: Sequence[WorkflowBoundary]) -> str:
    """The newest goal that a person stated."""
    marks = [b for b in boundaries if b.kind is BoundaryKind.MARK_GOAL and plain(b.label or "")]
    return plain(max(marks, key=lambda b: (b.created_at, b.boundary_id)).label or "") if marks else ""


def _app_family(aggregate: LearnSessionAggregate, events: Sequence[ObservedActionEvent]) -> str:
    if aggregate.session.target_app_family:
        return aggregate.session.target_app_family
    families = Counter(e.app_family or e.adapter_kind.value for e in events)
    # The name decides between equals, so that the order of events does not.
    return min(families, key=lambda name: (-families[name], name), default="")


def _holds_secret(event: ObservedActionEvent) -> bool:
    """Whether something was cut out of the event because it was nobody's business."""
    if always_redacted(event):
        return True
    texts = [text for text in texts_of(event) if text]
    return any(holds_masked_secret(text) or text.startswith(HIDDEN_COMMAND) for text in texts)
