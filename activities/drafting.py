"""From a capture in the store to a staged draft, through the pure rules of ``domain/learning``."""

from uuid_utils import uuid7

from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import DraftBundle, DraftRequest, DraftSummary
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.proposal import LintSeverity, ProposalState, SkillBundleProposal, SkillDraft
from contracts.learning.questions import LearningAnswer, LearningQuestion
from domain.learning.content_hash import content_hash
from domain.learning.drafting import draft_skill, workflow_graph
from domain.learning.interpretation import InterpretationInput, interpret
from domain.learning.lint import lint
from domain.learning.questions import questions_for, weakest_required
from domain.learning.steps import captured_steps
from stores.draft_store import DraftStore
from stores.observations import ObservationLog
from stores.proposal_reads import ProposalReads


class Drafter:
    """The deterministic drafter: the same capture, answers and edits give the same draft."""

    def __init__(self, log: ObservationLog, drafts: DraftStore, proposals: ProposalReads) -> None:
        self._log = log
        self._drafts = drafts
        self._proposals = proposals

    def draft(self, request: DraftRequest) -> DraftSummary:
        """Makes and stages a draft.

        Raises:
            Refusal: ``INSUFFICIENT_TRACES`` when no meaningful action was captured.
        """
        session = request.session
        events = self._log.all_of(session.learn_session_id)
        boundaries = self._log.boundaries_of(session.learn_session_id)
        steps = captured_steps(events, boundaries)
        if not steps or not session.active_trace_ids:
            raise Refusal(
                ErrorCode.INSUFFICIENT_TRACES,
                "Nothing meaningful was captured; cancel, and demonstrate the task in a new session.",
                captured_events=len(events),
            )
        interpretation = interpret(
            InterpretationInput(
                interpretation_id=request.interpretation_id,
                proposal_id=request.proposal_id,
                session=session,
                events=events,
                boundaries=boundaries,
                answers=self._answers(request),
                edits=request.edits,
                unconfirmed=bool(request.questions),
                now=request.now,
            )
        )
        draft = draft_skill(interpretation, steps, session, edits=request.edits)
        report = lint(interpretation, draft)
        digest = content_hash(draft, interpretation)
        bundle = DraftBundle(
            draft=draft,
            interpretation=interpretation,
            graph=workflow_graph(interpretation, steps),
            lint=report,
        )
        staged = self._drafts.stage(bundle, digest, request.now)
        questions = questions_for(interpretation, new_id=lambda: str(uuid7()), now=request.now)
        return DraftSummary(
            proposal=_proposal(request, interpretation, draft, digest),
            staged=staged,
            lint_passed=report.passed,
            lint_errors=tuple(
                f"{finding.rule} {finding.location}"
                for finding in report.findings
                if finding.severity is LintSeverity.ERROR
            ),
            weakest_required_confidence=weakest_required(interpretation),
            questions=questions,
        )

    def _answers(self, request: DraftRequest) -> tuple[tuple[LearningQuestion, LearningAnswer], ...]:
        """Kept answers and those being given now, with their questions."""
        kept = {answer.question_id: answer for answer in self._proposals.answers_of(request.proposal_id)}
        kept.update({answer.question_id: answer for answer in request.pending_answers})
        return tuple(
            (question, kept[question.question_id])
            for question in request.questions
            if question.question_id in kept
        )


def _proposal(
    request: DraftRequest,
    interpretation: SemanticWorkflowInterpretation,
    draft: SkillDraft,
    digest: str,
) -> SkillBundleProposal:
    base = f"system/learning/installed/{draft.slug}"
    return SkillBundleProposal(
        proposal_id=request.proposal_id,
        owner_user_id=request.session.owner_user_id,
        learn_session_id=request.session.learn_session_id,
        interpretation_id=interpretation.interpretation_id,
        source_trace_ids=request.session.active_trace_ids,
        title=draft.title,
        proposed_skill_slug=draft.slug,
        trigger_phrases=draft.trigger_phrases,
        negative_triggers=draft.negative_triggers,
        draft_skill_path=f"{base}/SKILL.md",
        draft_manifest_path=f"system/capabilities/manifests/{draft.capability_id}.json",
        draft_graph_ref=f"proposal:{request.proposal_id}#graph",
        content_hash=digest,
        revision=request.revision,
        proposal_state=ProposalState.DRAFT,
        ability_id=draft.capability_id,
        primary_capability_id=draft.capability_id,
        created_at=request.now,
        updated_at=request.now,
    )
