"""Drafts a proposal from a session's capture, or an improvement from its pinned base, and stages it.

The rules are those of ``domain/learning``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from uuid_utils import uuid7

from activities.learning.captured_lesson import CapturedLesson, captured_lesson
from activities.learning.command_choice import CommandChoice
from activities.learning.doubts import made_up_and_doubtful, unseen_in
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import DraftBundle, DraftRequest, DraftSummary
from contracts.learning.evidence import LessonEvidence
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.proposal import (
    LEFT_OUT,
    MAX_NOTE,
    NOT_CARRIED_OUT,
    PUT_BACK,
    BaseSkill,
    LintSeverity,
    ProposalState,
    SkillBundleProposal,
    SkillDraft,
    left_out_commands,
    parameter_entries,
    put_back_commands,
    with_edits,
)
from contracts.learning.session import LearningEntryMode
from domain.learning.checkpoints.checkpoint_lint import lint
from domain.learning.commands.command_line import is_unreadable
from domain.learning.comparison.demonstrations import (
    further_demonstrations,
    rehearsal_commands,
    shared_task,
    with_further_runs,
    with_optional_steps,
    without_undone_effects,
)
from domain.learning.comparison.doubtful import DoubtfulValue, value_note, with_answers
from domain.learning.comparison.given_inputs import input_note
from domain.learning.comparison.parameter_edits import (
    edited_parameters,
    fixed_values,
    renames,
    respoken_answers,
    respoken_edits,
)
from domain.learning.comparison.parameters import parameterised
from domain.learning.comparison.unseen_input import UnseenWork, unseen_note, with_what_was_said
from domain.learning.drafting.bundle import content_hash, workflow_graph
from domain.learning.drafting.command_places import Commands
from domain.learning.drafting.drafting import conditions_tested, draft_skill
from domain.learning.drafting.improvement import BaseMaterial, Improvement, ImprovementInput, Shown, improve
from domain.learning.drafting.instructions import read_instructions
from domain.learning.drafting.left_out import DraftedTexts, edits_after
from domain.learning.drafting.revision import support_packs
from domain.learning.interpretation.failed_work import not_proved
from domain.learning.interpretation.interpretation import InterpretationInput, interpret
from domain.learning.interpretation.naming import other_slug
from domain.learning.interpretation.questions import Doubt, questions_for, weakest_required
from domain.learning.interpretation.steps import DemonstratedStep, all_events
from domain.learning.model.merge import ChosenDraft, DeterministicDraft, as_it_is, chosen, stated_fields
from domain.learning.proof.hollow import MOST_ASKED, Verdicts, hollow_conditions, with_unproved_success
from domain.learning.proof.wording import proven_files, proven_statements
from domain.practice.conditions import unread_note
from stores.learning.base_skills import BaseSkills
from stores.learning.drafts import DraftStore, ModelWordingStore
from stores.learning.lesson_evidence import LessonEvidenceStore
from stores.learning.observations import ObservationLog
from stores.learning.proposals import ProposalReads
from stores.learning.starting_states import StartingStates
from stores.platform.blobs import BlobNotFoundError
from stores.practice.practice import PracticeStore

WRITTEN_BY = "improvement"
"""The drafter of an improvement: its base, and the author of the change."""


_NAME = "proposed_skill_slug"


@dataclass(frozen=True)
class Improved:
    """An improvement with what it was made on."""

    base: BaseSkill
    improvement: Improvement
    hand_edits: str | None
    traces: tuple[str, ...]
    """The base's interpretation, for an improvement without a demonstration."""

    @property
    def draft(self) -> ChosenDraft:
        """As a draft to stage."""
        found = self.improvement
        report = lint(found.interpretation, found.draft)
        return ChosenDraft(found.interpretation, found.draft, report, WRITTEN_BY, "")


@dataclass(frozen=True)
class Instructed:
    """A request with the edits that its words ask for, and the sentences that no rule understands."""

    request: DraftRequest
    not_understood: tuple[str, ...] = ()


class Improver:
    """Improves installed skills; the base stays as it is until the proposal is installed."""

    def __init__(self, bases: BaseSkills) -> None:
        self._bases = bases

    def improved(
        self, request: DraftRequest, pinned: BaseSkill, taught: DeterministicDraft | None
    ) -> Improved:
        """The base with what was taught and edited; a request to rebase starts from the present version.

        Raises:
            Refusal: ``ABILITY_NOT_FOUND`` when the base is gone, ``HAND_EDITED`` when it cannot be read,
                ``REVISION_INVALID`` when an edit would rename it.
        """
        base = self._bases.present(pinned) if request.rebase else pinned
        material: BaseMaterial = self._bases.material(base)
        shown = Shown(taught.interpretation, taught.steps, taught.stated, taught.evidence) if taught else None
        source = ImprovementInput(
            interpretation_id=request.interpretation_id,
            proposal_id=request.proposal_id,
            session=request.session,
            now=request.now,
            edits=request.edits,
            shown=shown,
        )
        edits = self._bases.edits_of(base.skill_slug) if material.edited else None
        return Improved(base, improve(material, source), edits, self._bases.traces_of(base))


class Drafter:
    """The same capture, answers, edits and wording of a model, if any, give the same draft."""

    def __init__(
        self,
        log: ObservationLog,
        drafts: DraftStore,
        proposals: ProposalReads,
        wordings: ModelWordingStore,
        bases: BaseSkills,
        evidence: LessonEvidenceStore,
        states: StartingStates,
        practices: PracticeStore,
    ) -> None:
        self._practices = practices
        self._log = log
        self._evidence = evidence
        self._states = states
        self._drafts = drafts
        self._proposals = proposals
        self._wordings = wordings
        self._bases = bases
        self._improver = Improver(bases)
        self._choice = CommandChoice(log, states)

    def draft(self, request: DraftRequest) -> DraftSummary:
        """Makes and stages a draft, in a model's words where the request names usable ones.

        Raises:
            Refusal: ``INSUFFICIENT_TRACES`` when no meaningful action was captured.
        """
        read = self.instructed(request)
        if request.base is not None:
            summary = self._improved(read.request, request.base)
        else:
            base = self.deterministic(read.request)
            summary = self._staged(read.request, self._worded(read.request, base), base)
        unchanged = self._drafts.is_as_before(summary.proposal, summary.staged)
        summary = summary.changed(edits=read.request.edits, unchanged=unchanged)
        return summary if request.wording is not None else _with_note(summary, read.not_understood)

    def instructed(self, request: DraftRequest) -> Instructed:
        """The request with what its words ask for as edits, by rules; the words that are left stay its words.

        They are about the round before the one that is drafted, so that a repeated call finds the same.

        Raises:
            Refusal: ``REVISION_INVALID`` where an instruction is understood and cannot be carried out.
        """
        says = bool(request.revision_instructions.strip()) or not {LEFT_OUT, PUT_BACK}.isdisjoint(
            request.edited_now
        )
        if not says or request.revision < 2:
            return Instructed(request)
        interpretation, draft = self._proposals.drafted(request.proposal_id, request.revision - 1)
        evidence = self._evidence.of_session(request.session.learn_session_id)
        commands = self._choice.shown(request, draft, evidence)
        found = read_instructions(
            request.revision_instructions,
            interpretation,
            draft,
            request.edited_now,
            commands,
            self._choice.left(request, draft, commands),
        )
        edits = self._with_what_follows(request, with_edits(request.edits, found.edits), commands, evidence)
        renamed = {
            str(e["name"]): str(e["new_name"]) for e in parameter_entries(found.edits) if "new_name" in e
        }
        left = " ".join(found.not_understood)
        spoken = respoken_edits(edits, renamed)
        return Instructed(request.changed(edits=spoken, revision_instructions=left), found.not_understood)

    def _with_what_follows(
        self,
        request: DraftRequest,
        edits: dict[str, object],
        commands: Commands,
        evidence: LessonEvidence | None,
    ) -> dict[str, object]:
        """The edits without those about what goes with commands that are newly left out, and with what comes back.

        Raises:
            Refusal: ``REVISION_INVALID`` where one of these cannot be left out, or put back.
        """
        shown = [one.event_id for one in commands.shown]
        kept = evidence.kept if evidence and evidence.reproduced else ()
        left_before = [one for one in kept if one not in shown]
        back_before = [one for one in shown if one not in kept] if kept else []
        left, back = left_out_commands(edits), put_back_commands(edits)
        commands.check([one for one in left if one not in left_before])
        again = [one for one in left_before if one not in left]
        if new := [*(one for one in back if one not in back_before), *again]:
            self._choice.check_put_back(request, new, {*shown, *new} - {*left}, commands, evidence)
        if (set(left), set(back)) == (set(left_before), set(back_before)) or request.base is not None:
            return edits
        return edits_after(
            edits, self._drafted(request, left_before, back_before), self._drafted(request, left, back)
        )

    def _drafted(
        self, request: DraftRequest, left_out: Sequence[str], put_back: Sequence[str]
    ) -> DraftedTexts:
        """What the rules draft without a person's edits of it, but with their choice of commands."""
        choice: dict[str, object] = {LEFT_OUT: list(left_out), PUT_BACK: list(put_back)}
        plain = request.changed(edits=choice, revision_instructions="")
        captured = self._captured(plain)
        found = self._by_rules(plain, captured).interpretation
        return DraftedTexts(
            [line for _, line in captured.commands],
            captured.parameters,
            found.checkpoints,
            found.success_conditions,
        )

    def _improved(self, request: DraftRequest, pinned: BaseSkill) -> DraftSummary:
        """A delta on an installed skill; without a demonstration the edits alone are the change."""
        try:
            taught = self.deterministic(request)
        except Refusal as refused:
            if refused.code is not ErrorCode.INSUFFICIENT_TRACES or refused.extra.get("failed_events"):
                raise
            taught = None
        found = self._improver.improved(request, pinned, taught)
        summary = self._staged(request, found.draft, taught, found.traces)
        facts = {
            "base": found.base,
            "hand_edits": found.hand_edits,
            "base_conflicts": found.improvement.conflicts,
            "ability_id": found.base.ability_id,
        }
        return summary.changed(base=found.base, proposal=summary.proposal.changed(**facts))

    def _staged(
        self,
        request: DraftRequest,
        worded: ChosenDraft,
        taught: DeterministicDraft | None,
        traces: tuple[str, ...] = (),
    ) -> DraftSummary:
        interpretation, draft, report = worded.interpretation, worded.draft, worded.lint
        if taught is not None:
            draft = draft.changed(further_demonstrations=taught.further, unrehearsed=taught.draft.unrehearsed)
        digest = content_hash(draft, interpretation)
        bundle = DraftBundle(
            draft=draft,
            interpretation=interpretation,
            graph=workflow_graph(interpretation, taught.steps if taught else ()),
            lint=report,
        )
        staged = self._drafts.stage(bundle, digest, request.now)
        questions = questions_for(
            interpretation,
            doubts=taught.doubts if taught is not None else (),
            unreadable=[one.command for one in draft.taught_commands if is_unreadable(one.command)],
            new_id=lambda: str(uuid7()),
            now=request.now,
        )
        return DraftSummary(
            proposal=_proposal(request, interpretation, draft, digest, traces).changed(
                drafted_by=worded.drafted_by, drafter_note=self._note(request, worded, taught)
            ),
            staged=staged,
            lint_passed=report.passed,
            lint_errors=tuple(
                f"{finding.rule} {finding.location}"
                for finding in report.findings
                if finding.severity is LintSeverity.ERROR
            ),
            weakest_required_confidence=weakest_required(interpretation),
            questions=questions,
            wording=request.wording,
        )

    def _note(self, request: DraftRequest, worded: ChosenDraft, taught: DeterministicDraft | None) -> str:
        """What is to be known of a draft: answers not followed, why it is not a model's, what is left unchecked."""
        session, run = request.session, None
        if session.entry_mode is LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE:
            run = self._practices.find(session.learn_session_id)
        unread = unread_note(run.success_conditions) if run is not None else ""
        evidence = self._evidence.of_session(session.learn_session_id)
        answers = self._proposals.answers_to(request)
        unused = input_note(answers, evidence)
        values = [one for one in taught.doubts if isinstance(one, DoubtfulValue)] if taught else []
        unclear = value_note(answers, values, request.edits) if request.base is None else ""
        notes = (unused, unclear, unseen_note(answers), worded.note, unread)
        return clipped(" ".join(filter(None, notes)), MAX_NOTE)

    def deterministic(self, request: DraftRequest) -> DeterministicDraft:
        """What the rules alone make of the capture.

        Raises:
            Refusal: ``INSUFFICIENT_TRACES`` when no meaningful action was captured, ``REVISION_INVALID`` when an
                edit is about a parameter that was not shown.
        """
        return self._by_rules(request, self._captured(request))

    def _captured(self, request: DraftRequest) -> CapturedLesson:
        return captured_lesson(request, self._log, self._evidence)

    def _by_rules(self, request: DraftRequest, captured: CapturedLesson) -> DeterministicDraft:
        """The draft of what was captured, which a caller may have read already."""
        session, demonstrations = request.session, captured.demonstrations
        evidence, drafted, steps = captured.evidence, captured.parameters, demonstrations[0]
        answers = self._proposals.answers_to(request)
        unseen = unseen_in(captured)
        doubts: tuple[Doubt, ...] = tuple(map(UnseenWork, unseen))
        # An improvement's parameters are the base's: their edits are put on where both come together.
        parameters, said = drafted, dict(request.edits)
        if request.base is None:
            inputs, unsure = made_up_and_doubtful(captured)
            said = with_answers(request.edits, answers, unsure, drafted)
            parameters, doubts = (
                edited_parameters(drafted, said, _spoken_in(steps)),
                (*doubts, *inputs, *unsure),
            )
        fixed, renamed = fixed_values(drafted, parameters), renames(drafted, parameters)
        edits = respoken_edits(said, renamed, fixed)
        answers = respoken_answers(answers, renamed, fixed)
        shared = shared_task(demonstrations, parameters)
        interpretation = interpret(
            InterpretationInput(
                interpretation_id=request.interpretation_id,
                proposal_id=request.proposal_id,
                session=session,
                events=captured.events,
                boundaries=captured.boundaries,
                answers=answers,
                edits=edits,
                unconfirmed=bool(request.questions),
                now=request.now,
                steps=shared.steps,
                proven=proven_statements(evidence),
                proven_files=proven_files(evidence),
            )
        )
        interpretation = without_undone_effects(interpretation, steps)
        interpretation = with_optional_steps(interpretation, shared.optional)
        interpretation = interpretation.changed(unseen_inputs=with_what_was_said(unseen, answers))
        interpretation = parameterised(
            interpretation, parameters, edits, names_the_task=captured.comparison is not None
        )
        rehearsal = rehearsal_commands(steps)
        stated = conditions_tested(interpretation, evidence, edits, can_be_tested=bool(rehearsal))
        verdicts = Verdicts(evidence, [one.event_id for one in rehearsal])
        interpretation = with_unproved_success(interpretation, stated, verdicts)
        draft = draft_skill(interpretation, steps, session, edits=edits, evidence=evidence, stated=stated)
        named = edits
        if self._is_to_be_renamed(request, draft):
            named = {**edits, _NAME: other_slug(draft.slug, session.owner_user_id)}
            draft = draft_skill(interpretation, steps, session, edits=named, evidence=evidence, stated=stated)
        hollow = hollow_conditions(interpretation, stated.tested, verdicts)[:MOST_ASKED]
        unrehearsed = (
            *map(not_proved, captured.failed),
            *with_further_runs(draft.unrehearsed, demonstrations),
        )
        draft = draft.changed(unrehearsed=unrehearsed)
        return DeterministicDraft(
            session=session,
            steps=steps,
            interpretation=interpretation,
            draft=draft,
            stated=stated_fields(interpretation, captured.boundaries, edits),
            edits=named,
            further=further_demonstrations(demonstrations, self._states.of_session(session.learn_session_id)),
            renamed=renamed,
            fixed=fixed,
            doubts=(*hollow, *doubts),
            evidence=evidence,
        )

    def _is_to_be_renamed(self, request: DraftRequest, draft: SkillDraft) -> bool:
        """Whether the name that the rules chose is not free; a person's own choice is theirs to change."""
        if request.base is not None or _NAME in request.edits:
            return False
        return not self._bases.is_free(draft.slug, request.session.owner_user_id)

    def _worded(self, request: DraftRequest, base: DeterministicDraft) -> ChosenDraft:
        wording = request.wording
        if wording is None or wording.edits_blob is None:
            return as_it_is(base, wording.note if wording else "")
        try:
            return chosen(base, self._wordings.read(wording.edits_blob), wording.model)
        except BlobNotFoundError:
            return as_it_is(base, f"What {wording.model} proposed is no longer kept.")


def _with_note(summary: DraftSummary, not_understood: Sequence[str]) -> DraftSummary:
    """Says what was not carried out, where no model was asked for it."""
    if not not_understood:
        return summary
    said = " ".join(f"“{clipped(one, 80)}”" for one in not_understood)
    note = clipped(f"{NOT_CARRIED_OUT}{clipped(said, 400)} {summary.proposal.drafter_note}".strip(), MAX_NOTE)
    return summary.changed(proposal=summary.proposal.changed(drafter_note=note))


def _spoken_in(steps: Sequence[DemonstratedStep]) -> list[str]:
    """The commands and the folders they ran in: where a parameter's value must stand."""
    ran = [event.terminal for event in all_events(steps) if event.terminal]
    return [*(one.command for one in ran), *sorted({one.working_folder for one in ran})]


def _proposal(
    request: DraftRequest,
    interpretation: SemanticWorkflowInterpretation,
    draft: SkillDraft,
    digest: str,
    traces: tuple[str, ...],
) -> SkillBundleProposal:
    base = f"system/learning/installed/{draft.slug}"
    return SkillBundleProposal(
        proposal_id=request.proposal_id,
        owner_user_id=request.session.owner_user_id,
        learn_session_id=request.session.learn_session_id,
        interpretation_id=interpretation.interpretation_id,
        source_trace_ids=request.session.active_trace_ids or traces,
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
        support_pack_refs=support_packs(interpretation.dependencies),
        created_at=request.now,
        updated_at=request.now,
    )
