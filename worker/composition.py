"""Composition root of the worker: workflows, activities and shared resources, put together once per process."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from typing import Any

from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from config.settings import Settings
from gateways.platform.language_model import language_model
from stores.platform.database import Database
from stores.platform.projection.projector import ProjectionLoop
from worker.import_composition import IMPORT_WORKFLOWS, import_activities
from worker.learning_composition import (
    ABILITY_WORKFLOWS,
    LEARNING_WORKFLOWS,
    ability_activities,
    learning_activities,
)
from worker.log_context import LogContext
from worker.mcp_composition import MCP_WORKFLOWS, mcp_activities
from worker.mining_composition import (
    MAINTENANCE_WORKFLOWS,
    MINING_WORKFLOWS,
    PRACTICE_WORKFLOWS,
    maintenance_activities,
    mining_activities,
    practice_activities,
)
from worker.resources import WorkerResources, open_resources
from worker.skill_composition import SKILL_WORKFLOWS, skill_activities
from worker.workflow_runner import RememberingRunner, keep_code_of

WORKFLOWS: Sequence[type] = (
    *LEARNING_WORKFLOWS,
    *ABILITY_WORKFLOWS,
    *MINING_WORKFLOWS,
    *PRACTICE_WORKFLOWS,
    *MAINTENANCE_WORKFLOWS,
    *MCP_WORKFLOWS,
    *SKILL_WORKFLOWS,
    *IMPORT_WORKFLOWS,
)

ACTIVITY_THREADS = 16
DRAIN = timedelta(seconds=15)
CANCELS_HEARD_WITHIN = timedelta(seconds=1)
CACHED_WORKFLOWS = 600
"""How many workflows are kept in memory, at about 125 KiB each. Others are replayed when something happens to them."""

PASSED_THROUGH = (
    "contracts",
    "domain",
    "host",
    "stores",
    "skills",
    "activities",
    "pydantic",
    "pydantic_core",
)
"""Modules the sandbox takes from the process: values and activity signatures, nothing workflows run."""


@dataclass(frozen=True)
class WorkerParts:
    """A worker's parts, unstarted."""

    resources: WorkerResources
    executor: ThreadPoolExecutor
    activities: Sequence[Callable[..., Any]]

    @property
    def database(self) -> Database:
        """The database of all stores."""
        return self.resources.database

    @property
    def projection(self) -> ProjectionLoop:
        """The thread that projects the store into files."""
        return self.resources.projection

    async def close(self) -> None:
        """Closes tool server connections, waits for the activities' threads, and closes the resources."""
        try:
            await self.resources.conversations.close()
        finally:
            self.executor.shutdown(wait=True)
            self.resources.close()


def compose(settings: Settings) -> WorkerParts:
    """Opens the resources and builds each subject's activities over them."""
    shared = open_resources(settings)
    model = language_model(settings)
    return WorkerParts(
        resources=shared,
        executor=ThreadPoolExecutor(ACTIVITY_THREADS, thread_name_prefix="activity"),
        activities=(
            *learning_activities(shared, model),
            *ability_activities(shared),
            *mining_activities(shared),
            *practice_activities(shared, model),
            *maintenance_activities(shared),
            *mcp_activities(shared),
            *skill_activities(shared),
            *import_activities(shared),
        ),
    )


def sandboxed(runner: type[SandboxedWorkflowRunner] = RememberingRunner) -> SandboxedWorkflowRunner:
    """How workflows run here, and are replayed: in the sandbox, with ``PASSED_THROUGH``."""
    keep_code_of("workflows")
    return runner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH))


def build_worker(
    client: Client, settings: Settings, parts: WorkerParts, runner: SandboxedWorkflowRunner | None = None
) -> Worker:
    """The worker of the one task queue; sandbox on."""
    return Worker(
        client,
        task_queue=settings.task_queue,
        workflows=WORKFLOWS,
        activities=parts.activities,
        activity_executor=parts.executor,
        workflow_runner=runner or sandboxed(),
        interceptors=[LogContext()],
        # Otherwise the SDK hashes every loaded module, a third of the start. Nothing is routed by it.
        build_id=f"apprentice-{version('apprentice')}",
        max_cached_workflows=CACHED_WORKFLOWS,
        # What a killed worker was to do next is given to another one after this time.
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
        graceful_shutdown_timeout=DRAIN,
        # A heartbeat that is held back holds back the word that its activity is cancelled.
        max_heartbeat_throttle_interval=CANCELS_HEARD_WITHIN,
    )
