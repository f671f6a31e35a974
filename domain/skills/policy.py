"""Policy of a skill's call: allow, ask or deny, by which rule and why (Values & Ethics).

AI-06, AI-12, AI-27, X-8, X-27, X-37 of skill_rows.md.

The strictest of all that fits decides: the rules that hold for everybody, the owner's, what the skill's manifest says
of this call, and where its tools run. So no rule that is added ever makes a call laxer.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from contracts.learning.observation import ToolEffect
from contracts.skills.manifest import ActionRule, RuntimeContext, SkillManifest, SkillPermissions
from contracts.skills.policy import SkillDecision, SkillPolicyRule, SkillVerdict
from domain.skills.policy_defaults import DEFAULT_RULES, KNOWN_SIDE_EFFECT_TAGS

_STRICTNESS = {decision: place for place, decision in enumerate(SkillDecision)}

_GRAVITY = (ToolEffect.READ, ToolEffect.CREATE, ToolEffect.UPDATE, ToolEffect.SEND, ToolEffect.DELETE)


def judge(
    rules: Iterable[SkillPolicyRule],
    manifest: SkillManifest,
    effect: ToolEffect,
    life_areas: Iterable[str],
    asks: bool,
) -> SkillVerdict:
    """What policy says of one call of a skill.

    ``rules`` are the owner's, ``effect`` and ``asks`` those of this call (`effect_of`), ``life_areas`` those that the
    caller names; the skill's own are added. Of verdicts that are equally strict the owner's rule is named first.
    """
    call = _Call(manifest, effect, frozenset((*manifest.life_areas, *life_areas)))
    verdicts = [
        *_by_rules(rules, call),
        *_by_the_skill(manifest, effect, asks),
        *_by_rules(DEFAULT_RULES, call),
    ]
    return max(verdicts, key=lambda verdict: _STRICTNESS[verdict.decision])


def effect_of(manifest: SkillManifest, params: Mapping[str, Any]) -> tuple[ToolEffect, bool]:
    """The effect of a call with this input, and whether the skill wants a person's word for it (X-8, X-27).

    The action rules that fit decide, the gravest first; where none fits, the manifest's own effect and confirmation.
    """
    fitting = [rule for rule in manifest.actions if _fits_input(rule, params)]
    if not fitting:
        return manifest.effect, manifest.acts and manifest.confirmation_required
    effect = max((rule.effect for rule in fitting), key=_GRAVITY.index)
    return effect, any(rule.confirmation_required for rule in fitting)


def confined(manifest: SkillManifest) -> SkillManifest:
    """The manifest of a folder that nobody has approved, as it may be tried out (O-3).

    It gets no service, program, address or variable that it asks for, only the sandbox that shares least with the
    machine, and none of its answers is kept.
    """
    return manifest.changed(permissions=SkillPermissions(), required_isolation="namespaces", cache_ttl_ms=0)


def unknown_tags(manifest: SkillManifest) -> tuple[str, ...]:
    """The side-effect tags that policy does not know (AI-06)."""
    return tuple(tag for tag in manifest.side_effect_tags if tag not in KNOWN_SIDE_EFFECT_TAGS)


class _Call:
    def __init__(self, manifest: SkillManifest, effect: ToolEffect, life_areas: frozenset[str]) -> None:
        self.names = frozenset({_spelled(manifest.name), _spelled(manifest.function_name)})
        self.manifest = manifest
        self.effect = effect
        self.life_areas = life_areas
        self.tags = frozenset(manifest.side_effect_tags)
        self.unknown = unknown_tags(manifest)


def _by_rules(rules: Iterable[SkillPolicyRule], call: _Call) -> Iterator[SkillVerdict]:
    for rule in rules:
        if not _fits(rule, call):
            continue
        reason = rule.reason
        if rule.side_effect_tags and not call.tags & set(rule.side_effect_tags):
            reason = f"The tag {call.unknown[0]} is not known and judged like the strictest: {reason}"
        yield SkillVerdict(decision=rule.decision, rule_id=rule.rule_id, reason=reason[:240])


def _by_the_skill(manifest: SkillManifest, effect: ToolEffect, asks: bool) -> Iterator[SkillVerdict]:
    if asks:
        yield _ask("manifest-confirmation", "The skill's manifest wants a confirmation of this call.")
    for tag in unknown_tags(manifest):
        yield _ask("unknown-side-effect-tag", f"The side effect {tag} is not known to policy.")
    contexts = {tool.runtime_context for tool in manifest.tools}
    if RuntimeContext.LOCAL_CLIENT in contexts:
        yield _ask("local-client", "The skill runs on the user's own device.")
    if RuntimeContext.THIRD_PARTY in contexts and effect is not ToolEffect.READ:
        yield _ask("third-party", "The skill acts through a third party.")


def _ask(rule_id: str, reason: str) -> SkillVerdict:
    return SkillVerdict(decision=SkillDecision.ASK, rule_id=rule_id, reason=reason[:240])


def _fits(rule: SkillPolicyRule, call: _Call) -> bool:
    """Whether a rule fits a call: in all that it names. A tag that nobody knows fits every rule about tags."""
    return (
        (not rule.skills or not call.names.isdisjoint(map(_spelled, rule.skills)))
        and (not rule.effects or call.effect in rule.effects)
        and (not rule.safety_levels or call.manifest.safety_level in rule.safety_levels)
        and (
            not rule.side_effect_tags or bool(call.unknown) or not call.tags.isdisjoint(rule.side_effect_tags)
        )
        and (not rule.life_areas or not call.life_areas.isdisjoint(rule.life_areas))
    )


def _spelled(name: str) -> str:
    """Both spellings of a name are one (X-33)."""
    return name.replace("-", "_")


def _fits_input(rule: ActionRule, params: Mapping[str, Any]) -> bool:
    return all(_same_as_one(_at(params, field), values) for field, values in rule.when.items()) and all(
        _at(params, field) is not None for field in rule.present
    )


def _at(params: Mapping[str, Any], field: str) -> Any:
    found: Any = params
    for name in field.split("."):
        found = cast("Mapping[str, Any]", found).get(name) if isinstance(found, Mapping) else None
    return found


def _same_as_one(value: Any, values: Iterable[str | int | bool]) -> bool:
    # True is no 1.
    return any(type(value) is type(one) and value == one for one in values)
