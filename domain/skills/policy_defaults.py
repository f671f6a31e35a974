"""The policy of skills before any owner's rule: what asks by itself, and which side-effect tags are known.

AI-06, AI-12. Data, and no code: `SkillPolicyRule` says what fits. Owners add rules; none can make a call laxer than
these do.
"""

from contracts.learning.observation import ToolEffect
from contracts.skills.manifest import SafetyLevel
from contracts.skills.policy import SkillDecision, SkillPolicyRule

KNOWN_SIDE_EFFECT_TAGS: frozenset[str] = frozenset(
    {
        # 003 L30, L109
        "touches_health_data",
        "sends_external_message",
        "writes_files",
        # ours, for the skills of the other documents
        "calls_third_party",
        "changes_agent_state",
        "changes_identity",
        "moves_money",
        "places_call",
        "publishes",
        "schedules",
        "sends_message_to_user",
        "writes_calendar",
        "writes_memory",
    }
)
"""The tags that policy knows. Any other is judged like the strictest of them."""

DEFAULT_RULES: tuple[SkillPolicyRule, ...] = (
    SkillPolicyRule(
        rule_id="default-calls-ask",
        decision=SkillDecision.ASK,
        reason="A phone call reaches a person at once and cannot be taken back.",
        side_effect_tags=("places_call",),
        effects=(ToolEffect.SEND,),
    ),
    SkillPolicyRule(
        rule_id="default-place-call-asks",
        decision=SkillDecision.ASK,
        reason="A phone call reaches a person at once and cannot be taken back.",
        skills=("place-call",),
    ),
    SkillPolicyRule(
        rule_id="default-privileged-asks",
        decision=SkillDecision.ASK,
        reason="The skill is privileged.",
        safety_levels=(SafetyLevel.PRIVILEGED,),
    ),
    SkillPolicyRule(
        rule_id="default-deletion-asks",
        decision=SkillDecision.ASK,
        reason="What is deleted may be gone for good.",
        effects=(ToolEffect.DELETE,),
    ),
    SkillPolicyRule(
        rule_id="default-health-asks",
        decision=SkillDecision.ASK,
        reason="The skill touches health data.",
        side_effect_tags=("touches_health_data",),
    ),
    SkillPolicyRule(
        rule_id="default-allow",
        decision=SkillDecision.ALLOW,
        reason="No rule speaks against it.",
    ),
)
"""The rules that hold for everybody, in the order in which they are named as the reason."""
