"""Proposals: read, revise, validate, install, approve, reject (DOC3 §0C.16, §0C.16A, §0C.28)."""

from collections.abc import Callable
from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter, Query, Response

from api.platform.commands import (
    ApproverFrame,
    CommandFrame,
    InstallerFrame,
    LearnerFrame,
    masked,
    masked_fields,
)
from api.platform.dependencies import (
    PageDep,
    ProposalId,
    Reader,
    SagaId,
    SearchQuery,
    ServicesDep,
)
from api.platform.pictures import SVG_RESPONSES, svg_response
from contracts.abilities.availability import InstallLane
from contracts.errors import ErrorCode, Refusal
from contracts.learning.install import InstallSaga
from contracts.learning.proposal import ProposalRoundsResponse, ProposalState
from contracts.learning.requests import (
    AcceptingCommand,
    ApproveProposalRequest,
    ProposalInstallRequest,
    ProposalReviseRequest,
    RejectProposalRequest,
    RequestAdapterRequest,
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
from contracts.learning.validation import OFFERED_CHECKS, REQUIRED_CHECKS
from contracts.learning.views.portability import ProposalPortability
from contracts.platform.commands import Command
from domain.learning.drafting.graph_picture import svg_of
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
    """A proposal with its interpretation, lint report, questions and portability grade."""
    proposal = services.proposals.owned(proposal_id, caller.user_id)
    found = services.proposals.detail(proposal_id)
    return found.changed(
        base=services.bases.standing(proposal), portability=services.portability.of(proposal)
    )


@router.get("/proposals/{proposal_id}/files", operation_id="learn_proposal_files")
def files(
    proposal_id: ProposalId, caller: Reader, services: ServicesDep, revision: Revision = None
) -> ProposalFilesResponse:
    """The drafted files, as they are now or were in an earlier round; for reviewers with the workflow graph."""
    services.proposals.owned(proposal_id, caller.user_id)
    return services.proposals.files(proposal_id, revision, for_review=caller.reviews)


@router.get(
    "/proposals/{proposal_id}/graph.svg",
    operation_id="learn_proposal_graph",
    response_class=Response,
    responses=SVG_RESPONSES,
)
def graph(proposal_id: ProposalId, caller: Reader, services: ServicesDep) -> Response:
    """The workflow graph of the present draft as a picture, for people who review it."""
    if not caller.reviews:
        raise Refusal(
            ErrorCode.FORBIDDEN,
            "The workflow graph is for people who review drafts; ask for a token with the scope learn or approve "
            "that is bound to no agent runtime.",
        )
    services.proposals.owned(proposal_id, caller.user_id)
    return svg_response(svg_of(services.proposals.graph(proposal_id)))


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
    proposal_id: ProposalId, body: ProposalReviseRequest, frame: LearnerFrame
) -> ProposalDetailResponse:
    """Sends the proposal back to drafting with instructions and edited fields, unless they change nothing."""
    # Before anything walks through them: an edit that passes is not nested deeply and holds no NaN.
    edits = check_edits(body.edited_fields)
    message = frame.message(
        ReviseCommand,
        body,
        instructions=masked(body.revision_instructions),
        edits=check_edits(masked_fields(edits)),
    )
    return await _detail_after(SessionCommand.REVISE, proposal_id, frame, message)


@router.post("/proposals/{proposal_id}/validate", operation_id="learn_proposal_validate")
async def validate(
    proposal_id: ProposalId, frame: LearnerFrame, body: StartValidationRunRequest = RUN_EVERYTHING
) -> ValidationRunResponse:
    """Starts a validation run; it goes on after the answer, so watch the session's events.

    An imported skill has no session: read the proposal's validation runs.
    """
    foreign = [check.value for check in body.selected_tests if check not in OFFERED_CHECKS]
    if foreign:
        offered = ", ".join(check.value for check in OFFERED_CHECKS)
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            f"selected_tests: not offered here: {', '.join(foreign)}; choose from {offered}.",
            fields=[{"path": "body.selected_tests", "problem": f"choose from {offered}"}],
        )
    label = masked(body.run_label)
    proposal = await anyio.to_thread.run_sync(frame.services.proposals.owned, proposal_id, frame.owner)
    if proposal.imported_from is not None:
        checks = [check for check in OFFERED_CHECKS if check in (body.selected_tests or REQUIRED_CHECKS)]

        async def act() -> ValidationRunResponse:
            again = frame.services.imports.gateway.validate_again
            key = frame.key_for(body)
            return ValidationRunResponse(
                validation_run=await again(proposal, checks, label, key, frame.correlation_id)
            )

        return await frame.answer_once(body, act, ValidationRunResponse)
    message = frame.message(ValidateCommand, body, run_label=label, selected=body.selected_tests)
    receipt = await frame.to_proposal(SessionCommand.VALIDATE, proposal_id, message)
    run_id = receipt.validation_run_id
    if run_id is None:
        raise Refusal(ErrorCode.INTERNAL_ERROR, "The validation run was not started.")
    return await frame.first_answer(
        receipt,
        message.commit_key,
        lambda: ValidationRunResponse(validation_run=frame.services.proposals.validation_run(run_id)),
        ValidationRunResponse,
    )


@router.post("/proposals/{proposal_id}/request-more-tests", operation_id="learn_proposal_request_more_tests")
async def request_more_tests(
    proposal_id: ProposalId, frame: LearnerFrame, body: StartValidationRunRequest = RUN_EVERYTHING
) -> ValidationRunResponse:
    """Another name for ``validate``."""
    return await validate(proposal_id, frame, body)


@router.post("/proposals/{proposal_id}/request-adapter", operation_id="learn_proposal_request_adapter")
def request_adapter(
    proposal_id: ProposalId, body: RequestAdapterRequest, frame: LearnerFrame
) -> ProposalPortability:
    """Asks for an adapter that the proposal needs: on record with what is missing, whatever its state."""
    proposal = frame.services.proposals.owned(proposal_id, frame.owner)
    key = frame.client_key(body)
    return frame.services.portability.request_adapter(
        proposal, masked(body.wanted), key, frame.correlation_id
    )


@router.post("/proposals/{proposal_id}/install", operation_id="learn_proposal_install")
async def install(
    proposal_id: ProposalId, body: ProposalInstallRequest, frame: InstallerFrame
) -> ProposalInstallResponse:
    """Installs the proposal: privately, or for the workspace as an approval does."""
    private = body.install_lane is InstallLane.EXPERIMENTAL_PRIVATE
    message = frame.message(InstallCommand, body, lane=body.install_lane, **_accepted(body))
    command = SessionCommand.INSTALL if private else SessionCommand.APPROVE
    settled = frame.services.pending.require_settled
    receipt = await frame.to_proposal(command, proposal_id, message, settled)

    def compose() -> ProposalInstallResponse:
        proposal = frame.services.proposals.owned(proposal_id, frame.owner)
        if receipt.saga_id is None or proposal.ability_id is None:
            raise Refusal(ErrorCode.INTERNAL_ERROR, "The install was not started.")
        return ProposalInstallResponse(
            proposal=proposal, ability_id=proposal.ability_id, saga_id=receipt.saga_id
        )

    return await frame.first_answer(receipt, message.commit_key, compose, ProposalInstallResponse)


@router.post("/proposals/{proposal_id}/approve", operation_id="learn_proposal_approve")
async def approve(
    proposal_id: ProposalId, frame: ApproverFrame, body: ApproveProposalRequest = APPROVE_FOR_WORKSPACE
) -> ProposalDetailResponse:
    """Accepts the proposal and installs it; answered when the install has ended."""
    note = masked(body.approval_note)
    message = frame.message(InstallCommand, body, lane=body.approval_scope, note=note, **_accepted(body))
    settled = frame.services.pending.require_settled
    return await _detail_after(SessionCommand.APPROVE, proposal_id, frame, message, settled)


@router.post("/proposals/{proposal_id}/reject", operation_id="learn_proposal_reject")
async def reject(
    proposal_id: ProposalId, body: RejectProposalRequest, frame: ApproverFrame
) -> ProposalDetailResponse:
    """Turns the proposal down, for good. The session can be cloned into a new one."""
    message = frame.message(LearnCommand, body, reason=masked(body.reason[:240]))
    return await _detail_after(SessionCommand.REJECT, proposal_id, frame, message)


def _accepted(body: AcceptingCommand) -> dict[str, Any]:
    return body.model_dump(include=set(AcceptingCommand.model_fields) - set(Command.model_fields))


async def _detail_after(
    command: SessionCommand,
    proposal_id: str,
    frame: CommandFrame,
    message: LearnCommand,
    check: Callable[[], None] | None = None,
) -> ProposalDetailResponse:
    receipt = await frame.to_proposal(command, proposal_id, message, check)
    return await frame.first_answer(
        receipt,
        message.commit_key,
        lambda: frame.services.proposals.detail(proposal_id),
        ProposalDetailResponse,
    )
