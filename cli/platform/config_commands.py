"""``apprentice config``: settings in effect with their sources; configuration intents."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text
from uuid_utils import uuid7

from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.output import ExitCode, JsonFlag, fail, listing, warn, write_json, write_table
from clients.apprentice.api import ConfigurationApi
from config.origins import SettingsError, unknown_variables
from config.settings import Settings, describe, load_settings
from contracts.base import clipped
from contracts.platform.configuration import (
    Configuration,
    ConfigurationIntent,
    ConfigurationTarget,
    IntentRequester,
)
from contracts.platform.identity import Scope

intents_app = typer.Typer(
    no_args_is_help=True, help="Configuration of skills and preferences, changed by intents alone."
)

_SENT_FROM = "apprentice config intents"


@dataclass(frozen=True)
class _Kind:
    """One target: what it is about, which scope changes it, and how an intent for it looks."""

    about: str
    scope: Scope
    example: str
    of_capability: bool = False


KINDS: Mapping[ConfigurationTarget, _Kind] = {
    ConfigurationTarget.SKILL_CONFIG: _Kind(
        "one of your abilities", Scope.LEARN, '{"currency": "EUR"}', of_capability=True
    ),
    ConfigurationTarget.USER_PREFERENCE: _Kind("your own preferences", Scope.LEARN, '{"language": "de"}'),
    ConfigurationTarget.SUPPORT_PACK_BINDING: _Kind(
        "the support pack of an ability", Scope.LEARN, '{"pack": "PACK_ID"}', of_capability=True
    ),
    ConfigurationTarget.CONNECTOR_POLICY: _Kind(
        "what tools may do unasked",
        Scope.APPROVE,
        '{"target": {"target_kind": "global"}, "decision": {"mode": "ask_first"}}',
    ),
}
"""Everything that intents configure."""


@api_command(intents_app, "list")
def list_kinds(call: Invocation) -> None:
    """List what you may configure, and what you have configured of it."""
    api = ConfigurationApi(call.api.http)
    found = {target: api.current(target).configurations for target in KINDS}
    if call.json:
        call.line(json.dumps({"targets": [_as_json(target, found[target]) for target in KINDS]}))
        return
    table = listing("target", "configures", "needs", "now")
    for target, kind in KINDS.items():
        now = "\n".join(_now(one) for one in found[target]) or "nothing yet"
        table.add_row(target.value, kind.about, f"scope {kind.scope.value}", Text(now))
    call.show(table, Text(f"Next: {_next(ConfigurationTarget.USER_PREFERENCE)}"))


@api_command(intents_app, "send")
def send(
    call: Invocation,
    target: Annotated[ConfigurationTarget, typer.Argument(help="What to configure.")],
    payload: Annotated[
        str, typer.Argument(help="A JSON object laid over what is there; a field that is null is removed.")
    ],
    capability: Annotated[
        str | None, typer.Option(help="The ability it is about; for skill_config and support_pack_binding.")
    ] = None,
) -> None:
    """Send one intent and show the configuration after it."""
    kind = KINDS[target]
    if kind.of_capability != (capability is not None):
        missing = "Name the ability with --capability" if kind.of_capability else "Leave --capability out"
        raise NothingToDo(f"A {target.value} is about {kind.about}. {missing}. Next: {_next(target)}")
    intent = ConfigurationIntent(
        intent_id=str(uuid7()),
        target=target,
        capability_id=capability,
        payload=_object(target, payload),
        requested_by=IntentRequester.UI,
        correlation_id=_SENT_FROM,
        created_at=datetime.now(UTC),
    )
    answer = ConfigurationApi(call.api.http).send(intent)
    done = "Changed" if answer.has_changed else "It was so already"
    call.answer(
        Text(f"{done}: {_now(answer.configuration)}"),
        Text("Next: `apprentice config intents list`.", style="dim"),
    )


def _object(target: ConfigurationTarget, text: str) -> dict[str, Any]:
    try:
        found: Any = json.loads(text)
    except ValueError as error:
        raise NothingToDo(f"The payload is no JSON ({error}). Next: {_next(target)}") from error
    if not isinstance(found, dict) or not found:
        raise NothingToDo(f"The payload is no object with fields. Next: {_next(target)}")
    return found  # pyright: ignore[reportUnknownVariableType]


def _next(target: ConfigurationTarget) -> str:
    kind = KINDS[target]
    ability = " --capability ABILITY (see `apprentice abilities list`)" if kind.of_capability else ""
    return f"`apprentice config intents send {target.value} '{kind.example}'`{ability}"


def _now(configuration: Configuration) -> str:
    of = f"{configuration.capability_id}: " if configuration.capability_id else ""
    fields = json.dumps(configuration.fields, ensure_ascii=False, sort_keys=True)
    return clipped(f"{of}{fields} (revision {configuration.revision})", 400)


def _as_json(target: ConfigurationTarget, configured: tuple[Configuration, ...]) -> dict[str, Any]:
    kind = KINDS[target]
    return {
        "target": target.value,
        "configures": kind.about,
        "required_scope": kind.scope.value,
        "names_capability": kind.of_capability,
        "configurations": [one.model_dump(mode="json", exclude_none=True) for one in configured],
    }


app = typer.Typer(no_args_is_help=True, help="See the settings in effect; configure skills.")
app.add_typer(intents_app, name="intents")


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
