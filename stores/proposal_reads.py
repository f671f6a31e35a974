"""Read models of proposals: detail, files, diff, validation runs, install sagas."""

import difflib
from collections.abc import Mapping

from sqlalchemy import case, select

from contracts.errors import ErrorCode, Refusal
from contracts.learning.proposal import ProposalState, SkillBundleProposal
from contracts.learning.proposal_rounds import ProposalRoundsResponse
from contracts.learning.questions import LearningAnswer, LearningQuestion
from contracts.learning.responses import (
    LearnProposalsListResponse,
    ProposalDetailResponse,
    ProposalDiffResponse,
    ProposalFilesResponse,
    QuestionView,
    ValidationRunsListResponse,
)
from contracts.learning.saga import InstallSaga
from contracts.learning.validation import ValidationRun, ValidationStepResult
from domain.learning.document_dependencies import document_dependencies
from stores import tables
from stores.allowed_actions import AllowedActions
from stores.database import Database
from stores.documents import read_document
from stores.draft_store import load_bundle
from stores.paging import PageRequest, fetch_page
from stores.proposal_rounds import draft_of_round, rounds_of
from stores.text_search import containing

_SEARCHED = ("title", "proposed_skill_slug", "trigger_phrases", "primary_capability_id", "ability_id")


class ProposalReads:
    """What clients read about proposals. Somebody else's proposal is not found."""

    def __init__(self, database: Database, actions: AllowedActions) -> None:
        self._database = database
        self._actions = actions

    def owned(self, proposal_id: str, owner: str) -> SkillBundleProposal:
        """The proposal.

        Raises:
            Refusal: ``PROPOSAL_NOT_FOUND``.
        """
        table = tables.proposals
        with self._database.read() as connection:
            row = connection.execute(
                select(table.c.body, table.c.owner).where(table.c.proposal_id == proposal_id)
            ).one_or_none()
        if row is None or row.owner != owner:
            raise Refusal(
                ErrorCode.PROPOSAL_NOT_FOUND,
                f"There is no proposal {proposal_id} of yours; list them with GET /api/learn/proposals.",
            )
        return SkillBundleProposal.model_validate_json(row.body)

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
        query = select(table.c.body).where(table.c.owner == owner, table.c.archived_at.is_(None))
        if state is not None:
            query = query.where(table.c.state == state.value)
        with self._database.read() as connection:
            if search:
                query = query.where(containing(connection, table.c.body, _SEARCHED, search))
            sessions = tables.learn_sessions
            at_work = select(sessions.c.session_id).where(sessions.c.owner == owner, sessions.c.holds_slot)
            order = (case((table.c.session_id.in_(at_work), 0), else_=1), table.c.proposal_id.desc())
            found = fetch_page(connection, query.order_by(*order), wanted)
        return LearnProposalsListResponse(
            proposals=self._actions.of_proposals(
                [SkillBundleProposal.model_validate_json(row.body) for row in found.rows]
            ),
            total=found.total,
            page=wanted.page,
            page_size=wanted.page_size,
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
        return ProposalDetailResponse(
            proposal=proposal,
            saga_id=saga_id,
            interpretation=bundle.interpretation,
            checkpoint_lint_report=bundle.lint,
            questions=tuple(_view(q, a) for q, a in self._questions(proposal_id)),
            **dict(self._actions.of_proposal(proposal)),
        )

    def files(self, proposal_id: str, revision: int | None = None) -> ProposalFilesResponse:
        """The drafted files, and what they rest on; of an earlier round where its ``revision`` is given.

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

    def validation_runs(self, proposal_id: str, wanted: PageRequest) -> ValidationRunsListResponse:
        """The proposal's runs, newest first, with the steps of the runs on this page."""
        runs, steps = tables.validation_runs, tables.validation_steps
        with self._database.read() as connection:
            proposal_hash = connection.scalar(
                select(tables.proposals.c.content_hash).where(tables.proposals.c.proposal_id == proposal_id)
            )
            query = select(runs.c.run_id, runs.c.body).where(runs.c.proposal_id == proposal_id)
            found = fetch_page(connection, query.order_by(runs.c.run_id.desc()), wanted)
            step_rows = connection.execute(
                select(steps.c.body)
                .where(steps.c.run_id.in_([row.run_id for row in found.rows]))
                .order_by(steps.c.run_id.desc(), steps.c.test_case_id)
            ).all()
        parsed = (ValidationRun.model_validate_json(row.body) for row in found.rows)
        return ValidationRunsListResponse(
            runs=tuple(run.model_copy(update={"stale": run.content_hash != proposal_hash}) for run in parsed),
            steps=tuple(ValidationStepResult.model_validate_json(row.body) for row in step_rows),
            total=found.total,
            page=wanted.page,
            page_size=wanted.page_size,
        )

    def validation_run(self, run_id: str) -> ValidationRun:
        """One run.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        runs = tables.validation_runs
        with self._database.read() as connection:
            body = connection.scalar(select(runs.c.body).where(runs.c.run_id == run_id))
        if body is None:
            raise Refusal(ErrorCode.NOT_FOUND, f"There is no validation run {run_id}.")
        return ValidationRun.model_validate_json(body)

    def saga(self, saga_id: str, owner: str) -> InstallSaga:
        """An install saga.

        Raises:
            Refusal: ``SAGA_NOT_FOUND``.
        """
        sagas = tables.install_sagas
        with self._database.read() as connection:
            row = connection.execute(
                select(sagas.c.body, sagas.c.owner).where(sagas.c.saga_id == saga_id)
            ).one_or_none()
        if row is None or row.owner != owner:
            raise Refusal(ErrorCode.SAGA_NOT_FOUND, f"There is no install saga {saga_id} of yours.")
        return InstallSaga.model_validate_json(row.body)

    def _questions(self, proposal_id: str) -> list[tuple[LearningQuestion, LearningAnswer | None]]:
        table = tables.questions
        with self._database.read() as connection:
            rows = connection.execute(
                select(table.c.body, table.c.answer)
                .where(table.c.proposal_id == proposal_id)
                .order_by(table.c.question_id)
            ).all()
        return [
            (
                LearningQuestion.model_validate_json(row.body),
                LearningAnswer.model_validate_json(row.answer) if row.answer else None,
            )
            for row in rows
        ]


def _view(question: LearningQuestion, answer: LearningAnswer | None) -> QuestionView:
    return QuestionView(
        question_id=question.question_id,
        question_text=question.prompt,
        answered=answer is not None,
        answer_text=answer.answer if answer else None,
        suggestion=question.suggestion,
        evidence_event_ids=question.evidence_event_ids,
    )
