"""Finding skills for a step of a plan: what is wanted, and which skills fit it (003 L80-84, L141-144; O-8)."""

from enum import StrEnum

from pydantic import Field

from contracts.abilities.lookup import Fit
from contracts.base import Contract, Text80, Text120, Text160, Text200, Text240, Text500, VersionedContract
from contracts.learning.observation import ToolEffect
from contracts.skills.manifest import SafetyLevel


class StepEntity(Contract):
    """Something that the step is about, as the world model names it."""

    id: Text200
    type: Text80


class FindSkillsRequest(Contract):
    """A step that needs a skill.

    ``capabilities`` are names that the skill has to declare: ``read`` or ``act``, its category, a side-effect tag, or
    an effect. Of ``life_areas`` one is enough; a skill that names none is for all.
    """

    description: Text500 = Field(min_length=1)
    capabilities: tuple[Text80, ...] = Field(default=(), max_length=20)
    life_areas: tuple[Text80, ...] = Field(default=(), max_length=20)
    entities: tuple[StepEntity, ...] = Field(default=(), max_length=50)
    effect_type: ToolEffect | None = None
    max_safety_level: SafetyLevel | None = None
    limit: int = Field(default=10, ge=1, le=50)


class CandidateKind(StrEnum):
    """What a candidate is: a skill that is run, or a learned ability that tells an agent how the task is done."""

    SKILL = "skill"
    ABILITY = "ability"


class SkillCandidate(Contract):
    """A skill, or a learned ability, that does or may do what the step asks for.

    An ability has neither function nor version: it is read, and carried out by the agent itself (X-35).
    """

    skill: Text160
    kind: CandidateKind = CandidateKind.SKILL
    function_name: Text80 | None = None
    version: Text80 | None = None
    fit: Fit
    score: float = Field(ge=0, le=1, description="How closely it fits, for the order of those that do.")
    reasons: tuple[Text240, ...] = ()
    missing_preconditions: tuple[Text120, ...] = ()
    warnings: tuple[Text240, ...] = ()


class LeftOutSkill(SkillCandidate):
    """A skill that would fit by its words, and why it is no candidate."""

    left_out_because: Text240


class FindSkillsResponse(VersionedContract):
    """The candidates, best first, and what was left out though its words fit."""

    skills: tuple[SkillCandidate, ...]
    left_out: tuple[LeftOutSkill, ...] = ()
