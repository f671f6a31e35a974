"""Reading ability rows inside somebody else's transaction."""

from sqlalchemy import Connection, select

from contracts.abilities.availability import AbilityAvailabilityEntry
from stores.tables import abilities


def entry_of(connection: Connection, ability_id: str) -> AbilityAvailabilityEntry | None:
    """The ability as the availability snapshot has it, or ``None``."""
    body = connection.scalar(select(abilities.c.body).where(abilities.c.ability_id == ability_id))
    return AbilityAvailabilityEntry.model_validate_json(body) if body is not None else None


def all_entries(connection: Connection) -> tuple[AbilityAvailabilityEntry, ...]:
    """Every ability, by id."""
    rows = connection.execute(select(abilities.c.body).order_by(abilities.c.ability_id))
    return tuple(AbilityAvailabilityEntry.model_validate_json(row.body) for row in rows)
