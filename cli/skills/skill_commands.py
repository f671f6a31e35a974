"""``apprentice skills``: the catalog, approval, export; runs are in ``run_commands``."""

import json
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.list_options import OnePageOption, answer_list
from cli.platform.output import facts, listing
from cli.skills import content_commands, policy_commands, run_commands
from cli.skills.new_command import new
from clients.apprentice.skills import SkillApi
from contracts.learning.observation import ToolEffect
from contracts.skills.catalog import ApproveSkillRequest, SkillEntry, SkillRoot, SkillState
from contracts.skills.manifest import SafetyLevel, SkillPermissions
from contracts.skills.selection import FindSkillsRequest
from domain.platform.visible_text import visible

app = typer.Typer(no_args_is_help=True, help="Executable skills: list, approve, run, see what they did.")
run_commands.add_to(app)
app.command("new")(new)
app.add_typer(policy_commands.app, name="policy")
app.add_typer(content_commands.app, name="content")

COLOURS = {
    SkillState.READY: "green",
    SkillState.AWAITING_APPROVAL: "yellow",
    SkillState.MALFORMED: "red",
    SkillState.QUARANTINED: "red",
    SkillState.RETIRED: "dim",
}

NameArgument = Annotated[
    str, typer.Argument(help="The skill, by its folder or its function.", metavar="NAME")
]


@api_command(app, "list")
def list_skills(
    call: Invocation,
    page: OnePageOption = 1,
    page_size: Annotated[int, typer.Option(min=1, max=100, help="Skills a page.")] = 100,
) -> None:
    """List the skills by name: what may be run, what awaits approval, what is malformed."""
    found = SkillApi(call.api.http).catalog(page, page_size)
    table = listing("skill", "version", "state", "effect", "what it does")
    for one in found.skills:
        table.add_row(
            escape(one.name),
            one.version or "",
            f"[{COLOURS[one.state]}]{one.state.value.replace('_', ' ')}[/]",
            "asks first" if one.confirmation_required else ", ".join(one.capabilities),
            escape(one.description or one.reason or ""),
        )
    answer_list(call, found, table, "No skills. Make one with `apprentice skills new NAME`.")


@api_command(app, "show")
def show(call: Invocation, name: NameArgument) -> None:
    """Show one skill: what it takes and gives, and what it may touch."""
    found = SkillApi(call.api.http).show(name)
    parts: list[RenderableType] = [entry_view(found)]
    if found.input_schema is not None:
        parts += [
            Text("takes", style="dim"),
            Text(json.dumps(found.input_schema, indent=2, ensure_ascii=False)),
        ]
    call.answer(Group(*parts))


@api_command(app, "find")
def find(
    call: Invocation,
    words: Annotated[str, typer.Argument(help="What the step is to do.", metavar="STEP")],
    capability: Annotated[
        list[str] | None, typer.Option(help="A name that the skill declares; may be given again.")
    ] = None,
    life_area: Annotated[list[str] | None, typer.Option(help="For this area of life; likewise.")] = None,
    effect: Annotated[ToolEffect | None, typer.Option(help="With this effect.")] = None,
    level: Annotated[SafetyLevel | None, typer.Option(help="With at most this safety level.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=50, help="At most so many.")] = 10,
) -> None:
    """Find the skills and learned abilities that fit a step of a plan, best first."""
    request = FindSkillsRequest(
        description=words,
        capabilities=tuple(capability or ()),
        life_areas=tuple(life_area or ()),
        effect_type=effect,
        max_safety_level=level,
        limit=limit,
    )
    found = SkillApi(call.api.http).find(request)
    left = [f"left out: {escape(one.skill)}, {escape(one.left_out_because)}" for one in found.left_out]
    if not found.skills:
        call.answer("No skill or ability fits; `apprentice skills list` names those there are.", *left)
        return
    table = listing("skill", "kind", "fits", "score", "note", whole="skill")
    for one in found.skills:
        note = "; ".join((*one.missing_preconditions, *one.warnings))
        table.add_row(
            escape(one.skill), one.kind.value, one.fit.value, f"{one.score:.2f}", escape(visible(note))
        )
    call.answer(table, *left)


@api_command(app, "approve")
def approve(
    call: Invocation,
    name: NameArgument,
    root: Annotated[SkillRoot | None, typer.Option(help="The root, where several have the name.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Approve what is shown, without asking.")] = False,
) -> None:
    """Show a folder's digest and what it asks for, and put it on the allowlist as it is."""
    api = SkillApi(call.api.http)
    seen = api.approve(name, ApproveSkillRequest(root=root)).skill
    call.show(entry_view(seen))
    if not yes:
        if call.json:
            raise NothingToDo("with --json say --yes, once you have seen what it asks for.")
        typer.confirm("Approve it as it is?", abort=True)
    approved = api.approve(name, ApproveSkillRequest(root=seen.root, digest=seen.digest))
    call.answer(
        f"[green]approved[/]: {escape(approved.skill.name)} is {approved.skill.state.value}. Run it with"
        f" [cyan]apprentice skills run {escape(approved.skill.name)}[/]."
    )


@api_command(app, "reload")
def reload(call: Invocation) -> None:
    """Read the roots again: new folders, changed ones, the allowlist."""
    found = SkillApi(call.api.http).reload()
    named = f"; different: {', '.join(found.different)}" if found.different else "; nothing is different"
    call.answer(
        f"{found.ready} ready, {found.awaiting_approval} awaiting approval, {found.malformed} malformed"
        + escape(named)
    )


@api_command(app, "export")
def export(call: Invocation) -> None:
    """Print every skill that may be run as a tool definition of the OpenAI form."""
    tools = SkillApi(call.api.http).openai_tools()
    call.answer(Text(json.dumps(tools, indent=2, ensure_ascii=False)))


def entry_view(one: SkillEntry) -> RenderableType:
    """One skill: how it stands, what it does, what it may touch."""
    asks = None
    if one.confirmation_required is not None:
        asks = "yes" if one.confirmation_required else "no"
    rows = [
        ("skill", f"{one.name} {one.version or ''}"),
        ("state", one.state.value.replace("_", " ") + (f": {one.reason}" if one.reason else "")),
        ("lies in", one.root.value),
        ("digest", one.digest),
        ("does", one.description),
        ("can", ", ".join(one.capabilities)),
        ("asks first", asks),
        ("safety level", one.safety_level.value if one.safety_level is not None else None),
        ("side effects", ", ".join(one.side_effect_tags)),
        ("may touch", _permissions(one.permissions)),
        ("at most", f"{one.total_timeout_ms} ms in all" if one.total_timeout_ms else None),
        ("warnings", "; ".join(one.warnings)),
        ("to do", one.next_action),
    ]
    return facts(rows)


def _permissions(asked: SkillPermissions | None) -> str | None:
    if asked is None:
        return None
    parts = [
        *(f"the program {name}" for name in asked.local_binaries),
        *(f"the host {name}" for name in asked.hosts),
        *(f"the service {service.value}" for service in asked.services),
        *(["the network"] if asked.network else []),
        *(["messages to the operator"] if asked.telegram else []),
        *(["the OpenClaw gateway"] if asked.openclaw_action else []),
    ]
    return ", ".join(parts) or "nothing outside its own process"
