"""What varies between demonstrations of one task, as the skill asks for it (DOC3 §0A.14, decisions "Learning")."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text240

MAX_PARAMETERS = 12
"""More would be a form to fill in rather than a skill."""


class ParameterType(StrEnum):
    """What kind of value a parameter takes."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    PATH = "path"
    CHOICE = "choice"


class SkillParameter(Contract):
    """One thing that differed between the demonstrations, everywhere in the same way."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    type: ParameterType
    description: Text240
    examples: tuple[str, ...] = Field(
        min_length=2,
        max_length=20,
        description="Its value in each demonstration, in their order; empty where it was left out.",
    )
    required: bool = Field(default=True, description="False where a demonstration went without it.")
