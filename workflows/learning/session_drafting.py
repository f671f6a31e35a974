"""Decisions about the draft: propose, ask, answer, go on without answers, revise.

Before a draft: the replay of the demonstration and the wording by a model, whose failure leaves it to the rules.
"""

from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from activities.learning.lesson_replay import LessonReplay
    from activities.learning.model_drafting import ModelDrafting
    from contracts.learning.aggregate import DraftRequest, DraftSummary, LearnSessionAggregate, LearnSettings
    from contracts.learning.lifecycle import LearningLifecycleEvent as Event
    from contracts.learning.lifecycle import LearningReceiptKind as Receipt
    from contracts.learning.model_draft import ModelWording
    from contracts.learning.proposal import with_edits
    from contracts.learning.questions import LearningAnswer, QuestionField
    from contracts.learning.session import BuildPolicy
    from contracts.learning.session import LearnSessionState as S
    from workflows.learning.learn_session_messages import (
        AnswerQuestionsCommand,
        GenerateProposalCommand,
        ReviseCommand,
    )
    from workflows.learning.session_decision import SessionDecision
    from workflows.platform.presets import EVIDENCE, MODEL_CALL

T = TypeVar("T")


def draft_request(
    aggregate: LearnSessionAggregate,
    *,
    answers: tuple[LearningAnswer, ...] = (),
    edits: dict[str, object] | None = None,
    instructions: str = "",
    rebase: bool = False,
    replay: bool = False,
) -> DraftRequest:
    """What a drafter is asked, from the session as it stands and what has just been said."""
    proposal = aggregate.proposal
    return DraftRequest(
        session=aggregate.session,
        proposal_id=proposal.proposal_id if proposal else str(workflow.uuid7()),
        interpretation_id=str(workflow.uuid7()),
        revision=proposal.revision + 1 if proposal else 1,
        questions=aggregate.questions,
        pending_answers=answers,
        edits=with_edits(aggregate.edits, edits or {}),
        edited_now=tuple(sorted(edits or {})),
        revision_instructions=instructions,
        wording=aggregate.wording,
        base=aggregate.base,
        rebase=rebase,
        replay=replay,
        now=workflow.now(),
    )


def answered_request(
    aggregate: LearnSessionAggregate, answers: tuple[LearningAnswer, ...] = ()
) -> DraftRequest:
    """What a drafter is asked once the questions are over."""
    about_files = any(one.field is QuestionField.INPUT for one in aggregate.questions)
    return draft_request(aggregate, answers=answers).changed(replay_answered=about_files)


def propose(decision: SessionDecision, message: GenerateProposalCommand, draft: DraftSummary) -> None:
    """The capture is reviewed and drafted; where asking comes first, the questions are put."""
    if decision.next.session.state is S.STOPPED:
        decision.go(S.REVIEWING, Event.SESSION_REVIEWING)
    _adopt(decision, draft)
    if draft.questions and _asks_first(decision.next, message):
        _ask(decision, draft)
    else:
        _drafted(decision, draft)


def answer(decision: SessionDecision, message: AnswerQuestionsCommand, draft: DraftSummary | None) -> None:
    """Answers are kept; with the last one (``draft`` given) the session goes on to its draft."""
    ids = dict.fromkeys((*decision.next.answered, *(a.question_id for a in message.answers)))
    decision.set(answered=tuple(ids))
    decision.answer(message.answers)
    decision.note(Event.QUESTIONS_ANSWERED, Receipt.QUESTIONS_ANSWERED, answered=len(message.answers))
    if draft is not None:
        decision.set(questions_due_at=None)
        _adopt(decision, draft)
        _drafted(decision, draft)


def expire_questions(decision: SessionDecision, draft: DraftSummary) -> None:
    """Question deadline: the best inference stands, marked as unconfirmed (decisions "Learning")."""
    decision.set(questions_due_at=None)
    decision.note(Event.QUESTIONS_EXPIRED, reason="question_deadline")
    _adopt(decision, draft)
    _drafted(decision, draft)


def revise(decision: SessionDecision, message: ReviseCommand, draft: DraftSummary) -> None:
    """The proposal goes back to drafting with what was asked; a changed draft loses its proofs.

    Where nothing changes, the session stays where it is with the draft it has; only quarantine is left by any revision.
    """
    edits = with_edits(decision.next.edits, message.edits) if draft.edits is None else draft.edits
    decision.set(edits=edits)
    note = {"instructions": message.instructions, "edited_fields": sorted(message.edits)}
    if draft.unchanged and decision.next.session.state is not S.QUARANTINED:
        decision.set_proposal(drafter_note=draft.proposal.drafter_note)
        decision.note(Event.PROPOSAL_REVISED, None, None, **note, unchanged=True)
        return
    _adopt(decision, draft)
    if decision.next.session.state is S.DRAFTING_PROPOSAL:
        decision.note(Event.PROPOSAL_REVISED, Receipt.PROPOSAL_DRAFTED, None, **note)
    else:
        decision.go(S.DRAFTING_PROPOSAL, Event.PROPOSAL_REVISED, Receipt.PROPOSAL_DRAFTED, None, **note)


def _asks_first(aggregate: LearnSessionAggregate, message: GenerateProposalCommand) -> bool:
    if message.ask_before_build is not None:
        return message.ask_before_build
    return aggregate.ask_before_build or aggregate.session.build_policy is BuildPolicy.ASK_BEFORE_BUILD


def _ask(decision: SessionDecision, draft: DraftSummary) -> None:
    due = workflow.now() + timedelta(seconds=decision.next.settings.question_deadline_seconds)
    decision.set(questions=draft.questions, answered=(), questions_due_at=due)
    decision.go(
        S.AWAITING_QUESTIONS,
        Event.QUESTIONS_REQUESTED,
        Receipt.QUESTIONS_REQUESTED,
        proposal_id=draft.proposal.proposal_id,
        questions=len(draft.questions),
    )


def _adopt(decision: SessionDecision, draft: DraftSummary) -> None:
    before = decision.next.proposal
    unchanged = before is not None and before.content_hash == draft.proposal.content_hash
    proposal = draft.proposal
    if before is not None:
        proposal = proposal.changed(created_at=before.created_at)
    decision.set(
        proposal=proposal,
        lint_passed=draft.lint_passed,
        passed_checks=decision.next.passed_checks if unchanged else (),
        not_applicable_checks=decision.next.not_applicable_checks if unchanged else (),
        unproved=decision.next.unproved if unchanged else (),
        wording=draft.wording,
        base=draft.base,
    )
    decision.set_session(
        proposal_id=draft.proposal.proposal_id, interpretation_id=draft.proposal.interpretation_id
    )
    decision.adopt(draft.staged)


def _drafted(decision: SessionDecision, draft: DraftSummary) -> None:
    decision.go(
        S.DRAFTING_PROPOSAL,
        Event.PROPOSAL_CREATED,
        Receipt.PROPOSAL_DRAFTED,
        proposal_id=draft.proposal.proposal_id,
        lint_passed=draft.lint_passed,
        drafted_by=draft.proposal.drafted_by if draft.wording else None,
    )


class DraftPreparation:
    """What is found out before a draft is made: the replay of the demonstration, and the words of a model.

    Holds the activity that is under way, so that a cancel does not wait for it.
    """

    def __init__(self) -> None:
        self._running: workflow.ActivityHandle[Any] | None = None
        self._cut_short = False

    async def replayed(self, request: DraftRequest) -> None:
        """Replays the demonstration where that is asked for. Trouble of any kind leaves the draft to the rules."""
        if request.replay:
            call = workflow.start_activity_method(
                LessonReplay.replay_lesson, request.session, summary="replay the demonstration", **EVIDENCE
            )
        elif request.replay_answered:
            call = workflow.start_activity_method(
                LessonReplay.replay_answered, request, summary="replay with what is there already", **EVIDENCE
            )
        else:
            return
        with suppress(ActivityError):
            await self._awaited(call)

    async def worded(self, request: DraftRequest, settings: LearnSettings) -> DraftRequest:
        """``request`` with a model's wording, where the session was created under settings that name a model.

        Where nothing new was said but edits, which win anyway, the wording there is stays. An improvement keeps the
        words of the skill it improves. Trouble of any kind is in the wording's note.
        """
        model = settings.drafting_model
        kept = request.wording is not None and request.wording.edits_blob is not None
        news = request.pending_answers or request.revision_instructions.strip()
        if model is None or request.base is not None or (kept and not news):
            return request
        return request.changed(wording=await self._ask(request, model))

    def cut_short(self) -> None:
        """Ends a call that is under way; the draft is then made without it."""
        if self._running is not None:
            self._cut_short = True
            self._running.cancel()

    async def _ask(self, request: DraftRequest, model: str) -> ModelWording:
        call = workflow.start_activity_method(
            ModelDrafting.word_draft,
            request,
            summary=f"{model} words draft r{request.revision}",
            **MODEL_CALL,
        )
        try:
            return await self._awaited(call)
        except ActivityError:
            how = "was cut short" if self._cut_short else "did not end"
            return ModelWording(model=model, note=f"Asking {model} {how}."[:240])

    async def _awaited(self, call: workflow.ActivityHandle[T]) -> T:
        self._cut_short, self._running = False, call
        try:
            return await call
        finally:
            self._running = None
