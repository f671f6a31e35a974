"""Policy of tool calls and standing approvals: read, decide, preview, revoke (DOC3 §0.2D, §1.1R; ADR 15)."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import anyio.to_thread
import structlog
from fastapi import APIRouter, BackgroundTasks, Depends, Query

from api.mcp.servers import receipt_context
from api.platform.commands import ApproverFrame, masked
from api.platform.dependencies import GrantId, PageDep, Reader, ServicesDep, TrueOrFalse
from api.platform.lists import ListOf, ListRequest
from api.services import Services
from contracts.errors import Refusal
from contracts.mcp.dispatch import MCPGrant, MCPGrantListResponse
from contracts.mcp.policy import (
    MCPEffectivePolicy,
    MCPPolicyListResponse,
    MCPPolicyPreviewRequest,
    MCPPolicyPreviewResponse,
    MCPPolicyUpdateRequest,
    MCPProviderPolicy,
    MCPProviderPolicyListResponse,
    MCPProviderPolicyUpdateRequest,
)
from contracts.platform.identity import Principal

log = structlog.get_logger(__name__)

router = APIRouter(prefix="/api/mcp/policy", tags=["mcp"])

_GRANTS = ListOf(
    "grants",
    MCPGrant,
    "tool_name server_id scope granted_by created_at expires_at revoked_at used",
    filters="server_id tool_name scope",
)


@router.get("", operation_id="mcp_policy")
def read_policy(caller: Reader, services: ServicesDep, page: PageDep) -> MCPPolicyListResponse:
    """What the caller decided, newest first, and what holds where nothing is decided."""
    return services.mcp.policies.list_for(caller.user_id, page)


@router.post("/update", operation_id="mcp_policy_update")
async def update(
    body: MCPPolicyUpdateRequest, frame: ApproverFrame, afterwards: BackgroundTasks
) -> MCPEffectivePolicy:
    """Decides for a target and answers what holds for it now; then calls that wait are judged again.

    A denial anywhere above the target still wins. A decision whose time has passed takes back the one before.
    """
    decision = body.decision
    if decision.reason_code is not None:
        decision = decision.changed(reason_code=masked(decision.reason_code))
    act = partial(
        frame.services.mcp.policies.update,
        body.changed(decision=decision),
        frame.key_for(body),
        receipt_context(frame, f"mcp-policy/{frame.owner}"),
    )
    effective = await anyio.to_thread.run_sync(act)
    waiting = await waiting_calls(frame.services, frame.caller)
    afterwards.add_task(recheck_waiting_calls, frame.services, waiting)
    return effective.changed(waiting_calls=len(waiting))


@router.post("/preview", operation_id="mcp_policy_preview")
def preview(body: MCPPolicyPreviewRequest, caller: Reader, services: ServicesDep) -> MCPPolicyPreviewResponse:
    """Which of the newest calls would go otherwise under the proposal; nothing is changed."""
    return services.mcp.policy_replay.preview(caller.user_id, body, datetime.now(UTC))


@router.get("/runtimes", operation_id="mcp_policy_runtimes")
def read_runtimes(caller: Reader, services: ServicesDep) -> MCPProviderPolicyListResponse:
    """Which tool servers the runtimes of each provider may use."""
    return services.mcp.policies.runtimes_for(caller.user_id)


@router.put("/runtimes", operation_id="mcp_policy_runtimes_replace")
async def replace_runtimes(
    body: MCPProviderPolicyUpdateRequest, frame: ApproverFrame, afterwards: BackgroundTasks
) -> MCPProviderPolicy:
    """Replaces the lists of one provider's runtimes; the others stay. Then calls that wait are judged again."""
    act = partial(
        frame.services.mcp.policies.replace_runtime,
        body,
        frame.key_for(body),
        receipt_context(frame, f"mcp-policy/{frame.owner}"),
    )
    replaced = await anyio.to_thread.run_sync(act)
    waiting = await waiting_calls(frame.services, frame.caller)
    afterwards.add_task(recheck_waiting_calls, frame.services, waiting)
    return replaced


async def waiting_calls(services: Services, caller: Principal) -> tuple[str, ...]:
    """The caller's waiting calls that policy now decides without an approval."""
    waiting = partial(services.mcp.policy_replay.waiting, caller.user_id, datetime.now(UTC))
    return await anyio.to_thread.run_sync(waiting)


async def recheck_waiting_calls(services: Services, dispatch_ids: tuple[str, ...]) -> None:
    """Signals these calls to evaluate policy again.

    Best effort: a call that the signal does not reach evaluates policy when it is approved, before it is sent.
    """
    try:
        await services.mcp.dispatch_gateway.recheck(dispatch_ids)
    except Refusal as refusal:
        log.warning("waiting calls were not notified of the new policy", code=refusal.code)


grants = APIRouter(prefix="/api/mcp/grants", tags=["mcp"])


@grants.get("", operation_id="mcp_grant_list")
def list_grants(
    caller: Reader,
    services: ServicesDep,
    wanted: Annotated[ListRequest, Depends(_GRANTS.wanted)],
    include_past: Annotated[
        TrueOrFalse, Query(description="Also those that were taken back or are over.")
    ] = False,
) -> MCPGrantListResponse:
    """The caller's standing approvals, newest first, at most 500."""
    found = services.mcp.grants.list_for(caller.user_id, datetime.now(UTC), include_past=include_past)
    return _GRANTS.listed(found, wanted)


@grants.delete("/{grant_id}", operation_id="mcp_grant_revoke")
async def revoke(grant_id: GrantId, frame: ApproverFrame) -> MCPGrant:
    """Takes a standing approval back: the next call of the tool asks again. Who asks twice learns who was first."""
    context = receipt_context(frame, f"mcp-grant/{grant_id}")
    act = partial(frame.services.mcp.grants.revoke, grant_id, frame.key_for(None), context)
    return await anyio.to_thread.run_sync(act)
