"""What the runtime offers at the moment: DOC3 §1.1C "runtime capability check output"."""

from pydantic import Field

from contracts.base import Contract, Text120, UtcTime, VersionedContract


class RuntimeCapabilityCheck(Contract):
    """One thing that capabilities require of the runtime, such as ``program:tar``."""

    name: Text120
    present: bool


class RuntimeInventory(VersionedContract):
    """The canonical file ``capabilities/runtime_inventory_current.json``."""

    checks: tuple[RuntimeCapabilityCheck, ...] = Field(default=(), description="By name.")
    checked_at: UtcTime
