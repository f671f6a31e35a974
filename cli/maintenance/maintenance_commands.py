"""``apprentice maintenance``: history of nightly maintenance, and running it now."""

import time
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from cli.platform.invocation import Invocation, api_command
from cli.platform.list_options import answer_list
from cli.platform.output import fail, listing
from clients.apprentice.api import MaintenanceApi
from contracts.maintenance.runs import MaintenanceRun, MaintenanceState

app = typer.Typer(no_args_is_help=True, help="Nightly maintenance: history, run now.")

_LOOK_EVERY_SECONDS = 0.3


@api_command(app, "list")
def list_runs(
    call: Invocation,
    page: Annotated[int, typer.Option(min=1, help="Which page, newest first.")] = 1,
) -> None:
    """List maintenance runs, newest first."""
    found = MaintenanceApi(call.api.http).runs(page)
    table = listing("run", "started", "by", "kind", "state", "done", "failed", whole="run")
    for run in found.runs:
        table.add_row(
            run.run_id,
            run.started_at.strftime("%Y-%m-%d %H:%M"),
            run.requested_by or run.trigger.value,
            "preview" if run.dry_run else "run",
            run.state.value,
            str(sum(sweep.done for sweep in run.sweeps)),
            str(sum(sweep.failed for sweep in run.sweeps)),
        )
    nothing = "No maintenance run yet. Preview one: [cyan]apprentice maintenance run --dry-run[/]."
    answer_list(call, found, table, nothing)


@api_command(app, "run")
def run_now(
    call: Invocation,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    wait: Annotated[bool, typer.Option(help="Wait for its end.")] = True,
) -> None:
    """Run maintenance now, or see what a run would do."""
    api = MaintenanceApi(call.api.http)
    run = api.start(dry_run=dry_run)
    if wait:
        with call.busy("Maintenance runs…"):
            while run.state is MaintenanceState.RUNNING:
                time.sleep(_LOOK_EVERY_SECONDS)
                run = api.run(run.run_id)
    call.answer(_run_view(run))
    if run.state in {MaintenanceState.FAILED, MaintenanceState.CANCELLED}:
        fail(f"maintenance run {run.run_id} {run.state.value}: {run.error or 'see the Temporal UI'}")


def _run_view(run: MaintenanceRun) -> RenderableType:
    kind = "Preview" if run.dry_run else "Maintenance run"
    table = listing("sweep", "examined", "done", "skipped", "failed", "rows removed")
    for sweep in run.sweeps:
        counts = (sweep.examined, sweep.done, sweep.skipped, sweep.failed, sweep.removed)
        table.add_row(sweep.sweep.value.replace("_", " "), *(str(count) for count in counts))
    parts: list[RenderableType] = [Text(f"{kind} {run.run_id}: {run.state.value}"), table]
    parts += [
        Text(f"  {sweep.sweep.value} left {failure.item}: {failure.reason}")
        for sweep in run.sweeps
        for failure in sweep.failures
    ]
    if run.journal is not None:
        verdict = "as they were written" if run.journal.intact else f"damaged: {run.journal.fault}"
        parts.append(Text(f"The journal's {run.journal.entries} entries are {verdict}."))
    return Group(*parts)
