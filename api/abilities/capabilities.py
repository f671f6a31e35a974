"""Capability bridge: entries, health, usage statistics, explanation, reprobe (DOC3 §0.10A, §1.1C-I)."""

from datetime import UTC, datetime
from functools import partial

from fastapi import APIRouter, Request

from api.learning.account import operations_of
from api.platform.commands import ApproverFrame
from api.platform.dependencies import Reader, ServicesDep
from contracts.abilities.capability_health import (
    CapabilityHealthCurrent,
    CapabilityStatsCurrent,
    ReprobeRequest,
    ReprobeResponse,
)
from contracts.abilities.capability_manifest import BridgeState, CapabilityBridgeCurrent
from contracts.mcp.routing import CapabilityExplainRequest, CapabilityExplanation
from domain.learning.session.deployment import serves_bridge
from domain.mcp.policy_facts import calling_as
from gateways.abilities.abilities import CapabilityGateway

router = APIRouter(prefix="/api/capabilities", tags=["capabilities"])


@router.get("/bridge", operation_id="capability_bridge")
def bridge(caller: Reader, services: ServicesDep, request: Request) -> CapabilityBridgeCurrent:
    """The compact entries that agent runtimes route by, and whether they can be believed.

    A fresh bridge is ``partial_deployment`` where a part is not deployed that agents use its entries by.
    """
    found = services.capabilities.bridge(caller.user_id, datetime.now(UTC))
    if serves_bridge(operations_of(request)) or found.bridge_state is not BridgeState.FRESH:
        return found
    return found.changed(bridge_state=BridgeState.PARTIAL_DEPLOYMENT)


@router.get("/health", operation_id="capability_health")
def health(caller: Reader, services: ServicesDep) -> CapabilityHealthCurrent:
    """Installed, healthy and usable now, of each capability."""
    return services.capabilities.health(caller.user_id, datetime.now(UTC))


@router.get("/stats", operation_id="capability_stats")
def stats(caller: Reader, services: ServicesDep) -> CapabilityStatsCurrent:
    """How often each capability was used since its present version, and how its checkpoints went."""
    return services.capabilities.stats(caller.user_id, datetime.now(UTC))


@router.post("/explain", operation_id="capability_explain")
def explain(body: CapabilityExplainRequest, caller: Reader, services: ServicesDep) -> CapabilityExplanation:
    """Whether and how a capability would be used now: its surfaces, the plan, its server, and all against it."""
    asked_by = calling_as(caller, body.runtime)
    return services.capability_explainer.explain(body, asked_by, datetime.now(UTC))


@router.post("/reprobe", status_code=202, operation_id="capability_reprobe")
async def reprobe(body: ReprobeRequest, frame: ApproverFrame) -> ReprobeResponse:
    """Starts a low-risk recheck now; five good ones in a row lead out of quarantine. Watch ``/health``."""
    gateway = CapabilityGateway(
        frame.services.client, frame.services.settings.task_queue, frame.services.capabilities
    )
    key = frame.key_for(body)
    act = partial(gateway.reprobe, body, frame.owner, key, frame.correlation_id)
    return await frame.answer_once(body, act, ReprobeResponse)
