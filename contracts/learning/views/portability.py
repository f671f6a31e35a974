"""How portable a drafted skill is, and adapters that were requested for what it needs (DOC3 §0.2C, §0.4H, §0.9C)."""

from pydantic import Field

from contracts.base import Contract, Text240, UtcTime, Uuid, VersionedContract
from contracts.imports.compatibility import SkillCompatibilityFinding
from contracts.imports.portable_frontmatter import PortabilityGrade


class AdapterRequest(VersionedContract):
    """One line of ``capabilities/adapter_requests.jsonl``, handed over to those who provide adapters."""

    adapter_request_id: Uuid
    proposal_id: Uuid
    wanted: Text240 = Field(description="What the adapter is to connect or offer, secrets masked.")
    portability_grade: PortabilityGrade
    missing: tuple[Text240, ...] = Field(
        default=(), description="What was found missing, when it was requested."
    )
    created_at: UtcTime


class ProposalPortability(Contract):
    """The grade of a draft as things stand here now, computed on each read by the rules of imported skills."""

    portability_grade: PortabilityGrade
    findings: tuple[SkillCompatibilityFinding, ...] = Field(
        default=(), description="What the grade follows from."
    )
    adapter_requests: tuple[AdapterRequest, ...] = Field(
        default=(), max_length=20, description="The newest of the proposal, the newest first."
    )
