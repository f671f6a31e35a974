"""Capabilities with their health and its evidence, read and written inside somebody else's transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, RowMapping, and_, select, update

from contracts.capabilities.bridge import HealthStatus
from contracts.capabilities.manifest import CapabilityManifest
from contracts.capabilities.outcome import CapabilityHealthRecord
from contracts.capabilities.runtime import RuntimeInventory
from stores.canonical import canonical_json, document_bytes
from stores.documents import put_document, read_document
from stores.tables import capabilities, capability_health
from stores.upsert import insert_or

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
    """What the runtime was last seen to have, or ``None`` when nobody has looked."""
    content = read_document(connection, "memory", INVENTORY)
    return RuntimeInventory.model_validate_json(content) if content is not None else None


def put_inventory(connection: Connection, inventory: RuntimeInventory) -> None:
    """Keeps what the runtime was seen to have."""
    put_document(connection, "memory", INVENTORY, document_bytes(inventory))
