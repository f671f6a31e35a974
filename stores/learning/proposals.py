"""Read models of proposals, and what sessions and proposals allow their owner to do as they stand.

List, detail, files, diff, draft rounds (DOC3 §0A.24), validation runs, install sagas.
"""

import difflib
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, case, select

from contracts.abilities.availability import InstallLane
from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import DraftRequest, LearnSessionAggregate, StagedDraft
from contracts.learning.install import InstallSaga
from contracts.learning.interpretation import SemanticWorkflowInterpretation, WorkflowGraph
from contracts.learning.proposal import (
    ProposalRound,
    ProposalRoundsResponse,
    ProposalState,
    SkillBundleProposal,
    SkillDraft,
)
from contracts.learning.questions import LearningAnswer, LearningQuestion
from contracts.learning.responses import (
    HollowConditionView,
    LearnProposalsListResponse,
    ProposalDetailResponse,
    ProposalDiffResponse,
    ProposalFilesResponse,
    QuestionView,
    UntestedCheckpoint,
    ValidationRunsListResponse,
)
from contracts.learning.session import LearnSessionState
from contracts.learning.state_machine import AT_REST, LANES_OF, TAKEN_IN, SessionCommand
from contracts.learning.validation import ValidationRun, unproved_digest
from contracts.learning.views.allowed_actions import LearnSessionView, ProposalView, SessionActions
from domain.learning.conditions.stated_conditions import also_tested, why_untested
from domain.learning.drafting.graph_picture import review_graph
from domain.learning.drafting.revision import document_dependencies
from domain.learning.proof.hollow import NEXT_STEP, HollowCondition, Verdicts, hollow_conditions
from domain.learning.session.allowed_actions import SessionFacts, proposal_actions, session_actions
from stores.learning.base_skills import BaseSkills
from stores.learning.drafts import load_bundle
from stores.learning.learning_tables import (
    LESSON_EVIDENCE,
    PROPOSALS,
    ROUNDS,
    SAGAS,
    SESSIONS,
    VALIDATION_RUNS,
    VALIDATION_STEPS,
    questions_of,
)
from stores.platform import tables
from stores.platform.blobs import read_blob
from stores.platform.canonical import canonical_json
from stores.platform.database import Database, PageRequest, containing
from stores.platform.projection.documents import read_document

_TABLE = tables.proposal_rounds
_RUNS = tables.validation_runs


def keep_round(connection: Connection, proposal: SkillBundleProposal, staged: StagedDraft) -> None:
    """Keeps the draft that ``proposal`` adopts now; its revision is its number."""
    drafted_at = rfc3339(proposal.updated_at)
    ROUNDS.add(connection, proposal, drafted_at=drafted_at, staged=canonical_json(staged))


def rounds_of(connection: Connection, proposal: SkillBundleProposal) -> ProposalRoundsResponse:
    """Every round, the newest first, with what its newest validation run came to."""
    rows = connection.execute(
        ROUNDS.select(_TABLE.c.proposal_id == proposal.proposal_id, also=(_TABLE.c.drafted_at,)).order_by(
            _TABLE.c.revision.desc()
        )
    )
    runs = VALIDATION_RUNS.all(
        connection, _RUNS.c.proposal_id == proposal.proposal_id, order_by=(_RUNS.c.run_id,)
    )
    tested = {run.content_hash: run.overall_result for run in runs}
    found = [(ROUNDS.parse(row.body), row.drafted_at) for row in rows]
    return ProposalRoundsResponse(
        proposal_id=proposal.proposal_id,
        rounds=tuple(
            ProposalRound(
                revision=then.revision,
                present=then.revision == proposal.revision,
                title=then.title,
                content_hash=then.content_hash,
                drafted_by=then.drafted_by,
                drafter_note=then.drafter_note,
                drafted_at=drafted_at,
                tested=tested.get(then.content_hash),
            )
            for then, drafted_at in found
        ),
    )


def draft_of_round(connection: Connection, proposal_id: str, revision: int) -> SkillDraft:
    """The draft of one round.

    Raises:
        Refusal: ``NOT_FOUND``.
    """
    return read_blob(connection, _staged_of_round(connection, proposal_id, revision).draft_blob, SkillDraft)


def _staged_of_round(connection: Connection, proposal_id: str, revision: int) -> StagedDraft:
    staged = connection.scalar(
        select(_TABLE.c.staged).where(_TABLE.c.proposal_id == proposal_id, _TABLE.c.revision == revision)
    )
    if staged is None:
        raise Refusal(
            ErrorCode.NOT_FOUND,
            f"The proposal has no draft r{revision}; GET /api/learn/proposals/{proposal_id}/rounds lists them.",
        )
    return StagedDraft.model_validate_json(staged)


_DRAFTED_FROM = TAKEN_IN[SessionCommand.GENERATE_PROPOSAL]
_INSTALLED_FROM = frozenset(state for command in LANES_OF for state in TAKEN_IN[command])


class AllowedActions:
    """Reads the facts and asks the rules; however many sessions, two queries and those on improvements."""

    def __init__(self, database: Database, bases: BaseSkills) -> None:
        self._database = database
        self._bases = bases

    def of_sessions(self, aggregates: Sequence[LearnSessionAggregate]) -> tuple[LearnSessionView, ...]:
        """The sessions as clients read them, in the order given."""
        with self._database.read() as connection:
            lifted = lifted_quarantines(connection, aggregates)
        return tuple(
            LearnSessionView.model_validate(
                dict(one.session)
                | dict(session_actions(facts))
                | {"quarantine_lifted": one.session.learn_session_id in lifted}
            )
            for one, facts in zip(aggregates, self._facts(aggregates), strict=True)
        )

    def of_proposals(self, proposals: Sequence[SkillBundleProposal]) -> tuple[ProposalView, ...]:
        """The proposals as clients list them, in the order given; one without a session takes nothing."""
        found = self._facts_by_proposal(proposals)
        return tuple(_with_actions(one, found.get(one.proposal_id)) for one in proposals)

    def of_proposal(
        self, proposal: SkillBundleProposal, session: LearnSessionAggregate | None
    ) -> SessionActions:
        """What the proposal takes now; nothing where ``session`` is not its session."""
        if (
            session is None
            or session.proposal is None
            or session.proposal.proposal_id != proposal.proposal_id
        ):
            return SessionActions()
        return proposal_actions(*self._facts([session]))

    def _facts_by_proposal(self, proposals: Sequence[SkillBundleProposal]) -> dict[str, SessionFacts]:
        table = tables.learn_sessions
        wanted = {one.learn_session_id for one in proposals if one.learn_session_id is not None}
        with self._database.read() as connection:
            bodies = connection.scalars(select(table.c.aggregate).where(table.c.session_id.in_(wanted))).all()
        facts = self._facts([LearnSessionAggregate.model_validate_json(body) for body in bodies])
        return {
            one.aggregate.proposal.proposal_id: one for one in facts if one.aggregate.proposal is not None
        }

    def _facts(self, aggregates: Sequence[LearnSessionAggregate]) -> list[SessionFacts]:
        nothing_captured = self._without_capture(aggregates)
        return [
            SessionFacts(
                aggregate=one,
                captured=one.session.learn_session_id not in nothing_captured,
                closed_lanes=self._bases.closed_lanes(one.proposal)
                if one.proposal is not None and one.session.state in _INSTALLED_FROM
                else {},
            )
            for one in aggregates
        ]

    def _without_capture(self, aggregates: Sequence[LearnSessionAggregate]) -> frozenset[str]:
        """The sessions that are to be drafted from what was captured in them, and hold nothing."""
        asked = {
            one.session.learn_session_id
            for one in aggregates
            if one.session.state in _DRAFTED_FROM and one.base is None and not one.source_runs
        }
        if not asked:
            return frozenset()
        table = tables.observation_counters
        query = select(table.c.session_id).where(table.c.session_id.in_(asked), table.c.accepted > 0)
        with self._database.read() as connection:
            return frozenset(asked.difference(connection.scalars(query)))


def lifted_quarantines(connection: Connection, aggregates: Sequence[LearnSessionAggregate]) -> frozenset[str]:
    """The sessions that ended in quarantine and whose ability is out of it; their own state stays."""
    sessions = {
        one.session.ability_id: one.session.learn_session_id
        for one in aggregates
        if one.session.state is LearnSessionState.QUARANTINED and one.session.ability_id
    }
    if not sessions:
        return frozenset()
    table = tables.abilities
    out = select(table.c.ability_id).where(
        table.c.ability_id.in_(sessions), table.c.lane != InstallLane.QUARANTINED.value
    )
    return frozenset(sessions[one] for one in connection.scalars(out))


def _with_actions(proposal: SkillBundleProposal, facts: SessionFacts | None) -> ProposalView:
    if facts is None:
        return ProposalView.model_validate(dict(proposal))
    pinned = facts.aggregate.session.state not in AT_REST
    return ProposalView.model_validate(dict(proposal) | dict(proposal_actions(facts)) | {"pinned": pinned})


_SEARCHED = ("title", "proposed_skill_slug", "trigger_phrases", "primary_capability_id", "ability_id")


class ProposalReads:
    """Read models of proposals. Another owner's proposal is not found."""

    def __init__(self, database: Database, actions: AllowedActions) -> None:
        self._database = database
        self._actions = actions

    def owned(self, proposal_id: str, owner: str) -> SkillBundleProposal:
        """The proposal.

        Raises:
            Refusal: ``PROPOSAL_NOT_FOUND``.
        """
        with self._database.read() as connection:
            return PROPOSALS.owned(connection, proposal_id, owner)

    def proposals(
        self,
        owner: str,
        wanted: PageRequest,
        state: ProposalState | None = None,
        search: str | None = None,
    ) -> LearnProposalsListResponse:
        """The owner's proposals that are not archived: the one at work first, then the newest first.

        ``search`` finds those whose title, name or trigger phrases have its words.
        """
        table = tables.proposals
        where = [table.c.owner == owner, table.c.archived_at.is_(None)]
        if state is not None:
            where.append(table.c.state == state.value)
        with self._database.read() as connection:
            if search:
                where.append(containing(connection, table.c.body, _SEARCHED, search))
            sessions = tables.learn_sessions
            at_work = select(sessions.c.session_id).where(sessions.c.owner == owner, tables.HOLDS_SLOT)
            order = (case((table.c.session_id.in_(at_work), 0), else_=1), table.c.proposal_id.desc())
            found = PROPOSALS.page(connection, wanted, *where, order_by=order)
        return LearnProposalsListResponse(
            proposals=self._actions.of_proposals(found.documents), **found.counts
        )

    def detail(self, proposal_id: str) -> ProposalDetailResponse:
        """All that a person needs to judge the proposal."""
        with self._database.read() as connection:
            proposal, bundle = load_bundle(connection, proposal_id)
            saga_id = connection.scalar(
                select(tables.install_sagas.c.saga_id)
                .where(tables.install_sagas.c.proposal_id == proposal_id)
                .order_by(tables.install_sagas.c.saga_id.desc())
                .limit(1)
            )
            session = SESSIONS.find(connection, proposal.learn_session_id or "")
            evidence = LESSON_EVIDENCE.find(connection, proposal.learn_session_id or "")
        unproved = session.unproved if session is not None else ()
        verdicts = Verdicts(evidence, [one.event_id for one in bundle.draft.rehearsal])
        hollow = hollow_conditions(bundle.interpretation, bundle.draft.conditions, verdicts)
        untested = why_untested(
            bundle.interpretation, bundle.draft.conditions, tests_files=bool(bundle.draft.rehearsal)
        )
        return ProposalDetailResponse(
            proposal=proposal,
            saga_id=saga_id,
            interpretation=bundle.interpretation,
            checkpoint_lint_report=bundle.lint,
            untested=bundle.draft.untested,
            untested_checkpoints=tuple(sorted(untested)),
            untested_because=tuple(
                UntestedCheckpoint(checkpoint_id=one, reason=why.reason, next_step=why.next_step)
                for one, why in sorted(untested.items())
            ),
            also_tested=also_tested(
                bundle.draft.conditions,
                bundle.interpretation.success_conditions,
                bundle.interpretation.parameters,
            ),
            hollow_conditions=tuple(map(_hollow_view, hollow)),
            left_out=bundle.draft.left_out,
            questions=tuple(_question_view(q, a) for q, a in self._questions(proposal_id)),
            unproved=unproved,
            unproved_digest=unproved_digest(unproved) if unproved else None,
            **dict(self._actions.of_proposal(proposal, session)),
        )

    def drafted(self, proposal_id: str, revision: int) -> tuple[SemanticWorkflowInterpretation, SkillDraft]:
        """What one round was drafted as.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.read() as connection:
            staged = _staged_of_round(connection, proposal_id, revision)
            return (
                read_blob(connection, staged.interpretation_blob, SemanticWorkflowInterpretation),
                read_blob(connection, staged.draft_blob, SkillDraft),
            )

    def graph(self, proposal_id: str) -> WorkflowGraph:
        """The workflow graph of the present draft, which no agent is given (DOC3 §0C.9A)."""
        with self._database.read() as connection:
            return load_bundle(connection, proposal_id)[1].graph

    def files(
        self, proposal_id: str, revision: int | None = None, *, for_review: bool = False
    ) -> ProposalFilesResponse:
        """The drafted files, and what they rest on; of an earlier round where its ``revision`` is given.

        ``for_review`` adds the workflow graph of the present draft.

        Raises:
            Refusal: ``NOT_FOUND`` for a round that there was not.
        """
        with self._database.read() as connection:
            proposal, bundle = load_bundle(connection, proposal_id)
            draft = draft_of_round(connection, proposal_id, revision) if revision else bundle.draft
        return ProposalFilesResponse(
            proposal_id=proposal_id,
            revision=revision or proposal.revision,
            files=draft.files,
            depends_on=document_dependencies(proposal, draft, bundle.interpretation.dependencies),
            workflow_graph=review_graph(bundle.graph) if for_review and revision is None else None,
        )

    def rounds(self, proposal: SkillBundleProposal) -> ProposalRoundsResponse:
        """Every draft that the proposal has had, the newest first."""
        with self._database.read() as connection:
            return rounds_of(connection, proposal)

    def diff(self, proposal_id: str, present: Mapping[str, str] | None = None) -> ProposalDiffResponse:
        """The draft against ``present``, the files it improves, or else what is installed under its name."""
        with self._database.read() as connection:
            proposal, bundle = load_bundle(connection, proposal_id)
            version = connection.scalar(
                select(tables.abilities.c.version).where(
                    tables.abilities.c.slug == proposal.proposed_skill_slug
                )
            )
            parts: list[str] = []
            for file in bundle.draft.files:
                path = f"skills/{proposal.proposed_skill_slug}/{file.path}"
                if present is not None:
                    installed = present.get(file.path)
                else:
                    content = read_document(connection, "workspace", path)
                    installed = content.decode() if content is not None else None
                parts.extend(
                    difflib.unified_diff(
                        (installed or "").splitlines(keepends=True),
                        file.content.splitlines(keepends=True),
                        fromfile=f"installed/{file.path}" if installed is not None else "/dev/null",
                        tofile=f"proposed/{file.path}",
                    )
                )
        return ProposalDiffResponse(
            proposal_id=proposal_id,
            base_version=proposal.base.version if proposal.base else version,
            diff="".join(parts),
        )

    def answers_of(self, proposal_id: str) -> tuple[LearningAnswer, ...]:
        """The answers given so far."""
        return tuple(answer for _, answer in self._questions(proposal_id) if answer is not None)

    def answers_to(self, request: DraftRequest) -> tuple[tuple[LearningQuestion, LearningAnswer], ...]:
        """The questions of a draft with their answers, kept ones and those being given now."""
        answers = (*self.answers_of(request.proposal_id), *request.pending_answers)
        given = {answer.question_id: answer for answer in answers}
        return tuple((one, given[one.question_id]) for one in request.questions if one.question_id in given)

    def validation_runs(self, proposal_id: str, wanted: PageRequest) -> ValidationRunsListResponse:
        """The proposal's runs, newest first, with the steps of the runs on this page."""
        steps = tables.validation_steps
        with self._database.read() as connection:
            proposal_hash = connection.scalar(
                select(tables.proposals.c.content_hash).where(tables.proposals.c.proposal_id == proposal_id)
            )
            found = VALIDATION_RUNS.page(
                connection, wanted, _RUNS.c.proposal_id == proposal_id, order_by=(_RUNS.c.run_id.desc(),)
            )
            found_steps = VALIDATION_STEPS.all(
                connection,
                steps.c.run_id.in_([run.validation_run_id for run in found.documents]),
                order_by=(steps.c.run_id.desc(), steps.c.test_case_id),
            )
        return ValidationRunsListResponse(
            runs=tuple(run.changed(stale=run.content_hash != proposal_hash) for run in found.documents),
            steps=found_steps,
            **found.counts,
        )

    def validation_run(self, run_id: str) -> ValidationRun:
        """One run.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.read() as connection:
            return VALIDATION_RUNS.get(connection, run_id)

    def saga(self, saga_id: str, owner: str) -> InstallSaga:
        """An install saga.

        Raises:
            Refusal: ``SAGA_NOT_FOUND``.
        """
        with self._database.read() as connection:
            return SAGAS.owned(connection, saga_id, owner)

    def _questions(self, proposal_id: str) -> list[tuple[LearningQuestion, LearningAnswer | None]]:
        with self._database.read() as connection:
            return questions_of(connection, proposal_id)


def _hollow_view(one: HollowCondition) -> HollowConditionView:
    return HollowConditionView(
        condition=one.about, reason=one.reason, question_text=one.prompt, next_step=NEXT_STEP
    )


def _question_view(question: LearningQuestion, answer: LearningAnswer | None) -> QuestionView:
    return QuestionView(
        question_id=question.question_id,
        question_text=question.prompt,
        answered=answer is not None,
        answer_text=answer.answer if answer else None,
        suggestion=question.suggestion,
        evidence_event_ids=question.evidence_event_ids,
    )
