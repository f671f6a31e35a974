"""Lifecycle rules of an installed ability: allowed actions and resulting state (DOC3 §0A.19)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from contracts.abilities.availability import AbilityAvailabilityEntry, AbilitySource, CheckpointHealth
from contracts.abilities.availability import AbilityLifecycleAction as Action
from contracts.abilities.availability import AbilityState as State
from contracts.abilities.availability import InstallLane as Lane
from contracts.abilities.availability import LifecycleRequester as Requester
from contracts.abilities.capability_manifest import HealthStatus
from contracts.abilities.lifecycle import AbilityQuarantine, AbilityRefusal
from contracts.errors import ErrorCode
from domain.abilities.availability import state_of, usability

TAKEN_IN: Mapping[Action, frozenset[State]] = MappingProxyType(
    {
        Action.ACTIVATE: frozenset({State.DEACTIVATED, State.ARCHIVED}),
        Action.DEACTIVATE: frozenset({State.ACTIVE}),
        Action.QUARANTINE: frozenset({State.ACTIVE, State.DEACTIVATED}),
        Action.UNQUARANTINE: frozenset({State.QUARANTINED}),
        Action.PROMOTE_SHARED: frozenset({State.ACTIVE}),
        Action.DEMOTE_PRIVATE: frozenset({State.ACTIVE, State.DEACTIVATED}),
        Action.ARCHIVE: frozenset({State.ACTIVE, State.DEACTIVATED, State.QUARANTINED}),
        Action.ROLLBACK: frozenset({State.ACTIVE, State.DEACTIVATED, State.QUARANTINED}),
    }
)
"""The states in which each command is taken."""

LANES_OF: Mapping[Action, frozenset[Lane]] = MappingProxyType(
    {
        Action.PROMOTE_SHARED: frozenset({Lane.EXPERIMENTAL_PRIVATE, Lane.APPROVED_WORKSPACE}),
        Action.DEMOTE_PRIVATE: frozenset({Lane.APPROVED_WORKSPACE, Lane.SHARED_PROMOTED}),
    }
)
"""The lanes that a change of lane starts from; a command that is not named starts from any."""

LANE_AFTER: Mapping[Action, Lane] = MappingProxyType(
    {
        Action.PROMOTE_SHARED: Lane.SHARED_PROMOTED,
        Action.DEMOTE_PRIVATE: Lane.EXPERIMENTAL_PRIVATE,
        Action.QUARANTINE: Lane.QUARANTINED,
    }
)
"""The lane a command leads to. Unquarantine leads back to the lane that the quarantine took it from."""

WITHOUT_A_PERSON = frozenset({Action.DEACTIVATE, Action.QUARANTINE})
"""What the system and a repair may do by themselves: take out of use. All else is a person's to decide."""

_NO_LANE_CHANGE = frozenset({State.QUARANTINED, State.ARCHIVED})


@dataclass(frozen=True, slots=True)
class AbilityFacts:
    """What the rules look at."""

    entry: AbilityAvailabilityEntry
    has_earlier: bool = False
    """Whether there is a version with other content to go back to."""
    revalidated: bool = False
    """Whether the present content has passed a rehearsal since it was quarantined."""
    installing: bool = False
    """Whether an install of it is under way."""


def legal_actions(facts: AbilityFacts) -> tuple[Action, ...]:
    """What a person may do with the ability now; a reason is taken to be given where one is needed."""
    return tuple(action for action in Action if _refusal_code(facts, action, "given", Requester.USER) is None)


def refusal(
    facts: AbilityFacts,
    action: Action,
    *,
    reason: str | None = None,
    requester: Requester = Requester.USER,
) -> AbilityRefusal | None:
    """Why ``action`` is not taken now, or ``None`` when it is."""
    found = _refusal_code(facts, action, reason, requester)
    if found is None:
        return None
    code, message = found
    return AbilityRefusal(
        code=code, message=message, current_state=state_of(facts.entry), allowed=legal_actions(facts)
    )


def _refusal_code(
    facts: AbilityFacts, action: Action, reason: str | None, requester: Requester
) -> tuple[ErrorCode, str] | None:
    state, lane = state_of(facts.entry), facts.entry.install_lane
    if facts.installing:
        return ErrorCode.INSTALL_IN_PROGRESS, "An install of this ability is under way; wait for it to end."
    if requester is not Requester.USER and action not in WITHOUT_A_PERSON:
        return ErrorCode.INSTALL_LANE_DENIED, f"{action.value} is a person's to decide; ask the owner."
    if action in LANES_OF and state in _NO_LANE_CHANGE:
        return ErrorCode.INSTALL_LANE_DENIED, f"An ability that is {state.value} changes no lane."
    if state not in TAKEN_IN[action]:
        return _illegal(f"An ability that is {state.value} does not take {action.value}.")
    if action in LANES_OF and lane not in LANES_OF[action]:
        return _illegal(f"An ability in the lane {lane.value} does not take {action.value}.")
    if action is Action.ROLLBACK and not facts.has_earlier:
        return _illegal(
            "There is no other version to go back to; `apprentice abilities versions` lists them."
        )
    if action is Action.UNQUARANTINE and not (facts.revalidated or (reason or "").strip()):
        return (
            ErrorCode.VALIDATION_REQUIRED,
            "A quarantine is lifted for a reason that you state (reason; `--reason WHY` at the command line), or after "
            "its present content has passed every check again.",
        )
    return None


def _illegal(message: str) -> tuple[ErrorCode, str]:
    return ErrorCode.INVALID_LEARN_STATE_TRANSITION, message


def entry_after(
    entry: AbilityAvailabilityEntry,
    action: Action,
    *,
    now: datetime,
    capability_health: HealthStatus,
    quarantine: AbilityQuarantine | None = None,
) -> AbilityAvailabilityEntry:
    """The entry once ``action`` is carried out. ``quarantine`` is what an unquarantine lifts.

    Raises:
        ValueError: an unquarantine without the quarantine that it lifts.
    """
    changes: dict[str, object] = {}
    match action:
        case Action.ACTIVATE:
            changes = {"enabled": True, "archived_at": None}
        case Action.DEACTIVATE:
            changes = {"enabled": False}
        case Action.ARCHIVE:
            changes = {"enabled": False, "archived_at": now}
        case Action.QUARANTINE:
            changes = {"checkpoint_health": CheckpointHealth.QUARANTINED}
        case Action.UNQUARANTINE:
            if quarantine is None:
                raise ValueError(f"{entry.ability_id} has no quarantine to lift")
            changes = {
                "install_lane": quarantine.from_lane,
                "checkpoint_health": quarantine.checkpoint_health,
            }
        case _:
            pass
    if action in LANE_AFTER:
        changes["install_lane"] = LANE_AFTER[action]
    return restated(entry.changed(**changes), capability_health)


def entry_rolled_back(
    present: AbilityAvailabilityEntry, older: AbilityAvailabilityEntry
) -> AbilityAvailabilityEntry:
    """The older version's words with the present standing: a rollback neither promotes nor lifts anything.

    Its capability is degraded until its smoke test passes, as after an install.
    """
    quarantined = present.install_lane is Lane.QUARANTINED
    kept = {
        "install_lane": present.install_lane,
        "enabled": present.enabled,
        "archived_at": present.archived_at,
        "checkpoint_health": CheckpointHealth.QUARANTINED if quarantined else CheckpointHealth.NO_DATA,
    }
    return restated(older.changed(**kept), HealthStatus.DEGRADED)


def restated(entry: AbilityAvailabilityEntry, capability_health: HealthStatus) -> AbilityAvailabilityEntry:
    """The entry with what follows from its standing said anew: its source, whether it is usable, and why not."""
    usable = usability(
        enabled=entry.enabled, lane=entry.install_lane, capability_health=capability_health, projected=True
    )
    reason = usable.reason_unusable
    if entry.archived_at is not None:
        reason = "Archived; activate it to bring it back."
    source = entry.source
    if entry.install_lane is Lane.SHARED_PROMOTED and source is AbilitySource.LEARNED:
        source = AbilitySource.PROMOTED
    elif entry.install_lane is not Lane.SHARED_PROMOTED and source is AbilitySource.PROMOTED:
        source = AbilitySource.LEARNED
    return entry.changed(usable_now=reason is None, reason_unusable=reason, source=source)
