"""``apprentice legal-tables configure``: your defaults for tables of contents and of authorities.

The commands write no file: ``set`` sends one intent, and the service keeps the preference (DOC3 §0C.9C, §4.5).
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.text import Text
from uuid_utils import uuid7

from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.output import listing
from clients.apprentice.api import ConfigurationApi
from contracts.documents.legal_tables import LegalTablesConfig
from contracts.plain_problems import field_problems
from contracts.platform.configuration import ConfigurationTarget
from domain.documents.legal_tables import PREFIX, effective, intent_of, own, unusable

app = typer.Typer(no_args_is_help=True, help="Tables of contents and of authorities in legal briefs.")
configure = typer.Typer(no_args_is_help=True, help="Your defaults for them: get, set.")
app.add_typer(configure, name="configure")

_SENT_FROM = "apprentice legal-tables configure"
_ORDER = "default_category_order"
_EXAMPLE = f"`{_SENT_FROM} set default_style=california passim_threshold=7`"
_NEXT = f"Next: `{_SENT_FROM} set KEY=VALUE …`; `KEY=` takes one back to its default."


@api_command(configure, "get")
def get(call: Invocation) -> None:
    """Show the defaults in effect, and which of them are your own."""
    found = ConfigurationApi(call.api.http).current(ConfigurationTarget.USER_PREFERENCE).configurations
    _show(call, found[0].fields if found else {})
    call.show(Text(_NEXT, style="dim"))


@api_command(configure, "set")
def set_defaults(
    call: Invocation,
    values: Annotated[
        list[str] | None,
        typer.Argument(
            help="KEY=VALUE, as many as you like; KEY= takes one back to its default. Categories are "
            "separated by commas.",
            metavar="KEY=VALUE...",
        ),
    ] = None,
) -> None:
    """Set some of your defaults; the others stay as they are."""
    intent = intent_of(
        _config(values or []),
        intent_id=str(uuid7()),
        correlation_id=_SENT_FROM,
        created_at=datetime.now(UTC),
    )
    answer = ConfigurationApi(call.api.http).send(intent)
    call.show(Text("Changed." if answer.has_changed else "It was so already."))
    _show(call, answer.configuration.fields, intent_id=answer.intent_id, changed=answer.has_changed)


def _config(values: list[str]) -> LegalTablesConfig:
    if not values:
        raise NothingToDo(f"There is nothing to set. Next: {_EXAMPLE}")
    given: dict[str, str | list[str] | None] = {}
    for one in values:
        key, equals, value = one.partition("=")
        if not equals:
            raise NothingToDo(f"{one} is no KEY=VALUE. Next: {_EXAMPLE}")
        if key not in LegalTablesConfig.model_fields:
            known = ", ".join(LegalTablesConfig.model_fields)
            raise NothingToDo(f"There is no {key} to set. There are: {known}. Next: {_EXAMPLE}")
        if key in given:
            raise NothingToDo(f"{key} is given twice. Give each key once.")
        given[key] = _value(key, value)
    try:
        return LegalTablesConfig.model_validate(given)
    except ValidationError as error:
        wrong = "; ".join(f"{one.path} {one.problem}" for one in field_problems(error, whole="it"))
        raise NothingToDo(f"Nothing was set. {wrong}. Next: give another value, as in {_EXAMPLE}") from error


def _value(key: str, text: str) -> str | list[str] | None:
    if not text.strip():
        return None
    if key == _ORDER:
        # As a table spells them, too: "Constitutional Provisions".
        return ["_".join(one.lower().split()) for one in text.split(",")]
    return text


def _show(call: Invocation, fields: Mapping[str, Any], **more: object) -> None:
    values = effective(fields).model_dump(mode="json")
    mine = own(fields).model_dump(mode="json", exclude_none=True)
    useless = unusable(fields)
    if call.json:
        call.line(json.dumps({**more, "effective": values, "own": mine, "unusable": useless}))
        return
    table = listing("key", "value", "whose")
    for key, value in values.items():
        table.add_row(key, Text(_shown(value)), "yours" if key in mine else "default")
    call.show(table)
    for key in useless:
        call.show(
            Text(f"You have {PREFIX}{key} set to what cannot be used; it has no effect. {_repair(key)}")
        )


def _repair(key: str) -> str:
    if key in LegalTablesConfig.model_fields:
        return f"Next: `{_SENT_FROM} set {key}=…`."
    payload = json.dumps({f"{PREFIX}{key}": None})
    return f"Next: `apprentice config intents send {ConfigurationTarget.USER_PREFERENCE.value} '{payload}'`."


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    return ", ".join(value) if isinstance(value, list) else str(value)  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
