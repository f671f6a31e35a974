"""Skill mining: settings, scan, runs, candidates (DOC3 §0.4, §0.10A; merged into ``/api/learn``)."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Depends, Path, Query

from api.learning.account import operations_of
from api.platform.commands import LearnerFrame, masked
from api.platform.dependencies import PageDep, Reader, ServicesDep, parse_uuid, whole_part
from api.services import Services
from contracts.errors import ErrorCode
from contracts.mining.candidates import (
    CandidateAction,
    CandidateState,
    MiningCandidatesResponse,
    MiningCandidateView,
    MiningDecisionRequest,
    MiningMode,
    MiningSettings,
    MiningSettingsResponse,
    PutMiningSettingsRequest,
    RefusedCandidateAction,
)
from contracts.mining.runs import CandidateBuild, MiningRun, StartMiningRequest
from domain.learning.session.deployment import why_off
from gateways.mining.mining import MiningGateway, mining_run_id
from stores.mining.candidate_reads import CandidateReads
from stores.mining.candidates import CandidateStore
from stores.mining.runs import MiningRunStore, MiningSettingsStore

router = APIRouter(prefix="/api/learn/mining", tags=["mining"])

BANNER = "What you show outside {agent} is used to suggest skills; switch it off in the mining settings."


def _candidate_id(candidate_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(candidate_id, ErrorCode.NOT_FOUND, "candidate")


def _mining_run_id(mining_run_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(mining_run_id, ErrorCode.NOT_FOUND, "mining run")


CandidateId = Annotated[str, Depends(_candidate_id)]
RunId = Annotated[str, Depends(_mining_run_id)]


@router.get("/settings", operation_id="mining_settings")
def read_settings(caller: Reader, services: ServicesDep) -> MiningSettingsResponse:
    """The caller's settings, the limits in force, and the banner to show while others are watched."""
    return _settings_view(services, MiningSettingsStore(services.database).of(caller.user_id))


@router.put("/settings", operation_id="mining_settings_replace")
# A 308 from the former route keeps its method, which was POST.
@router.post("/settings", include_in_schema=False, deprecated=True)
async def replace_settings(body: PutMiningSettingsRequest, frame: LearnerFrame) -> MiningSettingsResponse:
    """Replaces the caller's settings. Traces from outside the agent count only when switched on here."""
    wanted = MiningSettings.model_validate(body.model_dump(exclude={"client_request_id"}))

    def save() -> MiningSettingsResponse:
        saved = MiningSettingsStore(frame.services.database).save(frame.owner, wanted, datetime.now(UTC))
        return _settings_view(frame.services, saved)

    return await frame.write_once(body, save, MiningSettingsResponse)


@router.post("/scan", status_code=202, operation_id="mining_scan")
async def scan(frame: LearnerFrame, body: StartMiningRequest | None = None) -> MiningRun:
    """Looks through the caller's captures now. Watch the run by its id."""
    wanted = body or StartMiningRequest()
    run_id = mining_run_id(frame.owner, frame.key_for(wanted).key)
    act = partial(_gateway(frame.services).start, run_id, frame.owner)
    return await frame.answer_once(wanted, act, MiningRun)


@router.get("/runs/{mining_run_id}", operation_id="mining_run_detail")
def run_detail(mining_run_id: RunId, caller: Reader, services: ServicesDep) -> MiningRun:
    """One run of the caller's, while it goes on or afterwards: what counted, and which gates stayed closed."""
    return MiningRunStore(services.database).get(mining_run_id, caller.user_id)


@router.get("/candidates", operation_id="mining_candidates_list")
def list_candidates(
    caller: Reader,
    services: ServicesDep,
    page: PageDep,
    operations: Annotated[frozenset[str], Depends(operations_of)],
    state: Annotated[CandidateState | None, Query()] = None,
) -> MiningCandidatesResponse:
    """The caller's candidates, newest first, each with its scores and what became of it."""
    found = CandidateReads(services.database).page(caller.user_id, page, state)
    return found.changed(candidates=tuple(_offered(one, operations) for one in found.candidates))


@router.get("/candidates/{candidate_id}", operation_id="mining_candidate_detail")
def candidate_detail(
    candidate_id: CandidateId,
    caller: Reader,
    services: ServicesDep,
    operations: Annotated[frozenset[str], Depends(operations_of)],
) -> MiningCandidateView:
    """One candidate."""
    return _offered(CandidateReads(services.database).view(candidate_id, caller.user_id), operations)


def _offered(view: MiningCandidateView, operations: frozenset[str]) -> MiningCandidateView:
    """``view`` without the offer to build it where skill mining is not all there."""
    why = why_off("mining_candidate_accept", operations)
    if why is None or CandidateAction.ACCEPT not in view.allowed_actions:
        return view
    refused = RefusedCandidateAction(
        action=CandidateAction.ACCEPT, code=ErrorCode.PARTIAL_DEPLOYMENT, reason=why
    )
    return view.changed(
        allowed_actions=tuple(one for one in view.allowed_actions if one is not CandidateAction.ACCEPT),
        refused_actions=(*view.refused_actions, refused),
    )


@router.post(
    "/candidates/{candidate_id}/accept",
    operation_id="mining_candidate_accept",
    dependencies=[Depends(whole_part)],
)
async def accept(
    candidate_id: CandidateId, frame: LearnerFrame, body: MiningDecisionRequest | None = None
) -> MiningCandidateView:
    """Builds the candidate: a learning session is opened for it, up to its questions or the start of its tests."""
    wanted = body or MiningDecisionRequest()
    reads = CandidateReads(frame.services.database)

    async def build() -> MiningCandidateView:
        await anyio.to_thread.run_sync(reads.owned, candidate_id, frame.owner)
        await _gateway(frame.services).build(
            CandidateBuild(
                candidate_id=candidate_id,
                owner_user_id=frame.owner,
                asked_by=frame.owner,
                reason=masked(wanted.reason),
                correlation_id=frame.correlation_id,
                now=datetime.now(UTC),
            )
        )
        return await anyio.to_thread.run_sync(reads.view, candidate_id, frame.owner)

    return await frame.answer_once(wanted, build, MiningCandidateView)


@router.post("/candidates/{candidate_id}/dismiss", operation_id="mining_candidate_dismiss")
async def dismiss(
    candidate_id: CandidateId, frame: LearnerFrame, body: MiningDecisionRequest | None = None
) -> MiningCandidateView:
    """Puts the candidate aside for good: what it was found in does not count again."""
    wanted = body or MiningDecisionRequest()

    def put_aside() -> MiningCandidateView:
        CandidateStore(frame.services.database).dismiss(
            candidate_id, frame.owner, masked(wanted.reason), frame.correlation_id, datetime.now(UTC)
        )
        return CandidateReads(frame.services.database).view(candidate_id, frame.owner)

    return await frame.write_once(wanted, put_aside, MiningCandidateView)


def _gateway(services: Services) -> MiningGateway:
    return MiningGateway(services.client, services.settings.task_queue, MiningRunStore(services.database))


def _settings_view(services: Services, settings: MiningSettings) -> MiningSettingsResponse:
    watches = settings.mode is not MiningMode.OFF and settings.observe_outside_agent
    agent = services.settings.agent_display_name or "the agent"
    return MiningSettingsResponse(
        settings=settings,
        max_variation=services.settings.mining_max_variation,
        min_verification_coverage=services.settings.mining_min_coverage,
        observation_banner=BANNER.format(agent=agent) if watches else None,
    )
