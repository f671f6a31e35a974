"""Policy of skills: the strictest rule wins and is named, effects follow the action.

AI-06, AI-12, AI-27, X-8, X-27, X-37.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.observation import ToolEffect
from contracts.skills.manifest import SafetyLevel, SkillManifest
from contracts.skills.policy import SkillDecision, SkillPolicyRule
from domain.skills.policy import effect_of, judge
from domain.skills.policy_defaults import KNOWN_SIDE_EFFECT_TAGS
from tests.domain.skills.manifests import acting, manifest

ALLOW, ASK, DENY = SkillDecision

READING = manifest(name="fetch-trends")
CALENDAR = acting(
    name="calendar",
    capabilities=("read", "act"),
    confirmation_required=False,
    effect="create",
    properties={"action": {"enum": ["lookup", "create"]}, "state_updates": {"type": "object"}},
    actions=(
        {"when": {"action": ("lookup",)}, "effect": "read", "confirmation_required": False},
        {"when": {"action": ("create",)}, "effect": "create", "confirmation_required": True},
    ),
)
AGENTS = acting(
    name="update-agent-state",
    effect="update",
    confirmation_required=False,
    actions=(
        {"present": ("state_updates.wallet_balance",), "effect": "update", "confirmation_required": True},
    ),
)
CALLING = acting(name="place-call", confirmation_required=False)


def rule(decision: SkillDecision, **fields: Any) -> SkillPolicyRule:
    return SkillPolicyRule.model_validate(
        {"rule_id": "mine", "decision": decision, "reason": "I want it so.", **fields}
    )


def of(skill: SkillManifest, *rules: SkillPolicyRule, life_areas: tuple[str, ...] = (), **params: Any) -> Any:
    effect, asks = effect_of(skill, params)
    return judge(rules, skill, effect, life_areas, asks)


@pytest.mark.acceptance("AI-06", "AI-12")
@pytest.mark.parametrize(
    ("skill", "params", "decision", "rule_id"),
    [
        (READING, {}, ALLOW, "default-allow"),
        (CALENDAR, {"action": "lookup"}, ALLOW, "default-allow"),
        (CALENDAR, {"action": "create"}, ASK, "manifest-confirmation"),
        (AGENTS, {"state_updates": {"status": "busy"}}, ALLOW, "default-allow"),
        (AGENTS, {"state_updates": {"wallet_balance": 5}}, ASK, "manifest-confirmation"),
        (CALLING, {}, ASK, "default-place-call-asks"),
        (acting(), {}, ASK, "manifest-confirmation"),
        # An act that its manifest does not want confirmed runs, unless policy says otherwise (skills_interface.md).
        (acting(confirmation_required=False), {}, ALLOW, "default-allow"),
        (acting(confirmation_required=False, effect="delete"), {}, ASK, "default-deletion-asks"),
        (manifest(safety_level="privileged"), {}, ASK, "default-privileged-asks"),
        (manifest(side_effect_tags=("touches_health_data",)), {}, ASK, "default-health-asks"),
        (manifest(side_effect_tags=("reads_minds",)), {}, ASK, "unknown-side-effect-tag"),
        (manifest(side_effect_tags=("writes_files",)), {}, ALLOW, "default-allow"),
    ],
)
@pytest.mark.acceptance("X-8", "X-37")
def test_what_holds_before_any_rule(
    skill: SkillManifest, params: dict[str, Any], decision: SkillDecision, rule_id: str
) -> None:
    """X-8, X-27, X-37."""
    verdict = of(skill, **params)
    assert (verdict.decision, verdict.rule_id) == (decision, rule_id)
    assert verdict.reason


@pytest.mark.acceptance("AI-12")
@pytest.mark.parametrize(
    ("rules", "decision", "reason"),
    [
        ((), ALLOW, "No rule speaks against it."),
        ((rule(DENY),), DENY, "I want it so."),
        ((rule(DENY, skills=("fetch_trends",)),), DENY, "I want it so."),
        ((rule(DENY, skills=("fetch-trends",)),), DENY, "I want it so."),
        ((rule(DENY, skills=("fetch",)),), ALLOW, "No rule speaks against it."),
        ((rule(DENY, effects=("send",)),), ALLOW, "No rule speaks against it."),
        ((rule(ASK, effects=("read", "send")),), ASK, "I want it so."),
        ((rule(DENY, safety_levels=("low",), effects=("send",)),), ALLOW, "No rule speaks against it."),
        ((rule(DENY, safety_levels=("low",), effects=("read",)),), DENY, "I want it so."),
        ((rule(DENY, life_areas=("work",)),), DENY, "I want it so."),
        ((rule(DENY, life_areas=("health",)),), ALLOW, "No rule speaks against it."),
        ((rule(ASK, reason="first"), rule(DENY, reason="second")), DENY, "second"),
        ((rule(DENY, reason="first"), rule(ASK, reason="second")), DENY, "first"),
        ((rule(ASK, reason="first"), rule(ASK, reason="second")), ASK, "first"),
    ],
)
def test_an_owner_rule_fits_in_all_that_it_names_and_the_strictest_decides(
    rules: tuple[SkillPolicyRule, ...], decision: SkillDecision, reason: str
) -> None:
    """Stricter of two rules wins; the reason names the rule."""
    verdict = of(READING, *rules, life_areas=("work",))
    assert (verdict.decision, verdict.reason) == (decision, reason)


def test_the_life_areas_of_the_skill_count_as_well() -> None:
    family = READING.changed(life_areas=("family",))
    assert of(family, rule(DENY, life_areas=("family",))).decision is DENY


def test_an_owner_cannot_allow_away_what_asks() -> None:
    assert of(CALLING, rule(ALLOW)).decision is ASK
    assert of(acting(), rule(ALLOW)).rule_id == "manifest-confirmation"


@pytest.mark.acceptance("AI-06")
def test_a_tag_that_nobody_knows_is_judged_like_the_strictest() -> None:
    unknown = manifest(side_effect_tags=("reads_minds",))
    verdict = of(unknown, rule(DENY, side_effect_tags=("moves_money",)))
    assert verdict.decision is DENY
    assert "reads_minds" in verdict.reason
    assert (
        of(
            manifest(side_effect_tags=("writes_files",)), rule(DENY, side_effect_tags=("moves_money",))
        ).decision
        is ALLOW
    )


def tool(**fields: Any) -> dict[str, Any]:
    return {"tool_id": "t1", "backend": "python", "entrypoint": "handler.py", **fields}


@pytest.mark.acceptance("AI-27")
@pytest.mark.acceptance("O-24")
def test_a_tool_on_the_users_device_asks_and_a_third_party_acts_only_with_a_word() -> None:
    device = manifest(tools=(tool(runtime_context="local_client"),))
    assert (of(device).decision, of(device).rule_id) == (ASK, "local-client")
    third = tool(runtime_context="third_party", auth_profile="crm")
    assert of(manifest(tools=(third,))).decision is ALLOW
    assert of(acting(confirmation_required=False, tools=(third,))).rule_id == "third-party"


def test_values_of_an_action_are_compared_with_their_type() -> None:
    action = {"when": {"force": (True,)}, "effect": "delete", "confirmation_required": True}
    skill = acting(confirmation_required=False, actions=(action,))
    assert effect_of(skill, {"force": True}) == (ToolEffect.DELETE, True)
    assert effect_of(skill, {"force": 1}) == (ToolEffect.SEND, False)
    assert effect_of(skill, {}) == (ToolEffect.SEND, False)


def test_of_actions_that_fit_together_the_gravest_counts() -> None:
    skill = acting(
        confirmation_required=False,
        actions=(
            {"when": {"a": (1,)}, "effect": "read", "confirmation_required": False},
            {"when": {"b": (1,)}, "effect": "delete", "confirmation_required": True},
        ),
    )
    assert effect_of(skill, {"a": 1, "b": 1}) == (ToolEffect.DELETE, True)


TAGS = ["reads_minds", *sorted(KNOWN_SIDE_EFFECT_TAGS)[:4]]
AREAS = ["work", "health", "family"]


def some(values: Any, **limits: int) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.sampled_from(values), unique=True, max_size=2, **limits).map(tuple)


rules_of_owners = st.lists(
    st.builds(
        SkillPolicyRule,
        rule_id=st.sampled_from("abc"),
        decision=st.sampled_from(SkillDecision),
        reason=st.just("so"),
        skills=some(["probe", "other"]),
        effects=some(ToolEffect),
        safety_levels=some(SafetyLevel),
        side_effect_tags=some(TAGS),
        life_areas=some(AREAS),
    ),
    max_size=4,
)


@pytest.mark.acceptance("AI-12")
@given(
    rules_of_owners,
    rules_of_owners,
    some(TAGS),
    st.sampled_from(SafetyLevel),
    st.sampled_from(ToolEffect),
    some(AREAS),
    st.booleans(),
)
def test_a_rule_that_is_added_never_makes_a_call_laxer(
    rules: list[SkillPolicyRule],
    added: list[SkillPolicyRule],
    tags: tuple[str, ...],
    level: SafetyLevel,
    effect: ToolEffect,
    areas: tuple[str, ...],
    asks: bool,
) -> None:
    skill = acting(side_effect_tags=tags, safety_level=level)
    strictness = list(SkillDecision).index
    before = judge(rules, skill, effect, areas, asks)
    after = judge([*rules, *added], skill, effect, areas, asks)
    assert strictness(after.decision) >= strictness(before.decision)
    if asks:
        assert before.decision is not ALLOW
