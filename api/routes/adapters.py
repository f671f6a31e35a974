"""The registry of observation adapters: what there is, and what recorders say of themselves (DOC3 §0C.22)."""

from fastapi import APIRouter

from api.dependencies import Observer, Reader, ServicesDep
from api.paths import AdapterKind
from contracts.learning.adapter_registry import (
    AdapterHeartbeatRequest,
    ObservationAdaptersResponse,
    RegisteredAdapter,
)

router = APIRouter(prefix="/api/learn/adapters", tags=["observations"])


@router.get("", operation_id="observation_adapters_list")
def listed(caller: Reader, services: ServicesDep) -> ObservationAdaptersResponse:
    """Every kind of adapter: its phase and health, whether it can be asked for, and what to use instead."""
    return services.adapters.registered(caller.user_id)


@router.post("/{adapter_kind}/heartbeat", operation_id="observation_adapter_heartbeat")
def heartbeat(
    adapter_kind: AdapterKind, body: AdapterHeartbeatRequest, caller: Observer, services: ServicesDep
) -> RegisteredAdapter:
    """Takes in a recorder's sign of life, or why it cannot record. The newest report holds."""
    return services.adapters.heartbeat(caller.user_id, adapter_kind, body.error_code)
