"""The checkpoints that are planned: a session's from its proposal, an ability's from what is installed."""

from sqlalchemy import Connection, select

from contracts.abilities.availability import AbilityVersion
from contracts.errors import Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.interpretation import Checkpoint
from stores.draft_store import load_bundle
from stores.tables import abilities, ability_versions


def planned_of_session(connection: Connection, session: LearnSessionAggregate) -> tuple[Checkpoint, ...]:
    """The checkpoints of the session's proposal; none before there is one."""
    return _of_proposal(connection, session.session.proposal_id)


def planned_of_ability(connection: Connection, ability_id: str) -> tuple[Checkpoint, ...]:
    """The checkpoints of the ability's present version; none where it was not drafted here."""
    return _of_proposal(connection, proposal_of_ability(connection, ability_id))


def proposal_of_ability(connection: Connection, ability_id: str) -> str | None:
    """The proposal that the ability's present version was installed from."""
    body = connection.scalar(
        select(ability_versions.c.body)
        .join(
            abilities,
            (abilities.c.ability_id == ability_versions.c.ability_id)
            & (abilities.c.version == ability_versions.c.version),
        )
        .where(abilities.c.ability_id == ability_id)
    )
    return AbilityVersion.model_validate_json(body).proposal_id if body is not None else None


def _of_proposal(connection: Connection, proposal_id: str | None) -> tuple[Checkpoint, ...]:
    if proposal_id is None:
        return ()
    try:
        return load_bundle(connection, proposal_id)[1].interpretation.checkpoints
    except Refusal:
        return ()
