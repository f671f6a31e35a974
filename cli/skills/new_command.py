"""``apprentice skills new``: the folder of a skill that can be approved and run at once."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from cli.platform.invocation import NothingToDo, reporting_errors, running_here
from cli.platform.output import JsonFlag, write_json, write_line
from config.settings import load_settings
from contracts.skills.manifest import SkillBackend
from domain.skills.new_folder import NoSkillName, new_folder


def new(
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens.", metavar="NAME")],
    runner: Annotated[SkillBackend, typer.Option(help="What runs it.")] = SkillBackend.PYTHON,
    url: Annotated[str | None, typer.Option(help="With --runner http: the address that is asked.")] = None,
    into: Annotated[
        Path | None, typer.Option(help="The root that gets the folder; else the workspace's skills.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Make the folder of a small skill: approve it, run it, then change it."""
    with reporting_errors():
        if (runner is SkillBackend.HTTP) != (url is not None):
            raise NothingToDo("--url ADDRESS belongs to --runner http, which needs it.")
        try:
            files = new_folder(name, runner, url)
        except NoSkillName as wrong:
            raise NothingToDo(f"{wrong}.") from None
        folder = (into or _workspace_skills()) / name
        _write(folder, files)
    steps = [
        "apprentice skills reload",
        f"apprentice skills approve {name}",
        f"apprentice skills run {name} name=Ada",
    ]
    if as_json:
        write_json({"name": name, "folder": str(folder), "files": sorted(files), "next": steps})
        return
    write_line(f"Made {folder}: {', '.join(sorted(files))}. Next:")
    for step in steps:
        write_line(f"  {step}")


def _workspace_skills() -> Path:
    settings = load_settings()
    state = running_here(settings)
    return (state.workspace if state is not None else settings.workspace) / "skills"


def _write(folder: Path, files: dict[str, str]) -> None:
    """Writes the folder beside its place and moves it there, so that no half of it is ever seen.

    Raises:
        NothingToDo: the folder is there already, or cannot be written.
    """
    taken = NothingToDo(f"{folder} is there already; choose another name, or remove it first.")
    if os.path.lexists(folder):
        raise taken
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    except OSError as error:
        raise NothingToDo(f"{folder} cannot be written: {error.strerror}.") from None
    try:
        for file, text in files.items():
            (made / file).write_text(text, encoding="utf-8")
        made.chmod(0o755)
        # Fails where somebody made a folder with content there meanwhile.
        made.rename(folder)
    except OSError as error:
        shutil.rmtree(made, ignore_errors=True)
        if os.path.lexists(folder):
            raise taken from None
        raise NothingToDo(f"{folder} cannot be written: {error.strerror}.") from None
