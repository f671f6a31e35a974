"""Settings of executable skills: how often they may be called; what they reach is in ``outside_settings``."""

from decimal import Decimal
from typing import Literal

from pydantic import Field

from config.content_settings import ContentSettings
from config.outside_settings import OutsideSettings
from contracts.skills.manifest import BrokerService
from contracts.skills.policy import SkillBudget


class SkillSettings(ContentSettings, OutsideSettings):
    """What ``Settings`` has for executable skills."""

    skill_calls_per_minute: int = Field(
        default=60, ge=1, le=100_000, description="Calls of one skill by one user within a minute."
    )
    skill_calls_per_hour: int = Field(
        default=600, ge=1, le=1_000_000, description="Calls of one skill by one user within an hour."
    )
    skill_calls_at_once: int = Field(
        default=4, ge=1, le=1_000, description="Calls of one skill by one user that run at once."
    )
    skill_waits_seconds: int = Field(
        default=30, ge=0, le=300, description="How long a call waits for its place among those at once."
    )

    skill_environment: Literal["dev", "test", "production"] = Field(
        default="production", description="Which of a skill's tools may run here, by their `allowed_env`."
    )
    skill_money_per_day: Decimal = Field(
        default=Decimal(100),
        gt=0,
        le=1_000_000_000,
        description="What one user may spend by one skill within a day, in the wallet's currency.",
    )

    @property
    def services_of_skills(self) -> frozenset[BrokerService]:
        """The services that are configured, and those with a local default: what skills may count on."""
        configured = {
            BrokerService.FEEDS: bool(self.trend_sources),
            BrokerService.DIRECTORY: self.openclaw_gateway_url is not None,
            BrokerService.VOICE: self.voice_app_url is not None,
        }
        return frozenset(one for one in BrokerService if configured.get(one, True))

    @property
    def skill_budget(self) -> SkillBudget:
        """How often one user may use one skill."""
        return SkillBudget(
            per_minute=self.skill_calls_per_minute,
            per_hour=self.skill_calls_per_hour,
            at_once=self.skill_calls_at_once,
            waits_seconds=self.skill_waits_seconds,
        )
