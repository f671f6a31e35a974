"""Proposals: read, revise, validate, install, approve, reject (DOC3 §0C.16, §0C.16A, §0C.28)."""

from typing import Annotated

from fastapi import APIRouter, Query

from api.platform.commands import Commands
from api.platform.dependencies import (
    Approver,
    FrameDep,
    Installer,
    Learner,
    PageDep,
    Reader,
    SearchQuery,
    ServicesDep,
)
from api.platform.paths import ProposalId, SagaId, masked, masked_fields
from api.services import Services
from contracts.abilities.availability import InstallLane
from contracts.errors import ErrorCode, Refusal
from contracts.learning.install import InstallSaga
from contracts.learning.proposal import ProposalRoundsResponse, ProposalState
from contracts.learning.requests import (
    ApproveProposalRequest,
    ProposalInstallRequest,
    ProposalReviseRequest,
    RejectProposalRequest,
    StartValidationRunRequest,
)
from contracts.learning.responses import (
    LearnProposalsListResponse,
    ProposalDetailResponse,
    ProposalDiffResponse,
    ProposalFilesResponse,
    ProposalInstallResponse,
    ValidationRunResponse,
    ValidationRunsListResponse,
)
from contracts.learning.state_machine import SessionCommand
from contracts.learning.validation import REQUIRED_CHECKS
from domain.learning.drafting.revision import check_edits
from workflows.learning.learn_session_messages import (
    InstallCommand,
    LearnCommand,
    ReviseCommand,
    ValidateCommand,
)

router = APIRouter(prefix="/api/learn", tags=["proposals"])

Revision = Annotated[int | None, Query(ge=1, le=10_000, description="The round; the present one without.")]

RUN_EVERYTHING = StartValidationRunRequest()
APPROVE_FOR_WORKSPACE = ApproveProposalRequest()


@router.get("/proposals", operation_id="learn_proposal_list")
def list_proposals(
    caller: Reader,
    services: ServicesDep,
    page: PageDep,
    state: Annotated[ProposalState | None, Query()] = None,
    search: SearchQuery = None,
) -> LearnProposalsListResponse:
    """The caller's proposals: the one under work, which is pinned, then the newest first."""
    return services.proposals.proposals(caller.user_id, page, state, search)


@router.get("/proposals/{proposal_id}/detail", operation_id="learn_proposal_detail")
def detail(proposal_id: ProposalId, caller: Reader, services: ServicesDep) -> ProposalDetailResponse:
    """A proposal with its interpretation, lint report and questions."""
    proposal = services.proposals.owned(proposal_id, caller.user_id)
    standing = services.bases.standing(proposal)
    return services.proposals.detail(proposal_id).changed(base=standing)


@router.get("/proposals/{proposal_id}/files", operation_id="learn_proposal_files")
def files(
    proposal_id: ProposalId, caller: Reader, services: ServicesDep, revision: Revision = None
) -> ProposalFilesResponse:
    """The drafted files, as they are now or were in an earlier round."""
    services.proposals.owned(proposal_id, caller.user_id)
    return services.proposals.files(proposal_id, revision)


@router.get("/proposals/{proposal_id}/rounds", operation_id="learn_proposal_rounds")
def rounds(proposal_id: ProposalId, caller: Reader, services: ServicesDep) -> ProposalRoundsResponse:
    """Every draft of the proposal with its author and test result, newest first."""
    return services.proposals.rounds(services.proposals.owned(proposal_id, caller.user_id))


@router.get("/proposals/{proposal_id}/diff", operation_id="learn_proposal_diff")
def diff(proposal_id: ProposalId, caller: Reader, services: ServicesDep) -> ProposalDiffResponse:
    """The draft against what it improves, hand edits included, or what is installed under the same name."""
    proposal = services.proposals.owned(proposal_id, caller.user_id)
    found = services.proposals.diff(proposal_id, services.bases.present_files(proposal))
    return found.changed(base=services.bases.standing(proposal))


@router.get("/proposals/{proposal_id}/validation-runs", operation_id="learn_proposal_validation_runs")
def validation_runs(
    proposal_id: ProposalId, caller: Reader, services: ServicesDep, page: PageDep
) -> ValidationRunsListResponse:
    """The proposal's validation runs with their steps."""
    services.proposals.owned(proposal_id, caller.user_id)
    return services.proposals.validation_runs(proposal_id, page)


@router.get("/install-sagas/{saga_id}", operation_id="learn_install_saga")
def install_saga(saga_id: SagaId, caller: Reader, services: ServicesDep) -> InstallSaga:
    """An install's steps, attempts and compensation, while it runs and afterwards."""
    return services.proposals.saga(saga_id, caller.user_id)


@router.post("/proposals/{proposal_id}/revise", operation_id="learn_proposal_revise")
async def revise(
    proposal_id: ProposalId,
    body: ProposalReviseRequest,
    caller: Learner,
    services: ServicesDep,
    frame: FrameDep,
) -> ProposalDetailResponse:
    """Sends the proposal back to drafting with instructions and edited fields."""
    # Before anything walks through them: an edit that passes is not nested deeply and holds no NaN.
    edits = check_edits(body.edited_fields)
    asked = ReviseCommand(
        commit_key=frame.key_for(caller.user_id, body),
        correlation_id=frame.correlation_id,
        instructions=masked(body.revision_instructions),
        edits=check_edits(masked_fields(edits)),
    )
    await Commands(services).to_proposal(SessionCommand.REVISE, proposal_id, asked)
    return await _detail_after(proposal_id, asked, services)


@router.post("/proposals/{proposal_id}/validate", operation_id="learn_proposal_validate")
async def validate(
    proposal_id: ProposalId,
    caller: Learner,
    services: ServicesDep,
    frame: FrameDep,
    body: StartValidationRunRequest = RUN_EVERYTHING,
) -> ValidationRunResponse:
    """Starts a validation run; it goes on after the answer, so watch the session's events."""
    foreign = [check.value for check in body.selected_tests if check not in REQUIRED_CHECKS]
    if foreign:
        offered = ", ".join(check.value for check in REQUIRED_CHECKS)
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            f"selected_tests: not offered here: {', '.join(foreign)}; choose from {offered}.",
            fields=[{"path": "body.selected_tests", "problem": f"choose from {offered}"}],
        )
    asked = ValidateCommand(
        commit_key=frame.key_for(caller.user_id, body),
        correlation_id=frame.correlation_id,
        run_label=masked(body.run_label),
        selected=body.selected_tests,
    )
    receipt = await Commands(services).to_proposal(SessionCommand.VALIDATE, proposal_id, asked)
    run_id = receipt.validation_run_id
    if run_id is None:
        raise Refusal(ErrorCode.INTERNAL_ERROR, "The validation run was not started.")
    return await Commands(services).first_answer(
        asked,
        lambda: ValidationRunResponse(validation_run=services.proposals.validation_run(run_id)),
        ValidationRunResponse,
    )


@router.post("/proposals/{proposal_id}/request-more-tests", operation_id="learn_proposal_request_more_tests")
async def request_more_tests(
    proposal_id: ProposalId,
    caller: Learner,
    services: ServicesDep,
    frame: FrameDep,
    body: StartValidationRunRequest = RUN_EVERYTHING,
) -> ValidationRunResponse:
    """Another name for ``validate``."""
    return await validate(proposal_id, caller, services, frame, body)


@router.post("/proposals/{proposal_id}/install", operation_id="learn_proposal_install")
async def install(
    proposal_id: ProposalId,
    body: ProposalInstallRequest,
    caller: Installer,
    services: ServicesDep,
    frame: FrameDep,
) -> ProposalInstallResponse:
    """Installs the proposal: privately, or for the workspace as an approval does."""
    private = body.install_lane is InstallLane.EXPERIMENTAL_PRIVATE
    asked = InstallCommand(
        commit_key=frame.key_for(caller.user_id, body),
        correlation_id=frame.correlation_id,
        lane=body.install_lane,
    )
    command = SessionCommand.INSTALL if private else SessionCommand.APPROVE
    receipt = await Commands(services).to_proposal(
        command, proposal_id, asked, services.pending.require_settled
    )

    def compose() -> ProposalInstallResponse:
        proposal = services.proposals.owned(proposal_id, caller.user_id)
        if receipt.saga_id is None or proposal.ability_id is None:
            raise Refusal(ErrorCode.INTERNAL_ERROR, "The install was not started.")
        return ProposalInstallResponse(
            proposal=proposal, ability_id=proposal.ability_id, saga_id=receipt.saga_id
        )

    return await Commands(services).first_answer(asked, compose, ProposalInstallResponse)


@router.post("/proposals/{proposal_id}/approve", operation_id="learn_proposal_approve")
async def approve(
    proposal_id: ProposalId,
    caller: Approver,
    services: ServicesDep,
    frame: FrameDep,
    body: ApproveProposalRequest = APPROVE_FOR_WORKSPACE,
) -> ProposalDetailResponse:
    """Accepts the proposal and installs it; answered when the install has ended."""
    asked = InstallCommand(
        commit_key=frame.key_for(caller.user_id, body),
        correlation_id=frame.correlation_id,
        lane=body.approval_scope,
        note=masked(body.approval_note),
    )
    await Commands(services).to_proposal(
        SessionCommand.APPROVE, proposal_id, asked, services.pending.require_settled
    )
    return await _detail_after(proposal_id, asked, services)


@router.post("/proposals/{proposal_id}/reject", operation_id="learn_proposal_reject")
async def reject(
    proposal_id: ProposalId,
    body: RejectProposalRequest,
    caller: Approver,
    services: ServicesDep,
    frame: FrameDep,
) -> ProposalDetailResponse:
    """Turns the proposal down, for good. The session can be cloned into a new one."""
    asked = LearnCommand(
        commit_key=frame.key_for(caller.user_id, body),
        correlation_id=frame.correlation_id,
        reason=masked(body.reason[:240]),
    )
    await Commands(services).to_proposal(SessionCommand.REJECT, proposal_id, asked)
    return await _detail_after(proposal_id, asked, services)


async def _detail_after(proposal_id: str, asked: LearnCommand, services: Services) -> ProposalDetailResponse:
    return await Commands(services).first_answer(
        asked, lambda: services.proposals.detail(proposal_id), ProposalDetailResponse
    )
