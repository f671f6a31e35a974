"""Parameters of an ability: what may be another value next time."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from contracts.base import Contract, Text240, Text400

ParameterName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class ParameterType(StrEnum):
    """What kind of value a parameter takes."""

    TEXT = "text"
    NUMBER = "number"
    DATE = "date"
    PATH = "path"
    CHOICE = "choice"


class AbilityFolder(Contract):
    """One of several folders that an ability works in."""

    name: Text400 = Field(description="What a trial calls it.")
    path: Text400 = Field(
        description="Where it lies below the folder that holds all of them; '.' is that one."
    )
    shown: Text400 = Field(
        description="Where it was in the demonstration, where that is below the home folder."
    )


class AbilityParameter(Contract):
    """One thing that a trial can be given another value for."""

    name: ParameterName
    type: ParameterType
    shown: str = Field(description="Its value in the demonstration; empty where it was left out.")
    required: bool = Field(description="Whether a trial needs a value; otherwise the one shown stands.")
    description: Text240 = ""
