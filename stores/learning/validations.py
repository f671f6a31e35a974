"""Store of validation step results: each case is kept once, however often its check is repeated.

A safety failure in a rehearsal of installed content counts against its capability at once (DOC3 §1.1I).
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid5

from sqlalchemy import Connection, select

from contracts.abilities.capability_health import CapabilityOutcome, OutcomeKind
from contracts.base import clipped
from contracts.learning.validation import ValidationRunInput, ValidationStepResult
from contracts.workflow_ids import validation_run_id
from stores.abilities.ability_rows import present_version
from stores.abilities.capability_health import apply_outcome
from stores.learning.learning_tables import SESSIONS, VALIDATION_STEPS
from stores.learning.sessions import STEP_RESULTS
from stores.platform.database import Database
from stores.platform.journal.journal import JournalDraft, JournalEntries, append
from stores.platform.tables import capabilities

_RUNS = UUID("7c5f0a53-4a1b-5a66-8f0e-5f4d0d6f1f0b")
"""The namespace of the ids of the outcomes that rehearsals report."""

FINGERPRINT = "rehearsal:safety_failure"


def unsafe_content(
    connection: Connection, run: ValidationRunInput, safety_failure: str, now: datetime
) -> tuple[JournalDraft, ...]:
    """What follows where the run's content is what the session's ability has in use; the caller appends the entries.

    A draft that is not installed, or no more, affects no ability: only its session is quarantined.
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
    # An import's draft is in use only once it is installed, and runs no command.
    aggregate = SESSIONS.find(connection, run.learn_session_id) if run.learn_session_id else None
    ability_id = aggregate.session.ability_id if aggregate is not None else None
    version = present_version(connection, ability_id)
    if version is None or version.content_hash != run.content_hash:
        return None
    return connection.scalar(
        select(capabilities.c.capability_id).where(capabilities.c.ability_id == ability_id)
    )


class ValidationStore:
    """The durable side of a validation run's checks."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(
        self,
        run: ValidationRunInput,
        steps: Sequence[ValidationStepResult],
        safety_failure: str | None = None,
    ) -> None:
        """Keeps the results that are not there yet; what was recorded first stands.

        A safety failure of content that is installed is one of its capability, and counted once a run.
        """
        with self._database.write() as connection:
            if safety_failure is not None:
                append(connection, unsafe_content(connection, run, safety_failure, datetime.now(UTC)))
            fresh = [step for step in steps if VALIDATION_STEPS.add_if_absent(connection, step)]
            of_run = (validation_run_id(run.validation_run_id), run.owner_user_id, run.correlation_id)
            about = (run.learn_session_id, run.proposal_id)
            append(
                connection,
                [
                    JournalEntries(*of_run, step.created_at, *about).draft(STEP_RESULTS, step)
                    for step in fresh
                ],
            )
