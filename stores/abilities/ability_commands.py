"""Store of lifecycle commands on installed abilities: each is one transaction, once per idempotency key."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from contracts.abilities.availability import AbilityAvailabilityEntry, AbilityVersion
from contracts.abilities.availability import AbilityLifecycleAction as Action
from contracts.abilities.capability_health import CapabilityEventName
from contracts.abilities.lifecycle import (
    AbilityContent,
    AbilityLife,
    AbilityOrder,
    AbilityQuarantine,
    AbilityReceipt,
)
from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.platform.commands import CommitKey
from domain.abilities.availability import in_service, state_of
from domain.abilities.life import entry_after, entry_rolled_back, refusal
from stores.abilities.ability_entries import AbilityEntries, follow_ability, locked_session
from stores.abilities.ability_files import follow_standing, restore_content, set_aside
from stores.abilities.ability_reads import visible
from stores.abilities.ability_rows import (
    ABILITIES,
    LIVES,
    VERSIONS,
    content_of,
    facts_of,
    is_proven_version,
    keep_content,
    life_of,
    own_health,
    previous_of,
    standing_of,
    tell_capability,
    versions_of,
)
from stores.abilities.capability_health import settled
from stores.abilities.derived_files import update_bridge, update_snapshot
from stores.platform import tables
from stores.platform.answers import recalled, remember
from stores.platform.database import Database
from stores.platform.journal.journal import JournalDraft, append

_ABILITIES = tables.abilities


class PresentAbility(NamedTuple):
    """An ability as it is found."""

    entry: AbilityAvailabilityEntry
    owner: str
    version: int
    versions: tuple[AbilityVersion, ...]
    life: AbilityLife

    @property
    def current(self) -> AbilityVersion:
        """The version that is in use."""
        return next(one for one in self.versions if one.version == self.version)


class AbilityCommand:
    """One command in its transaction."""

    def __init__(
        self, connection: Connection, order: AbilityOrder, edited: Mapping[str, bytes], now: datetime
    ) -> None:
        self._connection = connection
        self._order = order
        self._edited = edited
        self._now = now
        # The session before the ability, as an install locks them: two that meet cannot wait for each other.
        unlocked = found(connection, order)
        self._session = locked_session(connection, unlocked.current.proposal_id)
        self._present = found(connection, order, locked=True)
        if self._present.version != unlocked.version:
            raise Refusal(ErrorCode.CONFLICT, "The ability has changed meanwhile; repeat the command.")

    def carry_out(self) -> AbilityReceipt:
        """Decides, writes everything that follows, and returns the receipt."""
        connection, order, present = self._connection, self._order, self._present
        refuse(connection, order, present)
        restored = self._wanted_content() if order.action is Action.ROLLBACK else None
        entry = self._entry_after(restored)
        aside = self._protect_edits(entry, restored)
        current = present.current
        if restored is not None:
            restore_content(connection, present.entry, restored, self._now)
            current = self._new_version(entry, restored)
        follow_standing(connection, entry)
        if in_service(entry):
            # What the rules cannot know: whether the runtime has what the capability needs.
            entry = settled(connection, entry, standing_of(connection, ability_id=entry.ability_id))
        self._write_ability(entry, current.version)
        self._write_life()
        update_bridge(connection, self._now, order.ability_id, present.entry.primary_capability_id)
        update_snapshot(connection, self._now, order.ability_id)
        receipt = AbilityReceipt(
            ability_id=order.ability_id,
            action=order.action,
            state=state_of(entry),
            enabled=entry.enabled,
            install_lane=entry.install_lane,
            version=current.version,
            restored_from=current.restored_from if restored is not None else None,
            content_hash=current.content_hash,
            reason=order.reason,
        )
        self._record(entry, receipt, aside)
        return receipt

    def _entry_after(self, restored: AbilityContent | None) -> AbilityAvailabilityEntry:
        present = self._present
        if restored is not None:
            return entry_rolled_back(present.entry, restored.entry)
        return entry_after(
            present.entry,
            self._order.action,
            now=self._now,
            capability_health=own_health(self._connection, present.entry.primary_capability_id),
            quarantine=present.life.quarantine,
        )

    def _wanted_content(self) -> AbilityContent:
        present, asked = self._present, self._order.to_version
        if asked is None:
            version = previous_of(present.versions, present.version)
        else:
            version = next((one for one in present.versions if one.version == asked), None)
        content = content_of(self._connection, present.entry.ability_id, version.version) if version else None
        if version is None or content is None:
            named = "earlier version with other content" if asked is None else f"version {asked}"
            raise Refusal(
                ErrorCode.NOT_FOUND,
                f"There is no {named} to go back to; list them with the ability's versions.",
            )
        if version.content_hash == present.current.content_hash:
            raise Refusal(
                ErrorCode.INVALID_LEARN_STATE_TRANSITION,
                f"Version {version.version} holds what is current already; choose another.",
                current_state=state_of(present.entry).value,
            )
        if not is_proven_version(self._connection, version):
            raise Refusal(
                ErrorCode.VALIDATION_REQUIRED,
                f"Version {version.version} is not proven by the validations on record; teach it again.",
            )
        return content

    def _protect_edits(
        self, entry: AbilityAvailabilityEntry, restored: AbilityContent | None
    ) -> tuple[str, ...]:
        touches = in_service(self._present.entry) and (restored is not None or not in_service(entry))
        if not self._edited or not touches:
            return ()
        names = tuple(sorted(self._edited))
        if self._order.action is not Action.QUARANTINE:
            raise Refusal(
                ErrorCode.CONFLICT,
                f"{names[0]} was changed by hand; move the changes elsewhere, then repeat.",
                edited=list(names),
            )
        set_aside(self._connection, entry.ability_id, self._edited)
        return names

    def _new_version(self, entry: AbilityAvailabilityEntry, restored: AbilityContent) -> AbilityVersion:
        present = self._present
        older = next(one for one in present.versions if one.version == restored.version)
        # Changed and not made anew: whatever is said of the older content holds of it still.
        version = older.changed(
            version=present.versions[0].version + 1,
            install_lane=entry.install_lane,
            installed_at=self._now,
            current=True,
            restored_from=older.version,
        )
        VERSIONS.add(self._connection, version, saga_id=f"rollback/{entry.ability_id}/{version.version}")
        keep_content(self._connection, version.version, restored.entry, restored.manifest, restored.files)
        return version

    def _write_ability(self, entry: AbilityAvailabilityEntry, version: int) -> None:
        ABILITIES.replace(self._connection, entry, version=version, updated_at=rfc3339(self._now))

    def _write_life(self) -> None:
        order, entry, life = self._order, self._present.entry, self._present.life
        quarantine = life.quarantine
        if order.action is Action.QUARANTINE:
            quarantine = AbilityQuarantine(
                reason=order.reason or "No reason was given.",
                since=self._now,
                from_lane=entry.install_lane,
                checkpoint_health=entry.checkpoint_health,
            )
        elif order.action is Action.UNQUARANTINE:
            quarantine = None
        life = AbilityLife(ability_id=entry.ability_id, change=life.change + 1, quarantine=quarantine)
        LIVES.put(self._connection, life)

    def _record(
        self, entry: AbilityAvailabilityEntry, receipt: AbilityReceipt, aside: tuple[str, ...]
    ) -> None:
        session, proposal_id = self._session, self._present.current.proposal_id
        of_session: tuple[JournalDraft, ...] = ()
        if session is not None:
            session, of_session = follow_ability(
                self._connection, session, self._order, proposal_id, entry.install_lane, self._now
            )
        entries = AbilityEntries(self._order, self._present.owner, proposal_id, session, self._now)
        entries.record(receipt, aside)
        self._tell(entries, entry)
        append(self._connection, [*entries.drafts, *of_session])

    def _tell(self, entries: AbilityEntries, entry: AbilityAvailabilityEntry) -> None:
        """What the command did to the capability; of its health, outcomes tell."""
        names: tuple[CapabilityEventName, ...] = ()
        was, now = self._present.entry.primary_capability_id, entry.primary_capability_id
        if self._order.action is Action.PROMOTE_SHARED:
            names = (CapabilityEventName.SKILL_PROMOTED,)
        elif self._order.action is Action.ROLLBACK and was == now:
            names = (CapabilityEventName.MANIFEST_UPDATED,)
        elif self._order.action is Action.ROLLBACK:
            # An older version may have been a capability of another name, in whose place it stands again.
            names = (CapabilityEventName.MANIFEST_CREATED,)
            gone = CapabilityEventName.MANIFEST_DELETED
            entries.capability_event(gone, capability_id=was, ability_id=entry.ability_id)
        tell_capability(self._connection, entries, names, entry.ability_id)


def found(connection: Connection, order: AbilityOrder, *, locked: bool = False) -> PresentAbility:
    """The ability an order means.

    Raises:
        Refusal: ``ABILITY_NOT_FOUND``.
    """
    beside = (_ABILITIES.c.owner, _ABILITIES.c.version)
    query = ABILITIES.select(_ABILITIES.c.ability_id == order.ability_id, also=beside, lock=locked)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise ABILITIES.not_found()
    return PresentAbility(
        entry=ABILITIES.parse(row.body),
        owner=row.owner,
        version=row.version,
        versions=versions_of(connection, order.ability_id),
        life=life_of(connection, order.ability_id),
    )


def refuse(connection: Connection, order: AbilityOrder, present: PresentAbility) -> None:
    """Refuses an order that its caller may not give, or that the ability does not take now.

    Raises:
        Refusal: ``ABILITY_NOT_FOUND``, ``FORBIDDEN``, and what the rules refuse.
    """
    if order.caller_user_id != present.owner and not order.as_admin:
        if not visible(present.entry, order.caller_user_id):
            raise ABILITIES.not_found()
        raise Refusal(
            ErrorCode.FORBIDDEN, "Only the ability's owner or an admin may do this.", required_scope="admin"
        )
    facts = facts_of(connection, present.entry, present.life, present.version, present.versions)
    found = refusal(facts, order.action, reason=order.reason, requester=order.requested_by)
    if found is not None:
        raise Refusal(
            found.code,
            found.message,
            current_state=found.current_state.value,
            allowed=[action.value for action in found.allowed],
        )


_NOTHING: Mapping[str, bytes] = {}


class AbilityLifeStore:
    """The durable side of AbilityWorkflow."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def carry_out(self, order: AbilityOrder, edited: Mapping[str, bytes] = _NOTHING) -> AbilityReceipt:
        """Carries out one command, once, or answers what it was answered before.

        ``edited`` are the skill's workspace files that were edited by hand, with their contents. A
        quarantine moves them out of the agent's reach and keeps them; no other command takes files away
        that were changed.

        Raises:
            Refusal: ``ABILITY_NOT_FOUND``, ``FORBIDDEN`` (another owner's), ``IDEMPOTENCY_KEY_REUSED``,
                ``CONFLICT`` (hand-made changes; ``edited`` names them), ``NOT_FOUND`` (no such version), and
                what ``domain.abilities.life.refusal`` refuses.
        """
        now = datetime.now(UTC)
        with self._database.write() as connection:
            earlier = recalled(connection, order.commit_key, AbilityReceipt)
            if earlier is not None:
                return earlier
            receipt = AbilityCommand(connection, order, edited, now).carry_out()
            remember(connection, order.commit_key, receipt, now)
        return receipt

    def recall(self, key: CommitKey) -> AbilityReceipt | None:
        """What was answered under this key before.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``.
        """
        with self._database.read() as connection:
            return recalled(connection, key, AbilityReceipt)

    def check(self, order: AbilityOrder) -> None:
        """Refuses a command that has no prospect as things stand; nothing is written or locked.

        Raises:
            Refusal: as ``carry_out``.
        """
        with self._database.read() as connection:
            refuse(connection, order, found(connection, order))

    def slug_of(self, ability_id: str) -> str | None:
        """The name of the ability's skill."""
        with self._database.read() as connection:
            return connection.scalar(select(_ABILITIES.c.slug).where(_ABILITIES.c.ability_id == ability_id))
