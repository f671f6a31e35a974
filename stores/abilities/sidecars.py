"""Sidecars of capabilities in the memory tree: read, and kept up with failures of what is installed."""

from sqlalchemy import Connection

from contracts.abilities.capability_health import CapabilityOutcome
from contracts.abilities.capability_manifest import CapabilityMetadata
from domain.abilities.capability_sidecar import succeeding, with_failure
from stores.platform.canonical import document_bytes
from stores.platform.projection.documents import put_document, read_document


def sidecar_path(capability_id: str) -> str:
    """Where a capability's sidecar lies in the memory tree."""
    return f"system/capabilities/metadata/{capability_id}.json"


def read_sidecar(connection: Connection, capability_id: str) -> CapabilityMetadata | None:
    """The sidecar of what is installed; ``None`` where there is none, as of tools that were not learned."""
    content = read_document(connection, "memory", sidecar_path(capability_id))
    return CapabilityMetadata.model_validate_json(content) if content is not None else None


def succeeding_sidecar(made: bytes, before: bytes) -> bytes:
    """The sidecar file of a further version, of what its draft makes and what there was."""
    known = CapabilityMetadata.model_validate_json(before)
    return document_bytes(succeeding(CapabilityMetadata.model_validate_json(made), known))


def note_failure(connection: Connection, outcome: CapabilityOutcome) -> None:
    """Adds a failed use, recheck or checkpoint to the failure modes that the capability's sidecar knows."""
    known = read_sidecar(connection, outcome.capability_id)
    if known is not None:
        content = document_bytes(with_failure(known, outcome))
        put_document(connection, "memory", sidecar_path(outcome.capability_id), content)
