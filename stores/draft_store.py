"""Drafts: staged as blobs before a decision adopts them, read back whole afterwards."""

from datetime import datetime

from sqlalchemy import Connection, select

from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import DraftBundle, StagedDraft
from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.proposal import CheckpointLintReport, SkillBundleProposal, SkillDraft
from contracts.learning.workflow_graph import WorkflowGraph
from stores import tables
from stores.blobs import get_blob, put_blob
from stores.canonical import canonical_json
from stores.database import Database


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
