"""Turn a captured session into a trace for mining, or the reason to leave it out; signatures of steps and goals.

DOC3 §0.4. A signature keeps the operation and the kind of outcome; names, numbers and values are left out of it.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from contracts.abilities.control_surface import ControlSurface
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.checkpoints import CheckpointStatus, CheckpointVerificationReceipt
from contracts.learning.observation import BoundaryKind, ExitClass, ObservedActionEvent, WorkflowBoundary
from contracts.learning.session import LearningEntryMode, LearnSession, ObservationMode
from contracts.learning.session import LearnSessionState as S
from contracts.learning.validation import SafetyClass
from contracts.mining.candidates import MiningSettings
from contracts.mining.runs import Exclusion
from domain.learning.commands.command_line import names_outside_path, programs_in
from domain.learning.commands.command_safety import holds_masked_secret, safety_class
from domain.learning.commands.operations import TEST, VERIFY, is_preparation, operation_of
from domain.learning.comparison.demonstrations import captured_parts
from domain.learning.interpretation.interpretation import surface_of
from domain.learning.interpretation.meaningful import shown_safety
from domain.learning.interpretation.naming import plain, without_lead_in
from domain.learning.interpretation.steps import DemonstratedStep, all_events, captured_steps
from domain.learning.redaction.redaction import always_redacted, texts_of

HIDDEN_COMMAND = "sha256:"
"""Begins a command of which only the digest was kept."""

_VALUE = re.compile(
    r"""https?://\S+ | \S+@\S+\.\w+ | (?:[\w.-]*/)[\w./-]* | \b[\w-]+\.[a-z][a-z0-9]{0,7}\b | [\w.,:-]*\d[\w.,:-]*""",
    re.VERBOSE | re.IGNORECASE,
)

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")

_LITTLE_WORDS = (
    "a an and as at by for from in into is it its of on onto or our that the their them then this these to "
    "up with my your"
)

_LITTLE = frozenset(_LITTLE_WORDS.split())

_MINED_MODES = frozenset(
    {
        LearningEntryMode.DEMONSTRATING_SKILL,
        LearningEntryMode.COACHING_AGENT,
        LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE,
    }
)

_FREE = frozenset({S.STOPPED, S.REVIEWING, S.CANCELLED})


class TraceStanding(StrEnum):
    """What a trace is to mining."""

    COUNTS = "counts"
    QUARANTINED = "quarantined"
    COVERED = "covered"


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
    friction: bool = False
    """Whether a checkpoint of it was last reported as skipped or failed."""


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


def _kept_out(session: LearnSession, settings: MiningSettings) -> Exclusion | None:
    """Why a capture without a proposal is no work that its owner does repeatedly, or may not be used as such."""
    if session.entry_mode is LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE:
        # An agent tries things for goals of the moment; only a proposal of it shows that a task is covered.
        return Exclusion.PRACTISED
    if not is_allowed(session.observation_mode, settings):
        return _switched_off(session.observation_mode, settings)
    return None


def _switched_off(mode: ObservationMode, settings: MiningSettings) -> Exclusion:
    """What of the settings keeps a capture of this observation mode out."""
    if mode is ObservationMode.NONE:
        return Exclusion.NOT_WATCHED
    seen_outside = mode in (ObservationMode.OUTSIDE_AGENT, ObservationMode.MIXED)
    if seen_outside and not settings.observe_outside_agent:
        return Exclusion.OUTSIDE_IS_OFF
    return Exclusion.INSIDE_IS_OFF


def mined_traces(
    aggregate: LearnSessionAggregate,
    events: Sequence[ObservedActionEvent],
    boundaries: Sequence[WorkflowBoundary],
    accepted: int,
    settings: MiningSettings,
    receipts: Iterable[CheckpointVerificationReceipt] = (),
) -> tuple[MinedTrace, ...] | Exclusion:
    """The traces of one session, one a demonstration; ``accepted`` counts its events before any were purged.

    ``receipts`` are its checkpoint reports, newest first. A session with a proposal only lends its goal: it shows
    that the task is covered, or was quarantined.
    """
    session = aggregate.session
    if session.entry_mode not in _MINED_MODES or not session.active_trace_ids:
        return Exclusion.NOT_CAPTURED
    standing = _standing(aggregate)
    if standing is None:
        return Exclusion.TURNED_DOWN
    goal = _stated_goal(boundaries)
    friction = has_friction(receipts)
    if standing is not TraceStanding.COUNTS:
        return (replace(_context(aggregate, events, goal, standing), friction=friction),)
    if (kept_out := _kept_out(session, settings)) is not None:
        return kept_out
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
    return tuple(replace(trace, friction=friction) for trace in found if trace.steps) or Exclusion.EMPTY


def has_friction(receipts: Iterable[CheckpointVerificationReceipt]) -> bool:
    """Whether some checkpoint was last reported as skipped or failed; ``receipts`` come newest first (DOC3 §0.4F)."""
    newest: dict[str, CheckpointStatus] = {}
    for receipt in receipts:
        newest.setdefault(receipt.checkpoint_id, receipt.status)
    return any(status is not CheckpointStatus.REACHED for status in newest.values())


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
        safety=SafetyClass.worst((safety_class(commands), *shown_safety(kept))),
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


def step_signature(event: ObservedActionEvent) -> str:
    """One action without its particulars: surface, operation and programs, kinds of outcome."""
    terminal = event.terminal
    if terminal is None:
        return f"{event.adapter_kind.value}:{_generalised(event.action_label)}"
    if terminal.command.startswith(HIDDEN_COMMAND):
        return "terminal:hidden"
    programs = "+".join(programs_in(terminal.command))
    outcomes = sorted({f"{f.change}{posixpath.splitext(f.path)[1].lower()}" for f in terminal.produced_files})
    return f"terminal:{operation_of(terminal.command).key}:{programs}:{','.join(outcomes)}"


def actions_of(steps: Sequence[DemonstratedStep]) -> tuple[ObservedActionEvent, ...]:
    """The actions that make the workflow. What only readies the ground counts where there is nothing else."""
    events = all_events(steps)
    acting = tuple(e for e in events if e.terminal is None or not is_preparation(e.terminal.command))
    return acting or events


def can_be_verified(event: ObservedActionEvent) -> bool:
    """Whether somebody who was not there could see that the action came off: it left something, or checked."""
    terminal = event.terminal
    if terminal is None:
        return event.caused_state_change or event.after_state_ref is not None
    checks = operation_of(terminal.command) in (VERIFY, TEST) and terminal.exit_class is ExitClass.OK
    return bool(terminal.produced_files) or checks


def goal_words(goal: str) -> frozenset[str]:
    """The words that carry a goal, lower-case; figures, file names and little words are left out."""
    line = _VALUE.sub(" ", without_lead_in(plain(goal)).lower())
    return frozenset(_WORD.findall(line)) - _LITTLE


def normalised_goal(goal: str) -> str:
    """A goal without its particulars, in its own order: "Summarise the sales of 2026" → "summarise sales"."""
    line = _VALUE.sub(" ", without_lead_in(plain(goal)).lower())
    return " ".join(word for word in _WORD.findall(line) if word not in _LITTLE)


def _generalised(label: str) -> str:
    return " ".join(_VALUE.sub("#", plain(label).lower()).split())
