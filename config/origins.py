"""Where each setting came from: the config file, the errors that name a source, and the view people read."""

import os
import stat
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from pydantic import ValidationError
from pydantic_settings import BaseSettings

from contracts.plain_problems import plain_problem

CONFIG_VARIABLE = "APPRENTICE_CONFIG"
FILE_NAME = "apprentice.toml"
_PREFIX = "APPRENTICE_"

# Read by the command line as a client, which has no settings of its own.
_OTHER_VARIABLES = {CONFIG_VARIABLE, "APPRENTICE_API_URL", "APPRENTICE_TOKEN", "APPRENTICE_READY_FILE"}


class SettingsError(Exception):
    """The settings are refused; the text names every setting, its source and the fix, one a line."""


class SettingView(NamedTuple):
    """One effective setting as people may see it; secrets in ``value`` are masked."""

    name: str
    value: str | int | bool | None
    source: str


def find_config_file(given: Mapping[str, Any], environment: Mapping[str, str]) -> Path | None:
    """The one TOML file that is read, or nothing.

    Raises:
        SettingsError: ``APPRENTICE_CONFIG`` names a file that is not there.
    """
    named = environment.get(CONFIG_VARIABLE)
    if named:
        path = Path(named).expanduser()
        if not path.is_file():
            raise SettingsError(f"{CONFIG_VARIABLE} names {path}, which is no file: correct it or unset it")
        return path
    data_dir = Path(str(given.get("data_dir") or environment.get("APPRENTICE_DATA_DIR") or "~/.apprentice"))
    for candidate in (Path(FILE_NAME), data_dir.expanduser() / FILE_NAME):
        if candidate.is_file():
            return candidate.absolute()
    return None


def read_config_file(file: Path | None) -> dict[str, Any]:
    """What the file says, unchecked but for its syntax and for a password that others could read.

    Raises:
        SettingsError: it is no TOML, or carries a database password and is readable by others.
    """
    if file is None:
        return {}
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"{file} cannot be read as TOML: {error}") from None
    url = content.get("database_url")
    if isinstance(url, str) and urlsplit(url).password and _others_can_read(file):
        raise SettingsError(
            f"database_url in {file} carries a password and others can read the file: move it to "
            "APPRENTICE_DATABASE_URL or to database_password_file, or run chmod 600 on the file"
        )
    return content


def _others_can_read(file: Path) -> bool:
    return os.name == "posix" and bool(stat.S_IMODE(file.stat().st_mode) & 0o077)


def explain(
    error: ValidationError,
    model: type[BaseSettings],
    given: Mapping[str, Any],
    environment: Mapping[str, str],
    file: Path | None,
    from_file: Mapping[str, Any],
) -> str:
    """A line for each thing that is wrong: the setting, where it came from, what to do."""
    lines: list[str] = []
    for problem in error.errors(include_url=False, include_input=False):
        name = ".".join(str(part) for part in problem["loc"])
        reason = plain_problem(problem["type"], problem["msg"], problem.get("ctx", {}))
        if problem["type"] == "default_factory_not_called":
            continue
        if not name:
            # A check over several settings: its text names them before the colon.
            named = [word for word in model.model_fields if word in reason.partition(":")[0].split()]
            sources = (f"{one} from {_source(one, given, environment, file, from_file)}" for one in named)
            lines.append(f"{reason} ({', '.join(sources)})")
        elif problem["type"] == "extra_forbidden":
            lines.append(f"{name} (from {file or 'an argument'}) is no setting{_did_you_mean(name, model)}")
        else:
            lines.append(f"{name} (from {_source(name, given, environment, file, from_file)}): {reason}")
    return "\n".join(lines)


def _did_you_mean(name: str, model: type[BaseSettings]) -> str:
    near = get_close_matches(name, list(model.model_fields), n=1)
    return f": did you mean {near[0]}?" if near else "; `apprentice config show` lists all of them"


def _source(
    name: str,
    given: Mapping[str, Any] | frozenset[str],
    environment: Mapping[str, str],
    file: Path | None,
    from_file: Mapping[str, Any],
) -> str:
    field = name.split(".")[0]
    if field in given:
        return "argument"
    if environment.get(variable_of(field)):
        return variable_of(field)
    return str(file) if field in from_file else "default"


def variable_of(field: str) -> str:
    """The environment variable of a setting."""
    return f"{_PREFIX}{field.upper()}"


def setting_views(settings: BaseSettings, given: frozenset[str]) -> list[SettingView]:
    """Every effective setting with its source, in the order they are documented, secrets masked.

    ``given`` names the settings that were passed as arguments (``Settings.given``).
    """
    file = find_config_file({"data_dir": getattr(settings, "data_dir", None)}, os.environ)
    from_file = read_config_file(file)
    values = settings.model_dump(mode="json")
    return [
        SettingView(name, masked_url(value), _source(name, given, os.environ, file, from_file))
        for name, value in values.items()
    ]


def masked_url(value: Any) -> Any:
    """``value`` with the password of a URL hidden; anything else is left as it is."""
    if not isinstance(value, str) or "@" not in value:
        return value
    parts = urlsplit(value)
    if not parts.password:
        return value
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username or ''}:***@{host}"))


def unknown_variables(model: type[BaseSettings], environment: Mapping[str, str]) -> list[str]:
    """Variables with our prefix that name no setting: most often a typing error."""
    known = {variable_of(field) for field in model.model_fields} | _OTHER_VARIABLES
    return sorted(name for name in environment if name.startswith(_PREFIX) and name not in known)
