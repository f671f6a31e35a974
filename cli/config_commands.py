"""``apprentice config``: which settings are in effect, and why."""

import os
from pathlib import Path
from typing import Annotated

import typer

from cli import config_intent_commands
from cli.output import ExitCode, JsonFlag, fail, warn, write_json, write_table
from config.origins import SettingsError, unknown_variables
from config.settings import Settings, describe, load_settings

app = typer.Typer(no_args_is_help=True, help="See the settings in effect; configure skills.")
app.add_typer(config_intent_commands.app, name="intents")


@app.callback()
def config() -> None:
    """See the settings in effect; configure skills."""


@app.command()
def show(
    data_dir: Annotated[Path | None, typer.Option(help="Look at this data directory's settings.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Print every setting with its value and where it came from; secrets are masked."""
    try:
        settings = load_settings(data_dir=data_dir)
    except SettingsError as error:
        fail(str(error), ExitCode.USAGE)
    views = describe(settings)
    if as_json:
        write_json({"settings": [view._asdict() for view in views]})
    else:
        write_table(("setting", "value", "source"), views)
    for name in unknown_variables(Settings, os.environ):
        warn(f"{name} is set but names no setting")
