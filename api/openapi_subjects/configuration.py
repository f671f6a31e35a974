"""Configuration in the document."""

from typing import Any

from pydantic import BaseModel

from api.openapi_story import ABILITY_ID, BEGUN, example_id
from contracts.configuration.intent import (
    Configuration,
    ConfigurationIntent,
    ConfigurationIntentResponse,
    ConfigurationListResponse,
    ConfigurationTarget,
    IntentRequester,
)
from contracts.errors import ErrorCode

_INTENT = ConfigurationIntent(
    intent_id=example_id(51),
    target=ConfigurationTarget.SKILL_CONFIG,
    capability_id=ABILITY_ID,
    payload={"currency": "EUR"},
    requested_by=IntentRequester.UI,
    correlation_id="settings-page",
    created_at=BEGUN,
)
_CONFIGURATION = Configuration(
    target=_INTENT.target,
    owner_user_id="alice",
    capability_id=ABILITY_ID,
    fields=_INTENT.payload,
    revision=1,
    changed_at=BEGUN,
)

REQUESTS: dict[str, dict[str, Any]] = {"configuration_intent": _INTENT.model_dump(mode="json")}
MODELS: tuple[BaseModel, ...] = (
    ConfigurationListResponse(configurations=(_CONFIGURATION,)),
    ConfigurationIntentResponse(intent_id=_INTENT.intent_id, changed=True, configuration=_CONFIGURATION),
)
ERRORS: dict[str, tuple[ErrorCode, ...]] = {
    "configuration_intent": (
        ErrorCode.ABILITY_NOT_FOUND,
        ErrorCode.PARTIAL_DEPLOYMENT,
        ErrorCode.IDEMPOTENCY_KEY_REUSED,
        ErrorCode.STORAGE_FULL,
    ),
}
PATH_IDS: dict[str, ErrorCode] = {}
TAG: dict[str, str] | None = {
    "name": "configuration",
    "description": "What skills and people configure, changed by intents alone.",
}
