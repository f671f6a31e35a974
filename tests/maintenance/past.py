"""Rows as they would be after days and weeks, and a night of maintenance over them."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import func, insert, select
from uuid_utils import uuid7

from contracts.base import rfc3339
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.observation import ObservedActionEvent
from contracts.learning.proposal import ProposalState, SkillBundleProposal
from contracts.learning.session import LearningEntryMode, LearnSession, LearnSessionState
from contracts.learning.state_machine import AT_REST
from contracts.learning.validation import StepResult, ValidationRun, ValidationStepResult
from contracts.maintenance.runs import MaintenanceRun, MaintenanceTrigger, SweepName, SweepProgress
from contracts.maintenance.work import RunOpening, SweepPage
from stores import tables
from stores.canonical import canonical_json
from stores.database import Database
from stores.maintenance_store import MaintenanceStore
from stores.retention_sweeps import RetentionSweeps

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


def days(count: float) -> timedelta:
    return timedelta(days=count)


def add_session(
    database: Database,
    rested_for: timedelta | None,
    *,
    state: LearnSessionState | None = None,
    proposal: SkillBundleProposal | None = None,
    **fields: Any,
) -> str:
    """A session that came to rest so long before ``NOW``, or one under way; its id, which is its owner's too."""
    session_id = str(uuid7())
    state = state or (LearnSessionState.CANCELLED if rested_for is not None else LearnSessionState.CAPTURING)
    since = NOW - (rested_for or timedelta())
    session = LearnSession(
        learn_session_id=session_id,
        owner_user_id=session_id,
        entry_mode=LearningEntryMode.DEMONSTRATING_SKILL,
        state=state,
        created_at=since,
        updated_at=since,
        **fields,
    )
    aggregate = LearnSessionAggregate(session=session, change=4, state_since=since, proposal=proposal)
    with database.write() as connection:
        connection.execute(
            insert(tables.learn_sessions).values(
                session_id=session_id,
                owner=session_id,
                state=state.value,
                change=4,
                holds_slot=state not in AT_REST,
                at_rest_at=rfc3339(since) if state in AT_REST else None,
                created_at=rfc3339(since),
                updated_at=rfc3339(since),
                aggregate=canonical_json(aggregate),
            )
        )
    return session_id


def spoil_session(database: Database, session_id: str) -> None:
    """Makes the session's row unreadable."""
    table = tables.learn_sessions
    with database.write() as connection:
        connection.execute(table.update().where(table.c.session_id == session_id).values(aggregate="{}"))


def add_observations(database: Database, session_id: str, retained: Iterable[bool]) -> list[str]:
    """Observations of a session by whether they are marked ``retain``; their ids."""
    ids: list[str] = []
    with database.write() as connection:
        for retain in retained:
            event = ObservedActionEvent.model_validate(
                {
                    "event_id": str(uuid7()),
                    "learn_session_id": session_id,
                    "adapter_kind": "wrapper_receipt",
                    "action_label": "Choose Export",
                    "retain": retain,
                    "created_at": NOW - days(90),
                }
            )
            ids.append(event.event_id)
            connection.execute(
                insert(tables.observations).values(
                    session_id=session_id, event_id=event.event_id, retain=retain, body=canonical_json(event)
                )
            )
    return ids


def held(database: Database, session_id: str) -> list[str]:
    """The ids of the observations that a session still has."""
    table = tables.observations
    with database.read() as connection:
        query = select(table.c.event_id).where(table.c.session_id == session_id).order_by(table.c.seq)
        return list(connection.scalars(query))


def make_proposal(ended_for: timedelta, state: ProposalState, **fields: Any) -> SkillBundleProposal:
    """A proposal that ended so long before ``NOW``."""
    return SkillBundleProposal(
        proposal_id=str(uuid7()),
        owner_user_id="ann",
        source_trace_ids=(str(uuid7()),),
        title="Export the report",
        proposed_skill_slug="export-report",
        draft_skill_path="drafts/SKILL.md",
        draft_manifest_path="drafts/manifest.json",
        content_hash="a" * 64,
        proposal_state=state,
        created_at=NOW - ended_for,
        updated_at=NOW - ended_for,
        **fields,
    )


def add_proposal(database: Database, proposal: SkillBundleProposal, staged: str = "{}") -> str:
    """Stores a proposal with one validation run of one step; its id."""
    run = ValidationRun.model_validate(
        {
            "validation_run_id": str(uuid7()),
            "proposal_id": proposal.proposal_id,
            "run_kind": "lint",
            "content_hash": proposal.content_hash,
            "started_at": proposal.created_at,
            "overall_result": "failed",
        }
    )
    step = ValidationStepResult(
        validation_run_id=run.validation_run_id,
        test_case_id="lint/CKP-001-01",
        label="CKP-001",
        result=StepResult.FAILED,
        created_at=proposal.created_at,
    )
    with database.write() as connection:
        connection.execute(
            insert(tables.proposals).values(
                proposal_id=proposal.proposal_id,
                session_id=str(uuid7()),
                owner=proposal.owner_user_id,
                state=proposal.proposal_state.value,
                content_hash=proposal.content_hash,
                staged=staged,
                created_at=rfc3339(proposal.created_at),
                updated_at=rfc3339(proposal.updated_at),
                body=canonical_json(proposal),
            )
        )
        connection.execute(
            insert(tables.validation_runs).values(
                run_id=run.validation_run_id,
                proposal_id=proposal.proposal_id,
                content_hash=run.content_hash,
                body=canonical_json(run),
            )
        )
        connection.execute(
            insert(tables.validation_steps).values(
                run_id=run.validation_run_id, test_case_id=step.test_case_id, body=canonical_json(step)
            )
        )
    return proposal.proposal_id


def is_archived(database: Database, table_name: str, key: str) -> bool:
    """Whether a session's or proposal's row says that it is archived."""
    table = tables.metadata.tables[table_name]
    column = next(iter(table.primary_key))
    with database.read() as connection:
        return connection.scalar(select(table.c.archived_at).where(column == key)) is not None


def row_counts(database: Database) -> dict[str, int]:
    """How many rows each table has, but for the one in which runs are recorded."""
    with database.read() as connection:
        return {
            name: connection.scalar(select(func.count()).select_from(table)) or 0
            for name, table in tables.metadata.tables.items()
            if name != tables.maintenance_runs.name
        }


class Nights:
    """Runs sweeps as a night would, without Temporal."""

    def __init__(self, database: Database, runs: MaintenanceStore, sweeps: RetentionSweeps) -> None:
        self.database = database
        self.runs = runs
        self.sweeps = sweeps

    def open(self, *, dry_run: bool = False, now: datetime = NOW) -> str:
        """Opens a run; its id."""
        opening = RunOpening(
            run_id=str(uuid7()),
            trigger=MaintenanceTrigger.MANUAL,
            dry_run=dry_run,
            workflow_id="nightly-maintenance-manual",
            started_at=now,
        )
        return self.runs.open(opening).run_id

    def page(self, run_id: str, sweep: SweepName, limit: int = 100, **call: Any) -> SweepProgress:
        """One page."""
        run = self.runs.get(run_id)
        wanted = SweepPage(run_id=run_id, sweep=sweep, now=run.started_at, dry_run=run.dry_run, limit=limit)
        return self.sweeps.run_page(wanted, **call)

    def run(
        self, *only: SweepName, dry_run: bool = False, now: datetime = NOW, limit: int = 100
    ) -> MaintenanceRun:
        """The named sweeps, or all, to their end."""
        run_id = self.open(dry_run=dry_run, now=now)
        for sweep in only or tuple(SweepName):
            cursors: list[str] = []
            while not (progress := self.page(run_id, sweep, limit)).finished:
                assert progress.cursor not in cursors, "a page that is not the last one advances"
                cursors.append(progress.cursor)
        return self.runs.get(run_id)
