"""Split a capture into demonstrations at its start marks, and find steps that only some of them have.

DOC3 §0C.22, §0A.4. Further demonstrations are repeated by a rehearsal with their own inputs. A step belongs to the
task where every demonstration has it: an action aligned with one of its actions, or the same file (by the names of
the parameters) left behind. Other steps are optional: noted for review, never dropped or required silently.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.evidence import LessonEvidence, UnrehearsedCommand
from contracts.learning.interpretation import (
    MAX_OPTIONAL_STEPS,
    REHEARSED_EFFECTS,
    FieldConfidence,
    ObservedEffect,
    OptionalStep,
    SemanticWorkflowInterpretation,
    SkillParameter,
)
from contracts.learning.observation import BoundaryKind, ExitClass, ObservedActionEvent, WorkflowBoundary
from contracts.learning.proposal import MAX_REHEARSED_DEMONSTRATIONS, RehearsalCommand, RehearsedDemonstration
from contracts.learning.questions import QuestionField
from contracts.learning.starting_state import StartingState
from contracts.learning.validation import SafetyClass
from domain.learning.adapters import ADAPTERS
from domain.learning.commands.command_safety import holds_masked_secret
from domain.learning.comparison.comparison import Comparison, aligned_pairs, compare
from domain.learning.comparison.parameters import ParameterWording
from domain.learning.interpretation.confidence import EVIDENCE_LIMIT
from domain.learning.interpretation.hand_edits import replayed_line
from domain.learning.interpretation.inference import lasting_effects, materials_of
from domain.learning.interpretation.meaningful import shown_safety
from domain.learning.interpretation.naming import listed
from domain.learning.interpretation.noise import can_be_replayed
from domain.learning.interpretation.obstacles import outside_reason, person_needed
from domain.learning.interpretation.steps import DemonstratedStep, all_events, captured_steps
from domain.learning.redaction.redaction import redact
from domain.learning.starting_state import state_before

Demonstration = Sequence[DemonstratedStep]

UNSURE = 0.25
"""What the demonstrations' disagreement takes off the confidence in goal and success, at most ``AT_MOST``."""

AT_MOST = 0.55
"""The confidence in what success is while nobody has said whether an optional step belongs to it."""


@dataclass(frozen=True)
class CapturedPart:
    """What was captured of one demonstration, before trims and pauses take effect."""

    events: tuple[ObservedActionEvent, ...]
    marks: tuple[WorkflowBoundary, ...]


def shown_demonstrations(
    events: Sequence[ObservedActionEvent],
    boundaries: Sequence[WorkflowBoundary],
    evidence: LessonEvidence | None = None,
) -> tuple[tuple[DemonstratedStep, ...], ...]:
    """The steps of each demonstration that has any, in the order of their start marks.

    A start mark names its first event, or begins with whatever comes after it. A trim cuts the demonstration
    that its event belongs to. ``evidence`` names the commands that count in the demonstration it was found for.
    """
    found: list[tuple[DemonstratedStep, ...]] = []
    for part in captured_parts(events, boundaries):
        commands = _contributing(part, evidence)
        kept = {*evidence.put_back} if evidence else set[str]()
        steps = captured_steps(part.events, part.marks, commands)
        found.append(tuple(replace(s, kept=not kept.isdisjoint(e.event_id for e in s.events)) for s in steps))
    return tuple(steps for steps in found if steps)


def _contributing(part: CapturedPart, evidence: LessonEvidence | None) -> tuple[str, ...] | None:
    """The kept commands of the demonstration that the evidence is of; ``None`` for any other."""
    if evidence is None or not evidence.kept:
        return None
    own = {event.event_id for event in part.events}
    return evidence.kept if own.issuperset(evidence.kept) else None


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


def rehearsal_commands(steps: Sequence[DemonstratedStep]) -> tuple[RehearsalCommand, ...]:
    """The commands of one demonstration that can be replayed, in order."""
    return _commands(steps, rehearsed_line)


def shown_commands(steps: Sequence[DemonstratedStep]) -> tuple[RehearsalCommand, ...]:
    """The commands of one demonstration as they are shown to a reader, in order.

    Those that only a person can carry out are among them; those that were recorded as a digest are not.
    """
    return _commands(steps, _shown_line)


def _commands(
    steps: Sequence[DemonstratedStep], line_of: Callable[[ObservedActionEvent], str | None]
) -> tuple[RehearsalCommand, ...]:
    return tuple(
        RehearsalCommand(
            event_id=e.event_id,
            command=line,
            working_folder=e.terminal.working_folder,
            may_fail=e.terminal.exit_class is ExitClass.FAILED,
        )
        for e in all_events(steps)
        if e.terminal and (line := line_of(e)) is not None
    )


def _shown_line(event: ObservedActionEvent) -> str | None:
    if event.terminal is None or event.terminal.command.startswith("sha256:"):
        return None
    return replayed_line(event.terminal) or event.terminal.command


def rehearsed_line(event: ObservedActionEvent) -> str | None:
    """The line that a rehearsal runs for the event; ``None`` where it cannot be repeated."""
    if event.terminal is None or outside_reason(event.terminal.working_folder):
        return None
    line = replayed_line(event.terminal)
    if line is None or (line == event.terminal.command and not can_be_replayed(event)):
        return None
    return None if person_needed(line) else line


def unrehearsed_commands(steps: Sequence[DemonstratedStep]) -> tuple[UnrehearsedCommand, ...]:
    """The retained commands that only a person can carry out, each with its reason."""
    return tuple(
        UnrehearsedCommand(
            event_id=e.event_id,
            command=clipped(e.terminal.command, 120),
            reason=clipped(
                outside_reason(e.terminal.working_folder)
                or person_needed(e.terminal.command)
                or "what was typed in it was not recorded",
                240,
            ),
        )
        for e in all_events(steps)
        if e.terminal and rehearsed_line(e) is None and not holds_masked_secret(e.terminal.command)
    )


def unrehearsed_actions(
    steps: Sequence[DemonstratedStep], effects: Sequence[ObservedEffect]
) -> tuple[UnrehearsedCommand, ...]:
    """The steps without any command, each with its reason; those whose effect was seen are left out.

    Of a step with a command or an effect, the runs of executable skills are listed.
    """
    seen = {effect.source_event_id for effect in effects}
    found: list[UnrehearsedCommand] = []
    for step in steps:
        if any(event.terminal or event.event_id in seen for event in step.events):
            found += (one for one in unrehearsed_runs([step]) if one.event_id not in seen)
        elif step.events:
            found.append(_unrehearsed(step.label, step.events))
    return tuple(found)


def unrehearsed_runs(steps: Sequence[DemonstratedStep]) -> tuple[UnrehearsedCommand, ...]:
    """Each run of an executable skill."""
    return tuple(_unrehearsed(e.action_label, [e]) for e in all_events(steps) if shown_safety([e]))


def with_further_runs(
    unrehearsed: Sequence[UnrehearsedCommand], demonstrations: Sequence[Sequence[DemonstratedStep]]
) -> tuple[UnrehearsedCommand, ...]:
    """Those of the first demonstration, and the runs of other executable skills in the further ones."""
    known = {one.command for one in unrehearsed}
    further = (run for steps in demonstrations[1:] for run in unrehearsed_runs(steps))
    return (*unrehearsed, *{run.command: run for run in further if run.command not in known}.values())


def _unrehearsed(label: str, events: Sequence[ObservedActionEvent]) -> UnrehearsedCommand:
    return UnrehearsedCommand(
        event_id=events[0].event_id,
        command=clipped(redact(label, personal=True).text, 120),
        reason=clipped(ADAPTERS[events[-1].adapter_kind].not_rehearsed, 240),
        safety_class=SafetyClass.worst(classes) if (classes := shown_safety(events)) else None,
    )


def file_effects(steps: Sequence[DemonstratedStep]) -> tuple[ObservedEffect, ...]:
    """What one demonstration left behind, and a rehearsal of it can be seen to leave behind again."""
    return tuple(
        ObservedEffect(
            kind="file_exists" if e.survives else "file_absent", path=e.path, source_event_id=e.event_id
        )
        for e in lasting_effects(steps)
    )


def further_demonstrations(
    demonstrations: Sequence[Sequence[DemonstratedStep]], states: Sequence[StartingState] = ()
) -> tuple[RehearsedDemonstration, ...]:
    """The second and third demonstration, each with the one of ``states`` that was taken last before it.

    One without a command that can be replayed proves nothing.
    """
    numbered = enumerate(demonstrations[:MAX_REHEARSED_DEMONSTRATIONS], start=1)
    found = (
        RehearsedDemonstration(
            number=number,
            commands=rehearsal_commands(steps),
            effects=file_effects(steps),
            inputs=_inputs(steps),
            starting_state_id=began.state_id if (began := state_before(states, all_events(steps))) else None,
        )
        for number, steps in numbered
        if number > 1
    )
    return tuple(one for one in found if one.commands)


def _inputs(steps: Sequence[DemonstratedStep]) -> tuple[str, ...]:
    found = materials_of(steps)
    return tuple(clipped(path, 240) for path in (*found.supplied, *found.scripts))


def without_undone_effects(
    interpretation: SemanticWorkflowInterpretation, steps: Sequence[DemonstratedStep]
) -> SemanticWorkflowInterpretation:
    """Without the files that an optional step of the first demonstration undid: its rehearsal undoes them too."""
    left = {(effect.kind, effect.path) for effect in file_effects(steps)}
    kept = tuple(
        effect
        for effect in interpretation.observed_effects
        if effect.kind not in REHEARSED_EFFECTS or (effect.kind, effect.path) in left
    )
    return interpretation.changed(observed_effects=kept)


@dataclass(frozen=True)
class SharedTask:
    """The first demonstration's steps that all demonstrations have, and what only some have."""

    steps: tuple[DemonstratedStep, ...]
    optional: tuple[OptionalStep, ...]


def shared_task(demonstrations: Sequence[Demonstration], parameters: Sequence[SkillParameter]) -> SharedTask:
    """What the demonstrations have in common step by step, for demonstrations that show one task."""
    first = tuple(demonstrations[0]) if demonstrations else ()
    if len(demonstrations) < 2:
        return SharedTask(first, ())
    wording = ParameterWording(parameters)
    optional: list[OptionalStep] = []
    left_out: set[int] = set()
    for n, demonstration in enumerate(demonstrations):
        others = [m for m in range(len(demonstrations)) if m != n]
        found = {m: _answered(demonstration, demonstrations[m], wording) for m in others}
        for place, step in enumerate(demonstration):
            having = sorted([n, *(m for m in others if place in found[m])])
            if len(having) == len(demonstrations):
                continue
            if n == 0:
                left_out.add(place)
            if having[0] == n:
                optional.append(_noted(step, having, len(demonstrations), wording))
    kept = tuple(step for place, step in enumerate(first) if place not in left_out)
    # With nothing in common by steps, the first demonstration is all there is to go by.
    return SharedTask(kept or first, tuple(optional[:MAX_OPTIONAL_STEPS]))


def with_optional_steps(
    interpretation: SemanticWorkflowInterpretation, optional: Sequence[OptionalStep]
) -> SemanticWorkflowInterpretation:
    """The interpretation that names them, less sure of goal and success where nobody has confirmed these."""
    if not optional:
        return interpretation
    told = tuple(dict.fromkeys(event for step in optional for event in step.evidence_event_ids))
    return interpretation.changed(
        optional_steps=tuple(optional),
        confidences=tuple(_less_sure(c, told) for c in interpretation.confidences),
    )


def in_some_only(step: OptionalStep) -> str:
    """“in demonstration 2 of 3”."""
    numbers = listed([str(n) for n in step.demonstrations])
    return f"in demonstration{'s' if len(step.demonstrations) > 1 else ''} {numbers} of {step.of}"


def _answered(demonstration: Demonstration, other: Demonstration, wording: ParameterWording) -> set[int]:
    """The positions of the steps that the other demonstration has too."""
    pairs = aligned_pairs(all_events(demonstration), all_events(other))
    events = all_events(demonstration)
    paired = {events[here].event_id for here, _ in pairs}
    left = {path for step in other for path in _left_behind(step, wording)}
    return {
        place
        for place, step in enumerate(demonstration)
        if any(event.event_id in paired for event in step.events) or left & _left_behind(step, wording)
    }


def _left_behind(step: DemonstratedStep, wording: ParameterWording) -> set[tuple[str, bool]]:
    return {(wording.formal(effect.path), effect.survives) for effect in step.produced}


def _noted(step: DemonstratedStep, having: Sequence[int], of: int, wording: ParameterWording) -> OptionalStep:
    said = wording.formal(" ".join(step.label.split())) or "A step without a name"
    return OptionalStep(
        label=clipped(redact(said, personal=True).text, 160),
        demonstrations=tuple(n + 1 for n in having[:20]),
        of=of,
        evidence_event_ids=tuple(event.event_id for event in step.events)[:EVIDENCE_LIMIT],
    )


def _less_sure(confidence: FieldConfidence, told: Sequence[str]) -> FieldConfidence:
    asked = confidence.field in (QuestionField.SUCCESS_CONDITION, QuestionField.GOAL_SUMMARY)
    if confidence.confirmed or not asked:
        return confidence
    less = round(max(0.0, confidence.confidence - UNSURE), 2)
    if confidence.field is QuestionField.SUCCESS_CONDITION:
        less = min(less, AT_MOST)
    events = tuple(dict.fromkeys((*told, *confidence.evidence_event_ids)))[:EVIDENCE_LIMIT]
    return confidence.changed(confidence=less, evidence_event_ids=events)
