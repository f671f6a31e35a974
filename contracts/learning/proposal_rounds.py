"""The rounds of a proposal's review: each draft that there was stays readable (DOC3 §0A.24)."""

from pydantic import Field

from contracts.base import Contract, Sha256, Text120, Text160, Text240, UtcTime, Uuid, VersionedContract
from contracts.learning.validation import OverallResult


class ProposalRound(Contract):
    """One draft, and what came of testing it."""

    revision: int = Field(ge=1)
    present: bool = Field(description="Whether it is the draft as it is now; the others are history.")
    title: Text160
    content_hash: Sha256
    drafted_by: Text120
    drafter_note: Text240 = ""
    drafted_at: UtcTime
    tested: OverallResult | None = Field(default=None, description="The newest run's result, if any.")


class ProposalRoundsResponse(VersionedContract):
    """Every round of a proposal, the newest first."""

    proposal_id: Uuid
    rounds: tuple[ProposalRound, ...]
