"""``apprentice packs``: groups of skills that are installed together, all of them or none."""

import time
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from cli.platform.acceptance import AcceptOption, acceptance
from cli.platform.invocation import Invocation, api_command
from cli.platform.output import ExitCode, facts, listing
from clients.apprentice.packs import PackApi
from contracts.base import clipped
from contracts.imports.pack_install import (
    PackInstall,
    SkillPackInstallCancelRequest,
    SkillPackInstallRequest,
)
from contracts.imports.pack_members import SkillPackDetailResponse, SkillPackPutRequest
from contracts.imports.requests import ImportTargetScope
from contracts.learning.install import SagaState

app = typer.Typer(no_args_is_help=True, help="Packs of skills: make, show, install as a whole.")

_Pack = Annotated[str, typer.Argument(help="The id of the pack.", metavar="PACK")]
_Install = Annotated[str, typer.Argument(help="The id of the install.", metavar="INSTALL")]
_LOOK_EVERY_SECONDS = 0.25


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
    call.answer(*_shown(PackApi(call.api.http).put(request)))


@api_command(app, "delete")
def delete(call: Invocation, pack_id: _Pack) -> None:
    """Delete a pack; its skills stay as they are."""
    PackApi(call.api.http).delete(pack_id)
    call.answer("Deleted. What was installed stays.")


@api_command(app, "install")
def install(
    call: Invocation,
    pack_id: _Pack,
    scope: Annotated[ImportTargetScope, typer.Option(help="For whom.")] = ImportTargetScope.PRIVATE,
    override: Annotated[
        str | None, typer.Option("--override", help="Why you go on in spite of what scans found.")
    ] = None,
    accept_unproved: AcceptOption = False,
    wait: Annotated[bool, typer.Option(help="Wait until it has ended.")] = True,
) -> None:
    """Install every skill of a pack, or none: show what nothing proves, check, install."""
    api = PackApi(call.api.http)
    seen = api.show(pack_id)
    # By skill, as two members may hold a script of one name.
    unproved = [
        step.changed(step=clipped(f"{one.skill}: {step.step}", 240))
        for one in seen.members
        for step in one.unproved
    ]
    accepted = acceptance(call, unproved, seen.unproved_digest, accept_unproved)
    request = SkillPackInstallRequest(
        target_scope=scope, override_reason=override, expected_version=seen.version, **accepted
    )
    found = api.install(pack_id, request)
    with call.busy("checking and installing"):
        while wait and not found.install.is_over:
            time.sleep(_LOOK_EVERY_SECONDS)
            found = api.install_of(found.install.pack_install_id)
    call.answer(*_progress(found.install))
    if found.install.is_over and found.install.state is not SagaState.INSTALLED:
        raise typer.Exit(ExitCode.FAILURE)


@api_command(app, "status")
def status(call: Invocation, pack_install_id: _Install) -> None:
    """Show how far an install has come."""
    call.answer(*_progress(PackApi(call.api.http).install_of(pack_install_id).install))


@api_command(app, "cancel")
def cancel(
    call: Invocation,
    pack_install_id: _Install,
    reason: Annotated[str | None, typer.Option(help="Why; it is kept with the receipt.")] = None,
) -> None:
    """Give an install up; what it did is undone."""
    request = SkillPackInstallCancelRequest(reason=reason)
    call.answer(*_progress(PackApi(call.api.http).cancel(pack_install_id, request).install))


def _progress(found: PackInstall) -> list[RenderableType]:
    lines = [
        ("install", found.pack_install_id),
        ("pack", f"{found.pack_id}, version {found.pack_version}"),
        ("state", found.state.value),
        ("why", found.error or ""),
    ]
    table = listing("skill", "state", "why")
    for one in found.members:
        table.add_row(Text(one.skill), one.state.value, Text(one.error or ""))
    shown: list[RenderableType] = [facts([(name, value) for name, value in lines if value]), table]
    if not found.is_over:
        shown.append(f"See how it goes on: apprentice packs status {found.pack_install_id}")
    return shown


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
