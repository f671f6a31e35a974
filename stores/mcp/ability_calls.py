"""The calls that run or wait on behalf of abilities, for whoever stops them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from contracts.abilities.availability import AbilityAvailabilityEntry
from contracts.base import rfc3339
from contracts.capabilities.bridge import HealthStatus
from contracts.mcp.dispatch import OPEN_DISPATCH_STATUSES
from contracts.mcp.dispatch_record import DispatchOrder
from domain.mcp.ability_use import withdrawn_because
from stores.database import Database
from stores.mcp.dispatch_rows import open_ids_of_ability, read_dispatch
from stores.mcp_tables import mcp_dispatches
from stores.tables import abilities, capabilities

_OPEN = tuple(status.value for status in OPEN_DISPATCH_STATUSES)


@dataclass(frozen=True, slots=True)
class WithdrawnAbility:
    """An ability that is out of use while calls run or wait for it."""

    ability_id: str
    because: str
    dispatch_ids: tuple[str, ...]


class AbilityCalls:
    """Only reads. Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open_of(self, ability_id: str, until: datetime) -> tuple[str, ...]:
        """The calls that run or wait for an ability, asked for until then, whoever asked."""
        with self._database.read() as connection:
            return open_ids_of_ability(connection, ability_id, rfc3339(until))

    def still_open(self, dispatch_ids: Sequence[str]) -> tuple[DispatchOrder, ...]:
        """Those of the calls that run or wait still."""
        with self._database.read() as connection:
            found = [read_dispatch(connection, dispatch_id) for dispatch_id in dispatch_ids]
        records = [kept.record for kept in found if kept is not None]
        return tuple(record.order for record in records if record.status in OPEN_DISPATCH_STATUSES)

    def of_withdrawn(self) -> tuple[WithdrawnAbility, ...]:
        """Each ability that a person or its health has taken out of use while it has calls, with these."""
        waits_or_runs = (
            select(mcp_dispatches.c.dispatch_id)
            .where(
                mcp_dispatches.c.ability_id == abilities.c.ability_id,
                mcp_dispatches.c.status.in_(_OPEN),
            )
            .exists()
        )
        query = (
            select(abilities.c.ability_id, abilities.c.body, capabilities.c.health)
            .join(capabilities, capabilities.c.ability_id == abilities.c.ability_id, isouter=True)
            .where(waits_or_runs)
            .order_by(abilities.c.ability_id)
        )
        found: dict[str, WithdrawnAbility] = {}
        with self._database.read() as connection:
            for row in connection.execute(query).all():
                entry = AbilityAvailabilityEntry.model_validate_json(row.body)
                health = HealthStatus(row.health) if row.health is not None else HealthStatus.HEALTHY
                because = withdrawn_because(entry, health)
                if because is not None:
                    calls = open_ids_of_ability(connection, row.ability_id)
                    found[row.ability_id] = WithdrawnAbility(row.ability_id, because, calls)
        return tuple(found.values())
