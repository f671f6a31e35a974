"""Validate a configuration intent, and apply it (DOC3 §0.2G, §0C.9C)."""

import json
import re
from collections.abc import Mapping
from typing import Any

from contracts.errors import ErrorCode, Refusal
from contracts.platform.configuration import ConfigurationIntent, ConfigurationTarget
from domain.learning.redaction.redaction import redact
from domain.projects.bindings import problem_in

MOST_BYTES = 32 * 1024
"""The most bytes of JSON in one payload."""

MOST_DEPTH = 8
"""How deep a payload may be nested."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,79}")
_OF_CAPABILITY = frozenset({ConfigurationTarget.SKILL_CONFIG, ConfigurationTarget.SUPPORT_PACK_BINDING})


def check(intent: ConfigurationIntent) -> None:
    """Lets an intent through that can be carried out.

    Raises:
        Refusal: ``VALIDATION_FAILED``, naming the field: a capability is missing or has no place, a name or a
            size is out of bounds, a value looks like a secret, which belongs in the secret store, or a project
            binding is none.
    """
    needs = intent.target in _OF_CAPABILITY
    if needs != (intent.capability_id is not None):
        what = "names the capability it configures" if needs else "is about no capability"
        raise _wrong("capability_id", f"A {intent.target.value} {what}.")
    if len(json.dumps(intent.payload)) > MOST_BYTES:
        raise _wrong("payload", f"A payload has at most {MOST_BYTES} bytes.")
    for name, value in intent.payload.items():
        if not _NAME.fullmatch(name):
            raise _wrong(
                "payload", "A field's name is a letter, then letters, digits, '_', '.' or '-', at most 80."
            )
        _check_value(f"payload.{name}", value, name, depth=1)
    if intent.target is ConfigurationTarget.USER_PREFERENCE and (found := problem_in(intent.payload)):
        raise _wrong(*found)


def applied(fields: Mapping[str, Any], payload: Mapping[str, Any]) -> dict[str, Any]:
    """``fields`` with ``payload`` laid over them; what is null there is gone."""
    return {name: value for name, value in {**fields, **payload}.items() if value is not None}


def _check_value(path: str, value: Any, name: str, depth: int) -> None:
    if depth > MOST_DEPTH:
        raise _wrong(path, f"A payload is nested at most {MOST_DEPTH} deep.")
    if isinstance(value, str):
        # With its name, which may be what tells: "api_key = …".
        if redact(f"{name}={value}").text != f"{name}={value}" or redact(value).text != value:
            raise _wrong(
                path, "This looks like a secret; keep it in the secret store and give its reference."
            )
    elif isinstance(value, dict):
        for inner, one in value.items():  # pyright: ignore[reportUnknownVariableType]
            _check_value(f"{path}.{inner}", one, str(inner), depth + 1)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list):
        for one in value:  # pyright: ignore[reportUnknownVariableType]
            _check_value(path, one, name, depth + 1)


def _wrong(field: str, message: str) -> Refusal:
    return Refusal(ErrorCode.VALIDATION_FAILED, message, fields=[field[:160]])
