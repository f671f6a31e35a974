"""Confidence of each interpreted field, with its reason (decisions "Learning": below 0.6 a question is asked)."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from contracts.learning.interpretation import FieldConfidence
from contracts.learning.questions import QuestionField
from domain.learning.commands.command_line import is_unreadable
from domain.learning.commands.operations import RUN
from domain.learning.interpretation.inference import lasting_effects, operations_in, page_effects
from domain.learning.interpretation.steps import DemonstratedStep, all_events

REQUIRED_FIELDS = (
    QuestionField.NAME,
    QuestionField.GOAL_SUMMARY,
    QuestionField.USE_CONDITIONS,
    QuestionField.SUCCESS_CONDITION,
)
"""The fields without which an ability cannot be found, followed or checked."""

EVIDENCE_LIMIT = 50
"""The most events one field points to."""


class Basis(StrEnum):
    """What a field's value rests on."""

    EDITED = "edited"
    ANSWERED = "answered"
    MARKED = "marked"
    OBSERVED = "observed"
    INFERRED = "inferred"


_MARKED = {QuestionField.NAME: 0.8, QuestionField.GOAL_SUMMARY: 0.95}
_OBSERVED = {QuestionField.PROJECT_SCOPE: 0.7, QuestionField.PREFERRED_SURFACE: 0.9}
_GUESSED = {
    QuestionField.USE_CONDITIONS: 0.45,
    QuestionField.NON_USE_CONDITIONS: 0.4,
    QuestionField.PROJECT_SCOPE: 0.4,
    QuestionField.PREFERRED_SURFACE: 0.7,
}
_FROM_EFFECTS = {
    QuestionField.NAME: 0.55,
    QuestionField.GOAL_SUMMARY: 0.7,
    QuestionField.SUCCESS_CONDITION: 0.8,
}
"""Files changed, and by programs whose work is known."""

_FROM_EFFECTS_OF_UNKNOWN = {
    QuestionField.NAME: 0.5,
    QuestionField.GOAL_SUMMARY: 0.5,
    QuestionField.SUCCESS_CONDITION: 0.65,
}
"""Files changed by a program whose meaning is unknown."""

_FROM_PAGES = {
    QuestionField.NAME: 0.5,
    QuestionField.GOAL_SUMMARY: 0.5,
    QuestionField.SUCCESS_CONDITION: 0.7,
}
"""A page has shown an outcome in its own words."""

_WITHOUT_EFFECTS = {
    QuestionField.NAME: 0.35,
    QuestionField.GOAL_SUMMARY: 0.35,
    QuestionField.SUCCESS_CONDITION: 0.35,
}


def confidences_for(
    bases: Mapping[QuestionField, Basis], steps: Sequence[DemonstratedStep]
) -> tuple[FieldConfidence, ...]:
    """The confidence of each field (0..1), with the events it rests on. Only a person's word confirms."""
    return tuple(
        FieldConfidence(
            field=field,
            confidence=_confidence(field, basis, steps),
            confirmed=basis in (Basis.EDITED, Basis.ANSWERED),
            evidence_event_ids=_evidence(field, steps),
        )
        for field, basis in bases.items()
    )


def _confidence(field: QuestionField, basis: Basis, steps: Sequence[DemonstratedStep]) -> float:
    if basis in (Basis.EDITED, Basis.ANSWERED):
        return 1.0
    if basis is Basis.MARKED:
        return _MARKED[field]
    if basis is Basis.OBSERVED:
        return _OBSERVED[field]
    if field in _GUESSED:
        return _GUESSED[field]
    if _unreadable_events(steps):
        return _WITHOUT_EFFECTS[field]
    if not lasting_effects(steps):
        if page_effects(steps):
            return _FROM_PAGES[field]
        return _WITHOUT_EFFECTS[field]
    known = RUN not in operations_in(steps)
    return (_FROM_EFFECTS if known else _FROM_EFFECTS_OF_UNKNOWN)[field]


def _evidence(field: QuestionField, steps: Sequence[DemonstratedStep]) -> tuple[str, ...]:
    """The events that left something behind, for what is read from results; all of them otherwise.

    Commands that cannot be read come first.
    """
    from_results = field in (
        QuestionField.NAME,
        QuestionField.GOAL_SUMMARY,
        QuestionField.SUCCESS_CONDITION,
        QuestionField.USE_CONDITIONS,
    )
    results = (*lasting_effects(steps), *page_effects(steps))
    telling = [*_unreadable_events(steps), *(e.event_id for e in results)] if from_results else []
    every = [e.event_id for e in all_events(steps)]
    return tuple(dict.fromkeys(telling or every))[:EVIDENCE_LIMIT]


def _unreadable_events(steps: Sequence[DemonstratedStep]) -> list[str]:
    return [e.event_id for e in all_events(steps) if e.terminal and is_unreadable(e.terminal.command)]
