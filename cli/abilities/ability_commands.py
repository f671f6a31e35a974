"""``apprentice abilities``: list, find, explain and inspect abilities; change their lifecycle."""

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from cli.abilities.trial_commands import register as register_trial
from cli.platform.invocation import Invocation, api_command
from cli.platform.list_options import (
    PageOption,
    PageSizeOption,
    SearchOption,
    SortOption,
    answer_list,
    list_query,
)
from cli.platform.output import FAILED, PASSED, facts, listing, unproved_list
from cli.platform.own_words import OF_ABILITIES
from clients.apprentice.abilities import AbilityLifeApi
from contracts.abilities.availability import (
    AbilityAvailabilityItem,
    AbilityDetailResponse,
    AbilityFreshness,
    AbilityLifecycleAction,
    AbilityState,
    FreshnessState,
    ImportOrigin,
)
from contracts.abilities.lookup import (
    AbilityExplainMatchRequest,
    AbilityLookupQuery,
    AbilityLookupResult,
    Fit,
)
from contracts.abilities.parameters import AbilityParameter

app = typer.Typer(no_args_is_help=True, help="See abilities, find one, switch it off, take it back.")

register_trial(app)

AbilityArgument = Annotated[str, typer.Argument(help="The ability's id.", metavar="ABILITY")]
ReasonOption = Annotated[str | None, typer.Option("--reason", help="Why, for the record.")]
QueryArgument = Annotated[str, typer.Argument(help="What somebody might say.", metavar="WORDS")]
ProjectOption = Annotated[str | None, typer.Option(help="The project it is asked in.")]


@api_command(app, "list")
def list_abilities(call: Invocation) -> None:
    """List abilities and whether they can be used now."""
    listed = call.api.abilities.availability()
    call.answer(abilities_view(listed.abilities), *_behind(listed.freshness))


@api_command(app, "show")
def show(call: Invocation, ability: AbilityArgument) -> None:
    """Show an ability, and the SKILL.md that the agent reads."""
    call.answer(_ability_view(call.api.abilities.ability(ability)))


@api_command(app, "lookup")
def lookup(
    call: Invocation,
    words: QueryArgument,
    project: ProjectOption = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Also what only shares words with it, with the documented score, and what is quarantined or "
            "switched off.",
        ),
    ] = False,
) -> None:
    """Find the abilities that fit what somebody says."""
    found = call.api.abilities.lookup(AbilityLookupQuery(user_query=words, project_id=project))
    if call.json:
        call.answer()
        return
    shown = _fits_view(found, everything=everything)
    behind = _behind(found.freshness) if shown != [_NONE_FITS] else ()
    call.show(*shown, *_aside_view(call, listed=everything, hinted=not found.fitting), *behind)


@api_command(app, "explain")
def explain(
    call: Invocation, ability: AbilityArgument, words: QueryArgument, project: ProjectOption = None
) -> None:
    """Say why an ability fits, or does not fit, what somebody says."""
    request = AbilityExplainMatchRequest(user_query=words, ability_id=ability, project_id=project)
    why = call.api.abilities.explain_match(request)
    verdict = _VERDICTS[why.fit or Fit.NO]
    lines = [f"{why.ability_id} {verdict} (score {why.score:.2f})"]
    mark = FAILED if why.fit in (None, Fit.NO) else PASSED
    lines += [f"  {mark} {escape(reason)}" for reason in why.fit_reasons]
    lines += [f"  {PASSED} {escape(reason)}" for reason in why.match_reasons]
    lines += [f"  {FAILED} {escape(reason)}" for reason in why.rejection_reasons]
    call.answer(Text.from_markup("\n".join(lines)))


@api_command(app, "versions")
def versions(
    call: Invocation,
    ability: AbilityArgument,
    page: PageOption = None,
    page_size: PageSizeOption = None,
    sort: SortOption = None,
    search: SearchOption = None,
) -> None:
    """List an ability's installed versions, newest first."""
    found = call.api.abilities.ability_versions(ability, **list_query(page, page_size, sort, search))
    table = listing("version", "current", "lane", "installed", "content hash")
    for version in found.versions:
        table.add_row(
            str(version.version),
            PASSED if version.current else "",
            version.install_lane.value,
            version.installed_at.strftime("%Y-%m-%d %H:%M"),
            version.content_hash[:16],
        )
    answer_list(call, found, table, "No version is installed.")


@api_command(app, "activate")
def activate(call: Invocation, ability: AbilityArgument, reason: ReasonOption = None) -> None:
    """Use a deactivated or archived ability again."""
    _api(call).activate(ability, reason)
    call.answer(_done(f"{ability} is activated."))


@api_command(app, "deactivate")
def deactivate(call: Invocation, ability: AbilityArgument, reason: ReasonOption = None) -> None:
    """Take an ability out of use for now."""
    _api(call).deactivate(ability, reason)
    call.answer(_done(f"{ability} is deactivated; [cyan]apprentice abilities activate[/] brings it back."))


@api_command(app, "quarantine")
def quarantine(
    call: Invocation,
    ability: AbilityArgument,
    reason: Annotated[str, typer.Option("--reason", help="What is wrong with it.")],
) -> None:
    """Take an ability out of use because something is wrong with it."""
    _api(call).quarantine(ability, reason)
    call.answer(_done(f"{ability} is quarantined: nothing is routed to it."))


@api_command(app, "unquarantine")
def unquarantine(call: Invocation, ability: AbilityArgument, reason: ReasonOption = None) -> None:
    """Lift a quarantine: after a new validation of the same content, or for a stated reason."""
    _api(call).unquarantine(ability, reason)
    call.answer(_done(f"{ability} is out of quarantine."))


@api_command(app, "promote")
def promote(call: Invocation, ability: AbilityArgument, reason: ReasonOption = None) -> None:
    """Share an ability with everybody here."""
    answer = _api(call).promote_shared(ability, reason)
    call.answer(_done(f"{ability} is in the lane {answer.install_lane.value}."))


@api_command(app, "demote")
def demote(call: Invocation, ability: AbilityArgument, reason: ReasonOption = None) -> None:
    """Make an ability your own alone again."""
    answer = _api(call).demote_private(ability, reason)
    call.answer(_done(f"{ability} is in the lane {answer.install_lane.value}."))


@api_command(app, "archive")
def archive(call: Invocation, ability: AbilityArgument, reason: ReasonOption = None) -> None:
    """Put an ability away; its versions and records stay."""
    _api(call).archive(ability, reason)
    call.answer(_done(f"{ability} is archived; [cyan]apprentice abilities activate[/] brings it back."))


@api_command(app, "rollback")
def rollback(
    call: Invocation,
    ability: AbilityArgument,
    to: Annotated[int | None, typer.Option("--to", min=1, help="The version; else the previous one.")] = None,
    reason: ReasonOption = None,
) -> None:
    """Make an older version's content current, in one step."""
    answer = _api(call).rollback(ability, to, reason)
    call.answer(_done(f"{ability} is at version {answer.version}, which is version {answer.restored_from}."))


@api_command(app, "outcomes")
def outcomes(call: Invocation, ability: AbilityArgument) -> None:
    """Show how an ability has done."""
    found = _api(call).outcomes(ability)
    success = "–" if found.checkpoint_success is None else f"{found.checkpoint_success:.0%}"
    call.answer(
        facts(
            (
                ("installs", str(found.installs)),
                ("rollbacks", str(found.rollbacks)),
                ("quarantines", str(found.quarantines)),
                ("uses", str(found.uses)),
                ("checkpoints reached", f"{found.checkpoints_reached} ({success})"),
                ("skipped", str(found.checkpoints_skipped)),
                ("failed", str(found.checkpoints_failed)),
            )
        )
    )


_VERDICTS = {
    Fit.YES: "[green]fits[/]",
    Fit.MAYBE: "[yellow]may fit[/]",
    Fit.NO: "[yellow]does not fit[/]",
}
_NONE_FITS = "No ability fits."


def _fits_view(found: AbilityLookupResult, *, everything: bool) -> list[RenderableType]:
    """What fits, best first; with ``everything`` also the matches by score that do not."""
    scores = {match.ability_id: match.score for match in found.matches}
    fitting = {one.ability_id for one in found.fitting}
    others = [match for match in found.matches if match.ability_id not in fitting]
    hint = f"{len(others)} more share words with it; [cyan]--all[/] lists them."
    if not found.fitting and not (everything and others):
        return [_NONE_FITS, *([Text.from_markup(hint)] if others else [])]
    table = listing("fit", *(["score"] if everything else []), "ability", "lane", "usable", "why")
    rows = [(one.fit, one, one.reasons) for one in found.fitting]
    rows += [(match.fit or Fit.NO, match, match.fit_reasons) for match in others if everything]
    for fit, one, reasons in rows:
        usable = PASSED if one.usable_now else f"{FAILED} {escape(one.reason_unusable or '')}"
        verdict = f"[green]{fit.value}[/]" if fit is Fit.YES else f"[dim]{fit.value}[/]"
        score = [f"{scores[one.ability_id]:.2f}" if one.ability_id in scores else "–"] if everything else []
        table.add_row(
            verdict, *score, one.ability_id, one.install_lane.value, usable, escape("; ".join(reasons))
        )
    return [table, *([Text.from_markup(hint)] if others and not everything else [])]


_ASIDE = (AbilityState.QUARANTINED, AbilityState.DEACTIVATED, AbilityState.ARCHIVED)
_BACK = (AbilityLifecycleAction.UNQUARANTINE, AbilityLifecycleAction.ACTIVATE)
_MOST_ASIDE = 10


def _aside_view(call: Invocation, *, listed: bool, hinted: bool) -> list[RenderableType]:
    """What no lookup finds, as it is quarantined or switched off: a list with what brings it back, or a hint."""
    if not (listed or hinted):
        return []
    aside = [one for one in call.api.abilities.availability().abilities if one.state in _ASIDE]
    if not aside:
        return []
    if not listed:
        return [Text.from_markup(f"{len(aside)} quarantined or switched off; [cyan]--all[/] lists them.")]
    shown = sorted(aside, key=lambda one: _ASIDE.index(one.state))[:_MOST_ASIDE]
    lines = ["Never found, whatever is asked:", *map(_way_back, shown)]
    if len(aside) > len(shown):
        lines.append(f"  {len(aside) - len(shown)} more; [cyan]apprentice abilities list[/] has all.")
    return [Text.from_markup("\n".join(lines))]


def _way_back(ability: AbilityAvailabilityItem) -> str:
    """A line that says how the ability stands, and the command that brings it back."""
    action = next((one for one in _BACK if one in ability.allowed_actions), None)
    why = " --reason WHY" if action is AbilityLifecycleAction.UNQUARANTINE else ""
    back = f"[cyan]apprentice {OF_ABILITIES[action]} {ability.ability_id}{why}[/]" if action else "its owner"
    return f"  {ability.ability_id} is {ability.state.value}; {back} brings it back"


def abilities_view(abilities: tuple[AbilityAvailabilityItem, ...]) -> RenderableType:
    """A list of abilities with whether each can be used now."""
    if not abilities:
        return Text.from_markup("No abilities yet. Teach one: [cyan]apprentice learn create[/].")
    table = listing("ability", "title", "lane", "usable", "checkpoints")
    for one in abilities:
        usable = PASSED if one.usable_now else f"{FAILED} {escape(one.reason_unusable or '')}"
        health = one.checkpoint_health.value if one.checkpoint_health else ""
        table.add_row(one.ability_id, escape(one.title), one.install_lane.value, usable, health)
    return table


def _ability_view(detail: AbilityDetailResponse) -> RenderableType:
    ability = detail.ability
    usable = "yes" if ability.usable_now else f"no: {ability.reason_unusable or 'unknown'}"
    parts: list[RenderableType] = [
        Text.from_markup(f"Ability [bold]{escape(ability.title)}[/] ({ability.ability_id})"),
        facts(
            (
                ("lane", ability.install_lane.value),
                ("state", detail.state.value),
                ("quarantined", detail.quarantine_reason),
                ("usable now", usable),
                ("version", str(detail.version)),
                ("from archive", _archive(detail.imported_from)),
                ("in spite of", _overridden(detail.imported_from)),
                ("you may", " · ".join(OF_ABILITIES[one].split()[-1] for one in detail.allowed_actions)),
                ("said as", " · ".join(ability.trigger_phrases)),
                ("not as", " · ".join(ability.negative_triggers)),
                ("SKILL.md", detail.skill_path),
                ("parameters", " · ".join(map(_parameter, detail.parameters))),
                ("folders", " · ".join(f"{one.name} (shown: {one.shown})" for one in detail.folders)),
            )
        ),
    ]
    if accepted := detail.unproved:
        parts.append(unproved_list(accepted.steps))
        when = accepted.accepted_at.strftime("%Y-%m-%d %H:%M")
        parts.append(Text(f"    accepted by {accepted.accepted_by} on {when} UTC", style="yellow"))
    if detail.skill_markdown:
        parts.append(Text("\n" + detail.skill_markdown.rstrip("\n")))
    return Group(*parts)


def _archive(origin: ImportOrigin | None) -> str | None:
    """The archive that an ability was imported from, by its name and digest."""
    if origin is None:
        return None
    return f"{origin.original_filename or origin.source}, SHA-256 {origin.archive_sha256}"


def _overridden(origin: ImportOrigin | None) -> str | None:
    """In spite of what its scan found it was installed, by whom, and why."""
    if origin is None or not origin.overridden:
        return None
    return f"{', '.join(origin.overridden)}, by {origin.overridden_by}: {origin.override_reason}"


def _parameter(parameter: AbilityParameter) -> str:
    needed = "" if parameter.required else ", may be left out"
    return f"{parameter.name} ({parameter.type.value}, shown: {parameter.shown}{needed})"


def _behind(freshness: AbilityFreshness | None) -> tuple[Text, ...]:
    """What is behind, in a line each."""
    if freshness is None or freshness.state is FreshnessState.FRESH:
        return ()
    first = "Refreshing abilities" if freshness.state is FreshnessState.REFRESHING else "Not up to date"
    return tuple(Text(f"{first}: {reason.meaning}", style="yellow") for reason in freshness.reasons)


def _api(call: Invocation) -> AbilityLifeApi:
    return AbilityLifeApi(call.api.http)


def _done(sentence: str) -> RenderableType:
    return Text.from_markup(
        f"{PASSED} {sentence}" if "[cyan]" in sentence else f"{PASSED} {escape(sentence)}"
    )
