"""Session account, reopening a session by a query context, and deployment state (DOC3 §17, §18, §0A.23).

A query context means the session it names, or the one that its proposal, cluster or ability came from.
"""

from datetime import UTC, datetime

import anyio.to_thread
from fastapi import APIRouter, Request

from api.platform.dependencies import Reader, ServicesDep, SessionId
from api.platform.system import temporal_problem
from api.services import Services
from contracts.abilities.availability import InstallLane
from contracts.abilities.lookup import AbilityLookupQuery
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.views.account import (
    DeploymentResponse,
    LearningQueryContextPayload,
    RecordsAccount,
    SessionAccount,
    UseAccount,
)
from contracts.workflow_ids import install_saga_id, learn_session_id, validation_run_id
from domain.learning.session import account, deployment
from stores.mining.candidate_reads import CandidateReads
from stores.platform.database import PageRequest


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


router = APIRouter(prefix="/api/learn", tags=["records"])

NEWEST = PageRequest(page=1, page_size=1)


@router.get("/sessions/{session_id}/account", operation_id="learn_session_account")
def session_account(
    session_id: SessionId, caller: Reader, services: ServicesDep, request: Request
) -> SessionAccount:
    """The mode, what is observed, what was understood, proposed, tested, installed, and where it is recorded."""
    aggregate = services.sessions.owned(session_id, caller.user_id)
    proposal = account.proposal(aggregate)
    detail = services.proposals.detail(proposal.proposal_id) if proposal else None
    receipts = services.session_reads.receipts(
        caller.user_id, PageRequest(page=1, page_size=5), session_id, None
    )
    understood = detail.interpretation if detail else None
    asked = [question for question in detail.questions if not question.answered] if detail else []
    return SessionAccount(
        learn_session_id=session_id,
        mode=account.mode(aggregate),
        session=account.state(aggregate, services.session_reads.view(aggregate).allowed_actions),
        observing=services.session_reads.observation_scope(aggregate),
        boundary=account.boundary(services.observations.boundaries_of(session_id)),
        meaning=account.meaning(understood, len(asked), detail.untested) if detail and understood else None,
        proposal=proposal,
        tests=account.tests(services.proposals.validation_runs(proposal.proposal_id, NEWEST))
        if proposal
        else None,
        use=_use(services, aggregate, caller.user_id),
        records=RecordsAccount(
            receipts=receipts.total,
            latest_receipt_ids=tuple(receipt.receipt_id for receipt in receipts.receipts),
            events=f"/api/learn/sessions/{session_id}/events",
            workflows=_workflows(aggregate, detail.saga_id if detail else None),
        ),
        reopens=account.reopens(aggregate),
        missing=deployment.missing_for(aggregate.session.entry_mode, operations_of(request)),
    )


@router.post("/reopen", operation_id="learn_reopen")
def reopen(
    body: LearningQueryContextPayload, caller: Reader, services: ServicesDep, request: Request
) -> SessionAccount:
    """Finds exactly the session that a payload refers to, as it is now: by its id, proposal, cluster or ability."""
    session_id = session_meant(body, caller.user_id, services)
    return session_account(session_id, caller, services, request)


@router.get("/deployment", operation_id="learn_deployment")
async def learn_deployment(caller: Reader, services: ServicesDep, request: Request) -> DeploymentResponse:
    """Which parts of learning are deployed here, and what is pending or does not answer."""
    del caller
    pending = await anyio.to_thread.run_sync(services.pending.look)
    if problem := await temporal_problem(services):
        code = "no_worker" if "worker" in problem else "temporal_unavailable"
        pending = deployment.Pending(degraded=code)
    state = deployment.partial_deployment(pending, datetime.now(UTC))
    parts = deployment.components(operations_of(request))
    return DeploymentResponse(
        partial_deployment=state, components=parts, disabled=deployment.disabled(state, parts)
    )


def operations_of(request: Request) -> frozenset[str]:
    """The operations that this application answers."""
    operations: frozenset[str] = request.app.state.operations
    return operations


def _use(services: Services, aggregate: LearnSessionAggregate, caller: str) -> UseAccount | None:
    ability_id = aggregate.session.ability_id
    if ability_id is None:
        return None
    try:
        entry = services.abilities.visible_entry(ability_id, caller)
    except Refusal:
        return account.use(ability_id, None, ())
    index = services.abilities.indexes().by_fit
    found_by = [
        phrase
        for phrase in entry.trigger_phrases
        if account.routes_to(
            ability_id,
            index.fitting(
                AbilityLookupQuery(user_query=phrase, install_lanes_allowed=tuple(InstallLane)),
                caller_user_id=caller,
            ),
        )
    ]
    return account.use(ability_id, entry, found_by)


def _workflows(aggregate: LearnSessionAggregate, saga_id: str | None) -> tuple[str, ...]:
    session = aggregate.session
    named = [learn_session_id(session.learn_session_id)]
    if session.validation_run_id:
        named.append(validation_run_id(session.validation_run_id))
    if saga_id:
        named.append(install_saga_id(saga_id))
    return tuple(named)
