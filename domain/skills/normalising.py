"""Normalises a call of a skill: its ontology ids, tags and life areas, attached before anything judges it (AI-10)."""

from contracts.learning.observation import ToolEffect
from contracts.skills.invocation import InvocationContext, NormalisedCall
from contracts.skills.manifest import SkillManifest


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
