"""The demonstrations that a capture holds: each begins with a start mark (DOC3 §0C.22, §0A.4)."""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.errors import ErrorCode, Refusal
from contracts.learning.observation import BoundaryKind, ObservedActionEvent, WorkflowBoundary
from domain.learning.comparison import Comparison, compare
from domain.learning.steps import DemonstratedStep, all_events, captured_steps


@dataclass(frozen=True)
class CapturedPart:
    """What was captured of one demonstration, before trims and pauses take effect."""

    events: tuple[ObservedActionEvent, ...]
    marks: tuple[WorkflowBoundary, ...]


def shown_demonstrations(
    events: Sequence[ObservedActionEvent], boundaries: Sequence[WorkflowBoundary]
) -> tuple[tuple[DemonstratedStep, ...], ...]:
    """The steps of each demonstration that has any, in the order of their start marks.

    A start mark names its first event, or begins with whatever comes after it. A trim cuts the demonstration
    that its event belongs to.
    """
    parts = captured_parts(events, boundaries)
    found = (captured_steps(part.events, part.marks) for part in parts)
    return tuple(steps for steps in found if steps)


def captured_parts(
    events: Sequence[ObservedActionEvent], boundaries: Sequence[WorkflowBoundary]
) -> tuple[CapturedPart, ...]:
    """Each demonstration as captured, empty ones included, with the marks set in it."""
    parts = _parts(events, boundaries)
    return tuple(
        CapturedPart(tuple(part), tuple(_marks_of(n, parts, boundaries))) for n, part in enumerate(parts)
    )


def compared(demonstrations: Sequence[Sequence[DemonstratedStep]]) -> Comparison | None:
    """What several demonstrations share and where they differ; None for a single one.

    Raises:
        Refusal: ``INCOMPATIBLE_TRACES`` when they do not show the same task.
    """
    if len(demonstrations) < 2:
        return None
    comparison = compare([all_events(steps) for steps in demonstrations])
    if not comparison.compatible:
        raise Refusal(
            ErrorCode.INCOMPATIBLE_TRACES,
            f"The demonstrations share only {comparison.share:.0%} of their actions, so they are not of one "
            "task. Remove the events of one, or teach it in a session of its own.",
            share=round(comparison.share, 2),
            demonstrations=len(demonstrations),
        )
    return comparison


def _starts(boundaries: Sequence[WorkflowBoundary]) -> list[WorkflowBoundary]:
    return sorted((b for b in boundaries if b.kind is BoundaryKind.START), key=lambda b: b.created_at)


def _parts(
    events: Sequence[ObservedActionEvent], boundaries: Sequence[WorkflowBoundary]
) -> list[list[ObservedActionEvent]]:
    starts = _starts(boundaries)
    if len(starts) < 2:
        return [list(events)]
    named = {b.source_event_id for b in starts if b.source_event_id}
    if named & {e.event_id for e in events}:
        return _at_named_events(events, named)
    parts: list[list[ObservedActionEvent]] = [[] for _ in starts]
    for event in events:
        begun = [n for n, start in enumerate(starts) if start.created_at <= event.created_at]
        parts[begun[-1] if begun else 0].append(event)
    return parts


def _at_named_events(
    events: Sequence[ObservedActionEvent], named: set[str]
) -> list[list[ObservedActionEvent]]:
    parts: list[list[ObservedActionEvent]] = [[]]
    for event in events:
        if event.event_id in named and parts[-1]:
            parts.append([])
        parts[-1].append(event)
    return parts


def _marks_of(
    number: int, parts: Sequence[Sequence[ObservedActionEvent]], boundaries: Sequence[WorkflowBoundary]
) -> list[WorkflowBoundary]:
    """The marks set in one demonstration: on one of its events, or, naming none, in its time."""
    starts = [start.created_at for start in _starts(boundaries)]
    if len(parts) < 2:
        return list(boundaries)
    own = {event.event_id for event in parts[number]}
    if len(parts) != len(starts):
        return [b for b in boundaries if b.source_event_id in own]
    every = {event.event_id for part in parts for event in part}
    low = starts[number] if number else None
    high = starts[number + 1] if number + 1 < len(starts) else None
    return [
        b
        for b in boundaries
        if b.source_event_id in own
        or (
            b.source_event_id not in every
            and (low is None or low <= b.created_at)
            and (high is None or b.created_at < high)
        )
    ]
