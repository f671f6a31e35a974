"""Whether tools are called on an ability's behalf: not once it is out of use, and what runs then is stopped."""

from collections.abc import Mapping
from types import MappingProxyType

from contracts.abilities.availability import AbilityAvailabilityEntry
from contracts.abilities.lifecycle_command import AbilityState
from contracts.base import clipped
from contracts.capabilities.bridge import HealthStatus
from contracts.errors import ErrorCode
from domain.abilities.life import effective_health, state_of
from domain.mcp.dispatch_permits import Block

_STANDS: Mapping[AbilityState, tuple[str, str]] = MappingProxyType(
    {
        AbilityState.ARCHIVED: (
            "archived",
            "Bring it back with apprentice abilities activate, then make the call again.",
        ),
        AbilityState.DEACTIVATED: (
            "switched off",
            "Switch it on with apprentice abilities activate, then make the call again.",
        ),
        AbilityState.QUARANTINED: (
            "quarantined",
            "Find out what is wrong with it, then lift the quarantine: apprentice abilities unquarantine.",
        ),
    }
)
"""What is said of an ability that a person has taken out of use, and what to do about it."""

_RECHECK = (
    "Do without the ability until it is usable. See how it stands: apprentice abilities show. "
    "Recheck its capability: apprentice capabilities reprobe."
)
_GONE = "Look for another ability: apprentice abilities list."

_WITHDRAWN_HEALTH = frozenset({HealthStatus.QUARANTINED, HealthStatus.DISABLED})


def refused_for(ability: AbilityAvailabilityEntry | None) -> Block | None:
    """Why nothing is called on behalf of ``ability``; ``None`` while it is usable now.

    ``usable_now`` is the one predicate: what a lookup does not route to is not called for either (DOC3 §1.1I).
    An ability that its caller may not see is ``None``, as one that is not there.
    """
    if ability is None:
        return _block("The ability that the call is made for is not there; nothing was sent.", _GONE)
    if ability.usable_now:
        return None
    stands = _STANDS.get(state_of(ability))
    if stands is not None:
        how, hint = stands
        return _block(f"The ability that the call is made for is {how}; nothing was sent.", hint)
    why = ability.reason_unusable or "Its entry gives no reason."
    return _block(
        f"The ability that the call is made for cannot be used now; nothing was sent. {why}", _RECHECK
    )


def withdrawn_because(ability: AbilityAvailabilityEntry, own_health: HealthStatus) -> str | None:
    """Why the calls that run or wait for ``ability`` are stopped; ``None`` while they may go on.

    ``own_health`` is its capability's. Being taken out of use stops calls. Being unusable for less, such as a
    program that the runtime lacks just now, only lets none begin.
    """
    health, _ = effective_health(own_health, ability)
    if health not in _WITHDRAWN_HEALTH:
        return None
    state = state_of(ability)
    if state is not AbilityState.ACTIVE:
        return f"the ability was {state.value}"
    return f"the ability's capability was {own_health.value}"


def _block(message: str, next_action: str) -> Block:
    return Block(ErrorCode.MCP_POLICY_BLOCKED, clipped(message, 1_000), next_action)
