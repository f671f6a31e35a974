"""Choose clarification questions: the least certain fields first (DOC3 §0C.10A, rows G0-13, SL-15)."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from contracts.base import clipped
from contracts.learning.interpretation import (
    FieldConfidence,
    OptionalStep,
    ProjectScope,
    SemanticWorkflowInterpretation,
)
from contracts.learning.questions import ASK_BELOW_CONFIDENCE, MAX_QUESTIONS, LearningQuestion, QuestionField
from domain.learning.comparison.demonstrations import in_some_only
from domain.learning.interpretation.confidence import REQUIRED_FIELDS
from domain.learning.interpretation.naming import listed

_PROMPTS = {
    QuestionField.NAME: "What should this ability be called? From what was shown I would say “{0}”.",
    QuestionField.GOAL_SUMMARY: "What is it for? I read the demonstration as: {0}.",
    QuestionField.USE_CONDITIONS: "When should it be used? Name the situations or requests that call for it.",
    QuestionField.NON_USE_CONDITIONS: "When should it not be used, even if a request sounds similar?",
    QuestionField.PROJECT_SCOPE: "Is it for this project only, or for use anywhere?",
    QuestionField.PREFERRED_SURFACE: "Which way of working should it prefer: a tool, the browser, an API?",
    QuestionField.PACKAGE_ASSIGNMENT: "Which collection of abilities should it belong to?",
    QuestionField.SUCCESS_CONDITION: "How can one tell that it worked? Name what exists or shows afterwards.",
}
_OPTIONAL_NAMED = 2
_SCOPES = {
    ProjectScope.GLOBAL: "Anywhere",
    ProjectScope.PROJECT_SCOPED: "This project only",
    ProjectScope.UNCLEAR: None,
}


class Doubt(Protocol):
    """Something of the demonstration of which only a person knows whether it is always so."""

    @property
    def field(self) -> QuestionField:
        """The kind of question."""
        ...

    @property
    def about(self) -> str:
        """The value, or the file."""
        ...

    @property
    def prompt(self) -> str:
        """What a person is asked."""
        ...

    @property
    def suggestion(self) -> str:
        """What holds where nobody answers."""
        ...

    @property
    def event_ids(self) -> tuple[str, ...]:
        """The commands that show it."""
        ...


def questions_for(
    interpretation: SemanticWorkflowInterpretation,
    ask_below: float = ASK_BELOW_CONFIDENCE,
    limit: int = MAX_QUESTIONS,
    *,
    unreadable: Sequence[str] = (),
    doubts: Sequence[Doubt] = (),
    new_id: Callable[[], str],
    now: datetime,
) -> tuple[LearningQuestion, ...]:
    """Questions about ``doubts``, then about other fields whose confidence is below ``ask_below`` and not confirmed.

    Doubts leave room for the required fields that are open. The least certain field comes first, a required field
    before another of the same confidence; at most ``limit`` in all. Each carries the best inference as its suggestion,
    and the events it rests on. ``unreadable`` are commands that cannot be read: the question about success asks what
    they leave behind.

    Raises:
        ValueError: the interpretation belongs to no proposal, so nothing can be asked about it.
    """
    if interpretation.proposal_id is None:
        raise ValueError(f"interpretation {interpretation.interpretation_id} has no proposal to ask about")
    asked = {doubt.field for doubt in doubts}
    open_fields = [
        c
        for c in interpretation.confidences
        if not c.confirmed and c.confidence < ask_below and c.field not in asked
    ]
    ranked = sorted(open_fields, key=lambda c: (c.confidence, c.field not in REQUIRED_FIELDS))
    required = sum(c.field in REQUIRED_FIELDS for c in open_fields)
    values = tuple(
        LearningQuestion(
            question_id=new_id(),
            proposal_id=interpretation.proposal_id,
            field=doubt.field,
            prompt=clipped(doubt.prompt, 400),
            about=clipped(doubt.about, 200),
            required=doubt.field in REQUIRED_FIELDS,
            suggestion=doubt.suggestion,
            evidence_event_ids=doubt.event_ids[:50],
            created_at=now,
        )
        for doubt in doubts[: max(0, limit - required)]
    )
    left = max(0, limit - len(values))
    first = sorted(ranked, key=lambda c: c.field not in REQUIRED_FIELDS) if values else ranked
    chosen = first[:left]
    return values + tuple(
        _question(interpretation, c, interpretation.proposal_id, new_id(), now, unreadable)
        for c in ranked
        if c in chosen
    )


def weakest_required(interpretation: SemanticWorkflowInterpretation) -> float:
    """The lowest confidence of name, goal, use and success; 0.0 where one of them was never judged."""
    known = {c.field: c.confidence for c in interpretation.confidences}
    return min(known.get(field, 0.0) for field in REQUIRED_FIELDS)


def _question(
    interpretation: SemanticWorkflowInterpretation,
    confidence: FieldConfidence,
    proposal_id: str,
    question_id: str,
    now: datetime,
    unreadable: Sequence[str],
) -> LearningQuestion:
    suggestion = _suggestion(interpretation, confidence.field)
    prompt = _PROMPTS[confidence.field].format(clipped((suggestion or "").rstrip("."), 280))
    if confidence.field is QuestionField.SUCCESS_CONDITION and unreadable:
        prompt += f" This command cannot be read, so say what it leaves behind: {clipped(unreadable[0], 60)}"
    if confidence.field is QuestionField.SUCCESS_CONDITION and interpretation.optional_steps:
        prompt += _belongs(interpretation.optional_steps)
    return LearningQuestion(
        question_id=question_id,
        proposal_id=proposal_id,
        field=confidence.field,
        prompt=clipped(prompt, 400),
        required=confidence.field in REQUIRED_FIELDS,
        suggestion=suggestion,
        evidence_event_ids=confidence.evidence_event_ids,
        created_at=now,
    )


def _belongs(optional: Sequence[OptionalStep]) -> str:
    shown = listed([f"“{clipped(o.label, 60)}” ({in_some_only(o)})" for o in optional[:_OPTIONAL_NAMED]])
    more = f" and {len(optional) - _OPTIONAL_NAMED} more" if len(optional) > _OPTIONAL_NAMED else ""
    return f" Not every demonstration showed {shown}{more}: does it belong to the task?"


def _suggestion(interpretation: SemanticWorkflowInterpretation, field: QuestionField) -> str | None:
    best = {
        QuestionField.NAME: interpretation.title,
        QuestionField.GOAL_SUMMARY: interpretation.goal_summary,
        QuestionField.USE_CONDITIONS: "; ".join(interpretation.use_conditions),
        QuestionField.NON_USE_CONDITIONS: "; ".join(interpretation.non_use_conditions),
        QuestionField.PROJECT_SCOPE: _SCOPES[interpretation.project_scope],
        QuestionField.PREFERRED_SURFACE: ", ".join(interpretation.preferred_control_surfaces),
        QuestionField.SUCCESS_CONDITION: "; ".join(interpretation.success_conditions),
    }.get(field)
    return clipped(best, 400) if best else None
