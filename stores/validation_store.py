"""Step results of validation runs: each case is kept once, however often its check is tried."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import insert, select

from contracts.base import rfc3339
from contracts.learning.validation import ValidationStepResult
from contracts.learning.validation_work import ValidationRunInput
from stores import tables
from stores.canonical import canonical_json
from stores.database import Database
from stores.journal import JournalDraft, append
from stores.session_entries import STEP_RESULTS
from stores.unsafe_content import unsafe_content


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
        table = tables.validation_steps
        with self._database.write() as connection:
            if safety_failure is not None:
                append(connection, unsafe_content(connection, run, safety_failure, datetime.now(UTC)))
            known = set(
                connection.scalars(
                    select(table.c.test_case_id).where(table.c.run_id == run.validation_run_id)
                )
            )
            fresh = [step for step in steps if step.test_case_id not in known]
            if not fresh:
                return
            connection.execute(
                insert(table),
                [
                    {
                        "run_id": run.validation_run_id,
                        "test_case_id": step.test_case_id,
                        "body": canonical_json(step),
                    }
                    for step in fresh
                ],
            )
            append(
                connection,
                [
                    JournalDraft(
                        stream=STEP_RESULTS,
                        aggregate=f"validation-run/{run.validation_run_id}",
                        owner=run.owner_user_id,
                        correlation_id=run.correlation_id,
                        created_at=rfc3339(step.created_at),
                        document=step.model_dump(mode="json", exclude_none=True),
                        session_id=run.learn_session_id,
                        proposal_id=run.proposal_id,
                    )
                    for step in fresh
                ],
            )
