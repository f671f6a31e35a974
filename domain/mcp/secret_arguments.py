"""Arguments of a tool call that are secret by their names, and how they are kept once the call has ended."""

from collections.abc import Mapping
from typing import Any, cast

from domain.learning.redaction.secret_names import MASK, names_secret

_COUNTED = ("tokens", "secrets", "passwords")


def without_secrets(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """``arguments`` with what stands under the name of a secret masked, however deep; equal where there is none.

    A switch and a count (``max_tokens: 100``) are no secret, whatever they are called.
    """
    return {name: _masked(name, value) for name, value in arguments.items()}


def _masked(name: str, value: Any) -> Any:
    if names_secret(name) and not _is_plain(name, value):
        return MASK
    return _looked_through(value)


def _looked_through(value: Any) -> Any:
    match value:
        case Mapping():
            return without_secrets(cast("Mapping[str, Any]", value))
        case list():
            return [_looked_through(one) for one in cast("list[Any]", value)]
        case _:
            return value


def _is_plain(name: str, value: Any) -> bool:
    if value is None or isinstance(value, bool) or value in ("", [], {}):
        return True
    return isinstance(value, int | float) and name.lower().endswith(_COUNTED)
