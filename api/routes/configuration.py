"""Configuration: changed by intents alone, so that it has one writer (DOC3 §0.2G, §0C.9C)."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request

from api.dependencies import Learner, Reader, ServicesDep
from api.routes.account import operations_of
from api.services import Services
from contracts.configuration.intent import (
    ConfigurationIntent,
    ConfigurationIntentResponse,
    ConfigurationListResponse,
    ConfigurationTarget,
)
from contracts.errors import ErrorCode, Refusal
from domain.configuration.intents import check

router = APIRouter(prefix="/api/config", tags=["configuration"])


@router.post("/intents", operation_id="configuration_intent")
def intent(
    body: ConfigurationIntent, caller: Learner, services: ServicesDep, request: Request
) -> ConfigurationIntentResponse:
    """Carries out a wish to change configuration. Its ``intent_id`` is its idempotency key."""
    check(body)
    _refuse_what_nobody_reads(body.target, request)
    _must_be_seen(services, body.capability_id, caller.user_id)
    return services.configurations.carry_out(body, caller.user_id, datetime.now(UTC))


@router.get("", operation_id="configuration_current")
def current(
    caller: Reader,
    services: ServicesDep,
    target: Annotated[ConfigurationTarget, Query()] = ConfigurationTarget.USER_PREFERENCE,
) -> ConfigurationListResponse:
    """What the caller has configured of one kind."""
    return ConfigurationListResponse(configurations=services.configurations.list_for(caller.user_id, target))


def _refuse_what_nobody_reads(target: ConfigurationTarget, request: Request) -> None:
    if target is ConfigurationTarget.CONNECTOR_POLICY and "mcp_policy_update" not in operations_of(request):
        raise Refusal(
            ErrorCode.PARTIAL_DEPLOYMENT,
            "Connectors are not deployed here, so nothing would follow their policy.",
            component="connector policy",
        )


def _must_be_seen(services: Services, capability_id: str | None, caller: str) -> None:
    if capability_id is not None:
        services.abilities.visible_entry(capability_id, caller)
