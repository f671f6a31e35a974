"""Normalises a call of a skill: its ontology ids, tags and life areas, attached before anything judges it (AI-10).

What else reports a skill in words of another document is here too: the safety class of learning (X-34).
"""

from contracts.learning.observation import ToolEffect
from contracts.learning.validation import SafetyClass
from contracts.skills.invocation import InvocationContext, NormalisedCall
from contracts.skills.manifest import SafetyLevel, SkillManifest


def facts_of(
    manifest: SkillManifest, effect: ToolEffect, context: InvocationContext | None, tool_id: str | None
) -> NormalisedCall:
    """What a call is about: the skill's own words, the effect of this call, the life areas of skill and caller."""
    named = context.life_areas if context is not None else ()
    return NormalisedCall(
        skill_id=manifest.function_name,
        input_schema_id=manifest.input_schema_id,
        output_schema_id=manifest.output_schema_id,
        effect=effect,
        safety_level=manifest.safety_level,
        side_effect_tags=manifest.side_effect_tags,
        life_areas=tuple(dict.fromkeys((*manifest.life_areas, *named))),
        tool_id=tool_id,
    )


def safety_class_of(level: SafetyLevel) -> SafetyClass:
    """The class of a skill's level in DOC3's reports (§0A.18), which know three: what is privileged is high (X-34)."""
    return SafetyClass.HIGH if level is SafetyLevel.PRIVILEGED else SafetyClass(level.value)
