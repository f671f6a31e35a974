"""``apprentice skills run|runs|run-show|confirm|refuse|cancel``: invocations of skills and what came of them."""

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from cli.platform.folders import packed, refuse_unfit, unpacked
from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.json_arguments import read_object
from cli.platform.list_options import OnePageOption, answer_list
from cli.platform.output import ExitCode, facts, listing
from cli.platform.own_words import own_words
from clients.apprentice.abilities import TrialApi
from clients.apprentice.skills import SkillApi
from contracts.skills.invocation import (
    CancelInvocationRequest,
    ConfirmInvocationRequest,
    InvocationStatus,
    InvocationView,
    InvokeSkillRequest,
)

LOOK_AGAIN_SECONDS = 0.3
"""Poll interval of an invocation that is waited for, in seconds."""

_COLOURS = {
    InvocationStatus.SUCCESS: "green",
    InvocationStatus.PARTIAL: "yellow",
    InvocationStatus.FAILURE: "red",
    InvocationStatus.OUTCOME_UNKNOWN: "magenta",
    InvocationStatus.AWAITING_CONFIRMATION: "yellow",
    InvocationStatus.CANCELLED: "dim",
    InvocationStatus.EXPIRED: "dim",
    InvocationStatus.QUEUED: "cyan",
    InvocationStatus.RUNNING: "cyan",
}

_IdArgument = Annotated[str, typer.Argument(help="The invocation's id.", metavar="INVOCATION")]
_Reason = Annotated[str | None, typer.Option(help="Why; kept with the invocation.")]


def add_to(app: typer.Typer) -> None:
    """Adds the commands to ``apprentice skills``."""
    api_command(app, "run")(run)
    api_command(app, "runs")(runs)
    api_command(app, "result")(result)
    api_command(app, "confirm")(confirm)
    api_command(app, "refuse")(refuse)
    api_command(app, "cancel")(cancel)


def run(
    call: Invocation,
    name: Annotated[str, typer.Argument(help="The skill, by its folder or its function.", metavar="NAME")],
    fields: Annotated[
        list[str] | None,
        typer.Argument(help="What it is given: name=value, read as JSON where it is JSON.", metavar="FIELD"),
    ] = None,
    given: Annotated[
        str | None,
        typer.Option("--input", "-i", help="What it is given, as a JSON object; - or @FILE reads it."),
    ] = None,
    version: Annotated[str | None, typer.Option(help="This version, such as 1.2.0 or v1.")] = None,
    confirmed: Annotated[
        bool, typer.Option("--confirmed", help="Confirm it at once; needs the scope approve.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Ask the gate, and run nothing.")] = False,
    agent: Annotated[str | None, typer.Option(help="The agent that asks, for the record.")] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it has ended or asks.")] = True,
    unapproved: Annotated[
        bool,
        typer.Option(
            "--unapproved",
            help="Try out a folder that nobody approved: without any permission; needs the scope admin.",
        ),
    ] = False,
    script: Annotated[
        str | None,
        typer.Option(help="NAME is a learned ability: run this one of its scripts; FIELD are its arguments."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="The folder that the script gets a copy of."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where the folder is put that a script made; new or empty.")
    ] = None,
) -> None:
    """Run a skill; policy may let it pass, refuse it, or have somebody asked first.

    Of a learned ability a script is run (--script), on a copy of a folder. Somebody is always asked first.
    """
    api = SkillApi(call.api.http)
    if out is not None:
        refuse_unfit(out, [folder] if folder is not None else [])
    if script is None and (folder is not None or out is not None):
        raise NothingToDo("--folder and --out go with the --script of a learned ability.")
    context = {"agent_id": agent} if agent is not None else None
    learned = _script_input(call, script, fields or [], folder) if script is not None else {}
    whole = read_object(given, "--input", '{"action": "lookup"}') if given is not None else {}
    request = InvokeSkillRequest.model_validate(
        {
            "input": {**whole, **(_fields(fields or []) if script is None else learned)},
            "version": version,
            "confirmed": confirmed,
            "dry_run": dry_run,
            "unapproved": unapproved,
            "context": context,
        }
    )
    with call.busy(f"running {name}"):
        view = api.invoke(name, request, wait_seconds=20 if wait else 0)
        while wait and _goes_on(view):
            time.sleep(LOOK_AGAIN_SECONDS)
            view = api.invocation(view.invocation_id)
    if out is not None and view.status is InvocationStatus.SUCCESS:
        unpacked(api.folder(view.invocation_id), {".": folder} if folder else {}, out)
    call.answer(invocation_view(view))
    if (code := exit_code_of(view)) is not ExitCode.OK:
        raise typer.Exit(code)


def _script_input(call: Invocation, script: str, arguments: list[str], folder: Path | None) -> dict[str, Any]:
    given: dict[str, Any] = {"script": script, "arguments": arguments}
    if folder is not None:
        with call.busy("handing the folder in …"):
            given["folder"] = TrialApi(call.api.http).hand_in(packed({".": folder})).folder_ref
    return given


def _goes_on(view: InvocationView) -> bool:
    """Whether it ends by itself soon: it waits neither for a person nor for a later time."""
    under_way = view.status in (InvocationStatus.QUEUED, InvocationStatus.RUNNING)
    return under_way and view.expires_at is None and view.due_at is None


def exit_code_of(view: InvocationView) -> ExitCode:
    """How the run ended, for scripts; one that goes on, or waits, has not failed."""
    if view.status in (InvocationStatus.CANCELLED, InvocationStatus.EXPIRED):
        return ExitCode.REFUSED
    failed = view.status in (InvocationStatus.FAILURE, InvocationStatus.OUTCOME_UNKNOWN)
    return ExitCode.FAILURE if failed else ExitCode.OK


def runs(
    call: Invocation,
    skill: Annotated[str | None, typer.Option(help="Only of this skill.")] = None,
    status: Annotated[InvocationStatus | None, typer.Option(help="Only those that stand so.")] = None,
    page: OnePageOption = 1,
) -> None:
    """List invocations, newest first."""
    found = SkillApi(call.api.http).invocations(page, skill=skill, status=status)
    table = listing("invocation", "skill", "status", "asked", whole="invocation")
    for one in found.invocations:
        table.add_row(
            one.invocation_id, escape(one.skill), _status(one.status), f"{one.created_at:%Y-%m-%d %H:%M:%S}"
        )
    nothing = "No invocations. Run a skill with `apprentice skills run NAME`."
    answer_list(call, found, table, nothing, {"skill": skill, "status": status})


def result(
    call: Invocation,
    invocation: _IdArgument,
    out: Annotated[
        Path | None, typer.Option(help="Where the folder is put that a script made; new or empty.")
    ] = None,
) -> None:
    """Show one invocation: what was asked, how it went, what came of it."""
    api = SkillApi(call.api.http)
    if out is not None:
        refuse_unfit(out)
        unpacked(api.folder(invocation), {}, out)
    call.answer(invocation_view(api.invocation(invocation)))


def confirm(call: Invocation, invocation: _IdArgument, reason: _Reason = None) -> None:
    """Let an invocation pass that waits."""
    request = ConfirmInvocationRequest(approve=True, reason=reason)
    view = SkillApi(call.api.http).confirm(invocation, request)
    call.answer(
        f"[green]confirmed[/]; see what comes of it with [cyan]apprentice skills result {view.invocation_id}[/]."
    )


def refuse(call: Invocation, invocation: _IdArgument, reason: _Reason = None) -> None:
    """Refuse an invocation that waits; nothing is run."""
    request = ConfirmInvocationRequest(approve=False, reason=reason)
    SkillApi(call.api.http).confirm(invocation, request)
    call.answer("[red]refused[/]; nothing was run.")


def cancel(call: Invocation, invocation: _IdArgument, reason: _Reason = None) -> None:
    """Give an invocation up; one that runs may have had its effect."""
    view = SkillApi(call.api.http).cancel(invocation, CancelInvocationRequest(reason=reason))
    call.answer(invocation_view(view))


def invocation_view(view: InvocationView) -> RenderableType:
    """One invocation: how it stands, in words, with its outputs."""
    error = f"{view.error.message} ({view.error.code})" if view.error is not None else None
    todo = view.next_action or (view.error.recovery if view.error is not None else None)
    if view.status is InvocationStatus.AWAITING_CONFIRMATION:
        todo = f"apprentice skills confirm {view.invocation_id}, or apprentice skills refuse {view.invocation_id}"
    rows = [
        ("invocation", view.invocation_id),
        ("skill", f"{view.skill} {view.version}" + (" (a kept answer)" if view.cached else "")),
        ("asks", view.confirmation_prompt),
        ("says", view.message),
        ("why", error),
        ("warnings", "; ".join(view.warnings)),
        ("attempts", str(len(view.attempts)) if len(view.attempts) > 1 else None),
        ("to do", own_words(todo or "")),
    ]
    parts: list[RenderableType] = [Text.from_markup("  " + _status(view.status)), facts(rows)]
    if view.outputs is not None:
        parts += [Text("outputs", style="dim"), Text(json.dumps(view.outputs, indent=2, ensure_ascii=False))]
    return Group(*parts)


def _status(status: InvocationStatus) -> str:
    return f"[{_COLOURS[status]}]{status.value.replace('_', ' ')}[/]"


def _fields(given: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise NothingToDo(f"{one!r} is no field; write name=value, such as action=lookup.")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found
