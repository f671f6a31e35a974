"""Drafts of proposals as content-addressed blobs: staged, then loaded by proposal or by ability.

A decision of the session adopts a staged draft. Wordings of language models are kept the same way.
"""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from contracts.abilities.availability import AbilityVersion
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import DraftBundle, LearnSessionAggregate, StagedDraft
from contracts.learning.interpretation import Checkpoint, SemanticWorkflowInterpretation, WorkflowGraph
from contracts.learning.model_draft import KeptModelEdits
from contracts.learning.proposal import CheckpointLintReport, SkillBundleProposal, SkillDraft
from contracts.learning.test_policy import TestPolicy
from stores.platform import tables
from stores.platform.blobs import get_blob, put_blob
from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.tables import abilities, ability_versions, learn_sessions, proposals


class Lesson(NamedTuple):
    """The draft that an ability was installed from, and the test policy of its session."""

    draft: SkillDraft | None = None
    test_policy: TestPolicy | None = None


class DraftStore:
    """Content-addressed drafts. Staging twice is the same as staging once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def stage(self, bundle: DraftBundle, content_hash: str, now: datetime) -> StagedDraft:
        """Keeps the parts and returns where they are."""
        with self._database.write() as connection:

            def keep(
                part: SkillDraft | SemanticWorkflowInterpretation | WorkflowGraph | CheckpointLintReport,
            ) -> str:
                return put_blob(connection, canonical_json(part).encode(), now)

            return StagedDraft(
                content_hash=content_hash,
                draft_blob=keep(bundle.draft),
                interpretation_blob=keep(bundle.interpretation),
                graph_blob=keep(bundle.graph),
                lint_blob=keep(bundle.lint),
            )

    def bundle_of(self, proposal_id: str) -> tuple[SkillBundleProposal, DraftBundle]:
        """The proposal and its present draft.

        Raises:
            Refusal: ``PROPOSAL_NOT_FOUND``.
        """
        with self._database.read() as connection:
            return load_bundle(connection, proposal_id)

    def lesson_of(self, ability_id: str) -> Lesson:
        """The lesson of the ability's present version; empty where it was not drafted here."""
        with self._database.read() as connection:
            proposal_id = _proposal_of_ability(connection, ability_id)
            if proposal_id is None:
                return Lesson()
            try:
                draft = load_bundle(connection, proposal_id)[1].draft
            except Refusal:
                draft = None
            return Lesson(draft, _test_policy_of(connection, proposal_id))


def load_bundle(connection: Connection, proposal_id: str) -> tuple[SkillBundleProposal, DraftBundle]:
    """As ``DraftStore.bundle_of``, inside a transaction."""
    table = tables.proposals
    row = connection.execute(
        select(table.c.body, table.c.staged).where(table.c.proposal_id == proposal_id)
    ).one_or_none()
    if row is None:
        raise Refusal(ErrorCode.PROPOSAL_NOT_FOUND, f"There is no proposal {proposal_id}.")
    staged = StagedDraft.model_validate_json(row.staged)
    return SkillBundleProposal.model_validate_json(row.body), DraftBundle(
        draft=SkillDraft.model_validate_json(get_blob(connection, staged.draft_blob)),
        interpretation=SemanticWorkflowInterpretation.model_validate_json(
            get_blob(connection, staged.interpretation_blob)
        ),
        graph=WorkflowGraph.model_validate_json(get_blob(connection, staged.graph_blob)),
        lint=CheckpointLintReport.model_validate_json(get_blob(connection, staged.lint_blob)),
    )


def planned_of_session(connection: Connection, session: LearnSessionAggregate) -> tuple[Checkpoint, ...]:
    """The checkpoints of the session's proposal; none before there is one."""
    return _of_proposal(connection, session.session.proposal_id)


def planned_of_ability(connection: Connection, ability_id: str) -> tuple[Checkpoint, ...]:
    """The checkpoints of the ability's present version; none where it was not drafted here."""
    return _of_proposal(connection, _proposal_of_ability(connection, ability_id))


def _proposal_of_ability(connection: Connection, ability_id: str) -> str | None:
    """The proposal that the ability's present version was installed from."""
    body = connection.scalar(
        select(ability_versions.c.body)
        .join(
            abilities,
            (abilities.c.ability_id == ability_versions.c.ability_id)
            & (abilities.c.version == ability_versions.c.version),
        )
        .where(abilities.c.ability_id == ability_id)
    )
    return AbilityVersion.model_validate_json(body).proposal_id if body is not None else None


def _test_policy_of(connection: Connection, proposal_id: str) -> TestPolicy | None:
    """The present test policy of the proposal's session."""
    body = connection.scalar(
        select(learn_sessions.c.aggregate)
        .join(proposals, proposals.c.session_id == learn_sessions.c.session_id)
        .where(proposals.c.proposal_id == proposal_id)
    )
    return LearnSessionAggregate.model_validate_json(body).test_policy if body is not None else None


def _of_proposal(connection: Connection, proposal_id: str | None) -> tuple[Checkpoint, ...]:
    if proposal_id is None:
        return ()
    try:
        return load_bundle(connection, proposal_id)[1].interpretation.checkpoints
    except Refusal:
        return ()


class ModelWordingStore:
    """Content-addressed proposals of wording. Keeping one twice is the same as keeping it once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, answer: KeptModelEdits, now: datetime) -> str:
        """Keeps a proposal and returns its digest."""
        with self._database.write() as connection:
            return put_blob(connection, canonical_json(answer).encode(), now)

    def read(self, digest: str) -> KeptModelEdits:
        """The proposal kept under ``digest``.

        Raises:
            BlobNotFoundError: nothing is kept under it.
        """
        with self._database.read() as connection:
            return KeptModelEdits.model_validate_json(get_blob(connection, digest))
