"""A model's wording put onto the deterministic draft. A pure function, and every doubt ends it.

What a person stated stays; effects, surfaces, commands, permissions and safety notes are the demonstration's; no
checkpoint, non-use condition or negative trigger of the deterministic draft is lost.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from contracts.base import clipped
from contracts.learning.interpretation import Checkpoint, SemanticWorkflowInterpretation
from contracts.learning.model_draft import DETERMINISTIC, MOST_CONDITIONS, KeptModelEdits, ModelDraftEdits
from contracts.learning.observation import BoundaryKind, WorkflowBoundary
from contracts.learning.proposal import CheckpointLintReport, LintSeverity, RehearsedDemonstration, SkillDraft
from contracts.learning.questions import QuestionField
from contracts.learning.session import LearnSession
from domain.abilities.trigger_tests import decoys, run_trigger_tests, trigger_cases
from domain.learning.drafting import draft_skill
from domain.learning.lint import lint
from domain.learning.model_bounds import OutOfBounds, check_bounds, phrases_about, shown_in
from domain.learning.parameter_edits import respoken
from domain.learning.revision import MAX_LIST
from domain.learning.steps import DemonstratedStep

_FIELD_OF = {
    QuestionField.NAME: "title",
    QuestionField.GOAL_SUMMARY: "goal_summary",
    QuestionField.USE_CONDITIONS: "use_conditions",
    QuestionField.NON_USE_CONDITIONS: "non_use_conditions",
}
_PARAMETER = re.compile(r"\{\w+\}")
_WORDED = frozenset(ModelDraftEdits.model_fields)


@dataclass(frozen=True)
class DeterministicDraft:
    """What the rules made of a demonstration, and what they made it of."""

    session: LearnSession
    steps: Sequence[DemonstratedStep]
    interpretation: SemanticWorkflowInterpretation
    draft: SkillDraft
    stated: frozenset[str] = frozenset()
    """The fields that a person has stated (``stated_fields``)."""
    edits: Mapping[str, object] | None = None
    """The fields that a person has set by hand."""
    further: tuple[RehearsedDemonstration, ...] = ()
    """The other demonstrations of the same task, as far as they are rehearsed."""
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    """What parameters were called before a person renamed them, and are called now."""


@dataclass(frozen=True)
class ChosenDraft:
    """The draft that is staged, with the lint's report, who wrote it, and why it was not somebody else."""

    interpretation: SemanticWorkflowInterpretation
    draft: SkillDraft
    lint: CheckpointLintReport
    drafted_by: str
    note: str


def stated_fields(
    interpretation: SemanticWorkflowInterpretation,
    boundaries: Sequence[WorkflowBoundary],
    edits: Mapping[str, object],
) -> frozenset[str]:
    """The fields whose wording is a person's own: edited, answered, or said as the goal while showing."""
    stated = {_FIELD_OF[c.field] for c in interpretation.confidences if c.confirmed and c.field in _FIELD_OF}
    if any(b.kind is BoundaryKind.MARK_GOAL and (b.label or "").strip() for b in boundaries):
        stated.add("goal_summary")
    return frozenset(stated | (set(edits) & _WORDED))


def as_it_is(base: DeterministicDraft, note: str = "") -> ChosenDraft:
    """The deterministic draft; ``note`` says why no model worded it, where one was asked."""
    report = lint(base.interpretation, base.draft)
    return ChosenDraft(base.interpretation, base.draft, report, DETERMINISTIC, clipped(note, 240))


def chosen(base: DeterministicDraft, answer: KeptModelEdits, model: str) -> ChosenDraft:
    """``base`` in the model's words, or as it is where they may not be used."""
    try:
        return word_draft(base, answer, model)
    except OutOfBounds as problem:
        return as_it_is(base, f"What {model} proposed was not used: {problem}.")


def word_draft(base: DeterministicDraft, answer: KeptModelEdits, model: str) -> ChosenDraft:
    """``base`` with the model's wording where no person has stated one.

    Raises:
        OutOfBounds: the wording may not be used; the text says why.
    """
    # The model may have been asked before parameters were renamed.
    spoken = respoken(answer.edits.model_dump(mode="json"), base.renamed)
    edits = ModelDraftEdits.model_validate(spoken) if base.renamed else answer.edits
    shown = shown_in(base.interpretation, base.draft, base.steps, answer.wish)
    check_bounds(edits, shown)
    interpretation = _interpretation(base, edits, model)
    phrases = phrases_about(edits.trigger_phrases, shown)
    draft = _draft(base, interpretation, phrases, edits.negative_triggers)
    if lost := set(base.draft.negative_triggers) - set(draft.negative_triggers):
        raise OutOfBounds(f"it takes away {len(lost)} negative trigger(s) of the draft")
    _pass_trigger_tests(base, draft)
    report = lint(interpretation, draft)
    if not report.passed:
        first = next(f for f in report.findings if f.severity is LintSeverity.ERROR)
        raise OutOfBounds(clipped(f"the lint refuses it: {first.rule} {first.location}", 160))
    note = f"In the person's own words: {', '.join(sorted(base.stated))}." if base.stated else ""
    return ChosenDraft(interpretation, draft, report, interpretation.written_by, clipped(note, 240))


def _interpretation(
    base: DeterministicDraft, edits: ModelDraftEdits, model: str
) -> SemanticWorkflowInterpretation:
    before, stated = base.interpretation, base.stated
    proposed: dict[str, object] = {
        "title": edits.title,
        "goal_summary": edits.goal_summary,
        "use_conditions": edits.use_conditions,
        "non_use_conditions": _joined(before.non_use_conditions, edits.non_use_conditions),
    }
    changes = {name: value for name, value in proposed.items() if name not in stated}
    if "checkpoints" not in stated:
        changes["checkpoints"] = _checkpoints(before.checkpoints, edits)
    return before.model_copy(update={**changes, "written_by": clipped(f"model:{model}", 80)})


def _checkpoints(before: Sequence[Checkpoint], edits: ModelDraftEdits) -> tuple[Checkpoint, ...]:
    """The same checkpoints in the model's words and order."""
    known = {c.checkpoint_id: c for c in before}
    if sorted(c.checkpoint_id for c in edits.checkpoints) != sorted(known):
        raise OutOfBounds("checkpoints are not those of the draft, each once")
    for c in edits.checkpoints:
        if _parameters(c.goal, c.success_condition) != _parameters(
            known[c.checkpoint_id].goal, known[c.checkpoint_id].success_condition
        ):
            raise OutOfBounds(f"checkpoints/{c.checkpoint_id} does not name the parameters of the draft's")
    return tuple(
        Checkpoint(
            checkpoint_id=c.checkpoint_id,
            goal=" ".join(c.goal.split()),
            success_condition=" ".join(c.success_condition.split()),
            order_hint=position,
        )
        for position, c in enumerate(edits.checkpoints, start=1)
    )


def _parameters(*texts: str) -> set[str]:
    return {name for text in texts for name in _PARAMETER.findall(text)}


def _joined(kept: Sequence[str], added: Sequence[str]) -> tuple[str, ...]:
    """What the rules found comes first: it is never crowded out."""
    texts = dict.fromkeys((*kept, *added[:MOST_CONDITIONS]))
    return tuple(texts)[: max(len(kept), MAX_LIST)]


def _draft(
    base: DeterministicDraft,
    interpretation: SemanticWorkflowInterpretation,
    phrases: Sequence[str],
    negatives: Sequence[str],
) -> SkillDraft:
    edits = dict(base.edits or {})
    draft = draft_skill(interpretation, base.steps, base.session, trigger_hints=phrases, edits=edits)
    if "negative_triggers" in edits or not negatives:
        return draft
    blocking = {"negative_triggers": list(_joined(draft.negative_triggers, [n.lower() for n in negatives]))}
    blocked = draft_skill(
        interpretation, base.steps, base.session, trigger_hints=phrases, edits={**edits, **blocking}
    )
    if _answered(blocked) < _answered(draft):
        raise OutOfBounds("a negative trigger blocks the skill's own trigger phrases")
    return blocked


def _answered(draft: SkillDraft) -> int:
    return sum(case.should_trigger for case in trigger_cases(draft))


def _pass_trigger_tests(base: DeterministicDraft, draft: SkillDraft) -> None:
    failing = _failing_triggers(draft, base.session.owner_user_id)
    # What a person has set can fail by itself: that is no reason to refuse the rest.
    if failing and len(failing) > len(_failing_triggers(base.draft, base.session.owner_user_id)):
        raise OutOfBounds(f"its own trigger tests fail ({failing[0]})")


def _failing_triggers(draft: SkillDraft, owner: str) -> list[str]:
    outcomes = run_trigger_tests(draft, trigger_cases(draft), decoys(), (), owner)
    return [outcome.test_case_id for outcome in outcomes if not outcome.passed]
