"""Which session a query context means: the one it names, or the one its proposal, cluster or ability came from."""

from api.services import Services
from contracts.errors import ErrorCode, Refusal
from contracts.learning.query_context import LearningQueryContextPayload
from stores.mining_reads import CandidateReads


def session_meant(wanted: LearningQueryContextPayload, caller: str, services: Services) -> str:
    """The session, by the most exact of what the payload names (DOC3 §0A.23).

    Raises:
        Refusal: ``VALIDATION_FAILED`` where it names none or two; ``PROPOSAL_NOT_FOUND``; ``NOT_FOUND`` for a cluster
            without a candidate; ``ABILITY_NOT_FOUND``.
    """
    session_id = wanted.learn_session_id
    if wanted.proposal_id is not None:
        found = services.proposals.owned(wanted.proposal_id, caller).learn_session_id
        if session_id not in (None, found):
            raise Refusal(
                ErrorCode.VALIDATION_FAILED,
                "The proposal belongs to another session than the one named.",
                fields=["proposal_id"],
            )
        session_id = found
    if session_id is None and wanted.cluster_id is not None:
        candidate = CandidateReads(services.database).of_cluster(wanted.cluster_id, caller)
        session_id = candidate.learn_session_id or candidate.representative_session_id
    if session_id is None and wanted.referenced_ids:
        (newest, *_) = services.abilities.versions(wanted.referenced_ids[0], caller).versions
        session_id = services.proposals.owned(newest.proposal_id, caller).learn_session_id
    if session_id is None:
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            "Name a learn_session_id, a proposal_id, a cluster_id, or an ability first in referenced_ids.",
            fields=["learn_session_id"],
        )
    return session_id
