"""A safety failure in a rehearsal of what is installed counts against its capability at once (DOC3 §1.1I)."""

from datetime import datetime
from uuid import UUID, uuid5

from sqlalchemy import Connection, select

from contracts.abilities.availability import AbilityVersion
from contracts.base import clipped
from contracts.capabilities.outcome import CapabilityOutcome, OutcomeKind
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.validation_work import ValidationRunInput
from stores.capability_health_effects import apply_outcome
from stores.journal import JournalDraft
from stores.tables import abilities, ability_versions, capabilities, learn_sessions

_RUNS = UUID("7c5f0a53-4a1b-5a66-8f0e-5f4d0d6f1f0b")
"""The namespace of the ids of the outcomes that rehearsals report."""

FINGERPRINT = "rehearsal:safety_failure"


def unsafe_content(
    connection: Connection, run: ValidationRunInput, safety_failure: str, now: datetime
) -> tuple[JournalDraft, ...]:
    """What follows where the run's content is what the session's ability has in use; the caller appends the entries.

    A draft that is not installed, or no more, harms nobody: its session is quarantined, and that is all.
    """
    capability_id = _in_use(connection, run)
    if capability_id is None:
        return ()
    outcome = CapabilityOutcome(
        outcome_id=str(uuid5(_RUNS, run.validation_run_id)),
        capability_id=capability_id,
        kind=OutcomeKind.CANARY,
        success=False,
        critical=True,
        failure_fingerprint=FINGERPRINT,
        summary=clipped(safety_failure, 500),
        reported_by=run.owner_user_id,
        happened_at=now,
    )
    return apply_outcome(connection, outcome, run.correlation_id)


def _in_use(connection: Connection, run: ValidationRunInput) -> str | None:
    """The capability of the session's ability, where the ability's present version is the run's content."""
    body = connection.scalar(
        select(learn_sessions.c.aggregate).where(learn_sessions.c.session_id == run.learn_session_id)
    )
    ability_id = (
        LearnSessionAggregate.model_validate_json(body).session.ability_id if body is not None else None
    )
    row = connection.execute(
        select(ability_versions.c.body, capabilities.c.capability_id)
        .join(
            abilities,
            (abilities.c.ability_id == ability_versions.c.ability_id)
            & (abilities.c.version == ability_versions.c.version),
        )
        .join(capabilities, capabilities.c.ability_id == abilities.c.ability_id)
        .where(abilities.c.ability_id == ability_id)
    ).first()
    if row is None or AbilityVersion.model_validate_json(row.body).content_hash != run.content_hash:
        return None
    return str(row.capability_id)
