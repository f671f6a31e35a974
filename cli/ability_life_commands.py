"""``apprentice abilities``: the commands that change how an ability stands, and how it has done."""

from typing import Annotated

import typer
from rich.console import RenderableType
from rich.markup import escape
from rich.text import Text

from cli.invocation import Invocation, api_command
from cli.learn_views import PASSED, facts
from clients.ability_life_api import AbilityLifeApi

app = typer.Typer()

AbilityArgument = Annotated[str, typer.Argument(help="The ability's id.", metavar="ABILITY")]
ReasonOption = Annotated[str | None, typer.Option("--reason", help="Why, for the record.")]


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


def _api(call: Invocation) -> AbilityLifeApi:
    return AbilityLifeApi(call.api.http)


def _done(sentence: str) -> RenderableType:
    return Text.from_markup(
        f"{PASSED} {sentence}" if "[cyan]" in sentence else f"{PASSED} {escape(sentence)}"
    )
