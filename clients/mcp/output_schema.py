"""Checks what a tool answered against the schema that was pinned for it."""

from collections.abc import Iterator
from typing import Any, cast

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import SchemaError
from jsonschema.protocols import Validator
from jsonschema.validators import extend  # pyright: ignore[reportUnknownVariableType]
from referencing import Registry
from referencing.exceptions import Unresolvable

MAX_PATH_CHARS = 200


def misfit(value: Any, schema: dict[str, Any]) -> str | None:
    """Where ``value`` does not fit ``schema``: a path and the name of the rule, never the value; none if it fits.

    References are followed inside the schema only. Regular expressions, which would be a stranger's program in
    our process, are not applied, nor are the rules that depend on them.
    """
    try:
        Draft202012Validator.check_schema(schema)
        checker = cast("Validator", _Checker(schema, registry=_EMPTY))
        first = next(iter(checker.iter_errors(value)), None)
    except SchemaError:
        return "the tool's output schema is no JSON Schema"
    except Unresolvable:
        return "the tool's output schema refers to something outside of it"
    except RecursionError:
        return "the answer, or the tool's output schema, is nested too deep"
    return None if first is None else f"{_path(first)} does not fit the rule {first.validator}"


def _path(error: ValidationError) -> str:
    # A key that the schema does not name is the answer's own, and may be a value in disguise.
    known = set(error.absolute_schema_path)
    steps = (_step(part, part in known) for part in error.absolute_path)
    return ("$" + "".join(steps))[:MAX_PATH_CHARS]


def _step(part: str | int, known: bool) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if known else ".*"


def _not_applied(*_: object) -> Iterator[ValidationError]:
    return iter(())


def _additional(
    validator: Validator, allowed: Any, instance: Any, schema: dict[str, Any]
) -> Iterator[ValidationError]:
    if "patternProperties" not in schema:
        yield from Draft202012Validator.VALIDATORS["additionalProperties"](
            validator, allowed, instance, schema
        )


_EMPTY: Registry[Any] = Registry()
_Checker = extend(  # pyright: ignore[reportUnknownVariableType]
    Draft202012Validator,
    {
        "pattern": _not_applied,
        "patternProperties": _not_applied,
        "unevaluatedProperties": _not_applied,
        "additionalProperties": _additional,
    },
)
