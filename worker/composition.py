"""The composition root of a worker: stores, activities, workflows and the client, put together once."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from activities.drafting import Drafter
from activities.install_activities import InstallActivities
from activities.maintenance_activities import MaintenanceActivities
from activities.session_activities import SessionActivities
from activities.validation_activities import ValidationActivities
from config.settings import Settings
from stores.ability_store import AbilityStore
from stores.database import Database
from stores.draft_store import DraftStore
from stores.install_store import InstallStore
from stores.journal_chains import anchor
from stores.maintenance_store import MaintenanceStore
from stores.nightly_sweeps import nightly_sweeps
from stores.observations import ObservationLog
from stores.projector import Projector
from stores.proposal_reads import ProposalReads
from stores.session_store import SessionStore
from stores.validation_store import ValidationStore
from worker.projection import ProjectionLoop
from workflows.install_saga_workflow import InstallSagaWorkflow
from workflows.learn_session_workflow import LearnSessionWorkflow
from workflows.nightly_maintenance_workflow import NightlyMaintenanceWorkflow
from workflows.validation_run_workflow import ValidationRunWorkflow

WORKFLOWS: Sequence[type] = (
    LearnSessionWorkflow,
    ValidationRunWorkflow,
    InstallSagaWorkflow,
    NightlyMaintenanceWorkflow,
)

ACTIVITY_THREADS = 16
DRAIN = timedelta(seconds=15)

PASSED_THROUGH = ("contracts", "domain", "stores", "skills", "activities", "pydantic", "pydantic_core")
"""Modules the sandbox takes from the process: values and activity signatures, nothing workflows run."""


@dataclass(frozen=True)
class WorkerParts:
    """A worker's parts, unstarted."""

    database: Database
    projection: ProjectionLoop
    observations: ObservationLog
    executor: ThreadPoolExecutor
    activities: Sequence[Callable[..., Any]]

    def close(self) -> None:
        """Stops the threads and closes the database."""
        self.executor.shutdown(wait=True)
        self.projection.close()
        self.observations.close()
        self.database.close()


def compose(settings: Settings) -> WorkerParts:
    """Stores and activities over the settings' database."""
    database = Database(settings.database_url)
    projector = Projector(database, settings.memory_root, settings.workspace)
    projection = ProjectionLoop(projector, lambda: anchor(database, datetime.now(UTC)))
    observations = ObservationLog(database)
    drafts = DraftStore(database)
    drafter = Drafter(observations, drafts, ProposalReads(database))
    sessions = SessionActivities(SessionStore(database), drafter, projection.wake)
    validation = ValidationActivities(
        drafts,
        AbilityStore(database),
        ValidationStore(database),
        settings.data_dir / "rehearsals",
        projection.wake,
    )
    installs = InstallActivities(InstallStore(database), projector.catch_up)
    runs = MaintenanceStore(database)
    maintenance = MaintenanceActivities(
        database, runs, nightly_sweeps(database, runs, observations), projection.wake
    )
    return WorkerParts(
        database=database,
        projection=projection,
        observations=observations,
        executor=ThreadPoolExecutor(ACTIVITY_THREADS, thread_name_prefix="activity"),
        activities=(
            sessions.commit_session,
            sessions.draft_proposal,
            validation.run_check,
            validation.rehearse,
            installs.do_step,
            installs.undo_step,
            installs.close,
            maintenance.open_maintenance,
            maintenance.sweep_page,
            maintenance.give_up_sweep,
            maintenance.refresh_derived,
            maintenance.check_journal,
            maintenance.close_maintenance,
        ),
    )


def build_worker(client: Client, settings: Settings, parts: WorkerParts) -> Worker:
    """The worker of the one task queue; sandbox on."""
    return Worker(
        client,
        task_queue=settings.task_queue,
        workflows=WORKFLOWS,
        activities=parts.activities,
        activity_executor=parts.executor,
        workflow_runner=SandboxedWorkflowRunner(
            restrictions=SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH)
        ),
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=2),
        graceful_shutdown_timeout=DRAIN,
    )
