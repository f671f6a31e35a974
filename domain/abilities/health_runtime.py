"""Installed, healthy and usable now are three things (DOC3 §1.1D): what the runtime allows at the moment."""

from datetime import datetime, timedelta

from contracts.base import clipped
from contracts.capabilities.bridge import BridgeState
from contracts.capabilities.health import SessionAvailability
from contracts.capabilities.manifest import CapabilityManifest
from contracts.capabilities.runtime import RuntimeInventory

STALE_AFTER = timedelta(hours=6)
"""An inventory this old is not believed any more; the reprobe schedule takes a new one far more often."""


def session_availability(
    manifest: CapabilityManifest, inventory: RuntimeInventory | None, now: datetime
) -> SessionAvailability:
    """Whether the present runtime lets the capability be used.

    Unsupported when something it requires is known to be missing, degraded when all that is known is stale,
    unknown when nobody has looked. What requires nothing is supported wherever somebody has looked lately.
    """
    if inventory is None:
        return SessionAvailability.UNKNOWN
    if missing(manifest, inventory):
        return SessionAvailability.UNSUPPORTED
    if is_stale(inventory, now):
        return SessionAvailability.DEGRADED
    known = {check.name for check in inventory.checks}
    if not known.issuperset(manifest.required_runtime_caps):
        return SessionAvailability.UNKNOWN
    return SessionAvailability.SUPPORTED


def missing(manifest: CapabilityManifest, inventory: RuntimeInventory | None) -> tuple[str, ...]:
    """What the capability requires and the runtime is known not to have."""
    absent = {check.name for check in inventory.checks if not check.present} if inventory else set[str]()
    return tuple(name for name in manifest.required_runtime_caps if name in absent)


def unsupported_reason(missing_caps: tuple[str, ...]) -> str | None:
    """Why an ability cannot be used in this runtime; ``None`` when nothing is missing."""
    if not missing_caps:
        return None
    return clipped(f"The runtime lacks {', '.join(missing_caps)}; it comes back once that is there.", 240)


def is_stale(inventory: RuntimeInventory, now: datetime) -> bool:
    """Whether the inventory is too old to be believed."""
    return now - inventory.checked_at > STALE_AFTER


def bridge_state(kept: BridgeState, inventory: RuntimeInventory | None, now: datetime) -> BridgeState:
    """The state of a bridge that was built as ``kept``: on a stale inventory the bridge is stale too."""
    if inventory is not None and is_stale(inventory, now):
        return BridgeState.STALE
    return kept
