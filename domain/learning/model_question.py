"""What a language model is asked in: instructions, data as redacted JSON, and the schema of the answer."""

import re
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel

from domain.learning.redaction import redact

MAX_PROMPT_CHARS = 48_000
"""The most characters of the data."""

_HOME = re.compile(r"(?:/home|/Users)/[^/\s'\"]+|\b[A-Za-z]:\\Users\\[^\\\s'\"]+")
_LOOSE_KEYWORDS = frozenset({"maxLength", "minLength", "pattern", "maxItems", "minItems", "title", "default"})


class PromptTooLarge(Exception):
    """Even without what can be left out the data has more than ``MAX_PROMPT_CHARS`` characters."""


@dataclass(frozen=True)
class ModelQuestion:
    """One question to a model. ``name`` is what the schema is called there."""

    name: str
    system: str
    user: str
    schema: dict[str, Any]


def cleaned(value: object) -> object:
    """``value`` without secrets, personal addresses and the names of home folders."""
    if isinstance(value, str):
        return redact(_HOME.sub("~", value), personal=True).text
    if isinstance(value, dict):
        return {name: cleaned(item) for name, item in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [cleaned(item) for item in cast("list[object]", value)]
    return value


def answer_schema(contract: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of an answer, in the subset that every structured-output implementation takes.

    Lengths and patterns are left to the check of the answer.
    """
    return cast("dict[str, Any]", _loosened(contract.model_json_schema()))


def _loosened(value: object, *, names: bool = False) -> object:
    """A schema without the keywords of ``_LOOSE_KEYWORDS``; ``names``: the keys are names of properties."""
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return {
            key: _loosened(item, names=not names and key in ("properties", "$defs"))
            for key, item in items
            if names or key not in _LOOSE_KEYWORDS
        }
    return [_loosened(item) for item in cast("list[object]", value)] if isinstance(value, list) else value
