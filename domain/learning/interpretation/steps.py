"""Turn captured events into demonstrated steps: trim, drop noise, group, name (DOC3 §0A.12, §0A.13)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts.base import clipped
from contracts.learning.observation import (
    BoundaryKind,
    ObservationAdapterKind,
    ObservedActionEvent,
    StepKindHint,
    WorkflowBoundary,
)
from domain.learning.commands.command_line import is_unreadable, named_paths, programs_in
from domain.learning.commands.operations import (
    NetChange,
    NetEffect,
    gives_way,
    is_preparation,
    net_effects,
    operation_of,
)
from domain.learning.interpretation.browser import continues_page_step, page_step_label
from domain.learning.interpretation.naming import listed
from domain.learning.interpretation.noise import without_noise

LABEL_LIMIT = 240
"""The most characters of a step's label."""

_HASHED = "sha256:"
_FILES_NAMED = 3


@dataclass(frozen=True)
class DemonstratedStep:
    """One thing that was done: the events serving one effect, or what a person marked as one step."""

    label: str
    events: tuple[ObservedActionEvent, ...]
    produced: tuple[NetEffect, ...] = ()
    marked: bool = False
    kind: StepKindHint | None = None
    """The kind that a person gave it."""
    kept: bool = False
    """Whether a person keeps it though its omission changes nothing."""


def captured_steps(
    events: Sequence[ObservedActionEvent],
    boundaries: Sequence[WorkflowBoundary],
    commands: Collection[str] | None = None,
) -> tuple[DemonstratedStep, ...]:
    """The steps of a demonstration, in order; empty when nothing in it counts.

    ``commands`` are the ids of the commands that a replay found to contribute; without them, noise is told by rules.

    Trims name the first or last event that counts, the newest trim of a kind holding; an event between a
    pause and the next resume is out; a marked step runs from its mark to the next one. A trim whose event is
    no longer there cuts nothing.
    """
    marks = sorted(boundaries, key=lambda b: b.created_at)
    trimmed = within_capture(events, marks)
    kept = without_noise(trimmed) if commands is None else _chosen(trimmed, commands)
    kept_ids = {e.event_id for e in kept}
    dropped = [e for e in trimmed if e.event_id not in kept_ids]
    made_by_dropped = [
        f.path for e in dropped if e.terminal for f in e.terminal.produced_files if f.change == "created"
    ]
    starts = _segment_starts(trimmed, marks)
    steps: list[DemonstratedStep] = []
    for segment, label, kind in _segments(kept, trimmed, starts):
        groups = [segment] if label else _grouped(segment)
        for group in groups:
            produced = net_effects(group, made_by_dropped)
            given = label or given_label(group)
            name = given or _label(group, produced)
            name = clipped(name, LABEL_LIMIT)
            steps.append(DemonstratedStep(name, tuple(group), produced, bool(given), kind))
    return tuple(steps)


def _chosen(
    events: Sequence[ObservedActionEvent], commands: Collection[str]
) -> tuple[ObservedActionEvent, ...]:
    others = {event.event_id for event in without_noise([e for e in events if e.terminal is None])}
    return tuple(e for e in events if e.event_id in (others if e.terminal is None else commands))


def within_capture(
    events: Sequence[ObservedActionEvent], boundaries: Sequence[WorkflowBoundary]
) -> list[ObservedActionEvent]:
    """The events that no trim and no pause leaves out, in order."""
    ordered = sorted(events, key=lambda e: e.created_at)
    marks = sorted(boundaries, key=lambda b: b.created_at)
    return _trimmed([e for e in ordered if not _while_paused(e, marks)], marks)


def all_events(steps: Sequence[DemonstratedStep]) -> tuple[ObservedActionEvent, ...]:
    """The events of all steps, in order."""
    return tuple(event for step in steps for event in step.events)


def total_effects(steps: Sequence[DemonstratedStep]) -> tuple[NetEffect, ...]:
    """What all steps together left behind."""
    first: dict[str, NetEffect] = {}
    for step in steps:
        for effect in step.produced:
            first.setdefault(effect.path, effect)
    made = [path for path, e in first.items() if e.change in (NetChange.CREATED, NetChange.TRANSIENT)]
    return net_effects(all_events(steps), made)


def _while_paused(event: ObservedActionEvent, marks: Sequence[WorkflowBoundary]) -> bool:
    paused_at: datetime | None = None
    for mark in marks:
        if mark.kind is BoundaryKind.PAUSE:
            paused_at = paused_at or mark.created_at
        elif mark.kind in (BoundaryKind.RESUME, BoundaryKind.STOP):
            if paused_at is not None and paused_at < event.created_at < mark.created_at:
                return True
            paused_at = None
    return paused_at is not None and event.created_at > paused_at


def _trimmed(
    events: list[ObservedActionEvent], marks: Sequence[WorkflowBoundary]
) -> list[ObservedActionEvent]:
    positions = {e.event_id: i for i, e in enumerate(events)}
    first, last = 0, len(events) - 1
    for mark in marks:
        position = positions.get(mark.source_event_id or "")
        if position is not None and mark.kind is BoundaryKind.TRIM_START:
            first = position
        elif position is not None and mark.kind is BoundaryKind.TRIM_END:
            last = position
    return events[first : last + 1]


def _segment_starts(
    events: Sequence[ObservedActionEvent], marks: Sequence[WorkflowBoundary]
) -> dict[int, tuple[str, StepKindHint | None]]:
    """Where marked steps begin: position → label and kind. The later of two marks at one place wins."""
    positions = {e.event_id: i for i, e in enumerate(events)}
    starts: dict[int, tuple[str, StepKindHint | None]] = {}
    for mark in marks:
        if mark.kind is not BoundaryKind.MARK_STEP or not (mark.label or "").strip():
            continue
        position = positions.get(mark.source_event_id or "")
        if position is None:
            position = next((i for i, e in enumerate(events) if e.created_at >= mark.created_at), len(events))
        starts[position] = " ".join((mark.label or "").split()), mark.step_kind
    return dict(sorted(starts.items()))


def _segments(
    kept: Sequence[ObservedActionEvent],
    trimmed: Sequence[ObservedActionEvent],
    starts: Mapping[int, tuple[str, StepKindHint | None]],
) -> list[tuple[list[ObservedActionEvent], str, StepKindHint | None]]:
    """The kept events cut at the marks, each part with its mark's label and kind (none before the first)."""
    positions = {e.event_id: i for i, e in enumerate(trimmed)}
    parts: dict[int, list[ObservedActionEvent]] = {}
    for event in kept:
        start = max((s for s in starts if s <= positions[event.event_id]), default=-1)
        parts.setdefault(start, []).append(event)
    return [(parts[start], *starts.get(start, ("", None))) for start in sorted(parts)]


def _grouped(events: Sequence[ObservedActionEvent]) -> list[list[ObservedActionEvent]]:
    """Puts preparation with what it prepares, commands on the same file and actions up to a page's answer together."""
    groups: list[list[ObservedActionEvent]] = []
    for event in events:
        if groups and (belongs_to_launch(groups[-1], event) or _continues(groups[-1], event)):
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def _continues(group: Sequence[ObservedActionEvent], event: ObservedActionEvent) -> bool:
    if given_label(group) or given_label([event]):
        return False
    return _serves_same_effect(group, event) or continues_page_step(group, event)


def _serves_same_effect(group: Sequence[ObservedActionEvent], event: ObservedActionEvent) -> bool:
    if event.terminal is None:
        return False
    commands = [e.terminal.command for e in group if e.terminal]
    if len(commands) != len(group):
        return False
    if all(is_preparation(c) for c in commands):
        return True
    touched = {f.path for e in group if e.terminal for f in e.terminal.produced_files}
    return bool(touched & {f.path for f in event.terminal.produced_files})


def _label(group: Sequence[ObservedActionEvent], produced: Sequence[NetEffect]) -> str:
    commands = [e.terminal.command for e in group if e.terminal]
    if any(map(is_unreadable, commands)):
        names = [e.path for e in produced]
        return (
            f"Run a command that cannot be read{f', on {listed(names, most=_FILES_NAMED)}' if names else ''}"
        )
    if not commands:
        return page_step_label(group) or group[-1].action_label
    verb = operation_of(commands[-1]).verb.capitalize()
    names = [e.path for e in produced if e.survives] or [e.path for e in produced]
    if not names and (launched := launch_label(group)):
        return launched
    if not names:
        last = group[-1].terminal
        read = named_paths(last.command, last.working_folder) if last else ()
        return (
            f"{verb} {listed(read, most=_FILES_NAMED)}"
            if read
            else f"{verb} ({', '.join(programs_in(commands[-1]))})"
        )
    if all(not e.survives for e in produced):
        verb = verb if gives_way(commands[-1]) else "Remove"
    elif verb == "Remove":
        verb = "Update"
    elif verb not in ("Write", "Create"):
        return f"{verb} into {listed(names, most=_FILES_NAMED)}"
    return f"{verb} {listed(names, most=_FILES_NAMED)}"


def given_label(group: Sequence[ObservedActionEvent]) -> str:
    """What the person called the wrapped command that this group is; empty when it has no name of its own."""
    first = group[0]
    is_receipt = first.adapter_kind is ObservationAdapterKind.WRAPPER_RECEIPT
    if not is_receipt or first.terminal is None or first.action_label.startswith(_HASHED):
        return ""
    label = " ".join(first.action_label.split())
    command = " ".join(first.terminal.command.split())
    # A label that was cut is the command's beginning.
    return "" if command.startswith(label.removesuffix("…")) else label


def belongs_to_launch(group: Sequence[ObservedActionEvent], event: ObservedActionEvent) -> bool:
    """Whether ``event`` is a program that the group's command left running: recorders report it right behind."""
    return event.adapter_kind is ObservationAdapterKind.PROCESS_LAUNCH and any(e.terminal for e in group)


def launch_label(group: Sequence[ObservedActionEvent]) -> str:
    """What the group launched, in words; empty when nothing."""
    launched = [e for e in group if e.adapter_kind is ObservationAdapterKind.PROCESS_LAUNCH]
    labels = dict.fromkeys(e.action_label for e in launched if not e.action_label.startswith(_HASHED))
    return ", ".join(labels)
