"""Rows of abilities and of their capabilities, and the facts for the lifecycle rules.

Entries, versions, kept contents and lifecycle records; capabilities with their health record. All functions run within
the caller's transaction. The content of each version is kept for rollback (routes.md).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, RowMapping, and_, delete, insert, select, update

from contracts.abilities.availability import (
    AbilityAvailabilityEntry,
    AbilityLifecycleAction,
    AbilityVersion,
    CheckpointHealth,
    InstallLane,
)
from contracts.abilities.capability_health import CapabilityEventName, CapabilityHealthRecord
from contracts.abilities.capability_manifest import CapabilityManifest, HealthStatus
from contracts.abilities.lifecycle import AbilityContent, AbilityLife, ContentFile
from contracts.base import rfc3339
from contracts.errors import ErrorCode
from contracts.learning.checkpoints import (
    CheckpointStatus,
)
from contracts.learning.install import InstallSaga, SagaState
from contracts.learning.validation import OverallResult, ValidationRun, proof_of
from domain.abilities.availability import RECEIPTS_COUNTED, checkpoint_health
from domain.abilities.capability_health import HealthChange, after_install
from domain.abilities.life import AbilityFacts, legal_actions
from stores.platform import tables
from stores.platform.database import batches
from stores.platform.document_table import DocumentTable
from stores.platform.journal.journal import (
    CHECKPOINT_RECEIPTS,
    JournalEntries,
    JournalFilter,
    read_entries,
)
from stores.platform.projection.parted_documents import PartedDocument, mark_behind
from stores.platform.tables import (
    abilities,
    ability_contents,
    ability_versions,
    capabilities,
    capability_health,
)

ABILITIES = DocumentTable(
    abilities,
    AbilityAvailabilityEntry,
    fields={"lane": "install_lane"},
    code=ErrorCode.ABILITY_NOT_FOUND,
    message="There is no such ability that you may see; list them with GET /api/abilities/availability.",
)
"""Callers give ``version`` and ``updated_at``, and with a new row ``owner``, ``slug`` and ``created_at``."""

VERSIONS = DocumentTable(ability_versions, AbilityVersion)
"""Callers give ``saga_id``."""

CONTENTS = DocumentTable(ability_contents, AbilityContent)
LIVES = DocumentTable(tables.ability_lives, AbilityLife)


BRIDGE = PartedDocument("system/capabilities/bridge_entries_current.json", "entries")
"""The capability bridge; the entries of what changed without a change of health are marked as behind."""

HEALTH_RECORDS = DocumentTable(capability_health, CapabilityHealthRecord)
"""Callers give ``installed_at``."""


def entry_of(connection: Connection, ability_id: str) -> AbilityAvailabilityEntry | None:
    """The ability as the availability snapshot has it, or ``None``."""
    return ABILITIES.find(connection, ability_id)


def all_entries(connection: Connection) -> tuple[AbilityAvailabilityEntry, ...]:
    """Every ability, by id."""
    return ABILITIES.all(connection, order_by=(abilities.c.ability_id,))


def entries_of(connection: Connection, ability_ids: Iterable[str]) -> tuple[AbilityAvailabilityEntry, ...]:
    """Those of these abilities that there are."""
    return tuple(
        entry
        for some in batches(sorted(ability_ids))
        for entry in ABILITIES.all(connection, abilities.c.ability_id.in_(some), order_by=())
    )


def keep_content(
    connection: Connection,
    version: int,
    entry: AbilityAvailabilityEntry,
    manifest: str,
    files: Iterable[ContentFile],
) -> None:
    """Keeps a version's content; what was kept of the same version before is replaced."""
    content = AbilityContent(
        ability_id=entry.ability_id, version=version, entry=entry, manifest=manifest, files=tuple(files)
    )
    CONTENTS.put(connection, content)


def forget_content(connection: Connection, ability_id: str, version: int) -> None:
    """Forgets a version that was not installed after all."""
    CONTENTS.delete(connection, (ability_id, version))


def content_of(connection: Connection, ability_id: str, version: int) -> AbilityContent | None:
    """What the version holds, or ``None`` where nothing is kept of it."""
    return CONTENTS.find(connection, (ability_id, version))


def versions_of(connection: Connection, ability_id: str) -> tuple[AbilityVersion, ...]:
    """The installed versions, newest first."""
    table = ability_versions
    newest_first = (table.c.version.desc(),)
    return VERSIONS.all(connection, table.c.ability_id == ability_id, order_by=newest_first)


def present_version(connection: Connection, ability_id: str | None) -> AbilityVersion | None:
    """The version of the ability that is in use; none of no ability."""
    if ability_id is None:
        return None
    table = ability_versions
    in_use = select(abilities.c.version).where(abilities.c.ability_id == ability_id).scalar_subquery()
    return VERSIONS.first(connection, table.c.ability_id == ability_id, table.c.version == in_use)


def previous_of(versions: Iterable[AbilityVersion], current: int) -> AbilityVersion | None:
    """The newest version before the current one whose content differs; ``versions`` are newest first."""
    known = tuple(versions)
    present = next((one for one in known if one.version == current), None)
    return next(
        (
            one
            for one in known
            if one.version < current and (present is None or one.content_hash != present.content_hash)
        ),
        None,
    )


_UNDER_WAY = (SagaState.RUNNING.value, SagaState.COMPENSATING.value)


def life_of(connection: Connection, ability_id: str) -> AbilityLife:
    """What is kept beside the ability's entry; an ability that was never commanded has an empty record."""
    return LIVES.find(connection, ability_id) or AbilityLife(ability_id=ability_id, change=0)


def facts_of(
    connection: Connection,
    entry: AbilityAvailabilityEntry,
    life: AbilityLife,
    version: int,
    versions: tuple[AbilityVersion, ...],
) -> AbilityFacts:
    """The facts about one ability; ``versions`` are newest first, ``version`` is the current one."""
    present = next((one for one in versions if one.version == version), None)
    return AbilityFacts(
        entry=entry,
        has_earlier=previous_of(versions, version) is not None,
        revalidated=(
            entry.install_lane is InstallLane.QUARANTINED
            and life.quarantine is not None
            and present is not None
            and is_proven_version(connection, present, since=life.quarantine.since)
        ),
        installing=entry.ability_id in abilities_installing(connection),
    )


def allowed_actions(
    connection: Connection, entries: Iterable[AbilityAvailabilityEntry]
) -> dict[str, tuple[AbilityLifecycleAction, ...]]:
    """What their owner may do with each of these abilities now, by id; a few queries however many they are."""
    wanted = {entry.ability_id: entry for entry in entries}
    if not wanted:
        return {}
    installing = abilities_installing(connection)
    table = tables.ability_versions
    query = select(table.c.ability_id, table.c.body).order_by(table.c.version.desc())
    versions: dict[str, list[AbilityVersion]] = defaultdict(list)
    current: dict[str, int] = {}
    for some in batches(wanted):
        for row in connection.execute(query.where(table.c.ability_id.in_(some))):
            versions[row.ability_id].append(VERSIONS.parse(row.body))
        in_use = select(abilities.c.ability_id, abilities.c.version).where(abilities.c.ability_id.in_(some))
        current |= {row.ability_id: row.version for row in connection.execute(in_use)}
    return {
        ability_id: legal_actions(
            AbilityFacts(
                entry=entry,
                has_earlier=previous_of(versions[ability_id], current[ability_id]) is not None,
                installing=ability_id in installing,
            )
        )
        for ability_id, entry in wanted.items()
    }


def abilities_installing(connection: Connection) -> frozenset[str]:
    """The abilities that an install is under way for."""
    sagas = tables.install_sagas
    bodies = connection.scalars(select(sagas.c.body).where(sagas.c.state.in_(_UNDER_WAY)))
    return frozenset(InstallSaga.model_validate_json(body).ability_id for body in bodies)


def is_proven_version(connection: Connection, version: AbilityVersion, since: datetime | None = None) -> bool:
    """Whether this very content is proven, by runs that ended after ``since`` where that is given.

    The runs of each proposal are judged for themselves: a name that is taken for one owner is not for another.
    """
    runs = tables.validation_runs
    bodies = connection.scalars(select(runs.c.body).where(runs.c.content_hash == version.content_hash))
    by_proposal: dict[str, list[ValidationRun]] = defaultdict(list)
    for run in map(ValidationRun.model_validate_json, bodies):
        if since is None or (run.completed_at is not None and run.completed_at > since):
            by_proposal[run.proposal_id].append(run)
    return any(proof_of(found).complete for found in by_proposal.values())


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


def capability_rows_of(connection: Connection, wanted: Iterable[str]) -> list[RowMapping]:
    """The rows of these capabilities as in ``capability_rows``, by id."""
    rows: list[RowMapping] = []
    for some in batches(sorted(wanted)):
        query = _WITH_RECORD.where(capabilities.c.capability_id.in_(some))
        rows += connection.execute(query).mappings()
    return rows


def capability_ids(connection: Connection, of_abilities: Iterable[str]) -> tuple[str, ...]:
    """The ids of the capabilities that belong to some abilities, sorted."""
    query = select(capabilities.c.capability_id)
    found = (
        one
        for some in batches(of_abilities)
        for one in connection.scalars(query.where(capabilities.c.ability_id.in_(some)))
    )
    return tuple(sorted(found))


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
    # Of the join, the capability alone is locked: PostgreSQL cannot lock its optional side.
    held = _WITH_RECORD.where(wanted).limit(1).with_for_update(of=capabilities)
    row = connection.execute(held).mappings().one_or_none()
    if row is None:
        return None
    try:
        return standing_in(row)
    except ValueError:
        return None


def own_health(connection: Connection, capability_id: str | None) -> HealthStatus:
    """The health of a capability itself, whatever its ability's standing makes of it; unknown where it is not there."""
    health = connection.scalar(
        select(capabilities.c.health).where(capabilities.c.capability_id == capability_id)
    )
    return HealthStatus(health) if health is not None else HealthStatus.UNKNOWN


def manifest_of(connection: Connection, ability_id: str) -> CapabilityManifest | None:
    """The manifest of an ability's capability; ``None`` where there is none that can be read."""
    body = connection.scalar(select(capabilities.c.manifest).where(capabilities.c.ability_id == ability_id))
    try:
        return CapabilityManifest.model_validate_json(body) if body is not None else None
    except ValueError:
        return None


def tell_capability(
    connection: Connection,
    entries: JournalEntries,
    names: Iterable[CapabilityEventName],
    ability_id: str,
    before: HealthStatus | None = None,
) -> None:
    """Collects events of an ability's capability as it stands now; of an ability without one, none."""
    standing = standing_of(connection, ability_id=ability_id)
    if standing is None:
        return
    for name in names:
        entries.capability_event(
            name,
            capability_id=standing.manifest.capability_id,
            ability_id=ability_id,
            health_before=before,
            health_status=standing.status,
            reason_codes=standing.record.reason_codes,
        )


def put_standing(
    connection: Connection, standing: Standing, status: HealthStatus, record: CapabilityHealthRecord
) -> None:
    """Writes a capability's health and the evidence for it; the bridge follows with its next change."""
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
    HEALTH_RECORDS.put(connection, record, installed_at=installed_at)
    mark_behind(connection, BRIDGE, capability_id)


def put_capability(
    connection: Connection,
    capability_id: str,
    ability_id: str,
    manifest: str,
    installed_at: datetime,
    *,
    replaces: str,
    same_content: bool,
) -> None:
    """Puts an ability's capability in the place of the one called ``replaces``, as an install or a rollback does.

    Evidence about what stood there before is kept; ``same_content`` says whether it is about this very content.
    """
    before = standing_of(connection, capability_id=replaces)
    prior = HealthChange(before.status, before.record) if before is not None else None
    found = after_install(capability_id, prior, same_content=same_content)
    connection.execute(delete(capabilities).where(capabilities.c.capability_id == replaces))
    connection.execute(
        insert(capabilities).values(
            capability_id=capability_id,
            ability_id=ability_id,
            health=found.status.value,
            manifest=manifest,
            updated_at=rfc3339(installed_at),
        )
    )
    record = found.record.changed(capability_id=capability_id)
    HEALTH_RECORDS.put(connection, record, installed_at=rfc3339(installed_at))


def validated_at(connection: Connection, content_hash: str) -> datetime | None:
    """When a validation of this very content last ended without a failure; ``None`` where none is kept."""
    runs = tables.validation_runs
    bodies = connection.scalars(select(runs.c.body).where(runs.c.content_hash == content_hash))
    ended = [
        run.completed_at
        for run in map(ValidationRun.model_validate_json, bodies)
        if run.overall_result is not OverallResult.FAILED and run.completed_at is not None
    ]
    return max(ended, default=None)


def newest_statuses(connection: Connection, ability_id: str) -> tuple[CheckpointStatus, ...]:
    """What the ability's newest 20 receipts say, newest first."""
    entries = read_entries(
        connection,
        JournalFilter(streams=(CHECKPOINT_RECEIPTS,), ability_id=ability_id),
        limit=RECEIPTS_COUNTED,
        newest_first=True,
    )
    return tuple(CheckpointStatus(entry.document["status"]) for entry in entries)


def checkpoint_health_of(connection: Connection, ability_id: str) -> CheckpointHealth:
    """The checkpoint health of an ability that is not quarantined, from the receipts in the journal."""
    return checkpoint_health(newest_statuses(connection, ability_id), quarantined=False)
