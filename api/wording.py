"""What people write, with the secrets in it masked before it goes anywhere: history, store, files."""

from collections.abc import Mapping
from typing import Any, overload

from domain.learning.redaction import redact


@overload
def masked(text: str) -> str: ...
@overload
def masked(text: None) -> None: ...
def masked(text: str | None) -> str | None:
    """``text`` without its secrets. The mask never makes it longer than its field allows."""
    if text is None:
        return None
    return redact(text).text[: max(len(text), 1)]


def masked_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """``fields`` with every text in them masked, however deep."""
    return {name: _masked_value(value) for name, value in fields.items()}


def _masked_value(value: Any) -> Any:
    match value:
        case str():
            return masked(value)
        case list() | tuple():
            return [_masked_value(part) for part in value]  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return masked_fields(value)  # pyright: ignore[reportUnknownArgumentType]
        case _:
            return value
