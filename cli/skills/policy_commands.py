"""``apprentice skills policy``: the rules by which skills pass, ask first, or are refused."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError
from rich.console import RenderableType
from rich.markup import escape

from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.output import listing
from clients.apprentice.skills import SkillApi
from contracts.learning.observation import ToolEffect
from contracts.plain_problems import problem_sentence
from contracts.skills.manifest import SafetyLevel
from contracts.skills.policy import PutSkillPolicyRequest, SkillDecision, SkillPolicy, SkillPolicyRule

app = typer.Typer(no_args_is_help=True, help="What skills may do: show, add, remove, set.")

_RULES: TypeAdapter[tuple[SkillPolicyRule, ...]] = TypeAdapter(tuple[SkillPolicyRule, ...])


@api_command(app, "show")
def show(call: Invocation) -> None:
    """Show your rules; the strictest that fits decides."""
    call.answer(_table(SkillApi(call.api.http).policy()))


@api_command(app, "add")
def add(
    call: Invocation,
    rule: Annotated[str, typer.Argument(help="A name for the rule.", metavar="RULE")],
    decision: Annotated[SkillDecision, typer.Argument(help="What it says.")],
    reason: Annotated[str, typer.Option(help="Why; whoever is refused reads it.")],
    skill: Annotated[list[str] | None, typer.Option(help="For this skill; may be given again.")] = None,
    effect: Annotated[
        list[ToolEffect] | None, typer.Option(help="For this effect; may be given again.")
    ] = None,
    level: Annotated[list[SafetyLevel] | None, typer.Option(help="For this safety level; likewise.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="For this side-effect tag; likewise.")] = None,
) -> None:
    """Add a rule, or replace the one of that name."""
    api = SkillApi(call.api.http)
    before = api.policy()
    added = SkillPolicyRule(
        rule_id=rule,
        decision=decision,
        reason=reason,
        skills=tuple(skill or ()),
        effects=tuple(effect or ()),
        safety_levels=tuple(level or ()),
        side_effect_tags=tuple(tag or ()),
    )
    rules = (*(one for one in before.rules if one.rule_id != rule), added)
    call.answer(_table(api.put_policy(PutSkillPolicyRequest(rules=rules, expected_version=before.version))))


@api_command(app, "remove")
def remove(call: Invocation, rule: Annotated[str, typer.Argument(help="The rule.", metavar="RULE")]) -> None:
    """Take a rule back."""
    api = SkillApi(call.api.http)
    before = api.policy()
    rules = tuple(one for one in before.rules if one.rule_id != rule)
    if len(rules) == len(before.rules):
        raise NothingToDo(f"there is no rule {rule}; `apprentice skills policy show` lists yours.")
    call.answer(_table(api.put_policy(PutSkillPolicyRequest(rules=rules, expected_version=before.version))))


@api_command(app, "set")
def set_policy(
    call: Invocation, file: Annotated[Path, typer.Argument(help="The rules, as a JSON list.", metavar="FILE")]
) -> None:
    """Replace all rules by those of a file."""
    try:
        rules = _RULES.validate_json(file.read_bytes())
    except OSError as error:
        raise NothingToDo(f"{file} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        raise NothingToDo(f"{file}: {problem_sentence(error, whole='the whole')}.") from None
    call.answer(_table(SkillApi(call.api.http).put_policy(PutSkillPolicyRequest(rules=rules))))


def _table(policy: SkillPolicy) -> RenderableType:
    if not policy.rules:
        return "You have no rules: what the skills themselves and the defaults say holds."
    table = listing("rule", "says", "for", "because")
    for one in policy.rules:
        table.add_row(escape(one.rule_id), one.decision.value, escape(_fits(one)), escape(one.reason))
    return table


def _fits(rule: SkillPolicyRule) -> str:
    parts = [
        *rule.skills,
        *(effect.value for effect in rule.effects),
        *(f"{level.value} safety level" for level in rule.safety_levels),
        *rule.side_effect_tags,
        *rule.life_areas,
    ]
    return ", ".join(parts) or "everything"
