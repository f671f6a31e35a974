"""Policy of skills: rules with allow, ask or deny and a reason (Values & Ethics, AI-12), and budgets (AI-13, O-12)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text80, Text240, VersionedContract
from contracts.learning.observation import ToolEffect
from contracts.platform.commands import Command
from contracts.skills.manifest import SafetyLevel


class SkillDecision(StrEnum):
    """What policy says of an invocation, the strictest last."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class SkillPolicyRule(Contract):
    """One rule. It fits a call that fits all that it names; of several that fit, the strictest decides."""

    rule_id: Text80
    decision: SkillDecision
    reason: Text240 = Field(min_length=1)
    skills: tuple[Text80, ...] = Field(
        default=(), max_length=100, description="Names; none means every skill."
    )
    effects: tuple[ToolEffect, ...] = ()
    safety_levels: tuple[SafetyLevel, ...] = ()
    side_effect_tags: tuple[Text80, ...] = ()
    life_areas: tuple[Text80, ...] = ()


class SkillPolicy(VersionedContract):
    """An owner's rules, and how often they were changed."""

    rules: tuple[SkillPolicyRule, ...] = Field(default=(), max_length=200)
    version: int = Field(default=0, ge=0)


class PutSkillPolicyRequest(Command):
    """Replaces the rules, unless they have changed since ``expected_version``."""

    rules: tuple[SkillPolicyRule, ...] = Field(max_length=200)
    expected_version: int | None = Field(default=None, ge=0, le=2**31 - 1)


class SkillVerdict(Contract):
    """What policy says of one call, by which rule, and why."""

    decision: SkillDecision
    rule_id: Text80
    reason: Text240


class SkillBudget(Contract):
    """How often one user may invoke one skill (O-12)."""

    per_minute: int = Field(default=60, ge=1)
    per_hour: int = Field(default=600, ge=1)
    at_once: int = Field(default=4, ge=1)
    waits_seconds: int = Field(
        default=30, ge=0, description="How long a call over `at_once` waits for its place."
    )
