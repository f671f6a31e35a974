"""What is run as skills are without being one: scripts of learned abilities (X-35), folders nobody approved (O-3)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text160


class SkillLane(StrEnum):
    """By what an invocation is carried out; ``unapproved`` is a folder that an admin tries out (O-3)."""

    SKILL = "skill"
    UNAPPROVED = "unapproved"
    LEARNED_SCRIPT = "learned_script"


class LearnedAbility(Contract):
    """The version of an ability whose script is run."""

    ability_id: Text160
    version: int = Field(ge=1)
