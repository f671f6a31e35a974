"""What follows from an outcome: health, bridge, the ability's availability, and the entries that tell of it."""

from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import Connection, select, update

from contracts.abilities.availability import AbilityAvailabilityEntry, CheckpointHealth
from contracts.base import rfc3339
from contracts.capabilities.bridge import HealthStatus
from contracts.capabilities.outcome import CapabilityOutcome, OutcomeKind
from contracts.learning.aggregate import CommitKey
from contracts.learning.lifecycle import LearningReceiptKind
from contracts.learning.proposal import InstallLane
from domain.abilities.availability import Usability, usability
from domain.abilities.health import HealthChange, after_outcome, unusable_reason
from domain.abilities.health_runtime import missing, unsupported_reason
from stores.ability_documents import refresh_snapshot
from stores.ability_rows import entry_of
from stores.answers import answered_within
from stores.canonical import canonical_json, digest_of
from stores.capability_bridge import rebuild_or_keep
from stores.capability_health_entries import HealthEntries
from stores.capability_health_rows import Standing, put_standing, read_inventory, standing_of
from stores.documents import read_document
from stores.journal import JournalDraft
from stores.tables import abilities, capabilities


def apply_outcome(
    connection: Connection, outcome: CapabilityOutcome, correlation_id: str
) -> tuple[JournalDraft, ...]:
    """Counts an outcome once and settles what follows; returns the entries for the caller to append.

    An outcome of a capability that is not installed any more, or that was counted before, changes nothing.
    """
    found: list[JournalDraft] = []

    def act() -> str:
        found.extend(_applied(connection, outcome, correlation_id))
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
    connection.execute(
        select(abilities.c.ability_id).where(abilities.c.ability_id == ability_id).with_for_update()
    )
    return entry_of(connection, ability_id)


def settled(
    connection: Connection, entry: AbilityAvailabilityEntry, standing: Standing | None
) -> AbilityAvailabilityEntry:
    """``entry`` with ``usable_now`` and its reason as lane, switch, workspace, health and runtime have them."""
    found = _usability(connection, entry, standing)
    return entry.model_copy(update={"usable_now": found.usable_now, "reason_unusable": found.reason_unusable})


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
        changed = changed.model_copy(update={"checkpoint_health": checkpoint_health})
    if changed != entry:
        connection.execute(
            update(abilities)
            .where(abilities.c.ability_id == entry.ability_id)
            .values(body=canonical_json(changed), updated_at=rfc3339(now))
        )
        refresh_snapshot(connection, now)
    return changed


def _applied(
    connection: Connection, outcome: CapabilityOutcome, correlation_id: str
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
    now = datetime.now(UTC)
    owner = entry.owner_user_id if entry is not None else outcome.reported_by
    entries = HealthEntries(ability_id, owner, correlation_id, now)
    entries.outcome(outcome)
    entries.changed(standing, change)
    entries.canary(outcome, standing, change)
    if change.status is not standing.status or outcome.kind is OutcomeKind.CANARY:
        rebuild_or_keep(connection, now)
    if entry is not None and change.status is not standing.status:
        moved = replace(standing, status=change.status, record=change.record)
        after = settle_ability(connection, entry, moved, now)
        if after.usable_now is not entry.usable_now:
            said = after.reason_unusable or "It is usable again."
            entries.receipt(LearningReceiptKind.AVAILABILITY_UPDATED, said)
    return tuple(entries.drafts)


def _usability(
    connection: Connection, entry: AbilityAvailabilityEntry, standing: Standing | None
) -> Usability:
    # What has no files of its own, a native tool say, need not be in the workspace.
    skill = (
        read_document(connection, "workspace", f"skills/{entry.skill_slug}/SKILL.md")
        if entry.skill_slug is not None
        else b""
    )
    status = standing.status if standing is not None else HealthStatus.HEALTHY
    found = usability(
        enabled=entry.enabled,
        lane=entry.install_lane,
        capability_health=HealthStatus.HEALTHY,
        projected=skill is not None,
    )
    if not found.usable_now:
        # Whoever took it out of use has said why, and knows it better.
        return found if entry.usable_now else Usability(False, entry.reason_unusable)
    if standing is None:
        return found
    reason = unusable_reason(status, standing.record) or unsupported_reason(
        missing(standing.manifest, read_inventory(connection))
    )
    if reason is not None:
        return Usability(False, reason)
    return usability(enabled=True, lane=entry.install_lane, capability_health=status, projected=True)
