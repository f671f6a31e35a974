"""The capability bridge in the document."""

from typing import Any

from pydantic import BaseModel

from api.openapi_story import ABILITY_ID, BEGUN, SLUG, THEN, TITLE
from contracts.capabilities.bridge import (
    BridgeState,
    CapabilityBridgeCurrent,
    CapabilityRegistryBridgeEntry,
    HealthStatus,
    OriginOwner,
)
from contracts.capabilities.health import (
    CapabilityHealthCurrent,
    CapabilityHealthState,
    CapabilityStats,
    CapabilityStatsCurrent,
    SessionAvailability,
)
from contracts.capabilities.reprobe import ReprobeResponse
from contracts.errors import ErrorCode

REQUESTS: dict[str, dict[str, Any]] = {"capability_reprobe": {"capability_id": ABILITY_ID, "canaries": 1}}
MODELS: tuple[BaseModel, ...] = (
    CapabilityBridgeCurrent(
        bridge_state=BridgeState.FRESH,
        entries=(
            CapabilityRegistryBridgeEntry(
                capability_id=ABILITY_ID,
                family="terminal",
                title=TITLE,
                action_verbs=("sort",),
                route_tier=1,
                dry_run_supported=True,
                health_status=HealthStatus.HEALTHY,
                origin_owner=OriginOwner.DOC3,
                metadata_ref=f"ELNOR_MEMORY/system/capabilities/metadata/learned.{SLUG}.json",
                updated_at=BEGUN,
            ),
        ),
        rebuilt_at=THEN,
    ),
    CapabilityHealthCurrent(
        capabilities=(
            CapabilityHealthState(
                capability_id=ABILITY_ID,
                health_status=HealthStatus.QUARANTINED,
                session_availability=SessionAvailability.SUPPORTED,
                reason_codes=("repeated_failures",),
                last_verified_at=BEGUN,
                cooldown_until=THEN,
            ),
        ),
        health_as_of=THEN,
    ),
    CapabilityStatsCurrent(
        capabilities=(
            CapabilityStats(capability_id=ABILITY_ID, uses=3, checkpoints_reached=9, last_used_at=THEN),
        ),
        stats_as_of=THEN,
    ),
    ReprobeResponse(
        capability_id=ABILITY_ID,
        canaries=1,
        health_status=HealthStatus.QUARANTINED,
        workflow_id=f"capability-reprobe/{ABILITY_ID}",
    ),
)
ERRORS: dict[str, tuple[ErrorCode, ...]] = {
    "capability_reprobe": (
        ErrorCode.NOT_FOUND,
        ErrorCode.CONFLICT,
        ErrorCode.TEMPORAL_UNAVAILABLE,
        ErrorCode.STORAGE_FULL,
    ),
}
PATH_IDS: dict[str, ErrorCode] = {}
TAG: dict[str, str] | None = {
    "name": "capabilities",
    "description": "The bridge that agent runtimes route by, and its health.",
}
