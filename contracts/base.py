"""Base classes of every contract, and the bounded text types of the specification."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self, cast
from uuid import UUID

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    PlainSerializer,
    StringConstraints,
)
from pydantic_core import CoreSchema, core_schema

_NO_SCHEMAS = frozenset({"default", "metadata", "serialization"})


def _no_numeral(given: object) -> object:
    if isinstance(given, int | float) and not isinstance(given, bool):
        raise ValueError("a boolean is true or false")
    return given


def _refuse_numerals(literal: dict[str, Any]) -> None:
    # 1 equals True, and is found among the values of a literal.
    if any(isinstance(value, bool) for value in literal["expected"]):
        inner = cast("CoreSchema", dict(literal))
        literal.clear()
        literal.update(core_schema.no_info_before_validator_function(_no_numeral, inner))


def _is_done(schema: Mapping[str, Any], of: type[BaseModel]) -> bool:
    """Whether it is of another model, or was made strict before."""
    if schema.get("type") == "model":
        return schema["cls"] is not of
    return schema.get("type") == "function-before" and schema["function"]["function"] is _no_numeral


def _make_booleans_strict(schema: Any, of: type[BaseModel]) -> None:
    # Pydantic's own strictness is all or nothing; enums and tuples have to be read from JSON. Models in fields have
    # their own turn.
    if isinstance(schema, dict):
        found = cast("dict[str, Any]", schema)
        if found.get("type") == "bool":
            found["strict"] = True
        elif found.get("type") == "literal":
            _refuse_numerals(found)
        elif not _is_done(found, of):
            for name, part in found.items():
                if name not in _NO_SCHEMAS:
                    _make_booleans_strict(part, of)
    elif isinstance(schema, list | tuple):
        for part in cast("list[Any]", schema):
            _make_booleans_strict(part, of)


class Contract(BaseModel):
    """A frozen value that crosses a boundary. Unknown fields are refused, so a typo never passes silently.

    A boolean is ``true`` or ``false``: no number, and no text that reads like one. A schema is built when it is first
    used: a process uses few of the models that it loads, and a seventh of a worker's start went into the others.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler, /) -> CoreSchema:
        """The schema of the fields, in which every boolean is strict."""
        schema = handler(source)
        _make_booleans_strict(schema, cls)
        return schema

    def changed(self, **fields: Any) -> Self:
        """A copy with these fields changed, validated like a new object.

        Fields that were left to their defaults still count as unset, so that a partial update stays partial.

        Raises:
            ValidationError: a name is no field, a value does not fit its field, or a model validator refuses.
        """
        if not fields:
            return self
        copy = type(self).model_validate({**self.__dict__, **fields})
        object.__setattr__(copy, "__pydantic_fields_set__", self.model_fields_set | fields.keys())
        return copy

    def model_copy(self, *, update: None = None, deep: bool = False) -> Self:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Pydantic's copy, without ``update``: that neither validates nor refuses unknown names; use ``changed``.

        Raises:
            TypeError: ``update`` is given. The type checker reports it first.
        """
        if update is not None:
            raise TypeError("model_copy(update=…) does not validate; use changed(…)")
        return super().model_copy(deep=deep)


class VersionedContract(Contract):
    """A contract that names its schema version, as the documents ask of everything durable."""

    schema_version: Literal[1] = 1


def _in_utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


def rfc3339(value: datetime) -> str:
    """The one spelling of a time on the wire and in files: UTC, microseconds, ``Z``."""
    # Faster than isoformat and strftime, which ingest would feel: there is a time in every event.
    t = value if value.tzinfo is UTC else value.astimezone(UTC)
    return "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ" % (  # noqa: UP031 - the f-string takes twice as long
        *(t.year, t.month, t.day, t.hour, t.minute, t.second, t.microsecond),
    )


def _no_number(given: object) -> object:
    # A number, also as text, would be taken for seconds or milliseconds since 1970.
    if isinstance(given, datetime) or (isinstance(given, str) and given[4:5] == "-"):
        return given
    raise ValueError("a time is text such as 2026-01-02T03:04:05Z")


UtcTime = Annotated[
    AwareDatetime,
    BeforeValidator(_no_number),
    AfterValidator(_in_utc),
    PlainSerializer(rfc3339, return_type=str, when_used="json"),
]
"""An aware time, normalised to UTC; one without a zone is refused, and so is a number."""


_CANONICAL_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _canonical_uuid(value: str) -> str:
    if _CANONICAL_UUID.fullmatch(value):
        return value
    try:
        return str(UUID(value))
    except ValueError:
        # The standard message repeats the value, which may be a secret in the wrong field.
        raise ValueError("is no id; an id looks like 0199aa10-7c00-7000-8000-00000000002a") from None


Uuid = Annotated[str, StringConstraints(max_length=36), AfterValidator(_canonical_uuid)]
"""A UUID in its canonical text form (a string, so that ids compare and serialise as what they look like)."""

Text80 = Annotated[str, StringConstraints(max_length=80)]
Text120 = Annotated[str, StringConstraints(max_length=120)]
Text160 = Annotated[str, StringConstraints(max_length=160)]
Text200 = Annotated[str, StringConstraints(max_length=200)]
Text240 = Annotated[str, StringConstraints(max_length=240)]
Text400 = Annotated[str, StringConstraints(max_length=400)]
Text500 = Annotated[str, StringConstraints(max_length=500)]
Text600 = Annotated[str, StringConstraints(max_length=600)]
Text800 = Annotated[str, StringConstraints(max_length=800)]
Text1000 = Annotated[str, StringConstraints(max_length=1000)]
Text2000 = Annotated[str, StringConstraints(max_length=2000)]

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""A SHA-256 digest in lower-case hex."""


def counted(number: int, noun: str) -> str:
    """``1 call``, ``2 calls``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def clipped(text: str, limit: int) -> str:
    """``text`` cut to at most ``limit`` characters, the cut shown by an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
