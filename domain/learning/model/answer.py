"""Parse a language model's answer: one JSON object of a contract, or the reason for its refusal.

A reason names fields of the contract and kinds of mistake only: an answer may hold anything, and its content is
never repeated.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn, TypeVar, cast

from pydantic import BaseModel, ValidationError

MAX_ANSWER_CHARS = 65_536
"""The most characters of an answer that are looked at."""

Answer = TypeVar("Answer", bound=BaseModel)

_FENCED = re.compile(r"```(?:json|JSON)?[ \t]*\n(.*?)```", re.DOTALL)
_MOST_STARTS = 50


class UnusableAnswer(Exception):
    """The answer is not what was asked for; the text says how, without repeating any of it."""


def read_answer(answer: str, contract: type[Answer]) -> Answer:
    """What ``answer`` says: the whole text as JSON, or the only JSON object in it.

    Raises:
        UnusableAnswer: it is too long, holds no object or several, or does not fit the contract.
    """
    if len(answer) > MAX_ANSWER_CHARS:
        raise UnusableAnswer(f"the answer has more than {MAX_ANSWER_CHARS} characters")
    found = _object_in(answer)
    try:
        # In JSON mode an array is a tuple, as in the contract.
        return contract.model_validate_json(json.dumps(found), strict=True)
    except ValidationError as error:
        raise UnusableAnswer(_misfit(error, contract)) from None


def _object_in(answer: str) -> dict[str, Any]:
    text = answer.strip()
    whole = _parsed(text)
    if whole is not None:
        return whole
    fenced = [found for block in _FENCED.findall(text) if (found := _parsed(block.strip())) is not None]
    found = fenced or list(_objects(text))
    if len(found) != 1:
        raise UnusableAnswer(
            "the answer holds no JSON object" if not found else "the answer holds several objects"
        )
    return found[0]


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value: object = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects in a text, in order."""
    decoder = json.JSONDecoder(object_pairs_hook=_without_repeats, parse_constant=_refuse)
    position = text.find("{")
    for _ in range(_MOST_STARTS):
        if position < 0:
            return
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            yield value
        position = text.find("{", end)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a name is repeated")
    return dict(pairs)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _misfit(error: ValidationError, contract: type[BaseModel]) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    known = _field_names(contract)
    path = [str(part) for part in first["loc"] if isinstance(part, int) or part in known]
    where = "/".join(path) or "the answer"
    return f"{where} does not fit: {first['type'].replace('_', ' ')}"


def _field_names(contract: type[BaseModel]) -> frozenset[str]:
    schema = contract.model_json_schema()
    parts = (schema, *schema.get("$defs", {}).values())
    return frozenset(name for part in parts for name in part.get("properties", ()))
