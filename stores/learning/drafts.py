"""Drafts of proposals as content-addressed blobs: staged, then loaded by proposal or by ability.

A decision of the session adopts a staged draft. Wordings of language models are kept the same way.
"""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import DraftBundle, LearnSessionAggregate, StagedDraft
from contracts.learning.interpretation import Checkpoint, SemanticWorkflowInterpretation, WorkflowGraph
from contracts.learning.model_draft import KeptModelEdits
from contracts.learning.proposal import CheckpointLintReport, SkillBundleProposal, SkillDraft
from contracts.learning.test_policy import TestPolicy
from contracts.learning.validation import ValidationRunKind
from stores.abilities.ability_rows import VERSIONS, present_version
from stores.learning.learning_tables import PROPOSALS, ROUNDS, SESSIONS
from stores.platform.blobs import get_blobs, put_blob, put_blobs, read_blob
from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.tables import learn_sessions, proposal_rounds, proposals


class Lesson(NamedTuple):
    """What an ability was installed from, the test policy of its session, and whether its rehearsal had passed."""

    bundle: DraftBundle | None = None
    test_policy: TestPolicy | None = None
    rehearsed: bool = False


class DraftStore:
    """Content-addressed drafts. Staging twice is the same as staging once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def stage(self, bundle: DraftBundle, content_hash: str, now: datetime) -> StagedDraft:
        """Keeps the parts and returns where they are."""
        parts = (bundle.draft, bundle.interpretation, bundle.graph, bundle.lint)
        contents = [canonical_json(part).encode() for part in parts]
        with self._database.write() as connection:
            draft, interpretation, graph, lint = put_blobs(connection, contents, now)
        return StagedDraft(
            content_hash=content_hash,
            draft_blob=draft,
            interpretation_blob=interpretation,
            graph_blob=graph,
            lint_blob=lint,
        )

    def is_as_before(self, proposal: SkillBundleProposal, staged: StagedDraft) -> bool:
        """Whether the round before ``proposal`` was this very draft, on the same base with the same hand edits."""
        of_round = (
            proposal_rounds.c.proposal_id == proposal.proposal_id,
            proposal_rounds.c.revision == proposal.revision - 1,
        )
        with self._database.read() as connection:
            query = ROUNDS.select(*of_round, also=(proposal_rounds.c.staged,))
            row = connection.execute(query).one_or_none()
        if row is None:
            return False
        before, kept = ROUNDS.parse(row.body), StagedDraft.model_validate_json(row.staged)
        return (kept.content_hash, kept.draft_blob, before.base, before.hand_edits) == (
            staged.content_hash,
            staged.draft_blob,
            proposal.base,
            proposal.hand_edits,
        )

    def bundle_of(self, proposal_id: str) -> tuple[SkillBundleProposal, DraftBundle]:
        """The proposal and its present draft.

        Raises:
            Refusal: ``PROPOSAL_NOT_FOUND``.
        """
        with self._database.read() as connection:
            return load_bundle(connection, proposal_id)

    def bundle_of_version(self, ability_id: str, version: int) -> DraftBundle | None:
        """The draft that a version of the ability was installed from; ``None`` where it was not drafted here."""
        with self._database.read() as connection:
            found = VERSIONS.find(connection, (ability_id, version))
            try:
                return load_bundle(connection, found.proposal_id)[1] if found is not None else None
            except Refusal:
                return None

    def lesson_of(self, ability_id: str) -> Lesson:
        """The lesson of the ability's present version; empty where it was not drafted here."""
        with self._database.read() as connection:
            version = present_version(connection, ability_id)
            if version is None:
                return Lesson()
            try:
                bundle = load_bundle(connection, version.proposal_id)[1]
            except Refusal:
                bundle = None
            of_proposal = select(proposals.c.session_id).where(proposals.c.proposal_id == version.proposal_id)
            aggregate = SESSIONS.first(connection, learn_sessions.c.session_id.in_(of_proposal))
            if aggregate is None:
                return Lesson(bundle)
            passed = ValidationRunKind.REHEARSAL in aggregate.passed_checks
            return Lesson(bundle, aggregate.test_policy, passed)


def load_bundle(connection: Connection, proposal_id: str) -> tuple[SkillBundleProposal, DraftBundle]:
    """As ``DraftStore.bundle_of``, inside a transaction."""
    proposal, staged = _staged(connection, proposal_id)
    places = (staged.draft_blob, staged.interpretation_blob, staged.graph_blob, staged.lint_blob)
    kept = get_blobs(connection, places)
    return proposal, DraftBundle(
        draft=SkillDraft.model_validate_json(kept[staged.draft_blob]),
        interpretation=SemanticWorkflowInterpretation.model_validate_json(kept[staged.interpretation_blob]),
        graph=WorkflowGraph.model_validate_json(kept[staged.graph_blob]),
        lint=CheckpointLintReport.model_validate_json(kept[staged.lint_blob]),
    )


def load_draft(connection: Connection, proposal_id: str) -> SkillDraft:
    """The skill alone of what ``load_bundle`` loads."""
    _, staged = _staged(connection, proposal_id)
    return read_blob(connection, staged.draft_blob, SkillDraft)


def _staged(connection: Connection, proposal_id: str) -> tuple[SkillBundleProposal, StagedDraft]:
    row = connection.execute(
        PROPOSALS.select(proposals.c.proposal_id == proposal_id, also=(proposals.c.staged,))
    ).one_or_none()
    if row is None:
        raise Refusal(ErrorCode.PROPOSAL_NOT_FOUND, f"There is no proposal {proposal_id}.")
    return PROPOSALS.parse(row.body), StagedDraft.model_validate_json(row.staged)


def planned_of_session(connection: Connection, session: LearnSessionAggregate) -> tuple[Checkpoint, ...]:
    """The checkpoints of the session's proposal; none before there is one."""
    return _of_proposal(connection, session.session.proposal_id)


def planned_of_ability(connection: Connection, ability_id: str) -> tuple[Checkpoint, ...]:
    """The checkpoints of the ability's present version; none where it was not drafted here."""
    version = present_version(connection, ability_id)
    return _of_proposal(connection, version.proposal_id if version is not None else None)


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
            return read_blob(connection, digest, KeptModelEdits)
