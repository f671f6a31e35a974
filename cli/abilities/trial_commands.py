"""``apprentice abilities try``: run the taught method of an ability on a copy of another folder."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text

from cli.platform.folders import packed, refuse_unfit, unpacked
from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.output import FAILED, PASSED, SKIPPED, ExitCode, fail
from clients.apprentice.abilities import AbilityApi, TrialApi
from clients.apprentice.transport import ApiFailure
from contracts.abilities.availability import AbilityState
from contracts.abilities.parameters import AbilityFolder
from contracts.learning.trials import (
    StartTrialRequest,
    TrialCommandResult,
    TrialConditionResult,
    TrialRun,
    TrialState,
)

_LOOK_EVERY_SECONDS = 0.5

_COMMAND_MARKS = {
    TrialCommandResult.WORKED: PASSED,
    TrialCommandResult.FAILED: FAILED,
    TrialCommandResult.NOT_RUN: SKIPPED,
}
_CONDITION_MARKS = {
    TrialConditionResult.HOLDS: PASSED,
    TrialConditionResult.FAILED: FAILED,
    TrialConditionResult.NOT_APPLICABLE: SKIPPED,
    TrialConditionResult.NOT_CHECKED: SKIPPED,
}


def try_ability(
    call: Invocation,
    ability: Annotated[str, typer.Argument(help="The ability's id.", metavar="ABILITY")],
    folder: Annotated[
        list[str],
        typer.Option(
            metavar="[NAME=]DIR",
            help="The folder to try it on; it stays as it is. One for each that the ability works in.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where the resulting folder is put; new or empty.")],
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Another value for a parameter; `abilities show` lists them."
        ),
    ] = None,
) -> None:
    """Try an ability's method on a copy of another folder, in a sandbox without a network.

    Of an ability that works in several folders each has a name, which `abilities show` lists.

    Exit code 0: every command worked, and no condition failed.
    """
    given = _values(values or [])
    tried = AbilityApi(call.api.http).ability(ability)
    folders = _folders(folder, tried.folders)
    if tried.state is not AbilityState.ACTIVE:
        call.show(
            Text(
                f"{ability} is {tried.state.value}: it is tried all the same, and used by nobody.",
                style="yellow",
            )
        )
    refuse_unfit(out, folders.values())
    archive = packed(folders)
    api = TrialApi(call.api.http)
    with call.busy("handing the folder in …"):
        kept = api.hand_in(archive)
    run = api.start(ability, StartTrialRequest(folder_ref=kept.folder_ref, values=given))
    run = _followed(call, api, run)
    left_out: tuple[str, ...] = ()
    if run.result_digest is not None:
        left_out = unpacked(api.result(run.trial_id), folders, out).links_left_out
    call.answer_with(run, trial_view(run, out, left_out))
    if run.state is not TrialState.PASSED:
        raise typer.Exit(ExitCode.FAILURE)


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    api_command(app, "try")(try_ability)


def trial_view(run: TrialRun, out: Path, left_out: tuple[str, ...] = ()) -> Group:
    """What was run, which conditions hold, where the result is, and what to do where something failed."""
    lines: list[Text] = []
    for command in run.commands:
        place = "" if command.working_folder == "." else f"  (in {command.working_folder})"
        lines.append(_marked(_COMMAND_MARKS[command.result], command.command).append(place, style="dim"))
        if command.details:
            lines.append(Text(f"  {command.details}", style="dim"))
    if run.conditions:
        lines.append(Text("Conditions:", style="bold"))
    for condition in run.conditions:
        lines.append(_marked(_CONDITION_MARKS[condition.result], condition.statement))
        if condition.details:
            lines.append(
                Text(f"  {condition.result.value.replace('_', ' ')}: {condition.details}", style="dim")
            )
    if not run.conditions and run.state is TrialState.PASSED:
        lines.append(Text("It was taught without conditions: look at the result yourself.", style="yellow"))
    if run.result_digest is not None:
        lines.append(Text(f"The resulting folder is in {out}."))
    if left_out:
        names = ", ".join(left_out[:5])
        lines.append(Text(f"Left out, as they lead out of the folder: the links {names}.", style="yellow"))
    lines.append(Text.assemble((f"{run.state.value}: ", "bold"), run.note))
    return Group(*lines)


def _marked(mark: str, text: str) -> Text:
    """The text as it is behind its mark: what a command says in brackets is no markup."""
    return Text.from_markup(mark).append(f" {text}", style="default")


def _values(given: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise NothingToDo(f"{one} is no NAME=VALUE. Write --set NAME=VALUE.")
        if name in values:
            raise NothingToDo(f"{name} is given twice. Give each name once.")
        values[name] = value
    return values


def _folders(given: list[str], wanted: Sequence[AbilityFolder]) -> dict[str, Path]:
    """The folder for each path below the one that holds all of them; '.' is that one."""
    if len(wanted) < 2:
        if len(given) > 1:
            raise NothingToDo("This ability works in one folder. Give one --folder DIR.")
        path = wanted[0].path if wanted else "."
        name, equals, place = given[0].partition("=")
        return {path: _folder(place if equals and wanted and name == wanted[0].name else given[0])}
    paths = {one.name: one.path for one in wanted}
    found: dict[str, Path] = {}
    for one in given:
        name, equals, place = one.partition("=")
        if not equals or name not in paths:
            name, place = wanted[0].name, one
        if paths[name] in found:
            raise NothingToDo(f"{name} is given twice. {_needed(wanted)}")
        found[paths[name]] = _folder(place)
    if len(found) < len(wanted):
        raise NothingToDo(_needed(wanted))
    return found


def _needed(wanted: Sequence[AbilityFolder]) -> str:
    each = " ".join(f"--folder {one.name}=DIR" for one in wanted)
    shown = ", ".join(f"{one.name} ({one.shown})" for one in wanted)
    return f"This ability works in several folders: {shown}. Give each once: {each}."


def _folder(given: str) -> Path:
    if not Path(given).is_dir():
        raise NothingToDo(f"{given} is no folder. Name one that is there with --folder.")
    return Path(given)


def _followed(call: Invocation, api: TrialApi, run: TrialRun) -> TrialRun:
    """The trial at its end; it is cancelled where the command is interrupted."""
    said = ""
    try:
        with call.busy("trying …"):
            while run.state is TrialState.RUNNING:
                if run.progress != said:
                    said = run.progress
                    call.show(Text(said, style="dim"))
                time.sleep(_LOOK_EVERY_SECONDS)
                run = api.trial(run.trial_id)
    except KeyboardInterrupt:
        try:
            api.remove(run.trial_id)
        except ApiFailure:
            fail(f"The trial {run.trial_id} could not be cancelled; it ends by itself.", ExitCode.FAILURE)
        fail("The trial was cancelled.", ExitCode.FAILURE)
    return run
