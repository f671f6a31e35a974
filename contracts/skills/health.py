"""Health of a skill: what its failed runs add up to, by the rules that abilities have (decisions "Numbers")."""

from pydantic import Field

from contracts.abilities.capability_health import CapabilityHealthRecord
from contracts.abilities.capability_manifest import HealthStatus
from contracts.base import Sha256, Text80, Text200, UtcTime, Uuid, VersionedContract


class SkillHealth(VersionedContract):
    """How one folder of a skill stands; another content of the folder begins anew."""

    key: Text200
    name: Text80
    digest: Sha256
    status: HealthStatus = HealthStatus.HEALTHY
    record: CapabilityHealthRecord
    failed_run: Uuid | None = Field(
        default=None, description="The newest run that failed by the skill's own fault and only read."
    )
    rechecked_by: Uuid | None = Field(default=None, description="The newest invocation that asks it again.")
    updated_at: UtcTime
