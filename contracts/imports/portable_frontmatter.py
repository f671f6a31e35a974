"""What an imported skill says of itself beside the Agent Skills specification (DOC3 §0.2C, lines 4375-4398)."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from contracts.abilities.control_surface import ControlSurface
from contracts.base import Text80, Text120, Text200, VersionedContract


class CostClass(StrEnum):
    """What a use of the skill is expected to cost."""

    FREE = "free"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    UNKNOWN = "unknown"


class PortabilityGrade(StrEnum):
    """Where a skill can be used: anywhere, with something that is missing here, on one kind of computer, nowhere."""

    DIRECT = "direct"
    ADAPTER_REQUIRED = "adapter_required"
    LOCAL_ONLY = "local_only"
    NON_PORTABLE = "non_portable"


class PortableSkillFrontmatter(VersionedContract):
    """The front matter of a skill as this runtime uses it. A longer description stays in SKILL.md."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{1,63}$")]
    title: Text120
    description: Annotated[str, StringConstraints(max_length=500)]
    version: Annotated[str, StringConstraints(max_length=32)]
    triggers: tuple[Text200, ...] = Field(min_length=1)
    negative_triggers: tuple[Text200, ...] = ()
    allowed_tools: tuple[Text80, ...] = ()
    support_packs: tuple[Text120, ...] = ()
    connector_hints: tuple[Text120, ...] = ()
    depends_on: tuple[Text80, ...] = ()
    preferred_control_surfaces: tuple[ControlSurface, ...] = ()
    estimated_cost_class: CostClass = CostClass.UNKNOWN
    assigned_namespace: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{1,31}$")] | None = None
    portability_grade: PortabilityGrade = PortabilityGrade.DIRECT
