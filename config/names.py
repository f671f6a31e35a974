"""Lists of names as people write them in settings: with commas between them."""

from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, StringConstraints
from pydantic_settings import NoDecode

from config.adapter_names import parse_names


def _spell(names: tuple[str, ...]) -> str:
    return ",".join(names)


Names = Annotated[
    tuple[Annotated[str, StringConstraints(min_length=1, max_length=1_000)], ...],
    NoDecode,
    BeforeValidator(parse_names),
    PlainSerializer(_spell, return_type=str, when_used="json"),
]
"""Any number of names."""
