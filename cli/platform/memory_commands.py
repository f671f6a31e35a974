"""``apprentice memory``: check the memory tree against the store, and rebuild it."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy.exc import SQLAlchemyError

from cli.platform.output import ExitCode, JsonFlag, fail, warn, write_json, write_line
from cli.platform.run_state import DataDir, opened
from stores.platform.projection.projector import ProjectionBusyError, ProjectionError, Projector
from stores.platform.projection.tree_verifier import TreeReport

SHOWN_DIFFERENCES = 10
"""How many are printed for people; JSON has them all."""

app = typer.Typer(no_args_is_help=True, help="Check and rebuild the memory tree.")


@app.callback()
def memory() -> None:
    """Check and rebuild the memory tree."""


@app.command()
def verify(data_dir: DataDir = None, as_json: JsonFlag = False) -> None:
    """Compare every file with the store, and the journal with its hashes; change nothing.

    Ends with exit code 1 when something is not as it was written.
    """
    with _projector(data_dir) as projector:
        report = projector.verify()
    if as_json:
        write_json({"intact": report.intact, "report": report})
    else:
        _show(report)
    if not report.intact:
        raise typer.Exit(ExitCode.FAILURE)


@app.command()
def rebuild(
    data_dir: DataDir = None,
    discard_edits: Annotated[
        bool, typer.Option("--discard-edits", help="Write over what was edited by hand in the workspace.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Write every file anew from the store, and remove memory files that nothing in it explains."""
    with _projector(data_dir) as projector:
        report = projector.rebuild(discard_edits=discard_edits)
    if as_json:
        write_json({"report": report})
        return
    write_line(
        f"{report.documents_written} documents and {report.streams_rewritten} streams written,"
        f" {report.unexplained_removed} unexplained files removed."
    )
    if report.edits_kept:
        warn(
            f"{report.edits_kept} workspace files were edited by hand and are as they were. To do: improve the"
            " ability to take the edits in, or repeat with --discard-edits"
        )


def _show(report: TreeReport) -> None:
    write_line(
        f"{report.files} files and {report.chains.entries} journal entries checked,"
        f" {report.pending} files still to be written."
    )
    for difference in report.differences[:SHOWN_DIFFERENCES]:
        warn(f"{difference.root}: {difference.path}: {difference.message}. To do: {difference.remedy}")
    if len(report.differences) > SHOWN_DIFFERENCES:
        warn(f"… and {len(report.differences) - SHOWN_DIFFERENCES} more (see them with --json)")
    if report.chains.fault is not None:
        warn(f"journal: {report.chains.fault.message}. To do: restore the database from a backup")
    if report.intact:
        write_line("Everything is as it was written.")


@contextmanager
def _projector(data_dir: Path | None) -> Generator[Projector]:
    with opened(data_dir) as (settings, database):
        try:
            yield Projector(database, settings.memory_root, settings.workspace)
        except ProjectionBusyError as error:
            fail(str(error), ExitCode.NOT_READY)
        except (ProjectionError, OSError) as error:
            fail(str(error))
        except SQLAlchemyError as error:
            fail(f"the database cannot be read ({type(error).__name__}); `apprentice doctor` says why")
