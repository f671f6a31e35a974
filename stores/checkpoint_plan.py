"""What a lesson has laid down: the checkpoints of a session or an installed ability, the bounds of its rehearsal."""

from sqlalchemy import Connection, select

from contracts.abilities.availability import AbilityVersion
from contracts.errors import Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.interpretation import Checkpoint
from contracts.learning.test_policy import TestPolicy
from stores.draft_store import load_bundle
from stores.tables import abilities, ability_versions, learn_sessions, proposals


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


def test_policy_of(connection: Connection, proposal_id: str) -> TestPolicy | None:
    """The bounds that the proposal's session sets for its rehearsal, as they now are; none where nobody set any."""
    body = connection.scalar(
        select(learn_sessions.c.aggregate)
        .join(proposals, proposals.c.session_id == learn_sessions.c.session_id)
        .where(proposals.c.proposal_id == proposal_id)
    )
    return LearnSessionAggregate.model_validate_json(body).test_policy if body is not None else None


def _of_proposal(connection: Connection, proposal_id: str | None) -> tuple[Checkpoint, ...]:
    if proposal_id is None:
        return ()
    try:
        return load_bundle(connection, proposal_id)[1].interpretation.checkpoints
    except Refusal:
        return ()
