"""``apprentice record browser``: a Chromium whose actions are recorded by meaning."""

from pathlib import Path
from typing import Annotated

import typer

from cli.invocation import reporting_errors
from cli.output import ExitCode, fail, warn
from cli.record_session import find_recordable
from contracts.learning.observation import ObservationAdapterKind

_ACTIONS = ObservationAdapterKind.BROWSER_DOM
_SNAPSHOTS = ObservationAdapterKind.BROWSER_SNAPSHOT


def browser(
    session: Annotated[
        str | None, typer.Option(help="The session's id. Left out: your one session that is not at rest.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="The page to begin with.")] = None,
    headless: Annotated[bool, typer.Option("--headless", help="Show no window.")] = False,
    cdp_url: Annotated[
        str | None,
        typer.Option(help="Watch the browser whose debugging port this is: http://127.0.0.1:PORT."),
    ] = None,
    folder: Annotated[
        Path, typer.Option(help="Where downloads of a started browser go.", exists=True, file_okay=False)
    ] = Path(),
    browser_arg: Annotated[
        list[str] | None, typer.Option(help="Handed to a started browser as it is (repeatable).")
    ] = None,
    api_url: Annotated[str | None, typer.Option(help="The service's address.")] = None,
    token: Annotated[str | None, typer.Option(help="An access token with the scope observe.")] = None,
) -> None:
    """Record a browser: by role and name what is done, never what is typed. Closing it ends the recording."""
    from recorders.browser import BrowserRecorderOptions, record_browser
    from recorders.errors import RecorderError
    from recorders.spool import SpoolError

    with reporting_errors():
        found = find_recordable(session, api_url, token, _ACTIONS, [_SNAPSHOTS])
    options = BrowserRecorderOptions(
        learn_session_id=found.learn_session_id,
        target=found.target,
        spool_folder=found.spool_folder,
        cdp_url=cdp_url,
        start_url=url,
        headless=headless,
        folder=folder.absolute(),
        browser_arguments=tuple(browser_arg or ()),
        presence_folder=found.presence_folder,
        with_snapshots=_SNAPSHOTS in found.adapters,
    )
    try:
        summary = record_browser(options, say=_say)
    except (RecorderError, SpoolError) as error:
        fail(str(error), ExitCode.USAGE)
    _say(summary.text())
    if not summary.complete:
        raise typer.Exit(1)
    typer.echo(f"Next: apprentice learn stop {found.learn_session_id}")


def _say(text: str) -> None:
    warn(f"[apprentice] {text}")
