"""Configuration routes: read it, and change it by intents, its only writer (DOC3 §0.2G, §0C.9C)."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, BackgroundTasks, Query, Request

from api.learning.account import operations_of
from api.mcp.policy import recheck_waiting_calls, waiting_calls
from api.platform.dependencies import Learner, Reader, ServicesDep, correlation_id_of
from api.services import Services
from contracts.errors import ErrorCode, Refusal
from contracts.platform.configuration import (
    ConfigurationIntent,
    ConfigurationIntentResponse,
    ConfigurationListResponse,
    ConfigurationTarget,
)
from contracts.platform.identity import Principal, Scope
from domain.platform.configuration_intents import check
from stores.mcp.policy.policies import carry_out_policy, policy_configuration, wished
from stores.mcp.receipts import ReceiptContext

router = APIRouter(prefix="/api/config", tags=["configuration"])


@router.post("/intents", operation_id="configuration_intent")
async def intent(
    body: ConfigurationIntent,
    caller: Learner,
    services: ServicesDep,
    request: Request,
    afterwards: BackgroundTasks,
) -> ConfigurationIntentResponse:
    """Carries out a wish to change configuration. Its ``intent_id`` is its idempotency key.

    A connector policy needs the scope ``approve``; its payload is ``{target, decision}``.
    """
    check(body)
    _refuse_what_nobody_reads(body.target, request)
    change = None
    if body.target is ConfigurationTarget.CONNECTOR_POLICY:
        _must_decide_policy(caller)
        wished(body)
        owner, now = caller.user_id, datetime.now(UTC)
        receipt = ReceiptContext(f"mcp-policy/{owner}", owner, correlation_id_of(request), now, owner)
        change = partial(carry_out_policy, intent=body, context=receipt)
    else:
        seen = partial(_must_be_seen, services, body.capability_id, caller.user_id)
        await anyio.to_thread.run_sync(seen)
    act = partial(services.configurations.carry_out, body, caller.user_id, datetime.now(UTC), change)
    answer = await anyio.to_thread.run_sync(act)
    if change is not None:
        afterwards.add_task(recheck_waiting_calls, services, await waiting_calls(services, caller))
    return answer


@router.get("", operation_id="configuration_current")
def current(
    caller: Reader,
    services: ServicesDep,
    target: Annotated[ConfigurationTarget, Query()] = ConfigurationTarget.USER_PREFERENCE,
) -> ConfigurationListResponse:
    """What the caller has configured of one kind; of policy, what was decided in whichever way."""
    if target is ConfigurationTarget.CONNECTOR_POLICY:
        decided = policy_configuration(services.database, caller.user_id)
        return ConfigurationListResponse(configurations=(decided,) if decided.revision else ())
    return ConfigurationListResponse(configurations=services.configurations.list_for(caller.user_id, target))


def _refuse_what_nobody_reads(target: ConfigurationTarget, request: Request) -> None:
    if target is ConfigurationTarget.CONNECTOR_POLICY and "mcp_policy_update" not in operations_of(request):
        raise Refusal(
            ErrorCode.PARTIAL_DEPLOYMENT,
            "Connectors are not deployed here, so nothing would follow their policy.",
            component="connector policy",
        )


def _must_decide_policy(caller: Principal) -> None:
    caller.require(Scope.APPROVE, "A change of policy")


def _must_be_seen(services: Services, capability_id: str | None, caller: str) -> None:
    if capability_id is not None:
        services.abilities.visible_entry(capability_id, caller)
