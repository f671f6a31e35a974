"""Policy of tool calls: read, decide, try out, and the lists of agent runtimes (DOC3 §0.2D, §1.1R; ADR 15)."""

from datetime import UTC, datetime
from functools import partial

import anyio.to_thread
import structlog
from fastapi import APIRouter, BackgroundTasks

from api.dependencies import Approver, FrameDep, PageDep, Reader, ServicesDep
from api.services import Services
from api.wording import masked
from contracts.errors import Refusal
from contracts.mcp.policy import MCPEffectivePolicy, MCPPolicyUpdateRequest
from contracts.mcp.policy_preview import MCPPolicyPreviewRequest, MCPPolicyPreviewResponse
from contracts.mcp.runtime_policy import (
    MCPPolicyListResponse,
    MCPProviderPolicy,
    MCPProviderPolicyListResponse,
    MCPProviderPolicyUpdateRequest,
)
from contracts.runtime.identity import Principal
from stores.mcp.receipts import Told

log = structlog.get_logger(__name__)

router = APIRouter(prefix="/api/mcp/policy", tags=["mcp"])


@router.get("", operation_id="mcp_policy")
def read_policy(caller: Reader, services: ServicesDep, page: PageDep) -> MCPPolicyListResponse:
    """What the caller decided, newest first, and what holds where nothing is decided."""
    return services.mcp.policies.list_for(caller.user_id, page)


@router.post("/update", operation_id="mcp_policy_update")
async def update(
    body: MCPPolicyUpdateRequest,
    caller: Approver,
    services: ServicesDep,
    frame: FrameDep,
    afterwards: BackgroundTasks,
) -> MCPEffectivePolicy:
    """Decides for a target and answers what holds for it now; then calls that wait are judged again.

    A denial anywhere above the target still wins. A decision whose time has passed takes back the one before.
    """
    decision = body.decision
    if decision.reason_code is not None:
        decision = decision.model_copy(update={"reason_code": masked(decision.reason_code)})
    act = partial(
        services.mcp.policies.update,
        body.model_copy(update={"decision": decision}),
        frame.key_for(caller.user_id, body),
        told_of_policy(caller, frame.correlation_id),
    )
    effective = await anyio.to_thread.run_sync(act)
    afterwards.add_task(look_again, services, caller)
    return effective


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
    body: MCPProviderPolicyUpdateRequest,
    caller: Approver,
    services: ServicesDep,
    frame: FrameDep,
    afterwards: BackgroundTasks,
) -> MCPProviderPolicy:
    """Replaces the lists of one provider's runtimes; the others stay. Then calls that wait are judged again."""
    act = partial(
        services.mcp.policies.replace_runtime,
        body,
        frame.key_for(caller.user_id, body),
        told_of_policy(caller, frame.correlation_id),
    )
    replaced = await anyio.to_thread.run_sync(act)
    afterwards.add_task(look_again, services, caller)
    return replaced


def told_of_policy(caller: Principal, correlation_id: str) -> Told:
    """What the receipt of a change of policy says of its circumstances."""
    return Told(
        aggregate=f"mcp-policy/{caller.user_id}",
        owner=caller.user_id,
        correlation_id=correlation_id,
        at=datetime.now(UTC),
        actor=caller.user_id,
    )


async def look_again(services: Services, caller: Principal) -> None:
    """Has the caller's calls that wait looked at again, where policy now decides them without a person.

    The policy is decided by then: should nobody be reached, a call is looked at when it is approved, before it is
    sent.
    """
    waiting = partial(services.mcp.policy_replay.waiting, caller.user_id, datetime.now(UTC))
    dispatch_ids = await anyio.to_thread.run_sync(waiting)
    try:
        await services.mcp.dispatch_gateway.recheck(dispatch_ids)
    except Refusal as refusal:
        log.warning("calls that wait were not told of the new policy", code=refusal.code)
