"""Capability health: the intake of outcomes, the read models, and what a recheck needs (DOC3 §1.1C-I)."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from contracts.capabilities.bridge import BridgeState, CapabilityBridgeCurrent, HealthStatus
from contracts.capabilities.health import (
    CapabilityHealthCurrent,
    CapabilityHealthState,
    CapabilityStatsCurrent,
    SessionAvailability,
)
from contracts.capabilities.outcome import CapabilityOutcome
from contracts.capabilities.reprobe import ReprobeSelection
from contracts.capabilities.runtime import RuntimeInventory
from contracts.errors import ErrorCode, Refusal
from contracts.learning.proposal import InstallLane, SkillDraft
from contracts.learning.test_policy import TestPolicy
from domain.abilities.bridge import health_current, stats_current
from domain.abilities.health import is_due
from domain.abilities.health_runtime import bridge_state
from stores.ability_rows import all_entries
from stores.ability_store import visible
from stores.capability_bridge import HEALTH, health_state, read_bridge, rebuild_or_keep, stats_of
from stores.capability_health_effects import apply_outcome, hold_ability, settle_ability
from stores.capability_health_rows import (
    Standing,
    capability_rows,
    put_inventory,
    read_inventory,
    standing_in,
    standing_of,
)
from stores.checkpoint_plan import proposal_of_ability, test_policy_of
from stores.database import Database
from stores.documents import read_document
from stores.draft_store import load_bundle
from stores.journal import append
from stores.tables import capabilities

MOST_AT_ONCE = 50
"""How many capabilities one scheduled recheck takes on; the others wait for the next."""

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class Probed(NamedTuple):
    """What a canary looks at: a capability, and what is kept of the lesson where it was drafted here."""

    standing: Standing
    draft: SkillDraft | None
    owner: str | None
    test_policy: TestPolicy | None


class CapabilityHealthStore:
    """What is known of capabilities. Of a private ability's, its owner alone is told."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record_outcome(self, outcome: CapabilityOutcome, correlation_id: str) -> Standing | None:
        """Takes in how a use or a canary went; counted once by its ``outcome_id``. The standing afterwards.

        This is the one intake: whoever carries out a capability reports here. ``None``, and nothing
        written, when no such capability is installed. ``summary`` must be free of secrets.
        """
        with self._database.write() as connection:
            append(connection, apply_outcome(connection, outcome, correlation_id))
            return standing_of(connection, capability_id=outcome.capability_id)

    def bridge(self, reader: str, now: datetime) -> CapabilityBridgeCurrent:
        """The bridge as it was last built, as far as ``reader`` may see it; ``stale`` on an old inventory."""
        with self._database.read() as connection:
            kept = read_bridge(connection)
            if kept is None:
                return CapabilityBridgeCurrent(bridge_state=BridgeState.FRESH, entries=(), rebuilt_at=_NEVER)
            seen = _visible_ids(connection, reader)
            inventory = read_inventory(connection)
        return kept.model_copy(
            update={
                "bridge_state": bridge_state(kept.bridge_state, inventory, now),
                "entries": tuple(entry for entry in kept.entries if entry.capability_id in seen),
            }
        )

    def health(self, reader: str, now: datetime) -> CapabilityHealthCurrent:
        """Installed, healthy and usable now, of every capability that ``reader`` may see, as of ``now``."""
        with self._database.read() as connection:
            seen = _visible_ids(connection, reader)
            inventory = read_inventory(connection)
            abilities = {entry.ability_id: entry for entry in all_entries(connection)}
            states = [
                health_state(one, abilities.get(one.ability_id), inventory, now)
                for one in _readable(connection)
            ]
            known = {one.capability_id for one in states}
            kept = [one for one in _kept_health(connection) if one.capability_id not in known]
        # What cannot be read any more is shown as it last was, and never as available.
        states += [
            one.model_copy(update={"session_availability": SessionAvailability.UNKNOWN}) for one in kept
        ]
        return health_current((one for one in states if one.capability_id in seen), now)

    def stats(self, reader: str, now: datetime) -> CapabilityStatsCurrent:
        """How often each capability that ``reader`` may see was used, and how its checkpoints went."""
        with self._database.read() as connection:
            seen = _visible_ids(connection, reader)
            stats = [stats_of(one) for one in _readable(connection)]
        return stats_current((one for one in stats if one.capability_id in seen), now)

    def require_visible(self, capability_id: str, reader: str) -> None:
        """Refuses what ``reader`` may not see.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.read() as connection:
            if capability_id not in _visible_ids(connection, reader):
                raise _no_capability()

    def recheckable(self, capability_id: str, reader: str) -> HealthStatus:
        """The health of a capability that may be rechecked.

        Raises:
            Refusal: ``NOT_FOUND`` when there is none that ``reader`` may see, ``CONFLICT`` when a person has
                quarantined its ability or it is switched off: no recheck can bring that back.
        """
        with self._database.read() as connection:
            seen = _visible_ids(connection, reader)
            found = next(
                (one for one in _readable(connection) if one.manifest.capability_id == capability_id), None
            )
            held_back = _held_back(connection)
        if found is None or capability_id not in seen:
            raise _no_capability()
        if found.ability_id in held_back:
            raise Refusal(
                ErrorCode.CONFLICT, "Its ability was quarantined by a person; lift that quarantine instead."
            )
        if found.status is HealthStatus.DISABLED:
            raise Refusal(ErrorCode.CONFLICT, "This capability is switched off; switch it on first.")
        return found.status

    def due(self, selection: ReprobeSelection) -> tuple[str, ...]:
        """The capabilities to recheck, by id: the one asked for, or those that are due."""
        with self._database.read() as connection:
            held_back = _held_back(connection)
            found = [one for one in _readable(connection) if one.ability_id not in held_back]
        if selection.capability_id is not None:
            return tuple(
                one.manifest.capability_id
                for one in found
                if one.manifest.capability_id == selection.capability_id
            )
        due = [one for one in found if is_due(one.status, one.record, selection.now)]
        return tuple(one.manifest.capability_id for one in due)[:MOST_AT_ONCE]

    def probed(self, capability_id: str) -> Probed | None:
        """A capability with what a canary looks at; ``None`` when it is not installed."""
        with self._database.read() as connection:
            found = next(
                (one for one in _readable(connection) if one.manifest.capability_id == capability_id), None
            )
            if found is None:
                return None
            owners = {entry.ability_id: entry.owner_user_id for entry in all_entries(connection)}
            proposal_id = proposal_of_ability(connection, found.ability_id)
            try:
                draft = load_bundle(connection, proposal_id)[1].draft if proposal_id is not None else None
            except Refusal:
                draft = None
            policy = test_policy_of(connection, proposal_id) if proposal_id is not None else None
        return Probed(found, draft, owners.get(found.ability_id), policy)

    def required_caps(self) -> tuple[str, ...]:
        """Everything that installed capabilities require of the runtime, by name."""
        with self._database.read() as connection:
            return tuple(
                sorted({cap for one in _readable(connection) for cap in one.manifest.required_runtime_caps})
            )

    def keep_inventory(self, inventory: RuntimeInventory) -> None:
        """Keeps what the runtime was seen to have, and settles bridge and abilities after it."""
        with self._database.write() as connection:
            # Every row before any file: whoever settles one ability holds its row when it writes the files.
            held = [
                hold_ability(connection, ability_id)
                for ability_id in sorted({one.ability_id for one in _readable(connection)})
            ]
            put_inventory(connection, inventory)
            rebuild_or_keep(connection, inventory.checked_at)
            for entry in held:
                if entry is not None:
                    standing = standing_of(connection, ability_id=entry.ability_id)
                    settle_ability(connection, entry, standing, inventory.checked_at)


def _no_capability() -> Refusal:
    return Refusal(
        ErrorCode.NOT_FOUND,
        "There is no such capability that you may see; list them with GET /api/capabilities/bridge.",
    )


def _readable(connection: Connection) -> Iterable[Standing]:
    found: list[Standing] = []
    for row in capability_rows(connection):
        try:
            found.append(standing_in(row))
        except ValueError:
            continue
    return found


def _visible_ids(connection: Connection, reader: str) -> frozenset[str]:
    abilities = {entry.ability_id for entry in all_entries(connection) if visible(entry, reader)}
    rows = connection.execute(select(capabilities.c.capability_id, capabilities.c.ability_id))
    return frozenset(row.capability_id for row in rows if row.ability_id in abilities)


def _held_back(connection: Connection) -> frozenset[str]:
    return frozenset(
        entry.ability_id for entry in all_entries(connection) if entry.install_lane is InstallLane.QUARANTINED
    )


def _kept_health(connection: Connection) -> tuple[CapabilityHealthState, ...]:
    content = read_document(connection, "memory", HEALTH)
    return CapabilityHealthCurrent.model_validate_json(content).capabilities if content is not None else ()
