"""The rounds of a proposal in the document."""

from typing import Any

from pydantic import BaseModel

from api.openapi_story import PROPOSAL, PROPOSAL_ID, RUN
from contracts.errors import ErrorCode
from contracts.learning.proposal_rounds import ProposalRound, ProposalRoundsResponse

_ROUND = ProposalRound(
    revision=PROPOSAL.revision,
    present=True,
    title=PROPOSAL.title,
    content_hash=PROPOSAL.content_hash,
    drafted_by=PROPOSAL.drafted_by,
    drafted_at=PROPOSAL.updated_at,
    tested=RUN.overall_result,
)

REQUESTS: dict[str, dict[str, Any]] = {}
MODELS: tuple[BaseModel, ...] = (ProposalRoundsResponse(proposal_id=PROPOSAL_ID, rounds=(_ROUND,)),)
ERRORS: dict[str, tuple[ErrorCode, ...]] = {"learn_proposal_files": (ErrorCode.NOT_FOUND,)}
PATH_IDS: dict[str, ErrorCode] = {}
TAG: dict[str, str] | None = None
