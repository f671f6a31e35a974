"""``apprentice packs``: groups of skills that are installed together, all of them or none."""

from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import RenderableType
from rich.text import Text

from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.output import facts, listing
from clients.apprentice.packs import PackApi
from contracts.imports.pack_members import SkillPackDetailResponse, SkillPackPutRequest

app = typer.Typer(no_args_is_help=True, help="Packs of skills: make, show, delete.")

_Pack = Annotated[str, typer.Argument(help="The id of the pack.", metavar="PACK")]


@api_command(app, "list")
def list_packs(call: Invocation) -> None:
    """List your packs."""
    found = PackApi(call.api.http).list()
    table = listing("pack", "title", "description", whole="pack")
    for one in found.packs:
        table.add_row(one.pack_id, Text(one.title), Text(one.description or ""))
    if found.packs:
        call.answer(table)
    else:
        call.answer("No packs. Make one with `apprentice packs put PACK --skill NAME --skill NAME`.")


@api_command(app, "show")
def show(call: Invocation, pack_id: _Pack) -> None:
    """Show one pack: its skills in the order of their install, and what stands in the way."""
    call.answer(*_shown(PackApi(call.api.http).show(pack_id)))


@api_command(app, "put")
def put(
    call: Invocation,
    pack_id: _Pack,
    title: Annotated[str | None, typer.Option(help="What it is called; its id, when left out.")] = None,
    description: Annotated[str, typer.Option(help="What it is for.")] = "",
    skill: Annotated[
        list[str] | None, typer.Option(help="A skill of it by its name; give it once for each.")
    ] = None,
    support_pack: Annotated[
        list[str] | None, typer.Option(help="A support pack that its skills use; once for each.")
    ] = None,
    connector: Annotated[
        list[str] | None, typer.Option(help="A connector that is good to have; once for each.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="What it is made for.")] = None,
    expect_version: Annotated[
        int | None, typer.Option(help="Refused where the pack has another version; 0: where there is one.")
    ] = None,
) -> None:
    """Make a pack, or replace the one of this id. It installs nothing."""
    try:
        request = SkillPackPutRequest(
            pack_id=pack_id,
            title=title or pack_id,
            description=description,
            skills=tuple(skill or ()),
            default_support_packs=tuple(support_pack or ()),
            recommended_connectors=tuple(connector or ()),
            compatibility_target=target,
            expected_version=expect_version,
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise NothingToDo(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    call.answer(*_shown(PackApi(call.api.http).put(request)))


@api_command(app, "delete")
def delete(call: Invocation, pack_id: _Pack) -> None:
    """Delete a pack; its skills stay as they are."""
    PackApi(call.api.http).delete(pack_id)
    call.answer("Deleted. What was installed stays.")


def _shown(found: SkillPackDetailResponse) -> list[RenderableType]:
    lines = [
        ("pack", found.pack.pack_id),
        ("title", found.pack.title),
        ("version", str(found.version)),
        ("made for", found.compatibility_target or ""),
        ("connectors", ", ".join(found.pack.recommended_connectors)),
        ("not connected", ", ".join(found.missing_connectors)),
        ("last install", found.last_install_id or ""),
    ]
    shown: list[RenderableType] = [facts([(name, value) for name, value in lines if value])]
    table = listing("skill", "state", "after", "import", whole="import")
    for one in found.members:
        table.add_row(Text(one.skill), one.state.value, Text(", ".join(one.depends_on)), one.import_id or "")
    if found.members:
        shown.append(table)
    shown += [Text(f"! {one.code}: {one.message}", style="yellow") for one in found.problems]
    return shown
