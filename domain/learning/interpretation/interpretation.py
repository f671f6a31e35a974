"""Interpret a demonstration: merge edits, answers, coaching, marks and inference into fields with confidences.

DOC3 §0C.9, §0A.14, §0C.4 (coaching), §0C.10A, rows G0-13 (answers); decisions "Learning", "Checkpoints". A person's
word wins over inference: an edit over an answer, an answer over a mark, a mark over a guess. Each confidence names
which of these the field rests on.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from contracts.abilities.control_surface import ControlSurface
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.interpretation import (
    Checkpoint,
    FieldConfidence,
    ObservedEffect,
    ProjectScope,
    SemanticWorkflowInterpretation,
)
from contracts.learning.observation import (
    BoundaryKind,
    ObservedActionEvent,
    WorkflowBoundary,
)
from contracts.learning.questions import LearningAnswer, LearningQuestion, QuestionField
from contracts.learning.session import LearnSession
from domain.learning.adapters import ADAPTERS
from domain.learning.checkpoints.checkpoints import checkpoints_for
from domain.learning.commands.command_line import names_outside_path
from domain.learning.drafting.revision import check_edits, declared_dependencies
from domain.learning.interpretation import inference
from domain.learning.interpretation.coaching import Coached, coached, refuse_broken_constraints
from domain.learning.interpretation.confidence import REQUIRED_FIELDS, Basis, confidences_for
from domain.learning.interpretation.lasting_names import LastingNames, ProvenFiles
from domain.learning.interpretation.naming import (
    clipped_at_word,
    plain,
    title_from_goal,
    without_lead_in,
    without_stop,
)
from domain.learning.interpretation.steps import DemonstratedStep, all_events, captured_steps
from domain.learning.interpretation.titles import inferred_title


@dataclass(frozen=True)
class InterpretationInput:
    """Everything an interpretation is made of. ``unconfirmed``: the questions' deadline passed unanswered."""

    interpretation_id: str
    proposal_id: str | None
    session: LearnSession
    events: Sequence[ObservedActionEvent]
    boundaries: Sequence[WorkflowBoundary]
    now: datetime
    answers: Sequence[tuple[LearningQuestion, LearningAnswer]] = ()
    edits: Mapping[str, object] = field(default_factory=dict[str, object])
    unconfirmed: bool = False
    steps: Sequence[DemonstratedStep] | None = None
    """The steps to interpret, where the capture holds more than one demonstration."""
    proven: Sequence[str] = ()
    """Conditions of success that a replay of the demonstration proved."""
    proven_files: ProvenFiles | None = None
    """What the replay proved of each file; ``None`` where there was none."""


def interpret(source: InterpretationInput) -> SemanticWorkflowInterpretation:
    """The meaning of one demonstration.

    Raises:
        Refusal: ``INSUFFICIENT_TRACES`` when nothing in the capture counts (all of it trimmed or failed);
            ``REVISION_INVALID`` when an edit does not fit; ``CONSTRAINT_BROKEN`` when the agent did what its
            coach ruled out.
    """
    steps = source.steps or captured_steps(source.events, source.boundaries)
    if not steps:
        raise Refusal(
            ErrorCode.INSUFFICIENT_TRACES,
            "The capture holds nothing to learn from: every event is trimmed away, paused or failed. "
            "Show the workflow again, or widen the trim.",
        )
    names = LastingNames(steps, source.proven_files)
    edits = check_edits(source.edits)
    answers = answers_by_field(source.answers)
    coach = coached(source.session.coaching)
    refuse_broken_constraints(source.session.coaching, steps)
    marked = marked_goal(source.boundaries)
    goal_mark = marked or coach.goal
    title, title_basis = _title(edits, answers, goal_mark, steps, names)
    goal, goal_basis = _goal(edits, answers, goal_mark, inference.inferred_goal(steps, title, names))
    if goal_basis is Basis.MARKED and not marked:
        goal_basis = Basis.ANSWERED
    use, use_basis = _use_conditions(
        edits, answers, coach, inference.inferred_use_conditions(title, steps, names)
    )
    non_use, non_use_basis = _non_use_conditions(
        edits, answers, coach, inference.inferred_non_use_conditions(steps)
    )
    checkpoints = _checkpoints(edits, steps, names)
    success, success_basis = _conditions(
        "success_conditions", QuestionField.SUCCESS_CONDITION, edits, answers,
        tuple(source.proven)
        or inference.inferred_success_conditions(steps, checkpoints[-1].success_condition, names),
    )  # fmt: skip
    if "checkpoints" not in edits:
        checkpoints = coach.checkpoints_after(checkpoints)
    scope, scope_basis = _scope(edits, answers, source.session, steps)
    surfaces, surface_basis = _surfaces(answers, steps)
    confidences = confidences_for(
        {
            QuestionField.NAME: title_basis,
            QuestionField.GOAL_SUMMARY: goal_basis,
            QuestionField.USE_CONDITIONS: use_basis,
            QuestionField.NON_USE_CONDITIONS: non_use_basis,
            QuestionField.PROJECT_SCOPE: scope_basis,
            QuestionField.PREFERRED_SURFACE: surface_basis,
            QuestionField.SUCCESS_CONDITION: success_basis,
        },
        steps,
    )
    return SemanticWorkflowInterpretation(
        interpretation_id=source.interpretation_id,
        learn_session_id=source.session.learn_session_id,
        proposal_id=source.proposal_id,
        title=title,
        goal_summary=goal,
        use_conditions=use,
        non_use_conditions=non_use,
        project_scope=scope,
        preferred_control_surfaces=surfaces,
        success_conditions=success,
        checkpoints=checkpoints,
        observed_effects=_effects(steps),
        dependencies=declared_dependencies(edits),
        confidences=confidences,
        user_confirmed=not source.unconfirmed and _all_confirmed(confidences),
        created_at=source.now,
    )


_Edits = Mapping[str, object]

_Answers = Mapping[QuestionField, str]


def marked_goal(boundaries: Sequence[WorkflowBoundary]) -> str:
    """The newest stated goal; a later mark corrects an earlier one."""
    marks = [b for b in boundaries if b.kind is BoundaryKind.MARK_GOAL and plain(b.label or "")]
    return plain(max(marks, key=lambda b: b.created_at).label or "") if marks else ""


def _title(
    edits: _Edits,
    answers: _Answers,
    goal_mark: str,
    steps: Sequence[DemonstratedStep],
    names: LastingNames,
) -> tuple[str, Basis]:
    if "title" in edits:
        return str(edits["title"]), Basis.EDITED
    if answer := without_stop(answers.get(QuestionField.NAME, "")):
        return clipped_at_word(answer, 160), Basis.ANSWERED
    if title := title_from_goal(goal_mark):
        return title, Basis.MARKED
    return inferred_title(steps, names), Basis.INFERRED


def _goal(edits: _Edits, answers: _Answers, goal_mark: str, inferred: str) -> tuple[str, Basis]:
    if "goal_summary" in edits:
        return str(edits["goal_summary"]), Basis.EDITED
    if answer := without_stop(answers.get(QuestionField.GOAL_SUMMARY, "")):
        return clipped_at_word(answer, 600), Basis.ANSWERED
    if goal_mark:
        stated = without_stop(without_lead_in(goal_mark)) or goal_mark
        return clipped_at_word(stated[0].upper() + stated[1:], 600), Basis.MARKED
    return inferred, Basis.INFERRED


def _conditions(
    name: str, asked: QuestionField, edits: _Edits, answers: _Answers, inferred: tuple[str, ...]
) -> tuple[tuple[str, ...], Basis]:
    if name in edits:
        return tuple(cast("list[str]", edits[name])), Basis.EDITED
    if asked in answers:
        given = conditions_in(answers[asked])
        if given or asked is QuestionField.NON_USE_CONDITIONS:
            return given, Basis.ANSWERED
    return inferred, Basis.INFERRED


def _use_conditions(
    edits: _Edits, answers: _Answers, coach: Coached, inferred: tuple[str, ...]
) -> tuple[tuple[str, ...], Basis]:
    found, basis = _conditions("use_conditions", QuestionField.USE_CONDITIONS, edits, answers, inferred)
    return (coach.use, Basis.ANSWERED) if coach.use and basis is Basis.INFERRED else (found, basis)


def _non_use_conditions(
    edits: _Edits, answers: _Answers, coach: Coached, inferred: tuple[str, ...]
) -> tuple[tuple[str, ...], Basis]:
    """A coach's constraints stand before what was answered or inferred; an edit is taken as it is."""
    found, basis = _conditions(
        "non_use_conditions", QuestionField.NON_USE_CONDITIONS, edits, answers, inferred
    )
    if coach.non_use and basis is Basis.INFERRED:
        found, basis = (*coach.non_use, *found), Basis.ANSWERED
    if coach.constraints and basis is not Basis.EDITED:
        found = tuple(dict.fromkeys((*coach.constraints, *found)))
    return found, basis


def _effects(steps: Sequence[DemonstratedStep]) -> tuple[ObservedEffect, ...]:
    """What lasts of the work: files, then what pages showed."""
    return (
        *(
            ObservedEffect(
                kind="file_exists" if e.survives else "file_absent", path=e.path, source_event_id=e.event_id
            )
            for e in inference.lasting_effects(steps)
        ),
        *(
            ObservedEffect(kind=o.kind, path=o.subject, source_event_id=o.event_id)
            for o in inference.page_effects(steps)
        ),
    )


def _checkpoints(
    edits: _Edits, steps: Sequence[DemonstratedStep], names: LastingNames
) -> tuple[Checkpoint, ...]:
    if "checkpoints" in edits:
        given = cast("list[dict[str, object]]", edits["checkpoints"])
        found = (Checkpoint.model_validate(c) for c in given)
        return tuple(sorted(found, key=lambda c: c.order_hint))
    return checkpoints_for(steps, names)


def _scope(
    edits: _Edits, answers: _Answers, session: LearnSession, steps: Sequence[DemonstratedStep]
) -> tuple[ProjectScope, Basis]:
    if "project_scope" in edits:
        return ProjectScope(str(edits["project_scope"])), Basis.EDITED
    if answer := answers.get(QuestionField.PROJECT_SCOPE):
        scope = scope_in(answer)
        return scope, Basis.ANSWERED if scope is not ProjectScope.UNCLEAR else Basis.INFERRED
    if session.project_id is not None:
        return ProjectScope.PROJECT_SCOPED, Basis.OBSERVED
    if any(e.terminal and names_outside_path(e.terminal.command) for e in all_events(steps)):
        return ProjectScope.UNCLEAR, Basis.INFERRED
    return ProjectScope.GLOBAL, Basis.OBSERVED


def _surfaces(answers: _Answers, steps: Sequence[DemonstratedStep]) -> tuple[tuple[str, ...], Basis]:
    named = surfaces_in(answers.get(QuestionField.PREFERRED_SURFACE, ""))
    if named:
        return named, Basis.ANSWERED
    events = all_events(steps)
    seen = map(surface_of, events)
    stated = all(e.control_surface for e in events)
    return tuple(dict.fromkeys(s.value for s in seen)), Basis.OBSERVED if stated else Basis.INFERRED


def _all_confirmed(confidences: Sequence[FieldConfidence]) -> bool:
    return all(c.confirmed for c in confidences if c.field in REQUIRED_FIELDS)


def surface_of(event: ObservedActionEvent) -> ControlSurface:
    """The control surface that an event acted on: the one it names, else its adapter's."""
    return event.control_surface or ADAPTERS[event.adapter_kind].surface


_CONSENT = re.compile(
    r"(?:yes|y|yep|ok(?:ay)?|correct|right|exactly|agreed|sure|that(?:'s| is) (?:right|correct|fine)|"
    r"(?:sounds|looks) good|keep (?:it|that)|as suggested)(?:[, ]+please)?[.!]*",
    re.IGNORECASE,
)

_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")

_LOCAL = re.compile(r"(?i)\b(?:project|this (?:one|repo\w*|folder|matter|client)|only here|specific)\b")

_GLOBAL = re.compile(
    r"(?i)\b(?:global|general\w*|every(?:where| project)?|any(?:where| project)?|all(?: projects)?|reusable|"
    r"not (?:project.?specific|specific))\b"
)

_NONE = re.compile(r"(?i)(?:no(?:ne|thing|pe)?|never|n/?a|not? exceptions?)[.!]*")


def answers_by_field(
    answers: Iterable[tuple[LearningQuestion, LearningAnswer]],
) -> dict[QuestionField, str]:
    """The last answer to each field. Consent ("yes, that's right") stands for the question's suggestion."""
    found: dict[QuestionField, str] = {}
    for question, answer in answers:
        if question.field in (QuestionField.PARAMETER, QuestionField.INPUT, QuestionField.TYPED_INPUT):
            # Of which there may be several; they are read where what they are about is drafted.
            continue
        text = answer.answer.strip()
        if _CONSENT.fullmatch(text):
            text = question.suggestion or ""
        if text:
            found[question.field] = text
    return found


def conditions_in(answer: str) -> tuple[str, ...]:
    """The conditions of an answer: its lines, or what semicolons part; at most 20, 240 characters each.

    "none" is an answer: there are no conditions.
    """
    if _NONE.fullmatch(answer.strip()):
        return ()
    parts = (plain(_BULLET.sub("", part)).rstrip(" .") for part in re.split(r"[\n;]+", answer))
    return tuple(dict.fromkeys(clipped(p, 240) for p in parts if p))[:20]


def scope_in(answer: str) -> ProjectScope:
    """Whether an answer means this project only, or all; what says neither stays unclear."""
    text = answer.strip().lower()
    if text in list(ProjectScope):
        return ProjectScope(text)
    if _GLOBAL.search(text):
        return ProjectScope.GLOBAL
    return ProjectScope.PROJECT_SCOPED if _LOCAL.search(text) else ProjectScope.UNCLEAR


def surfaces_in(answer: str) -> tuple[str, ...]:
    """The control surfaces an answer names, in its order."""
    text = re.sub(r"[\s-]+", "_", answer.lower())
    found = sorted((text.find(s.value), s.value) for s in ControlSurface if s.value in text)
    return tuple(name for _, name in found)
