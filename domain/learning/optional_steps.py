"""Steps that only some demonstrations of a task showed: never dropped in silence, never required in silence.

A step belongs to the task where every demonstration has it: an action that answers one of its actions, or the
same file (by the names of the parameters) left behind.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.base import clipped
from contracts.learning.interpretation import (
    MAX_OPTIONAL_STEPS,
    FieldConfidence,
    OptionalStep,
    SemanticWorkflowInterpretation,
)
from contracts.learning.parameters import SkillParameter
from contracts.learning.questions import QuestionField
from domain.learning.alignment import aligned_pairs
from domain.learning.confidence import EVIDENCE_LIMIT
from domain.learning.naming import listed
from domain.learning.parameter_wording import ParameterWording
from domain.learning.redaction import redact
from domain.learning.steps import DemonstratedStep, all_events

Demonstration = Sequence[DemonstratedStep]

UNSURE = 0.25
"""What the demonstrations' disagreement takes off the confidence in goal and success, at most ``AT_MOST``."""

AT_MOST = 0.55
"""The confidence in what success is while nobody has said whether an optional step belongs to it."""


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
    return interpretation.model_copy(
        update={
            "optional_steps": tuple(optional),
            "confidences": tuple(_less_sure(c, told) for c in interpretation.confidences),
        }
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
    return confidence.model_copy(update={"confidence": less, "evidence_event_ids": events})
