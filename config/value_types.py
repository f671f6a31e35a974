"""Types of settings as people write them: durations (``90s``, ``30m``, ``4h``, ``7d``) and comma-separated names."""

import re
from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, StringConstraints
from pydantic_settings import NoDecode

from contracts.learning.observation import ObservationAdapterKind

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SPELLING = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*$")


def parse_duration(value: object) -> object:
    """``value`` as a timedelta when it is a number with a unit; anything else is left to pydantic."""
    match = _SPELLING.match(value) if isinstance(value, str) else None
    return timedelta(seconds=float(match[1]) * _UNITS[match[2]]) if match else value


def spell_duration(value: timedelta) -> str:
    """The shortest exact spelling that ``parse_duration`` reads back."""
    milliseconds = round(value / timedelta(milliseconds=1))
    for unit in ("d", "h", "m", "s"):
        size = round(_UNITS[unit] * 1000)
        if milliseconds % size == 0:
            return f"{milliseconds // size}{unit}"
    return f"{milliseconds}ms"


def _positive(value: timedelta) -> timedelta:
    if value <= timedelta(0):
        raise ValueError("a duration must be longer than nothing; write it like 90s, 30m, 4h or 7d")
    return value


Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    AfterValidator(_positive),
    PlainSerializer(spell_duration, return_type=str, when_used="json"),
]
"""A positive length of time."""


def parse_names(value: object) -> object:
    """The names of a list with commas between them; anything else is left to pydantic."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


def spell_names(kinds: tuple[ObservationAdapterKind, ...]) -> str:
    """The spelling that ``parse_names`` reads back."""
    return ",".join(kind.value for kind in kinds)


AdapterNames = Annotated[
    tuple[ObservationAdapterKind, ...],
    NoDecode,
    BeforeValidator(parse_names),
    PlainSerializer(spell_names, return_type=str, when_used="json"),
]
"""Any number of kinds of adapters."""


def _spell(names: tuple[str, ...]) -> str:
    return ",".join(names)


Names = Annotated[
    tuple[Annotated[str, StringConstraints(min_length=1, max_length=1_000)], ...],
    NoDecode,
    BeforeValidator(parse_names),
    PlainSerializer(_spell, return_type=str, when_used="json"),
]
"""Any number of names."""
