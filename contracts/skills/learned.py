"""Scripts of learned abilities that are run as skills are (X-35)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text160


class SkillLane(StrEnum):
    """By what an invocation is carried out."""

    SKILL = "skill"
    LEARNED_SCRIPT = "learned_script"


class LearnedAbility(Contract):
    """The version of an ability whose script is run."""

    ability_id: Text160
    version: int = Field(ge=1)
