"""Where the command line finds the service, and as whom it calls it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from cli.run_state import RunState, read_run_state

if TYPE_CHECKING:
    from config.settings import Settings

URL_VARIABLE = "APPRENTICE_API_URL"
TOKEN_VARIABLE = "APPRENTICE_TOKEN"  # noqa: S105 - a name
READY_FILE_VARIABLE = "APPRENTICE_READY_FILE"
ADMIN_TOKEN_FILE = "admin_token"  # noqa: S105 - a name


@dataclass(frozen=True)
class Connection:
    """The service's address and the caller's token, if one was found."""

    api_url: str
    token: str | None


def find_connection(api_url: str | None, token: str | None) -> Connection:
    """Find the service: options, then the environment, then what is running here, then the settings.

    The admin token that ``apprentice up`` leaves on this machine is only ever sent to the service it
    belongs to: another address gets the token that was named, or none.

    Raises:
        SettingsError: nothing was named and the settings cannot be read.
    """
    named_url = api_url or os.environ.get(URL_VARIABLE)
    named_token = token or os.environ.get(TOKEN_VARIABLE)
    if named_url and named_token:
        return Connection(named_url, named_token)

    # The settings' library is only loaded where they are asked for: it costs a tenth of a second.
    from config.settings import load_settings

    settings = load_settings()
    state = _running(settings)
    here = {settings.api_url, settings.local_api_url, state.api_url if state else ""}
    url = named_url or (state.api_url if state else settings.local_api_url)
    if not named_token and url.rstrip("/") in here:
        named_token = state.admin_token if state else _admin_token(settings.data_dir)
    return Connection(url, named_token)


def _running(settings: "Settings") -> RunState | None:
    named = os.environ.get(READY_FILE_VARIABLE)
    if not named:
        return read_run_state(settings.data_dir)
    try:
        return RunState.model_validate_json(Path(named).expanduser().read_bytes())
    except (OSError, ValidationError):
        return None


def _admin_token(data_dir: Path) -> str | None:
    try:
        return (data_dir / ADMIN_TOKEN_FILE).read_text(encoding="utf-8").strip() or None
    except OSError:
        return None
