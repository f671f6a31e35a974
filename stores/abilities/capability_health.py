"""Capability health: effects of outcomes on bridge and availability, read models, rechecks (DOC3 §1.1C-I)."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import Connection, RowMapping, select, update

from contracts.abilities.availability import AbilityAvailabilityEntry, CheckpointHealth, InstallLane
from contracts.abilities.capability_health import (
    CapabilityEventName,
    CapabilityHealthCurrent,
    CapabilityOutcome,
    CapabilityStatsCurrent,
    InstalledState,
    OutcomeKind,
    ReprobeSelection,
    RuntimeInventory,
    SessionAvailability,
)
from contracts.abilities.capability_manifest import (
    BridgeState,
    CapabilityBridgeCurrent,
    HealthStatus,
)
from contracts.abilities.capability_plan import CapabilityExecutionTrace
from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.lifecycle import LearningReceiptKind
from contracts.platform.commands import CommitKey
from contracts.workflow_ids import ability_workflow_id
from domain.abilities.availability import (
    Usability,
    bridge_state,
    health_current,
    missing,
    stats_current,
    unsupported_reason,
    usability,
)
from domain.abilities.capability_health import HealthChange, after_outcome, is_due, unusable_reason, why
from domain.abilities.execution_traces import captures_traces
from stores.abilities.ability_reads import visible, visible_entries
from stores.abilities.ability_rows import (
    ABILITIES,
    Standing,
    all_entries,
    capability_ids,
    capability_rows,
    capability_rows_of,
    entry_of,
    put_standing,
    standing_in,
    standing_of,
)
from stores.abilities.derived_files import (
    health_state,
    kept_entries,
    kept_health,
    put_inventory,
    read_bridge_state,
    read_inventory,
    rebuild_or_keep,
    stats_of,
    update_or_keep,
    update_snapshot,
)
from stores.abilities.sidecars import note_failure
from stores.platform.answers import answered_within
from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import Database, batches
from stores.platform.journal.journal import TRACES, JournalDraft, JournalEntries, append
from stores.platform.projection.documents import document_digest
from stores.platform.tables import abilities, capabilities


def apply_outcome(
    connection: Connection,
    outcome: CapabilityOutcome,
    correlation_id: str,
    trace: CapabilityExecutionTrace | None = None,
) -> tuple[JournalDraft, ...]:
    """Counts an outcome once and settles what follows; returns the entries for the caller to append.

    ``trace`` is kept with it, unless the capability's learning policy keeps none.

    An outcome of a capability that is not installed any more, or that was counted before, changes nothing.
    """
    found: list[JournalDraft] = []

    def act() -> str:
        found.extend(_applied(connection, outcome, correlation_id, trace))
        return "{}"

    key = f"outcome-{outcome.outcome_id}"
    answered_within(
        connection,
        CommitKey(owner_user_id=outcome.reported_by, key=key, request_digest=digest_of(key)),
        act,
    )
    return tuple(found)


def hold_ability(connection: Connection, ability_id: str) -> AbilityAvailabilityEntry | None:
    """The ability's entry; its row is held until the transaction ends.

    Hold the ability before its capability, as everything here does, and two transactions never wait for
    each other.
    """
    return ABILITIES.find(connection, ability_id, lock=True)


def _hold_abilities(connection: Connection, ability_ids: Iterable[str]) -> None:
    """Holds the rows of many abilities, in the order of their ids, until the transaction ends."""
    for some in batches(sorted(ability_ids)):
        held = select(abilities.c.ability_id).where(abilities.c.ability_id.in_(some))
        connection.execute(held.order_by(abilities.c.ability_id).with_for_update()).all()


def settled(
    connection: Connection,
    entry: AbilityAvailabilityEntry,
    standing: Standing | None,
    inventory: RuntimeInventory | None = None,
) -> AbilityAvailabilityEntry:
    """``entry`` with ``usable_now`` and its reason as lane, switch, workspace, health and runtime have them.

    ``inventory`` is the runtime's, where it was read already.
    """
    found = _usability(connection, entry, standing, inventory)
    return entry.changed(usable_now=found.usable_now, reason_unusable=found.reason_unusable)


def settle_ability(
    connection: Connection,
    entry: AbilityAvailabilityEntry,
    standing: Standing | None,
    now: datetime,
    *,
    checkpoint_health: CheckpointHealth | None = None,
) -> AbilityAvailabilityEntry:
    """Writes the ability as it now is, and the snapshot after it; nothing where nothing has changed."""
    changed = settled(connection, entry, standing)
    if checkpoint_health is not None:
        changed = changed.changed(checkpoint_health=checkpoint_health)
    if changed != entry:
        connection.execute(
            update(abilities)
            .where(abilities.c.ability_id == entry.ability_id)
            .values(body=canonical_json(changed), updated_at=rfc3339(now))
        )
        update_snapshot(connection, now, entry.ability_id)
    return changed


def _applied(
    connection: Connection,
    outcome: CapabilityOutcome,
    correlation_id: str,
    trace: CapabilityExecutionTrace | None,
) -> tuple[JournalDraft, ...]:
    ability_id = connection.scalar(
        select(capabilities.c.ability_id).where(capabilities.c.capability_id == outcome.capability_id)
    )
    entry = hold_ability(connection, ability_id) if ability_id is not None else None
    standing = standing_of(connection, capability_id=outcome.capability_id)
    if ability_id is None or standing is None:
        return ()
    change = after_outcome(standing.status, standing.record, outcome)
    if entry is not None and entry.install_lane is InstallLane.QUARANTINED:
        # A person took the ability back; only a person brings it back.
        change = HealthChange(standing.status, change.record)
    put_standing(connection, standing, change.status, change.record)
    if not outcome.success and not outcome.not_run:
        note_failure(connection, outcome)
    now = datetime.now(UTC)
    owner = entry.owner_user_id if entry is not None else outcome.reported_by
    entries = HealthEntries(ability_id, owner, correlation_id, now)
    entries.outcome(outcome)
    if trace is not None and captures_traces(standing.manifest):
        entries.add(TRACES, trace)
    entries.changed(standing, change)
    entries.canary(outcome, standing, change)
    if change.status is not standing.status or outcome.kind is OutcomeKind.CANARY:
        update_or_keep(connection, now, ability_id)
    if entry is not None and change.status is not standing.status:
        moved = replace(standing, status=change.status, record=change.record)
        after = settle_ability(connection, entry, moved, now)
        if after.usable_now is not entry.usable_now:
            reason = after.reason_unusable or "It is usable again."
            entries.receipt(LearningReceiptKind.AVAILABILITY_UPDATED, reason)
    return tuple(entries.drafts)


def _usability(
    connection: Connection,
    entry: AbilityAvailabilityEntry,
    standing: Standing | None,
    inventory: RuntimeInventory | None,
) -> Usability:
    # What has no files of its own, a native tool say, need not be in the workspace.
    skill = (
        document_digest(connection, "workspace", f"skills/{entry.skill_slug}/SKILL.md")
        if entry.skill_slug is not None
        else ""
    )
    status = standing.status if standing is not None else HealthStatus.HEALTHY
    found = usability(
        enabled=entry.enabled,
        lane=entry.install_lane,
        capability_health=HealthStatus.HEALTHY,
        projected=skill is not None,
    )
    if not found.usable_now:
        # The reason recorded when it was taken out of use is more specific.
        return found if entry.usable_now else Usability(False, entry.reason_unusable)
    if standing is None:
        return found
    reason = unusable_reason(status, standing.record) or unsupported_reason(
        missing(standing.manifest, inventory or read_inventory(connection))
    )
    if reason is not None:
        return Usability(False, reason)
    return usability(enabled=True, lane=entry.install_lane, capability_health=status, projected=True)


_SETTLED_AT_ONCE = 20
"""How many abilities one transaction settles."""

MOST_AT_ONCE = 50
"""How many capabilities one scheduled recheck takes on; the others wait for the next."""

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class CapabilityHealthStore:
    """Read models and health of capabilities; those of private abilities are visible to their owner alone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record_outcome(
        self, outcome: CapabilityOutcome, correlation_id: str, trace: CapabilityExecutionTrace | None = None
    ) -> Standing | None:
        """Takes in how a use or a canary went; counted once by its ``outcome_id``. The standing afterwards.

        Every execution of a capability is reported here. ``None``, and nothing
        written, when no such capability is installed. ``summary`` must be free of secrets.
        """
        with self._database.write() as connection:
            append(connection, apply_outcome(connection, outcome, correlation_id, trace))
            return standing_of(connection, capability_id=outcome.capability_id)

    def bridge(self, reader: str, now: datetime) -> CapabilityBridgeCurrent:
        """The bridge as it was last built, as far as ``reader`` may see it; ``stale`` on an old inventory."""
        with self._database.read() as connection:
            kept = read_bridge_state(connection)
            if kept is None:
                return CapabilityBridgeCurrent(bridge_state=BridgeState.FRESH, entries=(), rebuilt_at=_NEVER)
            entries = kept_entries(connection, _visible_ids(connection, reader))
            inventory = read_inventory(connection)
        return kept.changed(
            bridge_state=bridge_state(kept.bridge_state, inventory, now), entries=tuple(entries.values())
        )

    def health(self, reader: str, now: datetime) -> CapabilityHealthCurrent:
        """Installed, healthy and usable now, of every capability that ``reader`` may see, as of ``now``."""
        with self._database.read() as connection:
            abilities = {entry.ability_id: entry for entry in visible_entries(connection, reader)}
            seen = frozenset(capability_ids(connection, abilities))
            inventory = read_inventory(connection)
            states = [
                health_state(one, abilities.get(one.ability_id), inventory, now)
                for one in _readable(capability_rows_of(connection, seen))
            ]
            kept = kept_health(connection, seen - {one.capability_id for one in states})
        # What cannot be read any more is shown as it last was, and never as available.
        gone = {
            "session_availability": SessionAvailability.UNKNOWN,
            "installed_state": InstalledState.MISSING,
        }
        return health_current((*states, *(one.changed(**gone) for one in kept)), now)

    def stats(self, reader: str, now: datetime) -> CapabilityStatsCurrent:
        """How often each capability that ``reader`` may see was used, and how its checkpoints went."""
        with self._database.read() as connection:
            seen = _visible_ids(connection, reader)
            stats = [stats_of(one) for one in _readable(capability_rows_of(connection, seen))]
        return stats_current(stats, now)

    def require_visible(self, capability_id: str, reader: str) -> None:
        """Refuses what ``reader`` may not see.

        Raises:
            Refusal: ``NOT_FOUND``.
        """
        with self._database.read() as connection:
            if not _is_visible(connection, capability_id, reader):
                raise no_such_capability()

    def recheckable(self, capability_id: str, reader: str) -> HealthStatus:
        """The health of a capability that may be rechecked.

        Raises:
            Refusal: ``NOT_FOUND`` when there is none that ``reader`` may see, ``CONFLICT`` when a person has
                quarantined its ability or it is switched off: no recheck can bring that back.
        """
        with self._database.read() as connection:
            seen = _is_visible(connection, capability_id, reader)
            found = _one(connection, capability_id)
            held_back = found is not None and _is_held_back(connection, found.ability_id)
        if found is None or not seen:
            raise no_such_capability()
        if held_back:
            raise Refusal(
                ErrorCode.CONFLICT,
                "Its ability was quarantined by a person; lift that quarantine instead.",
                retryable=False,
            )
        if found.status is HealthStatus.DISABLED:
            raise Refusal(
                ErrorCode.CONFLICT, "This capability is switched off; switch it on first.", retryable=False
            )
        return found.status

    def due(self, selection: ReprobeSelection) -> tuple[str, ...]:
        """The capabilities to recheck, by id: the one asked for, that of an ability, or those that are due."""
        with self._database.read() as connection:
            if selection.capability_id is not None:
                rows = capability_rows_of(connection, [selection.capability_id])
            elif selection.ability_id is not None:
                rows = capability_rows_of(connection, capability_ids(connection, [selection.ability_id]))
            else:
                rows = capability_rows(connection)
            asked_for = selection.capability_id is not None or selection.ability_id is not None
            found = [
                one for one in _readable(rows) if asked_for or is_due(one.status, one.record, selection.now)
            ]
            free = [one for one in found if not _is_held_back(connection, one.ability_id)]
        due = tuple(one.manifest.capability_id for one in free)
        return due if asked_for else due[:MOST_AT_ONCE]

    def standing(self, capability_id: str) -> tuple[Standing, str | None] | None:
        """A capability with its ability's owner; ``None`` when it is not installed."""
        with self._database.read() as connection:
            found = _one(connection, capability_id)
            entry = entry_of(connection, found.ability_id) if found is not None else None
        return None if found is None else (found, entry.owner_user_id if entry is not None else None)

    def required_caps(self) -> tuple[str, ...]:
        """Everything that installed capabilities require of the runtime, by name."""
        with self._database.read() as connection:
            readable = _readable(capability_rows(connection))
            return tuple(sorted({cap for one in readable for cap in one.manifest.required_runtime_caps}))

    def keep_inventory(self, inventory: RuntimeInventory) -> None:
        """Keeps what the runtime was seen to have, and settles abilities and bridge after it.

        In several short transactions: one for thousands of abilities keeps other writers waiting until they give up.
        Settling what stands changes nothing, so a run that was cut short is made good by its repetition.
        """
        now = inventory.checked_at
        with self._database.write() as connection:
            put_inventory(connection, inventory)
        unsettled = self._unsettled(inventory)
        for start in range(0, len(unsettled), _SETTLED_AT_ONCE):
            with self._database.write() as connection:
                # Every row before any file: others that settle one ability hold its row when they write the files.
                held = [hold_ability(connection, one) for one in unsettled[start : start + _SETTLED_AT_ONCE]]
                for entry in held:
                    if entry is not None:
                        standing = standing_of(connection, ability_id=entry.ability_id)
                        settle_ability(connection, entry, standing, now)
        with self._database.write() as connection:
            # Who reports a use holds its ability, and may have marked an entry of the bridge before waiting for it.
            _hold_abilities(connection, {one.ability_id for one in _readable(capability_rows(connection))})
            rebuild_or_keep(connection, now)

    def _unsettled(self, inventory: RuntimeInventory) -> list[str]:
        """The abilities, by id, whose usability is another with this inventory."""
        with self._database.read() as connection:
            standings = {one.ability_id: one for one in _readable(capability_rows(connection))}
            return sorted(
                entry.ability_id
                for entry in all_entries(connection)
                if entry.ability_id in standings
                and settled(connection, entry, standings[entry.ability_id], inventory) != entry
            )


def no_such_capability() -> Refusal:
    """The refusal for a capability that its reader may not see."""
    return Refusal(
        ErrorCode.NOT_FOUND,
        "There is no such capability that you may see; list them with GET /api/capabilities/bridge.",
    )


def _readable(rows: Iterable[RowMapping]) -> Iterable[Standing]:
    found: list[Standing] = []
    for row in rows:
        try:
            found.append(standing_in(row))
        except ValueError:
            continue
    return found


def _one(connection: Connection, capability_id: str) -> Standing | None:
    """One capability; ``None`` when it is not installed, or cannot be read."""
    return next(iter(_readable(capability_rows_of(connection, [capability_id]))), None)


def _visible_ids(connection: Connection, reader: str) -> tuple[str, ...]:
    return capability_ids(connection, [one.ability_id for one in visible_entries(connection, reader)])


def _is_visible(connection: Connection, capability_id: str, reader: str) -> bool:
    entry = _ability_of(connection, capability_id)
    return entry is not None and visible(entry, reader)


def _is_held_back(connection: Connection, ability_id: str) -> bool:
    """Whether a person has quarantined the ability."""
    entry = entry_of(connection, ability_id)
    return entry is not None and entry.install_lane is InstallLane.QUARANTINED


def _ability_of(connection: Connection, capability_id: str) -> AbilityAvailabilityEntry | None:
    ability_id = connection.scalar(
        select(capabilities.c.ability_id).where(capabilities.c.capability_id == capability_id)
    )
    return entry_of(connection, ability_id) if ability_id is not None else None


OUTCOMES = "system/capabilities/outcomes"


class HealthEntries(JournalEntries):
    """Collects the entries of one outcome; all belong to the ability's chain."""

    def __init__(self, ability_id: str, owner: str, correlation_id: str, now: datetime) -> None:
        chain = ability_workflow_id(ability_id)
        super().__init__(chain, owner, correlation_id, now, ability_id=ability_id)

    def outcome(self, outcome: CapabilityOutcome) -> None:
        """What was reported."""
        self.add(OUTCOMES, outcome)

    def changed(self, before: Standing, after: HealthChange) -> None:
        """That the health is another, and the receipt of a quarantine."""
        if after.status is before.status:
            return
        self._event(CapabilityEventName.HEALTH_CHANGED, before, after)
        if after.status is HealthStatus.QUARANTINED:
            self._event(CapabilityEventName.QUARANTINED, before, after)
            self.receipt(
                LearningReceiptKind.QUARANTINED, f"Its capability was quarantined: {why(after.record)}"
            )

    def canary(self, outcome: CapabilityOutcome, before: Standing, after: HealthChange) -> None:
        """That a recheck went well."""
        if outcome.kind is OutcomeKind.CANARY and outcome.success:
            self._event(CapabilityEventName.REPROBE_SUCCEEDED, before, after)

    def _event(self, name: CapabilityEventName, before: Standing, after: HealthChange) -> None:
        self.capability_event(
            name,
            capability_id=before.manifest.capability_id,
            ability_id=before.ability_id,
            health_before=before.status,
            health_status=after.status,
            reason_codes=after.record.reason_codes,
        )
