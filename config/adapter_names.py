"""Kinds of observation adapters as people write them in settings: ``browser_dom, process_launch``."""

from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer
from pydantic_settings import NoDecode

from contracts.learning.observation import ObservationAdapterKind


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
