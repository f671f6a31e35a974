"""How far what is shown of abilities can be believed, and what to say where it is behind (DOC3 §0C.11B, §9.19-3)."""

from dataclasses import dataclass
from datetime import datetime

from contracts.abilities.freshness import AbilityFreshness, FreshnessReason, FreshnessState
from contracts.abilities.freshness import FreshnessCode as Code
from contracts.capabilities.bridge import BridgeState
from contracts.capabilities.runtime import RuntimeInventory
from domain.abilities.health_runtime import is_stale


@dataclass(frozen=True)
class Seen:
    """What the store has of the files about abilities; a file that is ``unwritten`` is not yet as the store says."""

    bridge: BridgeState = BridgeState.FRESH
    inventory: RuntimeInventory | None = None
    snapshot_unwritten: bool = False
    bridge_unwritten: bool = False
    skills_unwritten: bool = False


_MEANINGS = {
    Code.BRIDGE_REBUILD_FAILED: "What agents route by could not be rebuilt: they go by the last good entries.",
    Code.RUNTIME_NOT_LOOKED_AT: "Nobody has looked lately which programs the runtime has, so an ability shown as "
    "usable may lack something. It is looked at again on a schedule; is a worker running?",
    Code.BRIDGE_PARTIAL: "Some abilities could not be read; they are shown as they last were.",
    Code.SNAPSHOT_NOT_WRITTEN: "A change is decided and not yet in the files that agents read about abilities.",
    Code.BRIDGE_NOT_WRITTEN: "A change is decided and not yet in the file that agents route by.",
    Code.SKILLS_NOT_WRITTEN: "A skill has changed and is not yet in the agent's workspace.",
}
_STATES = {
    Code.BRIDGE_REBUILD_FAILED: FreshnessState.STALE,
    Code.RUNTIME_NOT_LOOKED_AT: FreshnessState.STALE,
    Code.BRIDGE_PARTIAL: FreshnessState.PARTIAL,
}


def freshness(seen: Seen, now: datetime) -> AbilityFreshness:
    """What is behind as of ``now``, the gravest first; the first one gives the state."""
    holds = {
        Code.BRIDGE_REBUILD_FAILED: seen.bridge is BridgeState.STALE,
        Code.RUNTIME_NOT_LOOKED_AT: seen.inventory is not None and is_stale(seen.inventory, now),
        Code.BRIDGE_PARTIAL: seen.bridge is BridgeState.PARTIAL,
        Code.SNAPSHOT_NOT_WRITTEN: seen.snapshot_unwritten,
        Code.BRIDGE_NOT_WRITTEN: seen.bridge_unwritten,
        Code.SKILLS_NOT_WRITTEN: seen.skills_unwritten,
    }
    codes = [code for code in Code if holds[code]]
    if not codes:
        return AbilityFreshness()
    return AbilityFreshness(
        state=_STATES.get(codes[0], FreshnessState.REFRESHING),
        reasons=tuple(FreshnessReason(code=code, meaning=_MEANINGS[code]) for code in codes),
    )
