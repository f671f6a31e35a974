"""The facts that the rules on an ability's life look at, read inside somebody else's transaction."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection, select

from contracts.abilities.availability import AbilityAvailabilityEntry, AbilityVersion
from contracts.abilities.life import AbilityLife
from contracts.abilities.lifecycle_command import AbilityLifecycleAction
from contracts.learning.proof import proof_of
from contracts.learning.proposal import InstallLane
from contracts.learning.saga import InstallSaga, SagaState
from contracts.learning.validation import ValidationRun
from domain.abilities.life import AbilityFacts, legal_actions
from stores import tables
from stores.ability_contents import previous_of

_UNDER_WAY = (SagaState.RUNNING.value, SagaState.COMPENSATING.value)


def life_of(connection: Connection, ability_id: str) -> AbilityLife:
    """What is kept beside the ability's entry; an ability that was never commanded has an empty record."""
    table = tables.ability_lives
    body = connection.scalar(select(table.c.body).where(table.c.ability_id == ability_id))
    if body is None:
        return AbilityLife(ability_id=ability_id, change=0)
    return AbilityLife.model_validate_json(body)


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
    """What their owner may do with each of these abilities now, by id; three queries however many they are."""
    wanted = {entry.ability_id: entry for entry in entries}
    if not wanted:
        return {}
    installing = abilities_installing(connection)
    table = tables.ability_versions
    query = select(table.c.ability_id, table.c.body).order_by(table.c.version.desc())
    if len(wanted) == 1:
        query = query.where(table.c.ability_id == next(iter(wanted)))
    versions: dict[str, list[AbilityVersion]] = defaultdict(list)
    for row in connection.execute(query):
        if row.ability_id in wanted:
            versions[row.ability_id].append(AbilityVersion.model_validate_json(row.body))
    rows = connection.execute(select(tables.abilities.c.ability_id, tables.abilities.c.version))
    current: dict[str, int] = {row.ability_id: row.version for row in rows}
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
