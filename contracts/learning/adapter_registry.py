"""The registry of observation adapters on the wire: what recorders report of themselves, and what is there.

The status is DOC3's (§0C.22); alternatives and the report are our additions (§0C.22 L3674, R11.2-44).
"""

from pydantic import Field

from contracts.base import Contract, Text240, VersionedContract
from contracts.learning.observation import ObservationAdapterKind, ObservationAdapterStatus


class AdapterHeartbeatRequest(VersionedContract):
    """A recorder's sign of life; with an error code it says that it cannot record."""

    error_code: str | None = Field(
        default=None,
        max_length=120,
        pattern=r"^[A-Z][A-Z0-9_]*$",
        description="Why the recorder cannot record; left out when all is well.",
    )


class RegisteredAdapter(VersionedContract):
    """One kind of adapter: its status for the caller, whether it may be asked for, and what to use instead."""

    status: ObservationAdapterStatus
    available: bool = Field(description="Whether events of this kind are taken now.")
    captures: Text240
    reason: Text240 | None = Field(default=None, description="Why it is not available.")
    alternatives: tuple[ObservationAdapterKind, ...] = ()


class ObservationAdaptersResponse(VersionedContract):
    """Every kind of adapter, phase 1 first."""

    adapters: tuple[RegisteredAdapter, ...]


class UnavailableAdapter(Contract):
    """An entry of ``adapters`` in the error ``ADAPTER_UNAVAILABLE``."""

    kind: ObservationAdapterKind
    reason: Text240
    alternatives: tuple[ObservationAdapterKind, ...]
