"""Rows of capabilities with their health record, and the journal entries of their changes.

All functions run within the caller's transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel
from sqlalchemy import Connection, RowMapping, and_, select, update
from uuid_utils import uuid7

from contracts.abilities.capability_health import (
    CapabilityEvent,
    CapabilityEventName,
    CapabilityHealthRecord,
    CapabilityOutcome,
    OutcomeKind,
    RuntimeInventory,
)
from contracts.abilities.capability_manifest import CapabilityManifest, HealthStatus
from contracts.base import clipped, rfc3339
from contracts.learning.lifecycle import LearningReceipt, LearningReceiptKind
from contracts.workflow_ids import ability_workflow_id
from domain.abilities.capability_health import HealthChange, why
from stores.platform.canonical import canonical_json, document_bytes
from stores.platform.database import insert_or
from stores.platform.journal.journal import RECEIPTS, JournalDraft
from stores.platform.projection.documents import put_document, read_document
from stores.platform.tables import capabilities, capability_health

INVENTORY = "system/capabilities/runtime_inventory_current.json"

_WITH_RECORD = (
    select(capabilities, capability_health.c.body.label("record"))
    .join(
        capability_health,
        and_(
            capability_health.c.capability_id == capabilities.c.capability_id,
            capability_health.c.installed_at == capabilities.c.updated_at,
        ),
        isouter=True,
    )
    .order_by(capabilities.c.capability_id)
)


@dataclass(frozen=True, slots=True)
class Standing:
    """One installed capability: what it is, how it is doing, and on what evidence.

    Each install has its own evidence: a new version starts anew, and one that is rolled back finds its own.
    """

    manifest: CapabilityManifest
    ability_id: str
    status: HealthStatus
    installed_at: datetime
    record: CapabilityHealthRecord


def capability_rows(connection: Connection) -> Sequence[RowMapping]:
    """Every capability's row with its record, by id, to be read with ``standing_in``."""
    return connection.execute(_WITH_RECORD).mappings().all()


def capability_row(connection: Connection, capability_id: str) -> RowMapping | None:
    """One capability's row with its record, as in ``capability_rows``."""
    query = _WITH_RECORD.where(capabilities.c.capability_id == capability_id)
    return connection.execute(query).mappings().one_or_none()


def standing_in(row: RowMapping) -> Standing:
    """The standing that a row holds.

    Raises:
        ValueError: the row's manifest or health cannot be read.
    """
    body: str | None = row["record"]
    return Standing(
        manifest=CapabilityManifest.model_validate_json(row["manifest"]),
        ability_id=row["ability_id"],
        status=HealthStatus(row["health"]),
        installed_at=datetime.fromisoformat(row["updated_at"]),
        record=CapabilityHealthRecord.model_validate_json(body)
        if body is not None
        else CapabilityHealthRecord(capability_id=row["capability_id"]),
    )


def standing_of(
    connection: Connection, *, capability_id: str | None = None, ability_id: str | None = None
) -> Standing | None:
    """The standing of one capability, or of an ability's; its row is held until the transaction ends.

    ``None`` when there is none, or none that can be read.
    """
    wanted = (
        capabilities.c.capability_id == capability_id
        if capability_id is not None
        else capabilities.c.ability_id == ability_id
    )
    # The row is locked by itself: PostgreSQL cannot lock the optional side of a join.
    held = connection.scalar(select(capabilities.c.capability_id).where(wanted).with_for_update())
    row = capability_row(connection, held) if held is not None else None
    if row is None:
        return None
    try:
        return standing_in(row)
    except ValueError:
        return None


def put_standing(
    connection: Connection, standing: Standing, status: HealthStatus, record: CapabilityHealthRecord
) -> None:
    """Writes a capability's health and the evidence for it."""
    capability_id = standing.manifest.capability_id
    installed_at = connection.scalar(
        select(capabilities.c.updated_at).where(capabilities.c.capability_id == capability_id)
    )
    if status is not standing.status:
        connection.execute(
            update(capabilities)
            .where(capabilities.c.capability_id == capability_id)
            .values(health=status.value)
        )
    statement = insert_or(connection, capability_health).values(
        capability_id=capability_id, installed_at=installed_at, body=canonical_json(record)
    )
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["capability_id", "installed_at"], set_={"body": statement.excluded.body}
        )
    )


def read_inventory(connection: Connection) -> RuntimeInventory | None:
    """What the runtime was last seen to have, or ``None`` before the first inventory."""
    content = read_document(connection, "memory", INVENTORY)
    return RuntimeInventory.model_validate_json(content) if content is not None else None


def put_inventory(connection: Connection, inventory: RuntimeInventory) -> None:
    """Keeps what the runtime was seen to have."""
    put_document(connection, "memory", INVENTORY, document_bytes(inventory))


OUTCOMES = "system/capabilities/outcomes"
EVENTS = "system/capabilities/events"


class HealthEntries:
    """Collects the entries of one outcome; all belong to the ability's chain."""

    def __init__(self, ability_id: str, owner: str, correlation_id: str, now: datetime) -> None:
        self.drafts: list[JournalDraft] = []
        self._ability_id = ability_id
        self._owner = owner
        self._correlation_id = correlation_id
        self._now = now

    def outcome(self, outcome: CapabilityOutcome) -> None:
        """What was reported."""
        self._add(OUTCOMES, outcome)

    def changed(self, before: Standing, after: HealthChange) -> None:
        """That the health is another, and the receipt of a quarantine."""
        if after.status is before.status:
            return
        self.event(CapabilityEventName.HEALTH_CHANGED, before, after)
        if after.status is HealthStatus.QUARANTINED:
            self.event(CapabilityEventName.QUARANTINED, before, after)
            self.receipt(
                LearningReceiptKind.QUARANTINED, f"Its capability was quarantined: {why(after.record)}"
            )

    def canary(self, outcome: CapabilityOutcome, before: Standing, after: HealthChange) -> None:
        """That a recheck went well."""
        if outcome.kind is OutcomeKind.CANARY and outcome.success:
            self.event(CapabilityEventName.REPROBE_SUCCEEDED, before, after)

    def event(self, name: CapabilityEventName, before: Standing, after: HealthChange) -> None:
        """One event of the capability."""
        event = CapabilityEvent(
            event=name,
            capability_id=before.manifest.capability_id,
            ability_id=self._ability_id,
            health_before=before.status,
            health_status=after.status,
            reason_codes=after.record.reason_codes,
            correlation_id=self._correlation_id,
            created_at=self._now,
        )
        self._add(EVENTS, event)

    def receipt(self, kind: LearningReceiptKind, reason: str) -> None:
        """A learning receipt about the ability (DOC3 §0C.12)."""
        receipt = LearningReceipt(
            receipt_id=str(uuid7()),
            event_kind=kind,
            reason=clipped(reason, 240),
            correlation_id=self._correlation_id,
            created_at=self._now,
        )
        self._add(RECEIPTS, receipt)

    def _add(self, stream: str, document: BaseModel) -> None:
        self.drafts.append(
            JournalDraft(
                stream=stream,
                aggregate=ability_workflow_id(self._ability_id),
                owner=self._owner,
                correlation_id=self._correlation_id,
                created_at=rfc3339(self._now),
                document=document.model_dump(mode="json", exclude_none=True),
                ability_id=self._ability_id,
            )
        )
