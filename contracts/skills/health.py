"""Health of a skill: what its failed runs add up to, by the rules that abilities have (decisions "Numbers")."""

from contracts.abilities.capability_health import CapabilityHealthRecord
from contracts.abilities.capability_manifest import HealthStatus
from contracts.base import Sha256, Text80, Text200, UtcTime, VersionedContract


class SkillHealth(VersionedContract):
    """How one folder of a skill stands; another content of the folder begins anew."""

    key: Text200
    name: Text80
    digest: Sha256
    status: HealthStatus = HealthStatus.HEALTHY
    record: CapabilityHealthRecord
    updated_at: UtcTime
