"""The drafts of a proposal, each kept when it is adopted (DOC3 §0A.24)."""

from sqlalchemy import Connection, insert, select

from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import StagedDraft
from contracts.learning.proposal import SkillBundleProposal, SkillDraft
from contracts.learning.proposal_rounds import ProposalRound, ProposalRoundsResponse
from contracts.learning.validation import ValidationRun
from stores import tables
from stores.blobs import get_blob
from stores.canonical import canonical_json

_TABLE = tables.proposal_rounds


def keep_round(connection: Connection, proposal: SkillBundleProposal, staged: StagedDraft) -> None:
    """Keeps the draft that ``proposal`` adopts now; its revision is its number."""
    connection.execute(
        insert(_TABLE).values(
            proposal_id=proposal.proposal_id,
            revision=proposal.revision,
            drafted_at=rfc3339(proposal.updated_at),
            staged=canonical_json(staged),
            body=canonical_json(proposal),
        )
    )


def rounds_of(connection: Connection, proposal: SkillBundleProposal) -> ProposalRoundsResponse:
    """Every round, the newest first, with what its newest validation run came to."""
    rows = connection.execute(
        select(_TABLE.c.body, _TABLE.c.drafted_at)
        .where(_TABLE.c.proposal_id == proposal.proposal_id)
        .order_by(_TABLE.c.revision.desc())
    )
    runs = tables.validation_runs
    bodies = connection.scalars(
        select(runs.c.body).where(runs.c.proposal_id == proposal.proposal_id).order_by(runs.c.run_id)
    )
    tested = {
        run.content_hash: run.overall_result
        for run in (ValidationRun.model_validate_json(body) for body in bodies)
    }
    found = [(SkillBundleProposal.model_validate_json(row.body), row.drafted_at) for row in rows]
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
    staged = connection.scalar(
        select(_TABLE.c.staged).where(_TABLE.c.proposal_id == proposal_id, _TABLE.c.revision == revision)
    )
    if staged is None:
        raise Refusal(
            ErrorCode.NOT_FOUND,
            f"The proposal has no draft r{revision}; GET /api/learn/proposals/{proposal_id}/rounds lists them.",
        )
    place = StagedDraft.model_validate_json(staged).draft_blob
    return SkillDraft.model_validate_json(get_blob(connection, place))
