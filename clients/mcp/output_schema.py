"""Checks what a tool answered against the schema that was pinned for it."""

from typing import Any

from jsonschema_rs import (
    FancyRegexOptions,
    ReferencingError,
    ValidationError,
    ValidationErrorKind,
    validator_for,
)
from pydantic_core import PydanticSerializationError, to_json

MAX_PATH_CHARS = 200

_PATTERNS = FancyRegexOptions(backtrack_limit=10_000)
"""A pattern is a stranger's program in our process: what cannot be matched in one pass ends after so many steps,
and counts as not matched."""


def misfit(value: Any, schema: dict[str, Any]) -> str | None:
    """Where ``value`` does not fit ``schema``: a path and the name of the rule, never the value; none if it fits.

    The schema is read by the draft that its ``$schema`` names, else by 2020-12. References are followed inside it
    only, and formats are no rules.
    """
    if _is_too_deep(value, schema):
        return "the answer, or the tool's output schema, is nested too deep"
    try:
        validator = validator_for(schema, pattern_options=_PATTERNS, offline=True, validate_formats=False)
    except (ReferencingError, ValidationError) as error:
        outside = isinstance(getattr(error, "kind", None), ValidationErrorKind.Referencing)
        if outside or isinstance(error, ReferencingError):
            return "the tool's output schema refers to something outside of it"
        return "the tool's output schema is no JSON Schema"
    first = next(iter(validator.iter_errors(value)), None)
    return None if first is None else f"{_path(first)} does not fit the rule {first.kind.name}"


def _is_too_deep(*values: Any) -> bool:
    """Whether a value is nested deeper than JSON is written, at 255 levels: the checker goes on to the stack's end."""
    try:
        to_json(values)
    except (PydanticSerializationError, ValueError, RecursionError):
        return True
    return False


def _path(error: ValidationError) -> str:
    # A key that the schema does not name is the answer's own, and may be a value in disguise.
    known = set(error.evaluation_path)
    steps = (_step(part, part in known) for part in error.instance_path)
    return ("$" + "".join(steps))[:MAX_PATH_CHARS]


def _step(part: str | int, known: bool) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if known else ".*"
