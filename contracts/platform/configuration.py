"""Configuration intents: a requested change of configuration and its outcome (DOC3 §0.2G)."""

from enum import StrEnum
from typing import Any

from pydantic import ConfigDict, Field

from contracts.base import Text120, Text160, Text200, UtcTime, Uuid, VersionedContract


class ConfigurationTarget(StrEnum):
    """What is to be configured."""

    SKILL_CONFIG = "skill_config"
    USER_PREFERENCE = "user_preference"
    SUPPORT_PACK_BINDING = "support_pack_binding"
    CONNECTOR_POLICY = "connector_policy"


class IntentRequester(StrEnum):
    """On whose behalf."""

    WRAPPER = "wrapper"
    UI = "ui"
    REPAIR = "repair"
    PROMOTION = "promotion"
    SKILL_MINING = "skill_mining"


class ConfigurationIntent(VersionedContract):
    """One change. Its fields are laid over the present ones; a field that is null is removed."""

    intent_id: Uuid
    target: ConfigurationTarget
    capability_id: Text160 | None = Field(
        default=None, description="Of a skill or a pack; otherwise left out."
    )
    payload: dict[str, Any] = Field(min_length=1, max_length=100)
    requested_by: IntentRequester
    correlation_id: Text200
    created_at: UtcTime


class Configuration(VersionedContract):
    """The configuration of one target as it stands; ``revision`` counts the intents that changed it."""

    target: ConfigurationTarget
    owner_user_id: Text120
    capability_id: Text160 | None = None
    fields: dict[str, Any]
    revision: int = Field(ge=0)
    changed_at: UtcTime | None = None


class ConfigurationListResponse(VersionedContract):
    """All that the caller has configured of one kind."""

    configurations: tuple[Configuration, ...]


class ConfigurationIntentResponse(VersionedContract):
    """The configuration after the intent."""

    # ``changed`` on the wire; in Python that name is the method of every contract.
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)

    intent_id: Uuid
    has_changed: bool = Field(alias="changed", description="False when everything was so already.")
    configuration: Configuration
